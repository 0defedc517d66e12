# SPDX-License-Identifier: Apache-2.0
"""How much load this host takes, where an experiment loads it by a share of that: what the user states, else what the
newest search of the rate found here, else what the file states."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from steelyard.analysis.search import value_text
from steelyard.errors import SteelyardError
from steelyard.experiment.loader import LoadedExperiment
from steelyard.host.facts import is_same_host, read_facts
from steelyard.results.schema import HostFacts, Session
from steelyard.results.store import SessionDirectory

SETTING = "capacity"
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


def with_capacity(question: LoadedExperiment, results: Path | None, *, stated: bool) -> LoadedExperiment:
    """The question with the capacity that is known here, and a sentence on where it is from.

    Args:
        question: as its file and the command line have it.
        results: folder of earlier sessions; None: there is none.
        stated: whether the user says the capacity: it is not looked for then.
    """
    load = question.experiment.load
    if load.capacity is None:
        return question
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
    return max(_searches(question, results, read_facts()), default=None)


def _searches(question: LoadedExperiment, results: Path, host: HostFacts) -> Iterator[Capacity]:
    for path in results.glob("*/analysis.json"):
        # What another version or an editor left there is passed over, whatever is wrong with it.
        with suppress(SteelyardError, LookupError, TypeError, ValueError):
            directory = SessionDirectory(path.parent)
            session, analysis = directory.session(), directory.analysis()
            if not is_same_host(session.host, host) or not _is_alike(session, question):
                continue
            for search in analysis.searches:
                if search.arm == analysis.baseline and search.varies == "rate" and search.value is not None:
                    rate = float(f"{search.value:.3g}")
                    yield Capacity(session.created, session.id, rate, _jvm(session))


def _jvm(session: Session) -> str:
    baseline = next(arm for arm in session.arms if arm.baseline)
    jvms = {server.artifact.jvm for server in baseline.spec.servers} - {None}
    return (
        f" on {', '.join(sorted(f'{jvm.vm_name} {jvm.runtime_version}' for jvm in jvms if jvm))}"
        if jvms
        else ""
    )


def _is_alike(session: Session, question: LoadedExperiment) -> bool:
    """Whether the baseline of a session has the servers that the question has."""
    workload, own, its = (
        question.workload.workload,
        question.experiment.deployment,
        session.experiment.deployment,
    )
    jvms = next(arm for arm in session.arms if arm.baseline).levels.get("jvms", its.jvms)
    return (
        (session.workload.name, session.workload.version) == (workload.name, workload.version)
        and all(getattr(its, name) == getattr(own, name) for name in ALIKE)
        and jvms == own.jvms
    )
