# SPDX-License-Identifier: Apache-2.0
"""Server JVMs as plain processes of this host."""
