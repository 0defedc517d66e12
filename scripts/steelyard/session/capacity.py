# SPDX-License-Identifier: Apache-2.0
"""How much load this host takes, where an experiment loads it by a share of that: what the user states, else what the
newest search of the rate found here, else what the file states."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from steelyard.analysis.search import value_text
from steelyard.experiment.loader import LoadedExperiment
from steelyard.results.schema import ArmRecord, Session
from steelyard.session.earlier import sessions_here

ALIKE = ("engine", "topology", "cores", "total_heap", "memory", "total_memory", "cpus")
"""What the servers of the search had to have as the experiment's own; and as many JVMs."""


class Capacity(NamedTuple):
    """What a search found."""

    created: float
    session: str
    rate: float
    """Arrivals/s."""
    jvm: str
    """What its servers ran on, as the end of a sentence; empty: not known."""


def with_capacity(question: LoadedExperiment, results: Path | None, given: Sequence[str]) -> LoadedExperiment:
    """The question with the capacity that is known here, and a sentence on where it is from.

    Args:
        question: as its file and the command line have it.
        results: folder of earlier sessions; None: there is none.
        given: settings of the command line; a capacity among them is not looked for.
    """
    load = question.experiment.load
    if load.capacity is None:
        return question
    stated = any(text.partition("=")[0] == "capacity" for text in given)
    capacity = None if stated or results is None else _find(question, results)
    if capacity is None:
        note = (
            f"Loads are shares of {value_text('rate', load.capacity)}, a capacity that was stated and not measured here"
            " (`capacity-rate` measures it, `--set capacity=N` states it)."
        )
        return question._replace(notes=(*question.notes, note))
    rate = value_text("rate", capacity.rate)
    note = f"Loads are shares of {rate}, which session {capacity.session} found here{capacity.jvm}."
    load = load.model_copy(update={"capacity": capacity.rate})
    return question._replace(
        experiment=question.experiment.model_copy(update={"load": load}), notes=(*question.notes, note)
    )


def _find(question: LoadedExperiment, results: Path) -> Capacity | None:
    """The newest search of the rate with the same workload and the same servers on this host that found one."""
    return max(_searches(question, results), default=None)


def _searches(question: LoadedExperiment, results: Path) -> Iterator[Capacity]:
    for session, analysis, _ in sessions_here(question.workload.workload, results):
        baseline = next(arm for arm in session.arms if arm.baseline)
        if _has_servers_of(question, session, baseline):
            for search in analysis.searches:
                if search.arm == baseline.name and search.varies == "rate" and search.value is not None:
                    rate = float(f"{search.value:.3g}")
                    yield Capacity(session.created, session.id, rate, _jvm(baseline))


def _jvm(arm: ArmRecord) -> str:
    jvms = sorted({jvm.full_name for server in arm.spec.servers if (jvm := server.artifact.jvm)})
    return f" on {', '.join(jvms)}" if jvms else ""


def _has_servers_of(question: LoadedExperiment, session: Session, baseline: ArmRecord) -> bool:
    """Whether the baseline of a session has the servers that the question has."""
    own, its = question.experiment.deployment, session.experiment.deployment
    alike = all(getattr(its, name) == getattr(own, name) for name in ALIKE)
    return alike and baseline.levels.get("jvms", its.jvms) == own.jvms
