# SPDX-License-Identifier: Apache-2.0
"""What a self-check reports: shares of simulated sessions, what each should be, and the limits that chance leaves it.

A limit is a binomial quantile of the nominal share over as many sessions as were simulated: what lies beyond it comes
out of a sound harness once in 10,000 tries (`TAIL`), on each side.
"""

from typing import Literal, Self

import scipy
from pydantic import ConfigDict, computed_field

from steelyard.documented import Documented

TAIL = 1e-4
Side = Literal["about", "at least", "at most", "informs"]
"""How a share is held against its nominal one; `informs`: not at all."""


class SimulatedShare(Documented):
    """One share of simulated sessions (or of trials), as a fraction."""

    model_config = ConfigDict(frozen=True)

    cell: str
    name: str
    hits: int
    of: int
    """Sessions, or trials, that were simulated."""
    side: Side
    nominal: float
    """What it should be."""
    low: float
    high: float
    """Limits within which it passes."""

    @classmethod
    def share(cls, cell: str, name: str, hits: int, of: int, side: Side, nominal: float) -> Self:
        """A share with its limits."""
        low, high = limits(of, side, nominal)
        low_share, high_share = (low / of, high / of) if of else (0.0, 1.0)
        return cls(
            cell=cell, name=name, hits=hits, of=of, side=side, nominal=nominal, low=low_share, high=high_share
        )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def measured(self) -> float:
        """The share that came out; 0 of none."""
        return self.hits / self.of if self.of else 0.0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool:
        """Whether it lies within its limits; a share of nothing has shown nothing, and has not passed."""
        if not self.of:
            return self.side == "informs"
        return self.low <= self.measured <= self.high


def limits(of: int, side: Side, nominal: float) -> tuple[int, int]:
    """Fewest and most hits that pass."""
    if side == "informs":
        return 0, of
    low, high = (int(quantile) for quantile in scipy.stats.binom.ppf((TAIL, 1 - TAIL), of, nominal))
    return 0 if side == "at most" else low, of if side == "at least" else high


class SelfcheckResult(Documented):
    """A whole self-check."""

    model_config = ConfigDict(frozen=True)

    steelyard_version: str
    sessions: int
    """Sessions of the main cells; others have a stated share of it."""
    seed: int
    figures: list[SimulatedShare]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool:
        """Whether every figure lies within its limits."""
        return all(figure.passed for figure in self.figures)
