# SPDX-License-Identifier: Apache-2.0
"""Whose a figure of memory or CPU is: the servers', their compilers' (JITServers), or the sum of both (pure).

A sum says in its label whose it is, and its parts stand beside it. A component that an arm does not have adds nothing
to the arm's sum, and has no figure of its own there: none, which is not the same as one that was not measured.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from steelyard.measure.record import metrics_of
from steelyard.measure.registry import ONLY_WITH_COMPILERS, PARTS, ROLES
from steelyard.results import figures
from steelyard.results.analysis import Analysis, MetricInfo
from steelyard.results.schema import Trial
from steelyard.results.spec import MEASURED_ROLES, Spec

NONE = "none"
"""Stands where an arm does not have what a figure is of."""
_SERVERS, _BOTH = "of the servers", "of servers and JITServer"


def info_in_session(info: MetricInfo, specs: Iterable[Spec]) -> MetricInfo:
    """A metric as it is called in a session: where some arm has compilers, a sum says that they are in it."""
    if ROLES.get(info.name) != MEASURED_ROLES or not any(spec.of("compiler") for spec in specs):
        return info
    return info.model_copy(update={"label": info.label.replace(_SERVERS, _BOTH)})


def is_shown(name: str, specs: Iterable[Spec]) -> bool:
    """Whether a metric says anything in a session: parts of a sum do only where some arm has compilers."""
    return name not in ONLY_WITH_COMPILERS or any(spec.of("compiler") for spec in specs)


def with_parts(trials: Sequence[Trial], specs: Mapping[str, Spec]) -> Sequence[Trial]:
    """Trials with the parts of their sums, also those of a version that kept the sums alone: from their components."""
    if not any(spec.of("compiler") for spec in specs.values()):
        return trials
    names = ONLY_WITH_COMPILERS.union(*(of.values() for of in PARTS.values()))

    def missing_parts(trial: Trial) -> dict[str, float]:
        values = metrics_of(trial, specs[trial.arm])
        return {name: value for name, value in values.items() if name in names and name not in trial.metrics}

    return [trial.model_copy(update={"metrics": trial.metrics | missing_parts(trial)}) for trial in trials]


def has_none(name: str, spec: Spec) -> bool:
    """Whether a metric is of components that an arm does not have."""
    roles = ROLES.get(name, ())
    return bool(roles) and "server" not in roles and not spec.of(*roles)


def parts_of(
    analysis: Analysis,
    info: MetricInfo,
    arm: str,
    text: Callable[[MetricInfo, float], str] = figures.with_unit,
) -> list[str]:
    """Of what a mean is the sum: `servers 155 MiB`, `JITServer 115 MiB`; nothing of an arm without compilers, whose sum
    is the servers'."""
    means = {
        role: summary.mean
        for role, part in PARTS.get(info.name, {}).items()
        if (summary := analysis.summaries.get(part, {}).get(arm)) is not None
    }
    if "compiler" not in means:
        return []
    names = {"server": "servers", "compiler": "JITServer"}
    return [f"{names[role]} {text(info, mean)}" for role, mean in means.items()]
