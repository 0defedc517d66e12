# SPDX-License-Identifier: Apache-2.0
"""The documents as a site: its diagrams, its hooks for MkDocs, and the command that builds it."""
