# SPDX-License-Identifier: Apache-2.0
"""With which windows a gate would see most in its time, by what a certificate's session showed; for people: a
certificate holds for the windows that it was made with, and no verdict is founded on what others would show.

A trial has the variance T2 + T1 / seconds of its window and costs a start and its window (Kalibera and Jones, ISMM
2013, section 7). Their optimum is of many starts; here the floor itself is looked at, as few pairs know their spread
badly.
"""

import math
from collections.abc import Sequence
from statistics import fmean, variance

from steelyard.analysis.paired import detectable_in_sd, fraction_of, sd_bound
from steelyard.analysis.rounds import valid_trials
from steelyard.gate.certificate import WINDOW, Certificate
from steelyard.gate.interim import FLOOR_POWER, interims_until, levels_of
from steelyard.measure.formulas import combine_known
from steelyard.measure.registry import metric_info
from steelyard.measure.samples import Samples
from steelyard.results.figures import percent
from steelyard.results.store import SessionDirectory
from steelyard.units import format_duration

GATE_SECONDS = 900.0
"""Of a gate that windows are chosen for."""
WINDOWS = range(4, 61)
"""Seconds of windows that are tried."""
WORTH = 0.95
"""Floor, in those of the present windows, below which others are named."""
BY_SECOND = ("throughput", "cpu_per_1k")
"""Metrics that samples tell for parts of a window."""


def floor_in(seconds: float, start: float, window: float, within: float, between: float) -> float:
    """Smallest harm (log) that a gate finds almost surely in a time; infinite: too little time for six pairs.

    Args:
        seconds: that there are.
        start: seconds that a trial takes beside its window.
        window: seconds that are measured.
        within: variance of one second within a start.
        between: variance of starts beyond what their seconds explain.
    """
    interims = interims_until(int(seconds / (2 * (start + window))))
    if not interims:
        return math.inf
    spread = math.sqrt(2 * (between + within / window))
    return detectable_in_sd(interims[-1], FLOOR_POWER, levels_of(interims)[-1]) * spread


def best_window(seconds: float, start: float, within: float, between: float) -> int:
    """Seconds of the windows with which the floor is lowest; arguments as of `floor_in`."""
    return min(WINDOWS, key=lambda window: floor_in(seconds, start, window, within, between))


def figures_of(
    samples: Samples, servers: Sequence[str], begin: float, window: float, name: str, each: float = 1.0
) -> list[float] | None:
    """Throughput or CPU per 1,000 requests of each part of a window; None: not known of each.

    Args:
        servers: whose.
        begin: of the window, epoch seconds.
        window: its seconds.
        name: one of `BY_SECOND`.
        each: seconds of a part.
    """
    figures = []
    for part in range(int(window / each)):
        times = (begin + part * each, begin + (part + 1) * each)
        counts = [samples.requests(server, *times) for server in servers]
        requests = combine_known((count.requests if count is not None else None for count in counts), sum)
        cpu = combine_known((samples.cpu_seconds(server, *times) for server in servers), sum)
        if not requests or cpu is None:
            return None
        figures.append(requests / each if name == "throughput" else 1000 * cpu / requests)
    return figures


def variance_within(series: Sequence[Sequence[float]], each: float = 1.0) -> float:
    """Relative variance of one second within a start, of series of parts of that many seconds: mean over the starts."""
    return each * fmean(variance([figure / fmean(figures) for figure in figures]) for figures in series)


def describe_windows(certificate: Certificate, directory: SessionDirectory) -> str | None:
    """What other windows would do for gates of `GATE_SECONDS`, a sentence; None: nothing is known of the metric that
    decides."""
    session = directory.session()
    spec, name = session.arms[0].spec, session.experiment.metrics.primary
    window, noise = spec.load.measure, certificate.of(name)
    if noise is None or name not in BY_SECOND or window < 2 * WINDOW:
        return None
    if spec.procedure != "steady" or spec.duet:
        return None
    series = []
    for arm, trials in valid_trials(directory.trials()).items():
        servers = [server.name for each in session.arms if each.name == arm for server in each.spec.servers]
        for trial in trials.values():
            folder = directory.trial_path(trial.block, trial.arm, trial.attempt) / "samples"
            begin = math.floor(trial.phases["measure"][0])
            figures = figures_of(Samples.load(folder), servers, begin, window, name, WINDOW)
            if figures is None:
                return None
            series.append(figures)
    # Pairs show what a whole window varies by; seconds that depend on each other may seem to explain more than that.
    within = min(variance_within(series, WINDOW), noise.start_sd**2 * window)
    between = max(0.0, noise.start_sd**2 - within / window)
    start = certificate.pair_seconds / 2 - window
    best = best_window(GATE_SECONDS, start, within, between)
    own, other = (
        floor_in(GATE_SECONDS, start, seconds, within, between) * sd_bound(noise.pairs)
        for seconds in (window, best)
    )
    varies = (
        f"{metric_info(name).label} varies by {percent(math.sqrt(within))} from second to second and by"
        f" {percent(math.sqrt(between))} from start to start beyond that, and a start costs {format_duration(start)}"
    )
    if other > WORTH * own:
        return (
            f"{varies}: for gates of {format_duration(GATE_SECONDS)} windows of {format_duration(window)} do"
        )
    these = f"with these of {format_duration(window)}"
    before = (
        f"{percent(fraction_of(own))} {these}" if math.isfinite(own) else f"{these} they have no six pairs"
    )
    return (
        f"{varies}: gates of {format_duration(GATE_SECONDS)} would find harm of {percent(fraction_of(other))} with"
        f" windows of {best} s ({before}); for both commands: --set measure={best}s"
    )
