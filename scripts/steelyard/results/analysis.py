# SPDX-License-Identifier: Apache-2.0
"""What a session directory holds of what was worked out: analysis.json, with units as in `results/schema.py`."""

from typing import Literal

from steelyard.results.schema import FORMAT_VERSION, Record


class Summary(Record):
    """A metric of one arm over its valid trials."""

    n: int
    mean: float
    min: float
    max: float
    sd: float | None
    """None with fewer than two values."""
    cv: float | None
    """Standard deviation / mean; None where either is missing or the mean is 0."""
    values: list[float]
    """One figure a block, in block order."""
    blocks: list[int]


class Estimate(Record):
    """A metric of one arm against the baseline arm, over blocks in which both are valid."""

    metric: str
    arm: str
    n: int
    """Number of blocks."""
    ratio: float | None
    """exp(mean of log(arm / baseline)); None with fewer than two blocks or non-positive figures."""
    low: float | None
    high: float | None
    """95 % interval of the ratio (Student's t over blocks)."""
    p: float | None
    p_holm: float | None
    """p after Holm's correction over its family: the primary metric, the reported metrics, or all the others."""
    detectable: float | None
    """Smallest relative effect that this session could detect with 80 % power at 5 %, as a fraction."""
    cannot_rule_out: float | None
    """Largest relative effect, either way, inside the interval, as a fraction."""
    ratios: list[float]
    """Ratio of each block."""


class MetricInfo(Record):
    """What a metric is."""

    name: str
    label: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    source: str
    """Where the figure comes from and how it is made, one sentence."""
    digits: int = 0
    """Decimals to show (bytes are shown as MiB)."""
    pitfalls: str = ""
    """What a reader has to keep in mind, one sentence."""


class LedgerCount(Record):
    """How often a check failed."""

    name: str
    failed: int
    of: int
    """Trials in which it applied."""
    voids: bool


class Analysis(Record):
    """analysis.json: every estimate with its interval; made from trials/ and session.json alone."""

    format_version: int = FORMAT_VERSION
    steelyard_version: str
    session_id: str
    primary: str
    arms: list[str]
    baseline: str
    blocks_planned: int
    blocks_complete: int
    """Blocks in which every arm has a valid trial."""
    trials: int
    void_trials: int
    not_steady_trials: int
    metrics: list[MetricInfo]
    summaries: dict[str, dict[str, Summary]]
    """metric -> arm -> summary."""
    estimates: dict[str, dict[str, Estimate]]
    """metric -> arm (baseline left out) -> estimate."""
    ledger: list[LedgerCount]
    notes: list[str]
