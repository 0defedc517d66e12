# SPDX-License-Identifier: Apache-2.0
"""Clocks and samples: whether the figures of a window are of that window."""

from collections.abc import Iterable

import numpy as np

from steelyard.measure.formulas import EVERY, combine_known
from steelyard.measure.rule import VOIDS, Finding, Rule, judge_figure
from steelyard.measure.samples import Samples
from steelyard.measure.window import Window, trial_figure
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.spec import Spec


@trial_figure("s", undisturbed=1.0)
def sample_gap(window: Window) -> float | None:
    """Longest time in the window without a sample of the host or of a component, or without a word of an injector; of a
    start-up trial, whose components have none before they run, of the host alone."""
    if window.spec.procedure == "start-up":
        return longest_gap(window.samples, [], window.start, window.end)
    names = [component.name for component in window.spec.components]
    gap = longest_gap(window.samples, names, window.start, window.end)
    return combine_known((gap, window.health.gap), max)


def longest_gap(samples: Samples, processes: Iterable[str], t0: float, t1: float) -> float | None:
    """Longest time over a window without a sample of the host or of one of these processes, seconds.

    None where one has no samples. Of a process that ended before the window it is the whole window.
    """
    series = (*samples.clocks(), *(samples.series(name, "user_s") for name in processes))
    return combine_known((times.longest_gap(t0, t1) for times in series), max)


@trial_figure("s", undisturbed=0.0)
def clock_step_seconds(window: Window) -> float | None:
    """Largest change of (wall clock - monotonic clock) over the trial, by the sampler and by the harness.

    By the harness too: the sampler does not see what came before it.
    """
    step = clock_step(window.samples, window.start, window.end)
    return combine_known((step, window.run.clock_step()), max)


def clock_step(samples: Samples, t0: float, t1: float) -> float | None:
    """Largest change of (wall clock - monotonic clock) over all samples, seconds; None where they do not cover a
    window.

    Not in the window alone: samples after a step bear times beyond it. Of several hosts the largest.
    """
    steps = (float(np.ptp(clock.t - clock.v)) if clock.covers(t0, t1) else None for clock in samples.clocks())
    return combine_known(steps, max)


def judge_clocks(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """How far the clocks of a cluster's machines may be from the harness's: what is known of them at its worst."""
    if not measurement.machines and spec.remote:
        return Finding(
            None, "No machine of the cluster was recorded, so no clock was compared with the harness's."
        )
    if not measurement.machines:
        return Finding(0.0, "All ran on the harness's own host, by its clock.")
    unknown = [machine.name for machine in measurement.machines if machine.clock is None]
    if unknown:
        return Finding(None, f"The clock of {', '.join(unknown)} was not compared with the harness's.")
    worst = max(measurement.machines, key=lambda machine: max(map(abs, machine.clock or ())))
    low, high = worst.clock or (0.0, 0.0)
    return Finding(
        max(abs(low), abs(high)),
        f"The clock of {worst.name} is between {low:+.3f} s and {high:+.3f} s ahead of the harness's.",
    )


def _start_in_cluster(spec: Spec) -> str | None:
    """Why there are no gaps to judge."""
    if spec.procedure == "start-up" and spec.remote:
        return "In a cluster a start-up trial is sampled from its first pod on."
    return None


RULES = (
    Rule(
        name="sample-gaps",
        limit=2.5,
        unit="s",
        says="no gap in the samples of the host, of a component or of an injector above 2.5 s; in a `start-up` trial of"
        " the host alone",
        judge=judge_figure(
            "sample_gap", "the longest gap in the samples was {}", "{:.1f} s".format, "not known"
        ),
        source="two samples in a row are missing; figures reach no farther past their samples either",
        procedures=EVERY,
        unless=_start_in_cluster,
    ),
    Rule(
        name="clock-step",
        limit=0.25,
        unit="s",
        says="no clock step: at most 0.25 s against the monotonic clock",
        judge=judge_figure(
            "clock_step_seconds",
            "the wall clock moved by {} against the steady clock",
            "{:+.3f} s".format,
            "an unknown time",
        ),
        source=f"{VOIDS}; NTP slews at most 0.5 ms/s, 0.25 s in 8 minutes",
        procedures=EVERY,
    ),
    # Counters, samples and histograms are cut by whole seconds of each machine's own clock.
    Rule(
        name="clock-offset",
        limit=0.25,
        unit="s",
        says="in a cluster, no machine's clock more than 0.25 s from the harness's, as far as it is known",
        judge=judge_clocks,
        source="what a window loses at its ends: 0.25 s of 60 s are 0.4 %",
        procedures=EVERY,
    ),
)
