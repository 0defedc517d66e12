# SPDX-License-Identifier: Apache-2.0
"""Negative controls of a gate: figures that its change cannot touch, which are watched all the same (pure).

Where one of them moves, something else than the change moved between the two sides, and what the gate would answer may
come of that: Lipsitch, Tchetgen and Cohen, Epidemiology, 2010. What a change of the application asks of its database is
part of the change; what another JVM, another JDK or another setting of either asks of it is not.
"""

import math
from collections.abc import Sequence

from steelyard.analysis.carry_over import logs_by_place
from steelyard.analysis.estimates import values_of
from steelyard.analysis.paired import CLEARLY, paired_test, ratio_of
from steelyard.analysis.rounds import valid_trials
from steelyard.gate.interim import arms_of
from steelyard.measure.registry import metric_info
from steelyard.results.figures import percent
from steelyard.results.schema import Session, Trial
from steelyard.results.spec import Spec

CONTROLS = ("cpu_per_1k_database", "cpu_per_1k_service")
"""CPU per request of what runs beside the servers and is the same on both sides."""


def runs_one_application(first: Spec, second: Spec) -> bool:
    """Whether two sides run the same application, so that they ask the same of what is beside it."""

    def application(spec: Spec) -> list[tuple[object, ...]]:
        own = [
            (server.artifact.package, server.artifact.build, server.artifact.image) for server in spec.servers
        ]
        return [*own, (spec.workload, spec.workload_version, str(spec.settings))]

    return application(first) == application(second) and all(
        server.artifact.form != "command" and server.artifact.image is None for server in first.servers
    )


def moved_controls(session: Session, trials: Sequence[Trial]) -> list[str]:
    """Each control that moved, a phrase: at 1 % together, and what nobody measured is none."""
    first, second = (arm.spec for arm in session.arms)
    if not runs_one_application(first, second):
        return []
    valid = valid_trials(trials)
    baseline, candidate = arms_of(session)
    phrases = []
    for name in CONTROLS:
        base, mine = (values_of(valid.get(arm, {}), name) for arm in (baseline, candidate))
        core = paired_test([*logs_by_place(mine, base).values()], CLEARLY / len(CONTROLS))
        if core is None or core.is_tied or core.low <= 0 <= core.high:
            continue
        low, high = (percent(math.expm1(bound), sign=True) for bound in (core.low, core.high))
        level = percent(1 - CLEARLY / len(CONTROLS))
        phrases.append(
            f"{metric_info(name).label} moved by {percent(ratio_of(core.mean) - 1, sign=True)} ({low} to {high},"
            f" {level}), which this change cannot touch"
        )
    return phrases
