# SPDX-License-Identifier: Apache-2.0
"""Gates of known pairs: sessions with terms, and trials whose figures are given."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from builders import make_session, make_trial

from steelyard.gate.interim import INTERIM_PAIRS
from steelyard.results.schema import GateTerms, Session, Trial
from steelyard.session.schedule import make_stages

BASE, NEW = "jvms-1", "jvms-2"
WOBBLE = [-1.0, 1.0, -0.5, 0.5, -0.2, 0.2, 0.8, -0.8, 0.1, -0.1] * 2
"""Of log ratios, in units of a spread; means over the first 6, 10 and 20 are zero."""


def terms(**changes: Any) -> GateTerms:
    fields: dict[str, Any] = {
        "margin": 0.03,
        "looks": [*INTERIM_PAIRS],
        "floor": 0.02,
        "certificate": "ping.json",
        "sides": {"baseline": "main", "candidate": "change"},
    }
    return GateTerms(**(fields | changes))


def gate(primary: str = "cpu_per_1k", **changes: Any) -> Session:
    made = make_session(
        [1, 2], INTERIM_PAIRS[-1], metrics={"primary": primary, "report": ["throughput", "memory_rss"]}
    )
    return made.model_copy(
        update={
            "gate": terms(**changes),
            "schedule": make_stages([BASE, NEW], INTERIM_PAIRS, 7),
            "experiment": made.experiment.model_copy(update={"name": "gate", "title": "gate"}),
        }
    )


def pairs(
    change: float, spread: float = 0.003, blocks: int = 6, metric: str = "cpu_per_1k", **beside: float
) -> list[Trial]:
    """Trials whose candidate differs by a true change; `beside`: changes of other metrics."""
    return of_logs([math.log1p(change) + spread * WOBBLE[at % 20] for at in range(blocks)], metric, **beside)


def of_logs(logs: Sequence[float], metric: str = "cpu_per_1k", **beside: float) -> list[Trial]:
    rng = np.random.default_rng(3)
    made: list[Trial] = []
    for at, log in enumerate(logs):
        for arm, own in ((BASE, 0.0), (NEW, log)):
            more = {
                name: 100 * math.exp((math.log1p(size) if arm == NEW else 0) + rng.normal(0, 0.002))
                for name, size in beside.items()
            }
            begin = 100.0 * len(made)
            made.append(
                make_trial(
                    at + 1,
                    arm,
                    order=len(made),
                    started=begin,
                    phases={"measure": (begin + 10, begin + 20), "collect": (begin + 20, begin + 50)},
                    metrics={metric: 0.4 * math.exp(own), **more},
                )
            )
    return made
