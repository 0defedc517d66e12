# SPDX-License-Identifier: Apache-2.0
"""What a self-check reports: figures with their Monte-Carlo error, METHOD's figure and the band they must lie in."""

import math
from typing import Self

from pydantic import BaseModel, ConfigDict, computed_field

STRICT_SESSIONS = 3_000
"""From so many sessions on a band is taken as it stands; with fewer it is widened by three Monte-Carlo errors."""

Band = tuple[float | None, float | None]
OPEN: Band = (None, None)
"""No band: the figure only informs."""


class Figure(BaseModel):
    """One figure; rates are in percent."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    group: str
    name: str
    unit: str = "%"
    measured: float
    error: float
    """Monte-Carlo standard error of `measured`."""
    sessions: int
    method: float | None = None
    """What METHOD states."""
    low: float | None = None
    high: float | None = None
    """The band; None: open, and with both open the figure only informs."""

    @classmethod
    def rate(
        cls,
        group: str,
        name: str,
        hits: int,
        sessions: int,
        method: float | None = None,
        band: Band = OPEN,
    ) -> Self:
        """A share of sessions, in percent."""
        share = hits / sessions
        return cls(
            group=group,
            name=name,
            measured=100 * share,
            error=100 * math.sqrt(share * (1 - share) / sessions),
            sessions=sessions,
            method=method,
            low=band[0],
            high=band[1],
        )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool | None:
        """Whether the figure lies in its band; None where it has none."""
        if self.low is None and self.high is None:
            return None
        return self.lies_in_band(0.0 if self.sessions >= STRICT_SESSIONS else 3 * self.error)

    def lies_in_band(self, slack: float = 0.0) -> bool:
        """Whether the figure lies in its band, widened by `slack` on both sides."""
        above = self.low is None or self.measured >= self.low - slack
        return above and (self.high is None or self.measured <= self.high + slack)


class SelfcheckResult(BaseModel):
    """A whole self-check."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    steelyard_version: str
    sessions: int
    """Sessions of the main figures; others have a stated share of it."""
    seed: int
    figures: list[Figure]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool:
        """Whether every figure that has a band lies in it."""
        return all(figure.passed is not False for figure in self.figures)
