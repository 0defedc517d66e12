# SPDX-License-Identifier: Apache-2.0
"""Runs the Gatling injectors and reads what they recorded."""
