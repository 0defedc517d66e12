# SPDX-License-Identifier: Apache-2.0
"""The commands; they print and hold no logic."""
