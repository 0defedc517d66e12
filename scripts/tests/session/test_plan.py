# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steelyard.analysis.warmup import ACCEPTED_FROM
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.matrix import with_quick
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import ScheduledTrial
from steelyard.session.plan import Request, SessionPlan, host_checks, make_plan


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
    assert high - low == (240 - ACCEPTED_FROM) * len(made("jvms=1,2").schedule)
    quick = made(quick=True).expected_seconds()
    assert quick[0] < 300 < quick[1]


@pytest.mark.parametrize("name", sorted(experiment_files(EXPERIMENTS)))
def test_a_quick_session_has_five_blocks(name: str) -> None:
    """But for searches, whose blocks are whole searches."""
    experiment, _, settings = load_experiment(experiment_files(EXPERIMENTS)[name], host_checks())
    assert experiment.search is not None or with_quick(experiment, settings).design.blocks >= 5


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


def test_a_session_asks_for_its_workload_again() -> None:
    assert "--workload ./my.yaml" in Request("jvm-count", workload="./my.yaml").command(7)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"blocks": 1}, r"--blocks 1: give 2 \(an interval needs two\) to 1000"),
        ({"blocks": 100_000}, "--blocks 100000: give 2"),
        ({"seed": -1}, r"--seed -1 is not a whole number from 0 to 2\^63 - 1"),
        ({"seed": 2**63}, "is not a whole number from 0"),
        ({"settings": ["total_heap=99999g"]}, "of heap and this host"),
        ({"settings": ["measure=400h"]}, "more than two weeks"),
        ({"settings": ["engine=process"], "jdk": Path("/no/such/jdk")}, "/no/such/jdk"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, object], says: str) -> None:
    with pytest.raises(SteelyardError, match=says):
        make_plan(Request("jvm-count", **{"seed": 5, **more}))  # type: ignore[arg-type]


def test_host_states_make_plots() -> None:
    plan = made("jvms=1,2", "thp=never,always", blocks=4)
    for block in range(1, 5):
        places = [place for place in plan.schedule if place.block == block]
        assert sorted({place.plot for place in places}) == [1, 2]
        states = [plan.specs[place.arm].host_states["thp"] for place in places]
        assert states[0] == states[1] != states[2] == states[3]


def test_another_workload_has_its_own_settings() -> None:
    plan = make_plan(Request("jvm-count", workload="acmeair", settings=["acmeair.customers=7"], seed=1))
    assert {spec.workload for spec in plan.specs.values()} == {"acmeair"}
    with pytest.raises(BadInput, match=r"'acmeair\.customers' is not a setting"):
        make_plan(Request("jvm-count", settings=["acmeair.customers=7"], seed=1))


@pytest.mark.parametrize("name", ["jvm-count", "acmeair-topology", "start-up", "ramp-up"])
def test_every_trial_has_an_expected_time(name: str) -> None:
    plan = make_plan(Request(name, quick=True, seed=1))
    low, high = plan.expected_seconds()
    assert 0 < low <= high < 3 * 3600
