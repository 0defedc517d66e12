# SPDX-License-Identifier: Apache-2.0
"""`./steelyard test`: the project's own tests, in tiers; the program itself needs the standard library alone."""

from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
ROOT = SCRIPTS.parent
REPORTS = ROOT / ".steelyard" / "test"
"""Where a run leaves its reports and logs."""
ENGINE_STATE = REPORTS / "engine"
"""What `setup-engine.sh` keeps of the engine that the tests started; one that somebody set up by hand is not here."""
UNITS_RUN = REPORTS / "units.lock"
"""Locked while checks and unit tests run: what measures waits until they have ended."""
RETRIED = REPORTS / "flaky.txt"
"""Tests that passed at their second try, a line each."""
