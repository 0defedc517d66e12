# SPDX-License-Identifier: Apache-2.0
"""What is measured: every file of this folder that says so, with its figures, its metrics and its rules.

A file of a measured thing defines figures (`component_figure`, `trial_figure`), `METRICS` and `RULES`. What a trial
records, what the ledger judges, what experiments may ask for, the tables of docs/metrics.md and the self-check's trials
follow from them: a new file needs no entry anywhere else.
"""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from steelyard import measure
from steelyard.measure.formulas import Metric
from steelyard.measure.rule import Rule
from steelyard.measure.window import SENTENCES, ComponentFigure, TrialFigure
from steelyard.results.analysis import MetricInfo
from steelyard.results.measurement import Number
from steelyard.results.spec import Role

F = TypeVar("F", ComponentFigure, TrialFigure)
_ORDER = (
    *("injectors", "offered_load", "requests", "memory", "cpu", "services", "hardware", "latency"),
    *(
        "gc",
        "start",
        "ramp_up",
        "survival",
        "faults",
        "counted",
        "jvm",
        "thread_states",
        "native_memory",
        "cgroup",
        "jit",
        "throttling",
        "errors",
    ),
    *("host", "clocks", "settings", "steady"),
)
"""In which order people read of them; a file that is not named here comes after these."""
_READERS = {"registry", "ledger", "reference", "record"}
"""Files of this folder that need the registry themselves."""


def _modules() -> list[ModuleType]:
    names = {module.name for module in pkgutil.iter_modules(measure.__path__)} - _READERS
    return [import_module(f"{measure.__name__}.{name}") for name in (*_ORDER, *sorted(names - set(_ORDER)))]


def _figures(sort: type[F]) -> tuple[F, ...]:
    """Those that the files define, by themselves or in a tuple."""
    values = (value for module in _MODULES for value in vars(module).values())
    listed = (figure for value in values for figure in (value if isinstance(value, tuple) else (value,)))
    return tuple({id(figure): figure for figure in listed if isinstance(figure, sort)}.values())


_MODULES = _modules()
COMPONENT_FIGURES = _figures(ComponentFigure)
TRIAL_FIGURES = _figures(TrialFigure)
METRICS: tuple[Metric, ...] = tuple(
    metric for module in _MODULES for metric in getattr(module, "METRICS", ())
)
RULES: tuple[Rule, ...] = tuple(rule for module in _MODULES for rule in getattr(module, "RULES", ()))

METRIC_INFOS: tuple[MetricInfo, ...] = tuple(metric.info for metric in METRICS)
_INFO_BY_NAME = {info.name: info for info in METRIC_INFOS}
ROLES = {metric.name: metric.roles for metric in METRICS}
"""Whose memory, CPU or work a metric is, by name; nothing: it is no sum over components."""
PARTS: dict[str, dict[Role, str]] = {
    total: {metric.roles[0]: metric.name for metric in METRICS if metric.part_of == total}
    for total in dict.fromkeys(metric.part_of for metric in METRICS if metric.part_of)
}
"""Of what a sum is made: by its metric and by role, the metric of that part."""
BY_CLOCK = frozenset(metric.name for metric in METRICS if metric.by_clock)
"""Metrics that nothing tells where two sides run in turns."""
ONLY_WITH_COMPILERS = frozenset(metric.name for metric in METRICS if metric.only_with_compilers)
"""Metrics that say nothing of their own in a session without compilers."""


def metric_info(name: str) -> MetricInfo:
    """What a metric is; a name that this version does not know is kept and described as unknown."""
    return _INFO_BY_NAME.get(name) or MetricInfo(
        name=name,
        label=name.replace("_", " "),
        unit="",
        better="neither",
        source="Not in the registry of this version: written by another version of Steelyard.",
        digits=3,
    )


def undisturbed_figures() -> dict[str, Number | list[str] | None]:
    """Figures of a trial that nothing disturbed, by name: what every rule passes."""
    return {figure.name: [] if figure.unit == SENTENCES else figure.undisturbed for figure in TRIAL_FIGURES}
