# SPDX-License-Identifier: Apache-2.0
"""A server that stands still: for how long, and how much of its window."""

from dataclasses import replace

import numpy as np
import pytest
from builders import make_component, make_measurement, make_spec, make_window

from steelyard.experiment.schema import ProcedureName
from steelyard.measure.cpu import RULES, stall, stall_seconds
from steelyard.measure.histograms import Answers, Recorded
from steelyard.measure.samples import Samples
from steelyard.measure.series import Series

NOTHING = Recorded()
"""No answer at all."""


def samples_of(stops: float, begins: float, cores: float = 1.5, seconds: int = 10) -> Samples:
    """A server that is busy but for a stop, its CPU read each second."""
    t = np.arange(-2.0, seconds + 3.0)
    busy = np.array([at - min(max(at - begins, 0.0), stops) for at in t])
    columns = {"user_s": cores * (busy - busy[0]), "system_s": 0 * t}
    return Samples(
        processes={("server-1", name): Series(t, values) for name, values in columns.items()},
        threads={},
        counters={},
        host={},
    )


@pytest.mark.parametrize("begins", [3.0, 3.1, 3.5, 3.9])
@pytest.mark.parametrize("stops", [3.0, 2.6, 2.0])
def test_a_stop_counts_whole_wherever_it_falls_between_samples(stops: float, begins: float) -> None:
    assert stall(samples_of(stops, begins), ["server-1"], 0.0, 10.0, NOTHING) == pytest.approx(
        stops, abs=0.02
    )


def test_a_stop_at_the_edge_of_the_window_counts_within_it() -> None:
    assert stall(samples_of(4.0, -1.0), ["server-1"], 0.0, 10.0, NOTHING) == pytest.approx(3.0, abs=0.02)
    assert stall(samples_of(4.0, 8.0), ["server-1"], 0.0, 10.0, NOTHING) == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(
    ("slow", "is_stall"),
    [
        # Of five services one asks only for log-ins: for 3.8 s of an OpenJ9's first 14 nobody logged in, while others
        # were answered within 0.6 s (AcmeAir, 8 users, 30 November 2026).
        (None, False),
        (Answers(7.0, 8.0, 1.0), False),
        (Answers(7.0, 8.0, 3.4), True),  # asked at 4.0, answered when the server went on
        (Answers(12.0, 13.0, 9.0), True),  # and later, with more to do
        (Answers(5.0, 6.0, 3.4), False),  # answered by another while this one was silent
    ],
)
def test_a_server_that_nobody_asks_does_not_stall(slow: Answers | None, is_stall: bool) -> None:
    others = [Answers(at, at + 1.0, 0.6) for at in np.arange(-2.0, 13.0)]
    recorded = Recorded(answers=[*others, *([slow] if slow is not None else [])])
    found = stall(samples_of(4.0, 3.5), ["server-1"], 0.0, 10.0, recorded)
    assert found == pytest.approx(4.0 if is_stall else 0.0, abs=0.02)


def test_a_silence_stays_a_stall_where_nobody_can_tell() -> None:
    before = [Answers(at, at + 1.0, 0.1) for at in (0.0, 1.0, 2.0, 8.0, 9.0)]
    assert stall(samples_of(4.0, 3.5), ["server-1"], 0.0, 10.0, Recorded(answers=before)) == pytest.approx(
        4.0, abs=0.02
    )
    all_along = [Answers(at, at + 1.0, 0.1) for at in np.arange(0.0, 10.0)]
    damaged = Recorded(answers=all_along, damaged=["injector-1/latency.hlog is cut off"])
    assert stall(samples_of(4.0, 3.5), ["server-1"], 0.0, 10.0, damaged) == pytest.approx(4.0, abs=0.02)
    to_the_end = stall(samples_of(4.0, 8.0), ["server-1"], 0.0, 10.0, Recorded(answers=all_along))
    assert to_the_end == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(("procedure", "seconds"), [("steady", 4.0), ("ramp-up", 0.0)])
def test_a_cold_service_may_wait_for_another_in_a_ramp_up(procedure: ProcedureName, seconds: float) -> None:
    """Bookings used no CPU for 3 s, and waited for a cold service for customers (AcmeAir, 30 November 2026)."""
    silent, works = samples_of(4.0, 3.5), samples_of(0.0, 0.0)
    both: dict[tuple[str, ...], Series] = {
        (name, column): series
        for name, samples in (("booking-1", silent), ("auth-1", works))
        for (_, column), series in samples.processes.items()
    }
    spec = make_spec(
        procedure=procedure,
        components=[
            make_component(name="booking-1", kind="booking"),
            make_component(name="auth-1", kind="auth"),
        ],
    )
    window = make_window(replace(silent, processes=both), 0.0, 10.0, spec)
    assert stall_seconds.read(window) == pytest.approx(seconds, abs=0.02)


@pytest.mark.parametrize(
    ("seconds", "stopped", "passes"),
    [(60.0, 2.5, True), (60.0, 2.6, False), (10.0, 1.0, True), (10.0, 1.1, False), (10.0, 3.0, False)],
)
def test_the_limit_is_part_of_the_window(seconds: float, stopped: float, passes: bool) -> None:
    (rule,) = RULES
    check = rule.check(make_measurement(stall_seconds=stopped, measure_seconds=seconds), make_spec())
    assert check.passed is passes
    assert check.voids
