# SPDX-License-Identifier: Apache-2.0
"""Tests of pages in a real browser."""
