# SPDX-License-Identifier: Apache-2.0
"""Where things lie in a checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Top folder of the checkout."""
EXPERIMENTS = ROOT / "experiments"
RESULTS = ROOT / "results"
CACHE = ROOT / ".steelyard"
"""Builds and the Python environment; may be deleted at any time, it is made again."""
