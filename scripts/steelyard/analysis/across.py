# SPDX-License-Identifier: Apache-2.0
"""Two sessions of one experiment from two hosts, side by side (pure). What goes through:

    two sessions -> what may not differ and does (then nothing is compared)
                 -> the effects of each arm on either host, and how far apart the two are
                 -> throughput of each arm per core, per GiB, and per unit of price or watt that the user gives

Two hosts differ in everything, so nothing here says why a figure is what it is. Intervals are over the blocks of a
session: what another day on the same host would give is not in them. The distance of two effects is Welch's
(Biometrika, 1947, with Satterthwaite's degrees of freedom): the sessions are independent, and their spreads differ.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from steelyard.analysis.estimates import few_switches, values_of
from steelyard.analysis.findings import is_inconclusive
from steelyard.analysis.paired import LEVEL, TIED, paired_test, ratio_of, t_quantile
from steelyard.analysis.rounds import valid_trials
from steelyard.measure.network import network_of
from steelyard.measure.requests import THROUGHPUT
from steelyard.results.analysis import Analysis, Estimate
from steelyard.results.schema import Session, Trial
from steelyard.units import MIB, format_value, shorten

MEMORY = "memory_rss"
GIB = 1024 * MIB
_OWN = {"jdk", "build"}
"""Settings that name a place or a build of one host; what they lead to is compared instead."""
AUTHORITY = "cluster, by its certificate authority"
"""Among the versions of a session's parts: which cluster it was."""
_HARNESS = {"python", "numpy", "scipy", "docker", "docker compose", "kubectl", "kubernetes", AUTHORITY}
"""Versions that no figure depends on as it does on those of servers, injectors and the suite; and which cluster it was,
which is what two hosts are compared by."""


@dataclass(frozen=True)
class Side:
    """A session and what its user says of its host."""

    session: Session
    analysis: Analysis
    trials: Sequence[Trial]
    given: Mapping[str, float] = field(default_factory=dict)
    """`cores` instead of the servers' own, `price`, `watts`."""


class IntervalEstimate(NamedTuple):
    """A figure with its 95 % interval; None: too few trials, or no spread."""

    value: float
    low: float | None
    high: float | None
    n: int


class Effect(NamedTuple):
    """An arm against the baseline, on either host."""

    metric: str
    arm: str
    first: Estimate | None
    second: Estimate | None
    apart: IntervalEstimate | None
    """The second host's effect / the first one's."""


def differences(first: Session, second: Session) -> list[str]:
    """What makes two sessions answers to two questions, one line each; empty where they may be set side by side."""
    sides = first, second
    aspects = zip(*(_aspects(side).items() for side in sides), strict=True)
    lines = [line for (subject, a), (_, b) in aspects for line in _differ(subject, a, b)]
    if (a := first.experiment.name) != (b := second.experiment.name):
        lines.insert(0, f"the experiment: {a} and {b}")
    marks = {(side.id, side.created, side.seed, side.host.hostname) for side in sides}
    if len(marks) == 1:
        lines.append("they are one session")
    if first.experiment.search is not None:
        lines.append("it is a search, whose trials have loads of their own")
    arms = [{arm.name: arm for arm in side.arms} for side in sides]
    shared = [name for name in arms[0] if name in arms[1]]
    if len(shared) < 2 and not lines:
        lines.append(f"the arms: {', '.join(arms[0])} and {', '.join(arms[1])}")
    for name in shared:
        first_arm, second_arm = (_resolve(side[name].settings, side[name].spec) for side in arms)
        lines += _differ(name, first_arm, second_arm)
    return list(dict.fromkeys(lines))


def host_differences(first: Side, second: Side) -> tuple[list[str], list[str]]:
    """What of two hosts is no property of their hardware: what makes their figures answers to two questions (the
    network path of the requests), and what belongs beside them (the kernel's scheduler)."""
    paths = [network_of(side.trials) for side in (first, second)]
    schedulers = [side.session.host.extra.get("scheduler") for side in (first, second)]
    path_differs = all(paths) and paths[0] != paths[1]
    return (
        [f"the network path to the servers: {paths[0]} and {paths[1]}"] if path_differs else [],
        [f"kernel schedulers: {schedulers[0] or 'unknown'} and {schedulers[1] or 'unknown'}"]
        if schedulers[0] != schedulers[1]
        else [],
    )


def _aspects(session: Session) -> dict[str, Any]:
    """What has to be the same, arms left out."""
    search = session.experiment.search
    return {
        "the workload": session.workload.model_dump(mode="json"),
        "the procedure": session.experiment.procedure,
        "the load": session.experiment.load.model_dump(mode="json"),
        "the primary metric": session.experiment.metrics.primary,
        "quick": session.quick,
        "the search": search.model_dump(mode="json", by_alias=True) if search is not None else None,
        "the version of Steelyard": session.steelyard_version,
        "the versions": {name: version for name, version in session.versions.items() if name not in _HARNESS},
        "the baseline": next((arm.name for arm in session.arms if arm.baseline), None),
    }


def _resolve(settings: Mapping[str, Any], spec: Any) -> dict[str, Any]:
    """What an arm deploys, without what names a place of its host: settings, data, JVMs, builds and images."""
    deployment = {key: value for key, value in settings.get("deployment", {}).items() if key not in _OWN}
    runs = {
        component.kind: {
            "build": component.artifact.build,
            "image": (component.artifact.image or "").partition("@")[0],
            "JVM": f"{jvm.kind} {jvm.java_version}" if (jvm := component.artifact.jvm) else None,
        }
        for component in spec.components
    }
    return {
        "deployment": deployment,
        "load": spec.load.model_dump(mode="json"),
        "mix": spec.mix,
        "procedure": spec.procedure,
        "settings": settings.get("settings"),
        "workload's settings": spec.settings,
        "topology": spec.topology,
        "engine": spec.engine,
        "runs": runs,
    }


def _differ(subject: str, first: Any, second: Any) -> Iterator[str]:
    """The innermost places at which two documents differ, with both values."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys([*first, *second]):
            yield from _differ(f"{subject}: {key}", first.get(key), second.get(key))
    elif first != second:
        shown = (shorten(format_value(value)) for value in (first, second))
        yield f"{subject}: {' and '.join(shown)}"


def effects(first: Side, second: Side) -> list[Effect]:
    """The effects of the arms that both sessions have, of the primary metric and those that are reported."""
    asked = first.session.experiment.metrics
    arms = [
        arm for arm in first.analysis.arms if arm in second.analysis.arms and arm != first.analysis.baseline
    ]
    reported = [name for name in dict.fromkeys(asked.report) if name != asked.primary]
    effects_found = []
    for family in ([asked.primary], reported):
        members = [
            Effect(name, arm, _of(first, name, arm), _of(second, name, arm), None)
            for name in family
            for arm in arms
        ]
        tested = sum(_effect_ratio(effect) is not None for effect in members)
        effects_found += [effect._replace(apart=_effect_ratio(effect, tested)) for effect in members]
    return effects_found


def _of(side: Side, metric: str, arm: str) -> Estimate | None:
    return side.analysis.estimates.get(metric, {}).get(arm)


def _effect_ratio(effect: Effect, comparisons: int = 1) -> IntervalEstimate | None:
    """As one of so many comparisons (Bonferroni), so that the intervals of a family are simultaneous; None where either
    host's is inconclusive."""
    first, second = effect.first, effect.second
    if first is None or second is None or few_switches(first) or few_switches(second):
        return None
    if is_inconclusive(first) or is_inconclusive(second):
        return None
    level = LEVEL / max(1, comparisons)
    valid = welch(_logs(first.ratios), _logs(second.ratios), level)
    everything = welch(_logs(first.left_in or first.ratios), _logs(second.left_in or second.ratios), level)
    if valid is None or valid.low is None or everything is None or everything.low is None:
        return valid
    # As `simultaneous` does: the interval holds that with the void trials left in.
    ends = [end for each in (valid, everything) for end in (each.low, each.high) if end is not None]
    return valid._replace(low=min(ends), high=max(ends))


def _logs(ratios: Sequence[float]) -> list[float]:
    return [math.log(ratio) for ratio in ratios]


def welch(first: Sequence[float], second: Sequence[float], level: float = LEVEL) -> IntervalEstimate | None:
    """exp(mean of the second - mean of the first), with Welch's interval; None with fewer than two values of either."""
    a, b = paired_test(first), paired_test(second)
    if a is None or b is None:
        return None
    distance, parts = b.mean - a.mean, [(side.sd**2 / side.n, side.n - 1) for side in (a, b)]
    variance = math.fsum(part for part, _ in parts)
    count = a.n + b.n
    if variance <= TIED**2:
        return IntervalEstimate(ratio_of(distance), None, None, count)
    freedom = variance**2 / math.fsum(part**2 / df for part, df in parts)
    half = t_quantile(1 - level / 2, freedom) * math.sqrt(variance)
    return IntervalEstimate(ratio_of(distance), ratio_of(distance - half), ratio_of(distance + half), count)


def yields(side: Side) -> dict[str, dict[str, IntervalEstimate]]:
    """Throughput of each arm as it is (`throughput`), per `core` that its servers had (or that the user gives), per
    `GiB` of their memory, and per `price` and `watt` where the user gives them; arms without throughput left out."""
    yields_by_arm: dict[str, dict[str, IntervalEstimate]] = {}
    trials = valid_trials(side.trials)
    for arm in side.session.arms:
        rates = values_of(trials.get(arm.name, {}), THROUGHPUT)
        memory = values_of(trials.get(arm.name, {}), MEMORY)
        cores = side.given.get("cores", float(arm.spec.server_cores))
        per = {THROUGHPUT: list(rates.values()), "core": [rate / cores for rate in rates.values()]}
        per["GiB"] = [rate / (memory[place] / GIB) for place, rate in rates.items() if memory.get(place)]
        for name, key in (("price", "price"), ("watt", "watts")):
            if key in side.given:
                per[name] = [rate / side.given[key] for rate in rates.values()]
        known = {name: interval for name, values in per.items() if (interval := _mean(values)) is not None}
        if known:
            yields_by_arm[arm.name] = known
    return yields_by_arm


def _mean(values: Sequence[float]) -> IntervalEstimate | None:
    """Geometric mean with Student's interval over trials; None without values above zero."""
    if not values or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    core = paired_test(logs)
    if core is None or core.is_tied:
        return IntervalEstimate(math.exp(math.fsum(logs) / len(logs)), None, None, len(logs))
    return IntervalEstimate(math.exp(core.mean), ratio_of(core.low), ratio_of(core.high), core.n)
