# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from steelyard.results.schema import ScheduledTrial
from steelyard.session.plan import Request, SessionPlan, make_plan


def made(*settings: str, quick: bool = False, blocks: int | None = None) -> SessionPlan:
    return make_plan(Request("jvm-count", quick=quick, blocks=blocks, settings=settings, seed=5))


def test_every_block_of_the_schedule_holds_every_arm_once() -> None:
    plan = made("jvms=1,2", blocks=4)
    for block in range(1, 5):
        assert sorted(place.arm for place in plan.schedule if place.block == block) == ["jvms-1", "jvms-2"]
    assert [place.order for place in plan.schedule] == list(range(8))
    assert isinstance(plan.schedule[0], ScheduledTrial)


def test_expected_time_lies_between_the_shortest_and_the_longest_warm_up() -> None:
    low, high = made("jvms=1,2").expected_seconds()
    assert high - low == (240 - 60) * len(made("jvms=1,2").schedule)
    quick = made(quick=True).expected_seconds()
    assert quick[0] == quick[1] < 300


def test_notes_belong_to_what_the_plan_does() -> None:
    shared = made("injector_cores=shared")
    assert shared.injectors_share_cores
    assert any("servers' cores" in note for note in shared.notes)
    assert any("foreground" in note for note in made(quick=True).notes)
    assert not any("foreground" in note for note in made().notes)


def test_the_command_of_a_session_asks_for_the_same_again() -> None:
    request = Request(
        "jvm-count", quick=True, blocks=4, settings=["jvms=1,2", "users=8"], jdk=Path("/opt/a jdk")
    )
    assert request.command(7) == (
        "./steelyard run jvm-count --quick --blocks 4 --set jvms=1,2 --set users=8 --jdk '/opt/a jdk' --seed 7"
    )
