# SPDX-License-Identifier: Apache-2.0
"""The harness proves itself: simulated sessions with a known truth through the real code."""

from steelyard.selfcheck.figures import Figure, SelfcheckResult
from steelyard.selfcheck.render import render
from steelyard.selfcheck.run import SEED, SESSIONS, run_selfcheck

__all__ = ["SEED", "SESSIONS", "Figure", "SelfcheckResult", "render", "run_selfcheck"]
