# SPDX-License-Identifier: Apache-2.0
"""How threads spent the window: made-up samples of a minute, of which the kernel was asked near its ends alone."""

from collections.abc import Sequence

import numpy as np
import pytest
from builders import make_component, make_window

from steelyard.measure.samples import Samples, Table
from steelyard.measure.series import Series
from steelyard.measure.thread_states import cpu_wait_seconds, request_wait_seconds, threads_asleep
from steelyard.measure.window import UNCOVERED, ComponentFigure, Unknown

SERVER = make_component(name="server-1")
ENDS = (-30.0, 0.7, 60.6, 66.0)
"""When everything was read: before the window, within a second of each end of it, and after it."""
BUSY = {"request": (0.5, 0.25), "jit": (0.1, 0.05), "other": (0.2, 0.0)}
"""CPU seconds and seconds of waiting for a CPU, in each second of the window; else nothing."""


def in_window(t: Sequence[float]) -> Series:
    """Seconds of the window that have passed."""
    return Series(np.array(t), np.clip(t, 0.0, 60.0))


def samples(ends: Sequence[float] = ENDS, ran: float = 1.0, **left_out: str) -> Samples:
    """As the sampler writes them. `ran`: part of the CPU time that was of threads that still run."""
    seconds = list(np.arange(-30.0, 67.0))
    threads: Table = {}
    for group, (used, waited) in BUSY.items():
        read = seconds if group == "jit" else ends
        for column, t, rate in (
            ("cpu_s", seconds, used),
            ("ran_s", read, ran * used),
            ("wait_s", read, waited),
        ):
            if left_out.get(group) != column:
                passed = in_window(sorted({*t, *ends}))
                threads["server-1", group, column] = Series(passed.t, rate * passed.v)
    every = in_window(sorted({*seconds, *ends}))
    processes: Table = {
        ("server-1", "user_s"): Series(every.t, 0.8 * every.v),
        ("server-1", "system_s"): Series(every.t, 0.0 * every.v),
        ("server-1", "threads"): Series(every.t, 0.0 * every.v + 50),
    }
    return Samples(processes, threads, {}, {})


def figure(of: ComponentFigure, sampled: Samples) -> object:
    return of.read(make_window(sampled), SERVER)


def test_threads_run_wait_for_a_cpu_or_sleep() -> None:
    """What was read 0.7 s late is brought to the window by the CPU time: by time alone it would be 0.4 s less."""
    assert figure(cpu_wait_seconds, samples()) == pytest.approx(60 * 0.30)
    assert figure(request_wait_seconds, samples()) == pytest.approx(60 * 0.25)
    assert figure(threads_asleep, samples()) == pytest.approx(50 - 0.8 - 0.3)


@pytest.mark.parametrize(
    ("ends", "why"),
    [
        # What was read long before the window, or after it, says nothing of it.
        ((-30.0, 60.6), "no reading where it began"),
        ((-30.0, 0.7, 66.0), "no reading where it ended"),
    ],
)
def test_without_a_reading_near_each_end_there_is_no_figure(ends: tuple[float, ...], why: str) -> None:
    for of in (cpu_wait_seconds, request_wait_seconds, threads_asleep):
        assert figure(of, samples(ends)) == UNCOVERED, why
    one = make_window(samples((0.5,)), end=2.0)
    assert cpu_wait_seconds.read(one, SERVER) == UNCOVERED


def test_threads_that_ended_unread_make_it_unknown() -> None:
    """A server with a thread for each connection: what the kernel told of those that are left is a part of it."""
    assert figure(cpu_wait_seconds, samples(ran=0.97)) == pytest.approx(60 * 0.30)
    for of in (cpu_wait_seconds, request_wait_seconds, threads_asleep):
        lost = figure(of, samples(ran=0.4))
        assert isinstance(lost, Unknown)
        assert lost.reason.startswith("threads that ended in the window had more than 5% of its CPU time")


@pytest.mark.parametrize("column", ["wait_s", "ran_s"])
def test_a_kernel_that_does_not_tell_is_no_wait_of_zero(column: str) -> None:
    for of in (cpu_wait_seconds, request_wait_seconds, threads_asleep):
        untold = figure(of, samples(request=column))
        assert isinstance(untold, Unknown)
        assert "schedstat" in untold.reason


def test_of_what_has_no_such_threads_there_is_none() -> None:
    database = make_component("database")
    assert cpu_wait_seconds.read(make_window(samples()), database) is None
    assert threads_asleep.read(make_window(samples()), database) is None
    whole = samples()
    renamed = {key: series for key, series in whole.threads.items() if key[1] != "request"}
    unnamed = Samples(whole.processes, renamed, {}, {})
    assert request_wait_seconds.read(make_window(unnamed), SERVER) is None
