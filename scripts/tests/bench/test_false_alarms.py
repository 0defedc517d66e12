# SPDX-License-Identifier: Apache-2.0
"""What the explanation pages say of simulated designs is what `bench/false_alarms.py` gave, and gives."""

import json

import false_alarms
import pytest
from false_alarms import simulate_designs

from steelyard.paths import ROOT

DOCS = ROOT / "docs"
STORED = json.loads((DOCS / "results/false-alarms.json").read_text("utf-8"))
SHARES = {row["name"]: row["shares"] for row in STORED["others"]}
DESIGNS = {row["name"]: row["false_alarms"] for row in STORED["designs"]}


def listed(*shares: float) -> str:
    """Shares as a table of the pages has them."""
    return ", ".join(f"{100 * share:.0f}" for share in shares) + " %"


CARRIED = SHARES["false alarms of random pairs, 3 % carried over"]
BOOTSTRAP = SHARES["95 % intervals by the percentile bootstrap contain the truth"]
STUDENT = SHARES["95 % intervals by Student's t contain the truth"]
PAIRS = DESIGNS["random pairs, as Steelyard runs them"]
FOUND = SHARES["a true change of -3 % found in random pairs"]
SENTENCES = {
    "design.md": (
        f"| all of A, then all of B; Welch's t | {listed(*DESIGNS['all of A, then all of B'])} |",
        f"| a baseline that another session stored | {listed(*DESIGNS['B today, A on another day'])} |",
        f"| {listed(*PAIRS)}; a true change of -3 % is found in {listed(*FOUND)} |",
        f"3 % of carry-over gives {listed(CARRIED[0])} false alarms with 6 blocks and {listed(CARRIED[1])} with 20.",
        f"gives {listed(*SHARES['false alarms of one switch, each run for itself'])} false alarms.",
        f"analysed per switch, give {listed(*SHARES['false alarms of six switches a side, paired'])}.",
    ),
    "estimates.md": (
        (
            f"contains the truth in {listed(BOOTSTRAP[0])} of sessions with 3 blocks, {listed(BOOTSTRAP[1])} with 5,"
            f" {listed(BOOTSTRAP[2])} with 10, {listed(BOOTSTRAP[3])} with 30. Student's t has"
            f" {100 * min(STUDENT):.0f} to {listed(max(STUDENT))} throughout"
        ),
    ),
}


@pytest.mark.parametrize("page", SENTENCES)
def test_pages_say_what_was_simulated(page: str) -> None:
    text = " ".join((DOCS / "explanation" / page).read_text("utf-8").split())
    assert [sentence for sentence in SENTENCES[page] if sentence not in text] == []


def test_fewer_sessions_give_the_same_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 sessions, with another seed: within five standard errors, 15 points at most."""
    monkeypatch.setattr(false_alarms, "SESSIONS", 300)
    again = simulate_designs(seed=1)
    assert {row["name"]: row["false_alarms"] for row in again["designs"]} == {
        name: pytest.approx(shares, abs=0.15) for name, shares in DESIGNS.items()
    }
    assert {row["name"]: row["shares"] for row in again["others"]} == {
        name: pytest.approx(shares, abs=0.15) for name, shares in SHARES.items()
    }
