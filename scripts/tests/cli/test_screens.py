# SPDX-License-Identifier: Apache-2.0
"""What a person sees while a session runs."""

import io

import pytest
from fake_clock import FakeClock
from planned import question, session_of, specs_of
from rich.console import Console
from shown import failed_trial, quick_session

from steelyard.cli.console import open_console
from steelyard.cli.live import LiveScreen, PlainScreen, screen
from steelyard.results.schema import Planned, Session
from steelyard.session.progress import trial_line
from steelyard.session.schedule import trial_seconds
from steelyard.units import format_duration


@pytest.fixture(scope="module")
def session() -> Session:
    return quick_session()


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_a_terminal_gets_the_live_view_and_a_pipe_plain_lines(session: Session) -> None:
    console = terminal()
    with screen(session, console, set()) as live:
        assert isinstance(live, LiveScreen)
        live.note("the host is warm")
    assert "note: the host is warm" in console.file.getvalue()  # type: ignore[attr-defined]
    with screen(session, Console(file=io.StringIO()), set()) as plain:
        assert isinstance(plain, PlainScreen)


def test_the_live_view_shows_trial_phase_throughput_and_time_left(session: Session) -> None:
    console = terminal()
    live = LiveScreen(session, console, set())
    live.trial_ended(failed_trial(), 1, 6)
    live.trial_started(Planned(block=1, arm="jvms-1", order=1), 1, 6)
    live.phase("measure", 8.0)
    live.throughput(12345.6)
    console.print(live.render())
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "2 of 6" in text
    assert "block 1 of 5" in text
    assert "measuring" in text
    assert "of 8 s" in text
    assert "12,346 req/s" in text
    # The other five trials, at the pace of the plan: no trial has been measured yet.
    specs = {arm.name: arm.spec for arm in session.arms}
    expected = sum(sum(trial_seconds(specs[arm])) / 2 for arm in ["jvms-1"] * 3 + ["jvms-2"] * 2)
    assert f"about {format_duration(expected)}" in text
    assert "server-1 died" in text


def test_a_profile_is_no_trial_of_the_schedule(session: Session) -> None:
    console = terminal()
    live = LiveScreen(session, console, set())
    live.trial_started(Planned(block=5, arm="jvms-2", order=5), 5, 6)
    live.throughput(12345.6)
    live.trial_ended(failed_trial(), 6, 6)
    live.note("profiling jvms-1 (cpu); in no average")
    console.print(live.render())
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "7 of 6" not in text
    assert "12,346" not in text
    assert "now         profiling jvms-1 (cpu); in no average" in text


def test_plain_lines_name_each_trial_and_its_outcome(session: Session) -> None:
    file = io.StringIO()
    plain = PlainScreen(Console(file=file, width=100), session)
    plain.trial_started(Planned(block=2, arm="jvms-2", attempt=1, order=6), 6, 7)
    plain.phase("measure", 8.0)
    plain.throughput(1.0)
    plain.trial_ended(failed_trial(), 7, 7)
    # Nothing has been measured yet: the pace of the plan.
    specs = {arm.name: arm.spec for arm in session.arms}
    expected = sum(sum(trial_seconds(specs[place.arm])) / 2 for place in session.schedule)
    assert file.getvalue().splitlines() == [
        f"trial 7 of 7: block 2, jvms-2 (repeat 1), about {format_duration(expected)} left",
        "  measuring (8 s)",
        "  block 1 jvms-2: void, server-1 died",
    ]


def test_a_loader_is_shown_as_it_loads(session: Session) -> None:
    console, file, clock = terminal(), io.StringIO(), FakeClock()
    live, plain = LiveScreen(session, console, set(), clock), PlainScreen(Console(file=file), session, clock)
    live.phase("prepare", None)
    for number in range(50):
        clock.sleep(0.1)
        for each in (live, plain):
            each.progress(f"Account# {number} [of] 50")
    console.print(live.render())
    assert "preparing, 5 s: Account# 49 [of] 50" in console.file.getvalue()  # type: ignore[attr-defined]
    lines = file.getvalue().splitlines()
    assert lines[0] == "  Account# 0 [of] 50"
    assert len(lines) == 3, "one every two seconds"
    live.phase("start", None)
    console.print(live.render())
    assert "Account" not in console.file.getvalue().rpartition("starting servers")[2]  # type: ignore[attr-defined]


def test_a_step_of_a_search_is_named_by_its_value_and_is_no_repeat() -> None:
    step = failed_trial().model_copy(update={"value": 128.0 * 2**20, "attempt": 2})
    assert trial_line(step, "memory") == "block 1 jvms-2 with 128 MiB: void, server-1 died"
    found = question("capacity", quick=True)
    file = io.StringIO()
    searching = PlainScreen(Console(file=file), session_of(found, specs_of(found), blocks=1))
    searching.trial_started(Planned(block=1, arm="jvms-2", attempt=1, order=3, value=500.0), 3, 9)
    assert file.getvalue().startswith("trial 4 of 9: block 1, jvms-2 with 500 users, about ")


def test_the_time_left_counts_what_is_done(session: Session) -> None:
    file = io.StringIO()
    done = {(place.block, place.arm) for place in session.schedule[:-1]}
    plain = PlainScreen(Console(file=file, width=100), session, before=done)
    last = session.schedule[-1]
    spec = next(arm.spec for arm in session.arms if arm.name == last.arm)
    plain.trial_started(Planned(block=last.block, arm=last.arm, order=9), 9, 10)
    left = format_duration(sum(trial_seconds(spec)) / 2)
    assert file.getvalue() == f"trial 10 of 10: block {last.block}, {last.arm}, about {left} left\n"


def test_a_void_trial_says_why() -> None:
    assert trial_line(failed_trial()) == "block 1 jvms-2: void, server-1 died"


def test_what_is_no_terminal_gets_lines_into_which_tables_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert open_console().width == open_console(stderr=True).width == 140
    monkeypatch.setenv("COLUMNS", "100")
    assert open_console().width == 100
