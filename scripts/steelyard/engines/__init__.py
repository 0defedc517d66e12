# SPDX-License-Identifier: Apache-2.0
"""Engines realise a topology."""
