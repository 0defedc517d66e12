# SPDX-License-Identifier: Apache-2.0
"""Reads what the Gatling injectors recorded."""
