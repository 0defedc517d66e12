# SPDX-License-Identifier: Apache-2.0
"""The host of unit tests stays as it is: another suite's tests set host states meanwhile, and take a processor away."""

from functools import cache

import pytest

from steelyard.host.facts import read_facts
from steelyard.results.schema import HostFacts

READERS = ("gate.elsewhere", "gate.plan", "session.earlier", "session.opening")
"""Modules that compare this host with that of a record."""
REAL = ("alone", "e2e", "containers")
"""Marks of tests that are of the host as it is."""


@cache
def facts_at_first() -> HostFacts:
    """This host as the first test found it."""
    return read_facts()


@pytest.fixture(autouse=True)
def _one_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not any(map(request.node.get_closest_marker, REAL)):
        for module in READERS:
            monkeypatch.setattr(f"steelyard.{module}.read_facts", facts_at_first)
