# SPDX-License-Identifier: Apache-2.0
"""From a window to the records of a trial: what each component did, and what the ledger judges."""

import math
from collections.abc import Sequence
from dataclasses import replace

from steelyard.measure import cpu, host, injectors, jit, latency, offered_load, settings
from steelyard.measure.registry import COMPONENT_FIGURES, METRICS, TRIAL_FIGURES
from steelyard.measure.window import Unknown, Window
from steelyard.results.measurement import CgroupResult, ComponentResult, Number, TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import Component, Spec


def component_results(window: Window) -> list[ComponentResult]:
    """What each component did in the window."""
    return [component_result(window, component) for component in window.spec.components]


def component_result(window: Window, component: Component) -> ComponentResult:
    """What one component did in the window."""
    own: dict[str, Number | None] = {}
    group: dict[str, Number | None] = {}
    unknown: dict[str, str] = {}
    for figure in COMPONENT_FIGURES:
        value = figure.read(window, component)
        if isinstance(value, Unknown):
            unknown[figure.name] = value.reason
        (group if figure.in_group else own)[figure.name] = None if isinstance(value, Unknown) else value
    return ComponentResult(
        name=component.name,
        role=component.role,
        cpu_by_group=cpu.cpu_by_group(window, component),
        unknown=unknown,
        compiled=jit.compiled_methods(window, component),
        told=window.samples.own_figures(component.name, window.start, window.end),
        cgroup=CgroupResult(**group) if any(value is not None for value in group.values()) else None,
        read_back=settings.read_back(window, component),
        **own,
    )


def measure_trial(window: Window, components: Sequence[ComponentResult]) -> TrialMeasurement:
    """The raw figures that the ledger judges."""
    window = replace(window, components=components)
    counts = window.recorded.counts()
    requests = sum(counts.values())
    shares = {name: count / requests for name, count in counts.items() if requests}
    spec = window.spec
    figures = {figure.name: figure.read(window) for figure in TRIAL_FIGURES}
    return TrialMeasurement(
        measure_seconds=window.seconds,
        injector_requests=window.total.requests,
        injector_errors=sum(window.total.errors.values()),
        injector_messages=window.run.injectors.messages(),
        window_injector_rate=requests / window.seconds,
        mix_intended=offered_load.settling_mix(
            spec.mix, spec.growing, offered_load.expected_alone(shares, spec.varying)
        ),
        mix_achieved=shares,
        ratios=offered_load.ratios(window, counts),
        response_times=latency.response_times(spec.limits, window.recorded.latency()),
        operations=injectors.operation_counts(window),
        cycles=offered_load.cycles(window),
        settings_read=settings.settings_read(window),
        network_path=window.run.network_path,
        machines=host.machine_results(window),
        steady=window.run.steady,
        steady_detail=window.run.steady_detail,
        unknown={name: value.reason for name, value in figures.items() if isinstance(value, Unknown)},
        **{name: None if isinstance(value, Unknown) else value for name, value in figures.items()},
    )


def metrics_of(trial: Trial, spec: Spec) -> dict[str, float]:
    """Every metric of a trial that there is; what was not measured is left out."""
    values = {
        metric.name: metric.compute(trial, spec)
        for metric in METRICS
        if metric.compute is not None
        and spec.procedure in metric.procedures
        and not (spec.in_turns and metric.by_clock)
    }
    return {
        name: float(value) for name, value in values.items() if value is not None and math.isfinite(value)
    }
