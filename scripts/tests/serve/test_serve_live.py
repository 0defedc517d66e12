# SPDX-License-Identifier: Apache-2.0
"""The page of a running session: what it says of schedule, throughput and void trials."""

import shutil
from pathlib import Path

import pytest
from kept_sessions import make_session_of, write_running, write_session
from sample import study_plan

from steelyard.results.schema import JournalEntry
from steelyard.serve.live import LiveSession, Trace, about, started_last
from steelyard.serve.plot import nice_step, plot_rates
from steelyard.session.context import Served
from steelyard.session.progress import remaining_seconds
from steelyard.session.schedule import expected_seconds

NOW = 1_800_000_000.0


def test_a_running_session_tells_its_trial_its_time_and_its_throughput(tmp_path: Path) -> None:
    target = write_running(tmp_path, 13, NOW)
    live = LiveSession(target.path)
    state = live.state(NOW, holds_host=True)
    assert (state.is_live, state.done, state.total) == (True, 13, 30)
    assert state.running is not None
    assert state.running.phase == "measuring"
    assert state.running.clock == "40 s of 1 min"
    assert 30 < len(state.rates) <= 40
    assert all(45_000 < rate < 60_000 for _, rate in state.rates)
    states = [place.state for _, places in state.blocks for place in places]
    assert states.count("running") == 1
    assert states.count("void") == len(state.voids) == 1
    assert states.count("waiting") == 30 - 13 - 1
    assert "block 3" in state.voids[0][0]
    assert state.voids[0][1].endswith(".")


def test_what_happens_is_shown_at_the_next_look(tmp_path: Path) -> None:
    target = write_running(tmp_path, 3, NOW)
    live = LiveSession(target.path)
    before = live.state(NOW, holds_host=True)
    assert before.running is not None
    place = {"block": before.running.planned.block, "arm": before.running.planned.arm, "attempt": 0}
    folder = target.trial_path(**place)  # type: ignore[arg-type]
    with (folder / "samples" / "counters.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"{NOW + at},server-1,ping,{3_000_000 + 1000 * at},0\n" for at in range(1, 5))
    more = live.state(NOW + 4, holds_host=True)
    assert more.rates[-1][1] == pytest.approx(1000, rel=0.05)
    ended = live.state(NOW + 4, holds_host=False)
    assert (ended.is_live, ended.left, ended.running) == (False, None, None)
    assert "killed" in (ended.interrupted or "")
    target.log(NOW + 5, "interrupted", detail="Ctrl-C, or a signal to end")
    assert live.state(NOW + 6, holds_host=True).interrupted == "Ctrl-C, or a signal to end"


def test_a_session_that_has_only_been_written_down_has_not_ended(tmp_path: Path) -> None:
    target = write_running(tmp_path, 3, NOW)
    shutil.rmtree(target.trials_path)
    (target.path / "journal.jsonl").unlink()
    live = LiveSession(target.path)
    assert live.state(NOW, holds_host=True).is_live
    ended = live.state(NOW, holds_host=False)
    assert (ended.is_live, ended.done) == (False, 0)
    assert ended.interrupted == "its first trial has not begun"


def test_trials_for_profiles_are_in_the_time_left_and_named(tmp_path: Path) -> None:
    session, trials = make_session_of(study_plan(), 400, 2, "9a8b7c6")
    session = session.model_copy(update={"profilers": ["cpu", "jfr"], "profile_starts": 4})
    target = write_session(tmp_path, session, trials)
    planned = expected_seconds(session.arms[0].spec)
    live = LiveSession(target.path)
    arms = [arm.name for arm in session.arms]
    before = remaining_seconds(
        session, [], [(place.block, place.arm) for place in session.schedule], None, 0.0
    )
    assert before == pytest.approx(5 * len(arms) * planned)
    running = remaining_seconds(session, [], (), None, planned / 2, [*arms, arms[0]])
    assert running == pytest.approx((5 * len(arms) - len(arms) - 1 + 0.5) * planned)
    waiting = live.state(NOW, holds_host=True)
    assert (waiting.profiling, waiting.left == "0 s") == (None, False)
    target.log(NOW + 1, "profile", arm=arms[0])
    target.log(NOW + 2, "populate", arm=arms[0])
    state = live.state(NOW + 31, holds_host=True)
    assert state.profiling == f"profiling {arms[0]}, 30 s"
    assert state.left != "0 s"
    assert state.running is None
    target.log(NOW + 40, "session-end")
    assert live.state(NOW + 41, holds_host=True).profiling is None


def test_between_two_trials_none_runs() -> None:
    start = JournalEntry(time=1, event="trial-start", block=1, arm="a")
    phase = JournalEntry(time=2, event="phase", phase="start")
    end = JournalEntry(time=3, event="trial-end", block=1, arm="a", state="valid")
    assert started_last([start, phase]) == start
    assert started_last([start, phase, end]) is None
    assert started_last([]) is None


def test_requests_fall_into_the_seconds_that_they_were_answered_in() -> None:
    trace = Trace()
    # Two servers, read at other times: 100/s and 50/s.
    trace.add([Served(("a", "x"), at, at + 1, 100) for at in range(10, 16)])
    trace.add([Served(("b", "x"), at + 0.4, at + 1.4, 50) for at in range(10, 16)])
    rates = trace.rates()
    assert [second for second, _ in rates] == [11.0, 12.0, 13.0]
    assert [rate for _, rate in rates] == pytest.approx([150.0] * 3)
    assert trace.rates(last=1) == rates[-1:]
    assert Trace().rates() == []


def test_a_counter_that_begins_anew_is_no_negative_throughput() -> None:
    trace = Trace()
    trace.add([Served(("a", "x"), at, at + 1, -500) for at in range(5)])
    assert all(rate == 0 for _, rate in trace.rates())


def test_a_plot_has_round_figures_and_all_points_inside() -> None:
    plot = plot_rates([(second, 800.0 + second) for second in range(40)])
    assert plot is not None
    assert [label for _, label in plot.rows] == ["0", "500", "1,000"]
    assert [label for _, label in plot.columns] == ["10 s ago", "20 s ago", "30 s ago"]
    assert plot.end == (100.0, 16.1)
    assert plot_rates([(0, 1.0)]) is None
    still = plot_rates([(0, 0.0), (1, 0.0)])
    assert still is not None
    assert still.end == (100.0, 100.0)


@pytest.mark.parametrize(("span", "step"), [(40, 10), (39, 10), (8.4, 5), (100_000, 50_000), (0.3, 0.1)])
def test_ticks_are_round(span: float, step: float) -> None:
    assert nice_step(span) == pytest.approx(step)


def test_a_forecast_is_not_told_to_the_second() -> None:
    assert [about(seconds) for seconds in (45, 119, 131, 4000)] == [
        "45 s",
        "1 min 59 s",
        "2 min",
        "1 h 7 min",
    ]
