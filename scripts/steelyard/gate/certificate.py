# SPDX-License-Identifier: Apache-2.0
"""The noise certificate: what equal arms showed on a host, and so what a gate can see there.

    session of equal pairs -> per metric: spread of pairs and of starts, drift, groups, floor   (`certify`)
                           -> where throughput varies: between starts or between windows of one  (Kalibera and Jones)
    certificate -> pairs needed for an effect; which holds for what is to be weighed: `certificates.py`

Rigorous benchmarking in reasonable time: Kalibera and Jones, ISMM 2013.
"""

import hashlib
import math
from collections.abc import Sequence
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
import scipy
from pydantic import Field

from steelyard import __version__
from steelyard.analysis.estimates import log_ratios, values_of
from steelyard.analysis.paired import (
    CLEARLY,
    fewest_blocks,
    fraction_of,
    paired_test,
    ratio_of,
    residual_variance,
    two_groups,
)
from steelyard.analysis.rounds import Place, seconds_of, valid_trials
from steelyard.errors import BadInput, Incomplete
from steelyard.gate.conditions import (
    Conditions,
    conditions_of,
    deploys_same,
    fingerprint,
    unknown_in,
)
from steelyard.gate.interim import LASTS, arms_of, floor_of, interims_until
from steelyard.gate.result import main_void_reason
from steelyard.measure.network import network_of
from steelyard.measure.registry import METRIC_INFOS, metric_info
from steelyard.results.figures import count, percent
from steelyard.results.schema import FORMAT_VERSION, Session, Trial
from steelyard.results.spec import Record
from steelyard.units import format_duration

FEWEST = 6
"""Pairs below which a spread is too little known to certify anything."""
DAYS = 30
"""For so long a certificate is valid: hosts change under their users."""
CLOCKS_APART = 3600.0
"""Seconds that clocks of a pool's hosts may be apart. A certificate made later than that from now is older than a clock
that was set back, and its age cannot be told."""
WINDOW = 2.0
"""Seconds of a window of a measurement."""
MOST_PAIRS = 20_000
"""Pairs beyond which a number is not told."""


class Noise(Record):
    """How one metric varied where nothing differed."""

    metric: str
    pairs: int
    pair_sd: float
    """Standard deviation of the log ratio of a pair."""
    start_sd: float
    """The same from start to start: that of a pair / sqrt(2)."""
    floor: float
    """Smallest harm, as a fraction, that a gate finds almost surely (`FLOOR_POWER`) at its last interim analysis."""
    floors: dict[int, float]
    """The same of gates that have less time, by the pairs of their last interim analysis."""
    mean: float
    """Ratio of the two equal arms."""
    p: float
    """Of their being equal; 1 % of certificates are below 0.01."""
    drift: float
    """Slope over the session, as a fraction in an hour."""
    drifts: bool
    """Whether that is beyond chance (1 %)."""
    groups: float | None
    """Where starts fall into two groups: between which values they part; None: they do not."""
    host_sd: float | None = None
    """Of a pool: standard deviation of the log ratio of equal arms from host to host, beyond what their pairs explain;
    None: of one host, or of too few."""
    host_sd_bound: float | None = None
    """Upper 95 % bound of that; the floor is widened by it."""

    def floor_after(self, pairs: int) -> float | None:
        """The floor, as a fraction, of a gate whose last interim analysis is after so many pairs. Where a certificate
        was made before there was one for these it is that of fewer pairs, which is larger; None: it has none of them,
        and those of more pairs are too small."""
        known = [last for last in self.floors if last <= pairs]
        return self.floors[max(known)] if known else None


class Windows(Record):
    """Where throughput varies, over starts and over windows of one start."""

    seconds: float
    """Of one window."""
    per_start: int
    window_sd: float
    """Of windows within a start, relative."""
    start_sd: float
    """Of starts beyond what their windows explain, relative; 0: windows explain all of it."""
    start_seconds: float
    """What a start costs before it is measured."""
    best: int | None
    """Windows of a start with which a given time tells most; None: the more the better, as starts do not differ."""


class Certificate(Record):
    """A noise certificate."""

    format_version: int = FORMAT_VERSION
    steelyard_version: str
    session: str
    made: float
    expires: float
    conditions: Conditions
    told: str
    """The host, for people."""
    network: str = ""
    """Which way requests went in its trials; empty: that is not told."""
    pool: str | None = None
    member: str = ""
    """Fingerprint of the host itself, which a pool has one certificate of."""
    members: int = 1
    """Hosts whose certificates it is made of."""
    blocks: int
    pair_seconds: float
    noise: list[Noise]
    windows: Windows | None = None
    notes: list[str] = Field(default_factory=list)

    def of(self, name: str) -> Noise | None:
        """The noise of a metric."""
        return next((noise for noise in self.noise if noise.metric == name), None)

    @property
    def name(self) -> str:
        """Of its file, which a later one of the same kind replaces."""
        mark = hashlib.sha256(self.conditions.model_dump_json().encode()).hexdigest()[:8]
        workload = self.conditions.workload.split()[0]
        member = f"-{self.member[:8]}" if self.pool is not None else ""
        return f"{workload}-{self.conditions.procedure}-{self.conditions.engine}-{mark}{member}.json"


class Need(NamedTuple):
    """What it takes to see a true effect of a size with 80 % power."""

    effect: float
    blocks: int | None
    """None: more than anybody runs."""
    seconds: float | None


def make_certificate(
    session: Session, trials: Sequence[Trial], pool: str | None = None, days: float = DAYS
) -> Certificate:
    """The certificate of a session of equal arms.

    Raises:
        BadInput: its arms are not equal.
        Incomplete: too few of its pairs could be used.
    """
    first, *others = (arm.spec for arm in session.arms)
    # `equal` says that arms may be: those of a gate differ.
    if not session.experiment.design.equal or not all(deploys_same(first, other) for other in others):
        raise BadInput(
            f"{session.id} has arms that differ: `./steelyard certify` makes a session of equal ones"
        )
    primary = session.experiment.metrics.primary
    noise = noise_of(session, trials, [info.name for info in METRIC_INFOS])
    deciding = next((candidate for candidate in noise if candidate.metric == primary), None)
    if deciding is None:
        raise Incomplete(
            f"{session.id} has fewer than {FEWEST} pairs with {primary} that vary at all: nothing can be certified by"
            f" it{main_void_reason(trials)}"
        )
    baseline = next(arm.spec for arm in session.arms if arm.baseline)
    conditions = conditions_of(session.host, baseline, pool)
    ended = max((end for trial in trials for _, end in trial.phases.values()), default=session.created)
    return Certificate(
        steelyard_version=__version__,
        session=session.id,
        made=ended,
        expires=ended + days * 24 * 3600,
        conditions=conditions,
        told=f"{session.host.cpu_model}, {session.host.cores} cores, Linux {session.host.kernel}",
        network=network_of(trials),
        pool=pool,
        member=fingerprint(session.host),
        blocks=deciding.pairs,
        pair_seconds=pair_seconds(trials),
        noise=noise,
        windows=windows_of(trials),
        notes=[*_unknown(conditions), *_notes(noise)],
    )


def noise_of(session: Session, trials: Sequence[Trial], names: Sequence[str]) -> list[Noise]:
    """How metrics varied; those without enough pairs, or without any spread, are left out."""
    valid = valid_trials(trials)
    baseline, other = arms_of(session)
    noises = []
    for name in names:
        values = {arm: values_of(valid.get(arm, {}), name) for arm in (baseline, other)}
        logs = log_ratios(values[other], values[baseline])
        core = paired_test(logs) if logs is not None and len(logs) >= FEWEST else None
        if core is None or core.is_tied:
            continue
        starts = [
            (trial.started, math.log(trial.metrics[name]))
            for arm in (baseline, other)
            for place, trial in sorted(valid[arm].items())
            if values[arm].get(place, 0.0) > 0
        ]
        slope, drifts = _drift(starts)
        middle = two_groups([log for _, log in starts])
        noises.append(
            Noise(
                metric=name,
                pairs=core.n,
                pair_sd=core.sd,
                start_sd=core.sd / math.sqrt(2),
                floor=floor_of(core.sd, core.n),
                floors={pairs: floor_of(core.sd, core.n, interims_until(pairs)) for pairs in LASTS},
                mean=ratio_of(core.mean),
                p=core.p,
                drift=slope,
                drifts=drifts,
                groups=math.exp(middle) if middle is not None else None,
            )
        )
    return noises


def _drift(starts: Sequence[tuple[float, float]]) -> tuple[float, bool]:
    """Slope of the log figures in an hour as a fraction, and whether it is beyond chance (least squares)."""
    times = np.array([time for time, _ in starts]) / 3600
    logs = np.array([log for _, log in starts])
    spread = float(((times - times.mean()) ** 2).sum())
    if spread <= 0 or len(starts) < 4:
        return 0.0, False
    slope = float(((times - times.mean()) * (logs - logs.mean())).sum()) / spread
    left = logs - logs.mean() - slope * (times - times.mean())
    error = math.sqrt(float(left @ left) / (len(starts) - 2) / spread)
    p = 2 * float(scipy.special.stdtr(len(starts) - 2, -abs(slope) / error)) if error > 0 else 1.0
    return fraction_of(slope), p < CLEARLY


def windows_of(trials: Sequence[Trial]) -> Windows | None:
    """The variance of throughput between starts and between windows of a start, from what servers counted each
    second."""
    series, spent = [], []
    starts: dict[str, dict[Place, float]] = {}
    for trial in trials:
        ramp, measure = trial.phases.get("ramp"), trial.phases.get("measure")
        if trial.state != "valid" or ramp is None or measure is None:
            continue
        begin, end = measure[0] - ramp[1], measure[1] - ramp[1]
        rates = [rate for second, rate in trial.trace if begin < second <= end]
        size = int(WINDOW)
        means = [fmean(rates[at : at + size]) for at in range(0, len(rates) - size + 1, size)]
        if len(means) >= 2 and fmean(means) > 0:
            series.append([value / fmean(means) for value in means])
            spent.append(measure[0] - trial.started)
            starts.setdefault(trial.arm, {})[trial.block, trial.attempt] = fmean(means)
    if len(series) < FEWEST:
        return None
    per_start = min(map(len, series))
    within = fmean(variance(rates) for rates in series)
    # Neither what an arm changes nor a drift of the host is a matter of starts.
    total = residual_variance(starts)
    if total is None:
        return None
    between = max(0.0, total - within / per_start)
    cost = fmean(spent)
    return Windows(
        seconds=WINDOW,
        per_start=per_start,
        window_sd=math.sqrt(within),
        start_sd=math.sqrt(between),
        start_seconds=cost,
        best=best_windows(cost / WINDOW, within, between),
    )


def best_windows(cost: float, within: float, between: float) -> int | None:
    """Windows of a start with which a given time tells most; None: the more the better, as starts do not differ.

    sqrt(c2 / c1 x T1 / T2) of costs c1 of a window and c2 of a start, and variances T1 within and T2 between starts
    (Kalibera and Jones, section 7).

    Args:
        cost: of a start, in windows.
        within: variance of windows within a start.
        between: variance of starts beyond what their windows explain.
    """
    return max(1, round(math.sqrt(cost * within / between))) if between > 0 else None


def pair_seconds(trials: Sequence[Trial]) -> float:
    """What a pair takes, on average over those that ended."""
    return seconds_of(trials) / max(
        1, len({(trial.block, trial.attempt) for trial in trials if trial.phases})
    )


def find_needs(noise: Noise, effects: Sequence[float], pair: float, comparisons: int = 1) -> list[Need]:
    """Pairs and time in which a session finds true effects with 80 % power, the spread at its upper 95 % bound.

    Args:
        noise: of the metric.
        effects: as fractions.
        pair: seconds of a pair, or of a block of several arms.
        comparisons: that the session judges together: its arms beside the baseline.
    """
    needs = []
    for effect in effects:
        blocks = fewest_blocks(effect, noise.pair_sd, MOST_PAIRS, comparisons, noise.pairs)
        needs.append(Need(effect, blocks, None if blocks is None else blocks * pair))
    return needs


def sentences(
    certificate: Certificate, name: str, pair: float | None = None, comparisons: int = 1
) -> list[str]:
    """What a certificate says of a metric, for `plan` and `certify`; arguments as of `find_needs`, `pair` None: as its
    own."""
    noise = certificate.of(name)
    label = metric_info(name).label
    if noise is None:
        return [f"{label}: the certificate has no figure of it"]
    sizes = []
    effects = (0.01, 0.02, 0.03, 0.05)
    for need in find_needs(noise, effects, pair or certificate.pair_seconds, comparisons):
        size = percent(need.effect, 0)
        if need.blocks is None or need.seconds is None:
            sizes.append(f"a true {size}: not on this host")
        else:
            sizes.append(
                f"a true {size}: {count(need.blocks, 'block')}, about {format_duration(need.seconds)}"
            )
    return [f"{label}: {'; '.join(sizes)}"]


def _unknown(conditions: Conditions) -> list[str]:
    return [
        f"it will hold for no gate: {CONDITION_NAMES.get(name, name)} is not known"
        f" ({getattr(conditions, name) or 'nothing'})"
        for name in unknown_in(conditions)
    ]


CONDITION_NAMES = {
    "host_settings": "the setting of the host",
    "host": "the name of the host",
    "jvm": "the JVM of the servers",
    "kernel": "the version of the kernel",
}
"""What conditions are called that a host may not tell."""


def _notes(noise: Sequence[Noise]) -> list[str]:
    notes = []
    for metric_noise in noise:
        label = metric_info(metric_noise.metric).label
        if metric_noise.groups is not None:
            notes.append(f"{label}: starts fall into two groups, and few are like their mean")
        if metric_noise.drifts:
            notes.append(
                f"{label}: it drifted by {percent(metric_noise.drift, sign=True)} in an hour; pairs cancel that"
            )
        if metric_noise.p < CLEARLY:
            notes.append(
                f"{label}: the equal arms differ by {percent(metric_noise.mean - 1, sign=True)}"
                f" (p = {metric_noise.p:.2g}); of so many metrics some do by chance"
            )
    return notes
