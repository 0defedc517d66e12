# SPDX-License-Identifier: Apache-2.0
"""What every output of the report looks at: the session, its trials, its analysis, and how to lay them out."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from steelyard.analysis.best import LOST
from steelyard.analysis.estimates import arm_label
from steelyard.analysis.leading import lead
from steelyard.analysis.moved import MovedTogether, find_moved, moved_sentence
from steelyard.analysis.owners import NONE, has_none
from steelyard.analysis.sentences import answer
from steelyard.escape import printable
from steelyard.jvm.identity import JvmIdentity
from steelyard.measure.formulas import OVERALL
from steelyard.measure.ledger import voiding_checks
from steelyard.report.sampled import SampledProfile
from steelyard.report.verdict import question_of, verdict_lead, verdict_sentences
from steelyard.results import figures
from steelyard.results.analysis import Analysis, Estimate, MetricInfo, Summary
from steelyard.results.gate import GateResult
from steelyard.results.measurement import ComponentResult, Latency
from steelyard.results.schema import ArmRecord, JournalEntry, Session, Trial
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory
from steelyard.units import add_known, format_size

MEMORY, SHARED = "memory_rss", "memory_pss"
_SHARES = 0.05
"""Share of a component's RSS that has to be pages which its processes share for that to be said."""


@dataclass(frozen=True)
class Axis:
    """How the arms lie along a chart: a number line of one factor, or one place for each level."""

    label: str
    numeric: bool
    position: dict[str, float]
    """Arm -> place; the smallest distance between two places is 1."""
    ticks: dict[float, str]
    """Place -> name, in order of place."""
    series: dict[str, list[str]]
    """Name of a series (level of the second factor; "" when there is one) -> its arms in order of place."""

    @property
    def ends(self) -> tuple[float, float]:
        """First and last place of the arms."""
        return min(self.ticks), max(self.ticks)

    @property
    def room(self) -> int:
        """Characters of a line below a tick."""
        return max(8, 44 // len(self.ticks))


class View:
    """One session, ready to be shown."""

    def __init__(
        self,
        session: Session,
        analysis: Analysis,
        trials: Sequence[Trial],
        journal: Sequence[JournalEntry] = (),
        profiles: Mapping[str, Sequence[str]] | None = None,
        sampled: Sequence[SampledProfile] = (),
        verdict: GateResult | None = None,
    ) -> None:
        self.session = session
        self.analysis = analysis
        self.journal = journal
        self.profiles = profiles or {}
        self.sampled = sampled
        self.trials = sorted(trials, key=lambda trial: trial.order)
        self.void = [trial for trial in self.trials if trial.state == "void"]
        self.experiment = session.experiment
        self.title = printable(self.experiment.title)
        self.study = self.experiment.study
        self.created = moment(session.created)
        self.arms = session.arms
        self.baseline = analysis.baseline
        self.specs: dict[str, Spec] = {arm.name: arm.spec for arm in session.arms}
        self.procedure = session.arms[0].spec.procedure
        self.verdict = verdict
        self.question = question_of(session)
        # A gate has a rule of its own, and the answer of an experiment may differ from it.
        if verdict is not None:
            self.lead, self.answer = verdict_lead(verdict), verdict_sentences(session, verdict)
        else:
            self.lead, self.answer = lead(session, analysis), answer(session, analysis)

    @cached_property
    def evidence(self) -> list[MovedTogether]:
        """What moved together with each effect beyond noise."""
        return find_moved(self.session, self.analysis, self.trials)

    @cached_property
    def moved_sentences(self) -> list[str]:
        """The first of it, of the primary metric."""
        primary = (moved for moved in self.evidence if moved.effect.metric == self.analysis.primary)
        return [moved_sentence(self.session, moved) for moved in primary]

    # The question

    @property
    def holds_share(self) -> bool:
        """Whether it searches for the load that holds a share of the servers' CPUs: no trial passes or fails."""
        search = self.experiment.search
        return search is not None and search.hold is not None

    @property
    def host_line(self) -> str:
        """The host and its JVM in one line."""
        host = self.session.host
        smt = f", {figures.count(host.cpus, 'hardware thread')}" if host.cpus != host.cores else ""
        parts = [host.hostname, f"{host.cpu_model} ({host.architecture})"]
        parts += [f"{figures.count(host.cores, 'core')}{smt}", f"{format_size(host.memory_bytes)} of memory"]
        jvms = " / ".join(dict.fromkeys(f"{jvm.vm_name} {jvm.java_version}" for jvm in self.jvms))
        return " · ".join([*parts, jvms] if jvms else parts)

    @cached_property
    def jvms(self) -> list[JvmIdentity]:
        """JVMs that the servers ran on, each once."""
        jvms = [server.artifact.jvm for spec in self.specs.values() for server in spec.servers]
        return list({jvm.model_dump_json(): jvm for jvm in jvms if jvm is not None}.values())

    @cached_property
    def shared_memory(self) -> dict[str, ComponentResult]:
        """Components whose processes share memory, each as the first valid trial that shows it has it."""
        shared: dict[str, ComponentResult] = {}
        for part in (part for trial in self.trials if trial.state == "valid" for part in trial.components):
            rss, pss = part.value("rss_mean") or 0, part.value("pss_mean") or 0
            if (part.value("processes") or 0) >= 1.5 and pss and pss <= (1 - _SHARES) * rss:
                shared.setdefault(part.name, part)
        return shared

    # Arms and factors

    def factor_label(self, name: str) -> str:
        """A factor for people."""
        factor = self.experiment.factors.get(name)
        label = factor.label if factor is not None else None
        return printable(label or name.replace("_", " "))

    @cached_property
    def factors(self) -> list[str]:
        """Factors that vary in this session."""
        names = dict.fromkeys(name for arm in self.arms for name in arm.levels)
        return [name for name in names if len(self._levels(name)) > 1]

    def constant(self, leave_out: Collection[str]) -> list[str]:
        """Factors that are the same in every arm of this session, and their level."""
        first, *others = self.arms
        return [
            f"{self.factor_label(name)} {level_text(level)}"
            for name, level in first.levels.items()
            if name not in leave_out and others and all(arm.levels.get(name) == level for arm in others)
        ]

    def numeric(self, factor: str) -> bool:
        """Whether every arm has a number of this factor."""
        return _numeric(arm.levels.get(factor) for arm in self.arms)

    def _levels(self, factor: str) -> list[Any]:
        return list(dict.fromkeys(arm.levels[factor] for arm in self.arms if factor in arm.levels))

    def arm_index(self, arm: str) -> int:
        """Place of an arm in the session, from 0."""
        return next(index for index, record in enumerate(self.arms) if record.name == arm)

    def arm_label(self, arm: str) -> str:
        """An arm in the experiment's words."""
        return printable(arm_label(self.session, arm))

    @property
    def arm_heading(self) -> str:
        """Heading of a column of `arm_short`."""
        return self.factor_label(self.factors[0]) if len(self.factors) == 1 else "arm"

    def arm_short(self, arm: str) -> str:
        """An arm where the heading names the factor: the level alone, if there is one factor."""
        if len(self.factors) != 1:
            return self.arm_label(arm)
        return self.level(self.session.arm(arm), self.factors[0])

    def level(self, arm: ArmRecord, factor: str) -> str:
        """A level of an arm for people; a dash where the arm does not have the factor."""
        return level_text(arm.levels[factor]) if factor in arm.levels else figures.DASH

    @cached_property
    def axis(self) -> Axis:
        """One axis for all charts over arms."""
        levels_of = {name: self._levels(name) for name in self.factors}
        names = sorted(levels_of, key=lambda name: (not _numeric(levels_of[name]), -len(levels_of[name])))
        if len(names) not in (1, 2) or any(set(names) - set(arm.levels) for arm in self.arms):
            places = {arm.name: float(i) for i, arm in enumerate(self.arms)}
            ticks = {place: self.arm_label(arm) for arm, place in places.items()}
            return Axis("", False, places, ticks, {"": [arm.name for arm in self.arms]})
        along, levels = names[0], levels_of[names[0]]
        numeric = _numeric(levels)
        order = [float(level) if numeric else float(i) for i, level in enumerate(levels)]
        if numeric and min(order) > 0 and max(order) / min(order) > 20:
            order = [math.log(place) for place in order]
        gap = min((b - a for a, b in pairwise(sorted(order))), default=1.0)
        place_of = {level: place / gap for level, place in zip(levels, order, strict=True)}
        places = {arm.name: place_of[arm.levels[along]] for arm in self.arms}
        series: dict[str, list[str]] = {}
        for arm in sorted(self.arms, key=lambda arm: places[arm.name]):
            second = [f"{self.factor_label(name)} = {level_text(arm.levels[name])}" for name in names[1:]]
            series.setdefault("".join(second), []).append(arm.name)
        ticks = {place: level_text(level) for level, place in sorted(place_of.items(), key=lambda x: x[1])}
        return Axis(self.factor_label(along), numeric, places, ticks, series)

    # Figures

    @cached_property
    def measured_metrics(self) -> list[MetricInfo]:
        """Metrics that at least one arm has a figure of."""
        summaries = self.analysis.summaries
        return [m for m in self.analysis.metrics if any(s.n for s in summaries.get(m.name, {}).values())]

    def measured_metric(self, name: str) -> MetricInfo | None:
        """One of them; None: it is none, or no arm has a figure of it."""
        return next((metric for metric in self.measured_metrics if metric.name == name), None)

    @cached_property
    def headline(self) -> list[MetricInfo]:
        """The primary metric, then those that the experiment reports."""
        wanted = [self.analysis.primary, *self.experiment.metrics.report]
        if self.shared_memory and MEMORY in wanted:
            wanted.insert(wanted.index(MEMORY), SHARED)
        # Without a valid trial the void ones still show: as crosses, and as dashes in the table.
        shown = self.measured_metrics or ([] if self.analysis.searches else self.analysis.metrics)
        known = {metric.name: metric for metric in shown}
        return [known[name] for name in dict.fromkeys(wanted) if name in known]

    @cached_property
    def charted_metrics(self) -> list[MetricInfo]:
        """Metrics that get charts of their own: the headline, and always memory."""
        name = SHARED if self.shared_memory else MEMORY
        memory = [m for m in self.measured_metrics if m.name == name and m not in self.headline]
        return [*self.headline[:1], *memory, *self.headline[1:]]

    @cached_property
    def whose(self) -> str:
        """Whose memory and CPU the sums of this session are."""
        return (
            "servers and JITServer" if any(spec.of("compiler") for spec in self.specs.values()) else "servers"
        )

    def has_none(self, metric: str, arm: str) -> bool:
        """Whether a metric is of components that an arm does not have."""
        return has_none(metric, self.specs[arm])

    def why_no_mean(self, metric: str, arm: str) -> str:
        """Why a metric of an arm has no mean: nothing valid, or a share that some trials never reached."""
        if self.has_none(metric, arm):
            return NONE
        valid = any(trial.arm == arm and trial.state == "valid" for trial in self.trials)
        if some := self.partly(metric, arm):
            return f"in {some[0]} trials only"
        return "not in every trial" if valid else "no valid trial"

    def partly(self, metric: str, arm: str) -> tuple[str, Summary] | None:
        """In how many trials an arm came to a figure that others never came to, `5 of 6`, and those figures."""
        summary = self.analysis.partly.get(metric, {}).get(arm)
        held = self.summary(LOST, arm)
        return (f"{summary.n} of {held.n}", summary) if summary is not None and held is not None else None

    def summary(self, metric: str, arm: str) -> Summary | None:
        """A metric of an arm over its valid trials; None without any."""
        summary = self.analysis.summaries.get(metric, {}).get(arm)
        return summary if summary is not None and summary.n else None

    def points(self, metric: str, arm: str) -> list[tuple[int, float, bool]]:
        """Block, figure, and whether it is valid: what the summary is made of, and what void trials had."""
        summary = self.summary(metric, arm)
        valid = zip(summary.blocks, summary.values, strict=True) if summary is not None else ()
        void = [(t.block, t.metrics.get(metric, math.nan), False) for t in self.of_arm(arm, valid=False)]
        return [*((*point, True) for point in valid), *(point for point in void if math.isfinite(point[1]))]

    def estimate(self, metric: str, arm: str) -> Estimate | None:
        """A metric of an arm against the baseline; None for the baseline itself."""
        return self.analysis.estimates.get(metric, {}).get(arm)

    def known_metrics(self, *names: str) -> list[MetricInfo]:
        """Those of these metrics that were measured, in this order."""
        known = {metric.name: metric for metric in self.measured_metrics}
        return [known[name] for name in names if name in known]

    @cached_property
    def operations(self) -> list[str]:
        """Operations that any trial has a latency of; none of a search, whose trials have different loads, and none of
        starts, whose first answers are told one by one."""
        if self.analysis.searches or self.procedure == "start-up":
            return []
        names = dict.fromkeys(name for trial in self.trials for name in trial.latency)
        return [name for name in names if name != OVERALL]

    def latencies(self, arm: str, operation: str) -> list[Latency]:
        """Latency of an operation in each valid trial of an arm."""
        return [t.latency[operation] for t in self.of_arm(arm, valid=True) if operation in t.latency]

    def count(self, arm: str, operation: str, key: str) -> int | None:
        """One of `OperationCounts` in the valid trials of an arm together; None: a trial has none."""
        measured = [trial.measurement for trial in self.of_arm(arm, valid=True) if trial.measurement]
        operations = [each.operations.get(operation) for each in measured]
        counts: list[int | None] = [None if each is None else getattr(each, key) for each in operations]
        return add_known(counts)

    def of_arm(self, arm: str, *, valid: bool | None = None) -> list[Trial]:
        """Trials of an arm in order of time."""
        return [t for t in self.trials if t.arm == arm and (valid is None or (t.state == "valid") == valid)]


def moment(epoch: float) -> str:
    """A time of day for people: `2026-11-20 12:30 UTC`."""
    return datetime.fromtimestamp(epoch, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")


def level_text(level: object) -> str:
    """A level as it is written in an experiment file."""
    if isinstance(level, bool):
        return "on" if level else "off"
    return f"{level:,g}" if isinstance(level, float) else printable(str(level))


def trial_name(trial: Trial) -> str:
    """A trial for people: `block 3, jvms-4` and, for a repeat, `(repeat 1)`; of a search with its place in it."""
    if trial.value is not None:
        return f"block {trial.block}, {trial.arm}, trial {trial.attempt + 1}"
    repeat = f" (repeat {trial.attempt})" if trial.attempt else ""
    return f"block {trial.block}, {trial.arm}{repeat}"


def trial_directory(trial: Trial) -> str:
    """Where a trial lies in its session directory."""
    directory = SessionDirectory(Path())
    path = directory.trial_path(trial.block, trial.arm, trial.attempt)
    return path.relative_to(directory.path).as_posix()


def why_void(trial: Trial) -> str:
    """Why a trial is void, in the ledger's own sentences."""
    reasons = [trial.failure.detail] if trial.failure else []
    reasons += [check.detail for check in voiding_checks(trial.checks)]
    # A trial that did not start has its failure as a check as well.
    texts = dict.fromkeys(map(str.strip, reasons))
    ended = (text if text.endswith((".", "!", "?")) else f"{text}." for text in texts)
    return " ".join(ended) or "No reason was recorded."


def _numeric(levels: Iterable[Any]) -> bool:
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)
