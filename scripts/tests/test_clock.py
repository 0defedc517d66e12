# SPDX-License-Identifier: Apache-2.0
"""Waiting with a time limit: what counts, and that nothing is given up unseen."""

from collections.abc import Iterator

import pytest
from fake_clock import FakeClock

from steelyard.clock import Deadline, wait_until


class StoppingClock(FakeClock):
    """The process is stopped for a while in its sleeps, at those that are listed by their numbers."""

    def __init__(self, *at: int, seconds: float = 20.0) -> None:
        super().__init__()
        self.at, self.seconds, self.slept = at, seconds, 0

    def sleep(self, seconds: float, /) -> None:
        self.slept += 1
        super().sleep(seconds + self.seconds * (self.slept in self.at))


def test_what_holds_is_returned_at_once() -> None:
    clock = FakeClock()
    assert wait_until(lambda: "here", 1.0, 0.1, clock) == "here"
    assert clock.time() == clock.epoch


def test_what_holds_later_is_returned_then() -> None:
    clock = FakeClock()
    assert wait_until(lambda: clock.time() >= clock.epoch + 3.0, 10.0, 0.5, clock)
    assert clock.time() == clock.epoch + 3.0


def test_what_never_holds_is_given_up_after_its_time() -> None:
    clock = FakeClock()
    assert wait_until(lambda: None, 10.0, 0.5, clock) is None
    assert clock.time() == clock.epoch + 10.0


def test_without_any_time_there_is_one_look() -> None:
    looks: list[int] = []
    assert not wait_until(lambda: looks.append(1), 0.0, 0.5, FakeClock())
    assert looks == [1]


def test_there_is_one_more_look_after_the_time_is_up() -> None:
    """It came while the last sleep, or the look before, took longer than what was left."""
    clock = FakeClock()
    assert wait_until(lambda: clock.time() >= clock.epoch + 1.0, 0.9, 0.5, clock)

    def slow() -> Iterator[bool]:
        clock.sleep(20.0)  # stopped amid a look, which has seen nothing
        yield False
        yield True

    looks = slow()
    assert wait_until(lambda: next(looks), 10.0, 0.5, clock)


@pytest.mark.parametrize("seconds", [20.0, 3600.0])
def test_a_stop_of_this_process_uses_up_a_few_intervals(seconds: float) -> None:
    """What is waited for was stopped as well, and needs 3 s of the 5 s that it has."""
    clock = StoppingClock(2, seconds=seconds)
    began = clock.time() + seconds
    assert wait_until(lambda: clock.time() >= began + 3.0, 5.0, 0.1, clock)


def test_what_never_holds_is_given_up_however_often_this_process_is_stopped() -> None:
    clock = StoppingClock(*range(1000))
    assert not wait_until(lambda: False, 5.0, 0.1, clock)
    assert clock.slept == 10, "each counts five intervals"


def test_what_a_look_takes_counts_in_full() -> None:
    """It may be a request with a time limit of its own."""
    clock, looks = FakeClock(), []

    def look() -> bool:
        clock.sleep(2.0)
        looks.append(clock.time())
        return False

    assert not wait_until(look, 10.0, 0.5, clock)
    assert len(looks) == 5


def test_a_deadline_may_sleep_in_another_way() -> None:
    clock = FakeClock()
    deadline = Deadline(1.0, clock)
    deadline.sleep(0.5, lambda seconds: clock.sleep(seconds / 5))
    assert deadline.spent == pytest.approx(0.1)
    assert not deadline.is_over
