# SPDX-License-Identifier: Apache-2.0
"""The container images: built, pushed, locked to digests, verified and measured."""
