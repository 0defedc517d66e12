# SPDX-License-Identifier: Apache-2.0
"""gate.json: the verdict of a gate."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from steelyard.paths import is_there
from steelyard.results.schema import FORMAT_VERSION
from steelyard.results.spec import Record
from steelyard.results.store import read_record

Outcome = Literal["pass", "regression", "inconclusive"]


class InterimResult(Record):
    """One interim analysis."""

    blocks: int
    pairs: int
    """Those of them that could be used."""
    ratio: float | None
    low: float | None
    """Interval of the ratio at the analysis's own level (98 % where none says otherwise)."""
    high: float | None
    sentence: str
    stops: str | None
    """Why it was the last."""


class OtherMetric(Record):
    """A further metric, which decides nothing."""

    metric: str
    label: str
    change: str
    """The change with its 95 % interval, for people."""
    better: str
    worse: bool | None
    """None: not beyond noise, or a metric of which neither direction is better."""
    shown: bool = False
    """Whether it is beyond noise (Bonferroni's correction over all of them)."""
    ratio: float | None
    low: float | None
    high: float | None

    @property
    def finding(self) -> Literal["worse", "better", "beyond noise", ""]:
        """What is shown of it: `beyond noise` where neither direction is better; empty: nothing."""
        if self.worse is not None:
            return "worse" if self.worse else "better"
        return "beyond noise" if self.shown else ""


class GateResult(Record):
    """gate.json."""

    format_version: int = FORMAT_VERSION
    outcome: Outcome
    sentence: str
    metric: str
    label: str
    better: str
    margin: float
    floor: float | None
    certificate: str | None
    sides: dict[str, str]
    workload: str
    session: str
    seconds: float
    """That its trials took."""
    looks: list[InterimResult]
    confirmation: list[InterimResult] | None = None
    """Analyses of the session that should confirm a regression; None: there was nothing to confirm."""
    beside: list[OtherMetric] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    """What belongs beside the answer: sentences."""
    void: int = 0
    trials: int = 0

    @property
    def last(self) -> InterimResult | None:
        """The analysis that the verdict rests on; None: there was none."""
        return self.looks[-1] if self.looks else None


def read_result(folder: Path) -> GateResult | None:
    """The verdict in a session's folder; None: there is none (yet)."""
    path = folder / "gate.json"
    return read_record(path, GateResult) if is_there(path) else None
