# SPDX-License-Identifier: Apache-2.0
"""Pass, regression or inconclusive, from an estimate."""
