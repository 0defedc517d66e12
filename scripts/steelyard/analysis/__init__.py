# SPDX-License-Identifier: Apache-2.0
"""Pure: metrics, paired ratios and intervals, warm-up, power, ledger rules."""
