# SPDX-License-Identifier: Apache-2.0
"""The figures of a trial and those of its components are made of one table: they are compared in every session."""

import math
from collections.abc import Iterable
from typing import Any

from steelyard.results.spec import MEASURED_ROLES


def require_one_table(trial: Any) -> None:
    """The trial's memory, JIT share, stall and rate follow from its components' figures.

    Raises:
        AssertionError: they do not.
    """
    measured = trial.measurement
    if measured is None:
        return
    weighed = [one for one in trial.components if one.role in MEASURED_ROLES]
    servers = [one for one in trial.components if one.role == "server"]
    _require("memory_rss", measured.memory_rss, (one.rss_mean for one in weighed))
    _require("memory_pss", measured.memory_pss, (one.pss_mean for one in weighed))
    _require("window_server_rate", measured.window_server_rate, (one.throughput for one in servers))
    peaks = [one.rss_peak for one in weighed]
    if measured.memory_rss_peak is None:
        assert None in peaks or not peaks, "memory_rss_peak is missing"
    else:
        assert None not in peaks, "memory_rss_peak of components that have none"
        assert max(peaks) * (1 - 1e-6) <= measured.memory_rss_peak <= sum(peaks) * (1 + 1e-6), (
            "memory_rss_peak"
        )


def _require(name: str, figure: float | None, parts: Iterable[float | None]) -> None:
    values = list(parts)
    known = [value for value in values if value is not None]
    whole = sum(known) if known and len(known) == len(values) else None
    same = figure is whole if None in (figure, whole) else math.isclose(figure or 0, whole or 0, rel_tol=1e-6)
    assert same, f"{name} of the trial is {figure}, of its components {whole}"
