# SPDX-License-Identifier: Apache-2.0
"""Figures over commits: one small JSON file for each session, series of them, and where a series changes.

    sessions -> entries in a folder (which may be the work tree of a git branch) -> series: one metric of one workload,
    load and host -> change points -> those that a person has acknowledged, and those that nobody has

A figure of another day is compared with nothing by itself: sessions differ by what their hosts do that day, and a
change point is what stands out of just that. Figures of different hosts or kernels never stand in one series. Change
points are found by optimal partitioning (`analysis/changepoint.py`), which weighs mean and variance of each side.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from pydantic import Field

from steelyard.analysis.changepoint import changes
from steelyard.analysis.estimates import summarise, values_of
from steelyard.analysis.rounds import valid_trials
from steelyard.errors import BadInput
from steelyard.gate.conditions import conditions_of
from steelyard.measure.network import network_of
from steelyard.measure.registry import metric_info
from steelyard.paths import is_there
from steelyard.results.figures import change, with_unit
from steelyard.results.gate import GateResult
from steelyard.results.schema import FORMAT_VERSION, Session, Trial
from steelyard.results.spec import Record
from steelyard.results.store import read_record, write_record
from steelyard.yamlfile import Model, read_yaml

SHORTEST = 4
"""Entries that a change has to last: fewer are an outlier, or have too little variance to speak of."""
PENALTY = 6.0
"""Of a change point / ln(entries): 1 % of unchanged series of 10 to 100 entries then have one (docs/history.md)."""
FLOOR = 0.003**2
"""Variance below which parts of a series count as equal: no change of less than about half a per cent is told."""
ACKNOWLEDGED = "acknowledged.yaml"


class MetricSummary(Record):
    """A metric of one session: over its valid trials."""

    mean: float
    n: int
    sd: float | None


class Entry(Record):
    """What is kept of a session."""

    format_version: int = FORMAT_VERSION
    session: str
    time: float
    commit: str | None
    """Of what was weighed; None: nobody said."""
    workload: str
    """Name and version."""
    experiment: str
    arm: str
    conditions: str
    """Engine, procedure, load, deployment, settings of the host (SMT, governor, turbo, THP, scheduler), the network
    path and all others: figures of others are another series."""
    host: str
    """Fingerprint of the host, or of the pool of hosts that it belongs to, and its kernel."""
    host_told: str
    jvm: str
    metrics: dict[str, MetricSummary]
    outcome: str | None = None
    """Of a gate: its verdict."""
    sentence: str | None = None

    @property
    def key(self) -> str:
        """Its name in the history. Runners that start in the same second name their sessions alike: the workload tells
        those of one night apart."""
        return f"{self.session}-{self.workload.split()[0]}-{self.arm}"


class ChangePoint(NamedTuple):
    """A change point."""

    metric: str
    entry: Entry
    """The first one after it."""
    before: float
    after: float
    harmful: bool | None
    """None: neither direction is better."""
    acknowledged: str | None
    """Why it is all right, as somebody wrote; None: nobody has."""


class MetricSeries(NamedTuple):
    """One metric of one thing on one host, in the order of time."""

    metric: str
    entries: list[Entry]
    changes: list[ChangePoint]

    @property
    def title(self) -> str:
        """For people."""
        last = self.entries[-1]
        return f"{metric_info(self.metric).label}: {last.workload}, {last.experiment}, {last.arm}"


class Acknowledged(Model):
    """A change that is known, with the reason."""

    session: str
    """The first session after it, as `history check` names it."""
    metric: str | None = None
    """Left out: every metric that changed there."""
    workload: str | None = None
    """By name; left out: every workload that changed there."""
    why: str = Field(min_length=3)


class AcknowledgedFile(Model):
    """The file of acknowledged changes: it is reviewed like code."""

    acknowledged: list[Acknowledged] = Field(default_factory=list)


def entry_of(
    session: Session,
    trials: Sequence[Trial],
    arm: str | None,
    commit: str | None,
    result: GateResult | None,
    pool: str | None = None,
) -> Entry:
    """What is kept of a session: of a gate its candidate, else its baseline, or the arm that is named.

    `pool` stands for the host's name where many are alike, as in a certificate.

    Raises:
        BadInput: no such arm, or nothing valid of it.
    """
    names = [record.name for record in session.arms]
    chosen = arm or next(record.name for record in session.arms if record.baseline is (session.gate is None))
    if chosen not in names:
        raise BadInput(f"{session.id} has no arm {chosen!r}: there are {', '.join(names)}")
    spec = session.arm(chosen).spec
    valid = valid_trials(trials).get(chosen, {})
    figures = {}
    for name in sorted({name for trial in valid.values() for name in trial.metrics}):
        summary = summarise(values_of(valid, name))
        if summary is not None and summary.mean > 0:
            figures[name] = MetricSummary(mean=summary.mean, n=summary.n, sd=summary.sd)
    if not figures:
        raise BadInput(f"{session.id} has no valid trial of {chosen}: there is nothing to keep")
    where = conditions_of(session.host, spec, pool)
    return Entry(
        session=session.id,
        time=session.created,
        commit=commit or _commit_of(session, chosen),
        workload=where.workload,
        experiment=session.experiment.name + (" --quick" if session.quick else ""),
        arm=chosen,
        conditions=" ".join(
            (
                where.engine,
                where.procedure,
                where.load,
                where.deployment,
                where.host_settings,
                where.settings,
                *filter(None, [network_of(valid.values())]),
            )
        ),
        host=f"{where.host} {where.kernel}",
        host_told=f"{pool or session.host.hostname}: {session.host.cpu_model}, Linux {session.host.kernel}",
        jvm=where.jvm,
        metrics=figures,
        outcome=result.outcome if result is not None else None,
        sentence=result.sentence if result is not None else None,
    )


def _commit_of(session: Session, arm: str) -> str | None:
    """The commit of what was weighed, as far as the session tells: of the project's own build alone. Where another
    commit was built that is it; of somebody else's server the suite's revision says nothing."""
    chosen = session.arm(arm)
    if any(
        server.artifact.build is None or server.artifact.path is not None for server in chosen.spec.servers
    ):
        return None
    build = chosen.settings.get("build")
    return str(build) if build is not None else session.revision


def keep(folder: Path, entry: Entry) -> Path:
    """Write an entry; the same session again replaces it."""
    path = folder / f"{entry.key}.json"
    write_record(path, entry)
    return path


def read_entries(folder: Path) -> list[Entry]:
    """Every entry of a folder in the order of time (raises BadInput)."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise BadInput(f"{folder} holds no entry: `./steelyard history add` puts the first one there")
    return sorted((read_record(path, Entry) for path in paths), key=lambda entry: (entry.time, entry.session))


def read_acknowledged(folder: Path) -> list[Acknowledged]:
    """The acknowledged changes of a folder (raises BadInput, with the line)."""
    path = folder / ACKNOWLEDGED
    return read_yaml(path, AcknowledgedFile, "a list of changes")[0].acknowledged if is_there(path) else []


def series_of(
    entries: Iterable[Entry], known: Sequence[Acknowledged], names: Sequence[str]
) -> list[MetricSeries]:
    """The series of these metrics, with their change points."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        key = (entry.workload, entry.experiment, entry.arm, entry.conditions, entry.host)
        groups.setdefault(key, []).append(entry)
    return [
        MetricSeries(name, measured, _changes(name, measured, known))
        for name in names
        for group in groups.values()
        if (measured := [entry for entry in group if name in entry.metrics])
    ]


def _changes(name: str, entries: Sequence[Entry], known: Sequence[Acknowledged]) -> list[ChangePoint]:
    values = [entry.metrics[name].mean for entry in entries]
    if len(values) < 2 * SHORTEST:
        return []
    begins = changes(np.array(values) / median(values), SHORTEST, PENALTY, FLOOR)
    ends = [0, *begins, len(values)]
    better = metric_info(name).better
    points = []
    for at, begin in enumerate(begins):
        before, after = fmean(values[ends[at] : begin]), fmean(values[begin : ends[at + 2]])
        harmful = None if better == "neither" else (after > before) is (better == "lower")
        entry = entries[begin]
        workload = entry.workload.split()[0]
        why = next(
            (
                change.why
                for change in known
                if change.session == entry.session
                and change.metric in (None, name)
                and change.workload in (None, workload)
            ),
            None,
        )
        points.append(ChangePoint(name, entry, before, after, harmful, why))
    return points


def change_sentence(place: ChangePoint) -> str:
    """A change point in a sentence."""
    info = metric_info(place.metric)
    word = {True: "worse", False: "better", None: "another"}[place.harmful]
    commit = f", commit {place.entry.commit}" if place.entry.commit else ""
    return (
        f"{info.label} is {word} from {place.entry.session} on{commit}: {with_unit(info, place.before)} ->"
        f" {with_unit(info, place.after)} ({change(place.after / place.before)})"
        + (f"; acknowledged: {place.acknowledged}" if place.acknowledged else "")
    )


def spread(series: MetricSeries) -> float | None:
    """Standard deviation from session to session between change points, relative; None with fewer than three."""
    values = [entry.metrics[series.metric].mean for entry in series.entries]
    firsts = [series.entries.index(place.entry) for place in series.changes]
    parts = [values[a:b] for a, b in zip([0, *firsts], [*firsts, len(values)], strict=True)]
    squares = [(value / fmean(part) - 1) ** 2 for part in parts for value in part]
    free = len(values) - len(parts)
    return math.sqrt(math.fsum(squares) / free) if free >= 2 else None
