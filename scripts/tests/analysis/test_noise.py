# SPDX-License-Identifier: Apache-2.0
"""The list of what noise may do to trials of tests on real servers (e2e/noise.py) names checks that there are."""

import pytest
from e2e import noise
from e2e.noise import NOISE, STALLED, Stall, stood_still, void_for_other_reasons_than_noise

from steelyard.measure.registry import RULES
from steelyard.results.schema import Check, Trial

BEFORE_THE_LEDGER = {"start", "sampler"}
"""Checks of a trial that failed before it was judged."""


def trial_of(*checks: str) -> Trial:
    """A trial that failed some checks, as it is recorded."""
    failed = [
        Check(name=name, passed=False, voids=True, value=None, limit=None, unit="", detail="")
        for name in checks
    ]
    nothing: dict[str, object] = {"metrics": {}, "latency": {}, "components": [], "trace": []}
    return Trial.model_validate(
        {
            **nothing,
            "block": 1,
            "arm": "one",
            "attempt": 0,
            "order": 0,
            "state": "void",
            "started": 1000.0,
            "steady": None,
            "phases": {"start": (1000.0, 1010.0)},
            "measurement": None,
            "checks": failed,
        }
    )


def test_it_names_checks_of_the_ledger_each_once() -> None:
    names = {rule.name for rule in RULES}
    assert NOISE.keys() <= names
    assert STALLED.keys() <= names | BEFORE_THE_LEDGER
    assert not NOISE.keys() & STALLED.keys()


def test_most_checks_are_excused_only_while_all_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trial_of("steal", "counts", "operation-mix")
    monkeypatch.setattr(noise._witness, "stalls", [Stall(900.0, 999.0), Stall(1011.0, 1020.0)])
    assert not stood_still(trial)
    assert [text.split(": ")[1] for text in void_for_other_reasons_than_noise([trial])] == [
        "counts",
        "operation-mix",
    ]
    monkeypatch.setattr(noise._witness, "stalls", [Stall(1009.0, 1020.0)])
    assert stood_still(trial)
    assert [text.split(": ")[1] for text in void_for_other_reasons_than_noise([trial])] == ["operation-mix"]
