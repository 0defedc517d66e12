# SPDX-License-Identifier: Apache-2.0
"""The harness proves itself: simulated sessions with a known truth through the real code."""
