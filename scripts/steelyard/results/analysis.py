# SPDX-License-Identifier: Apache-2.0
"""What a session directory holds of what was worked out: analysis.json, with units as in `results/schema.py`."""

from typing import Literal

from pydantic import Field

from steelyard.results.schema import FORMAT_VERSION
from steelyard.results.spec import Record


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
    """One figure a trial, by block and round."""
    blocks: list[int]
    rounds: list[int]
    """0: as scheduled; 1 and on: repeats. Only figures of one block and round may be compared."""

    @property
    def by_place(self) -> dict[tuple[int, int], float]:
        """The values by block and round."""
        return dict(zip(zip(self.blocks, self.rounds, strict=True), self.values, strict=True))


class Estimate(Record):
    """A metric of one arm against the baseline arm, over blocks with a round in which both are valid."""

    metric: str
    arm: str
    n: int
    """Number of blocks."""
    ratio: float | None
    """exp(mean of log(arm / baseline)); None with fewer than two blocks or non-positive figures."""
    low: float | None
    high: float | None
    """95 % interval of the ratio (Student's t over blocks), simultaneous over its family; None, as p, where all blocks
    agree exactly."""
    p: float | None
    """Of this comparison alone."""
    p_adjusted: float | None
    """p by Bonferroni's correction over its family: below 5 % just where the interval leaves out 1."""
    detectable: float | None
    """Smallest relative effect that this session could detect with 80 % power at the level of the interval, as a
    fraction, if the spread seen is the true one."""
    detectable_high: float | None = None
    """The same by the upper 95 % bound of the spread: the power is at least 80 % there."""
    cannot_rule_out: float | None
    """Largest relative effect, either way, inside the interval, as a fraction."""
    comparisons: int = 1
    """Of its family, this one included: those of the primary metric, of the reported metrics, or of all the others.
    Interval, verdict and detectable effect are at 5 %/comparisons."""
    ratios: list[float]
    """Ratio of each block, of valid trials."""
    remarks: list[str] = Field(default_factory=list)
    """What has to be said beside the interval: two groups of trials, spreads that clearly differ."""
    switches: int | None = None
    """How often the host was switched to the states of each of the two arms for it; None: both want the same host. It
    is `n`, as every plot begins with a switch of its own."""
    left_in: list[float] = Field(default_factory=list)
    """Ratio of each block as it was scheduled, with void trials left in that have a figure; empty where none is void,
    and where a figure is not above zero (`unequal` says that). The interval holds that of both, and p is the larger
    one."""
    unequal: str | None = None
    """Why the comparison shows nothing whatever its figures: trials of the two are void, or not steady, clearly
    unequally often; or what the void ones would change cannot be computed."""


class CarryOver(Record):
    """What trials of an arm leave to the trial after them, in the primary metric, against what trials of the baseline
    leave."""

    arm: str
    n: int
    """Neighbours of one arm, the first after another arm and the second after its own; they tell it for all arms."""
    ratio: float
    """A trial after this arm / a trial after the baseline."""
    low: float
    """99 % interval (Student's t on what the least squares leave)."""
    high: float
    p: float
    """Of there being none."""


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


class ArmTrials(Record):
    """How the trials of one arm ended."""

    trials: int
    void: int
    not_started: int
    """Of the void ones, those in which something failed before the measurement."""
    not_steady: int


class SearchStep(Record):
    """One trial of a search."""

    order: int
    """Place in time over the whole session."""
    attempt: int
    """Place in its search, from 0."""
    value: float
    """Users, arrivals/s, or bytes of memory."""
    outcome: Literal["passed", "failed", "measured", "void"]
    """`measured`: of a search that holds a share."""
    share: float | None = None
    """CPU time of the servers / their logical CPUs; only of a search that holds it."""
    why: str
    """One sentence: which limit failed with which figure, or what voids it."""


class SearchRun(Record):
    """One search: the trials of one arm in one block."""

    block: int
    arm: str
    steps: list[SearchStep]
    end: Literal["found", "wide", "open", "void", "running"]
    """`found`: both edges within the resolution and confirmed, or the share held; `wide`: both edges, not so;
    `open`: an edge is missing; `void`: ended by void trials; `running`: not ended."""
    passed: float | None
    """The edge that passed (of `hold`: the largest value below the share); None: there is none."""
    failed: float | None
    """The edge that failed (of `hold`: the smallest value above the share)."""
    value: float | None
    """Between the edges (their geometric mean), or what held the share; None: nothing to state."""
    half_width: float | None
    """How far the truth may lie from it by the width of the bracket alone, on the log scale."""
    throughput: float | None = None
    """Of `hold`: requests/s there, the mean of the trials that held the share."""
    why: str
    """One sentence: how it ended."""


class SearchComparison(Record):
    """An arm against the baseline arm, paired by block; ends of the interval are widened by both brackets."""

    n: int
    ratio: float
    low: float | None
    """None, here and below: fewer than two blocks."""
    high: float | None
    comparisons: int = 1
    """Arms that are compared with the baseline: the interval is simultaneous over them (Bonferroni)."""
    beyond_noise: bool = False
    """Whether the interval excludes 1."""


class SearchResult(Record):
    """What the searches of one arm found, over blocks."""

    arm: str
    varies: Literal["users", "rate", "memory"]
    runs: list[SearchRun]
    n: int
    """Blocks whose search stated a value."""
    value: float | None
    """exp(mean of log(value)); None where a search of any block has an open end."""
    low: float | None
    """95 % interval (Student's t over blocks), widened by the mean half width of the brackets; None with one block."""
    high: float | None
    half_width: float | None
    """Mean half width of the brackets, on the log scale."""
    throughput: float | None = None
    """Of `hold`: geometric mean over the blocks of what was served there, requests/s."""
    against: SearchComparison | None
    """None for the baseline, and where there is no block in common."""
    sentences: list[str]
    """What was shown, for the report."""


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
    """Blocks in which every arm has a round with a valid baseline beside it; in a search, a valid trial."""
    trials: int
    void_trials: int
    not_steady_trials: int
    by_arm: dict[str, ArmTrials]
    metrics: list[MetricInfo]
    summaries: dict[str, dict[str, Summary]]
    """metric -> arm -> summary."""
    partly: dict[str, dict[str, Summary]] = Field(default_factory=dict)
    """Like `summaries`, of arms some of whose valid trials never came to a figure (a share of the best arm's level):
    of the trials that did. No mean of the arm: those that did not would have been the slow ones."""
    left_in: dict[str, dict[str, Summary]] = Field(default_factory=dict)
    """Like `summaries`, of the primary and the reported metrics, with the void trials that count beside each estimate
    (`Estimate.left_in`); of the arms alone that have any."""
    estimates: dict[str, dict[str, Estimate]]
    """metric -> arm (baseline left out) -> estimate."""
    ledger: list[LedgerCount]
    notes: list[str]
    carry_over: list[CarryOver] = Field(default_factory=list)
    """Effect of the arm that ran before, one for each arm but the baseline; empty where it cannot be estimated: few
    blocks, plots of host states, duets, searches."""
    searches: list[SearchResult] = Field(default_factory=list)
    """One for each arm, in the order of the arms; empty for a session that does not search."""
    seal: str = ""
    """SHA-256 over all of the above, session.json and the records of the trials: what it was made from."""
