# SPDX-License-Identifier: Apache-2.0
"""The validity ledger: what voids a trial, each rule with its figure, its limit and one plain sentence.

A rule stands, with its limit, in the file of what it judges (`registry`); the table of docs/metrics.md is written from
them.
"""

from collections.abc import Iterable

from steelyard.measure.registry import RULES
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.schema import Check
from steelyard.results.spec import Spec

PARTNER = "partner"
"""The check that a side of a duet fails beside one that is void: it says nothing of the side itself."""


def judge(measurement: TrialMeasurement, spec: Spec) -> list[Check]:
    """Every rule, in a fixed order; those that do not apply to such a trial say so."""
    return [rule.check(measurement, spec) for rule in RULES]


def is_void(checks: Iterable[Check]) -> bool:
    """Whether a trial with these checks is void: some check that voids has failed."""
    return bool(voiding_checks(checks))


def voiding_checks(checks: Iterable[Check]) -> list[Check]:
    """Those that void a trial and have failed."""
    return [check for check in checks if check.voids and check.has_failed]


def void_by_partner(checks: Iterable[Check]) -> bool:
    """Whether nothing is wrong with a side of a duet but what ran beside it."""
    return any(check.name == PARTNER for check in checks)
