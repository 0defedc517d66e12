# SPDX-License-Identifier: Apache-2.0
"""`plan`: its pilot on the fake engine, where it runs none, and what a certificate says of several arms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Result, run_command
from fake_engine import World
from sessions import Bench
from test_certificate import equal_session, starts
from test_power import LEVELS, planned, switching

from steelyard.cli import plan as plan_module
from steelyard.errors import Exit
from steelyard.gate.certificate import make_certificate
from steelyard.results.schema import Phase, Planned

SHORT = [
    *("--set", "total_heap=64m", "--set", "jvms=1", "--set", "threads=6,7", "--set", "users=8"),
    *("--set", "ramp=1", "--set", "warmup=2s", "--set", "measure=4s", "--seed", "5"),
]


@pytest.fixture
def world() -> World:
    made = World(ready_after=0.1)
    made.throughput = lambda _spec: 200 * made.start_level(7, 0.02)
    return made


@pytest.fixture
def plan(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    bench = Bench(tmp_path, world)

    def run(experiment: str, *more: str, **watching: Any) -> Result:
        bench.take_commands(monkeypatch, lambda: watching)
        return run_command(capsys, "plan", experiment, *more, "--pilot", "--out", str(tmp_path))

    monkeypatch.setenv("COLUMNS", "400")
    return run


def test_a_pilot_whose_pairs_are_void_says_so_and_why(
    plan: Callable[..., Result], world: World, tmp_path: Path
) -> None:
    """The clock steps by three seconds in each measurement."""

    def step(_planned: Planned, phase: Phase) -> bool:
        if phase == "measure":
            world.clock.step(3.0)
        return False

    port = ["--port", str(Bench.port)]
    told = plan("jvm-count", *SHORT, *port, interrupt=step)
    assert told.code == Exit.OK, told.err
    assert "pilot: how much trials vary is still not known: 0 of 3 pairs could be used; of " in told.err
    assert "by the check clock-step: " in told.err
    assert "by published spreads" in told.out
    again = plan("jvm-count", *SHORT, *port)
    assert "pilot: 3 pairs of equal arms, about " in again.err
    assert "not known" not in again.err
    assert "by the spread seen and its upper 95 % bound, from " in again.out
    assert plan("jvm-count", *SHORT, *port).err == ""
    assert len(list(tmp_path.glob("*/session.json"))) == 2


def test_no_pilot_runs_where_it_would_tell_nothing(plan: Callable[..., Result], tmp_path: Path) -> None:
    told = plan("capacity")
    assert (told.code, told.err.strip()) == (Exit.OK, "no pilot: a search has no pairs")
    assert "Schedule" in told.out
    assert not list(tmp_path.glob("*/session.json"))


def test_a_certificate_counts_the_comparisons_of_a_plan_and_has_no_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_certificate(equal_session(10), starts(0.01, 10))
    noise = made.noise[0].model_copy(update={"metric": "throughput", "pair_sd": 0.02})
    certificate = made.model_copy(update={"noise": [noise]})
    monkeypatch.setattr(plan_module, "find_certificate_here", lambda *_: certificate)
    for levels, blocks in (("jvms=1,2", 24), ("jvms=1,2,3,4", 32)):
        title, line = plan_module._by_certificate(planned(levels), tmp_path, None)
        assert title.endswith(", 80 % power:")
        assert f"a true 2 %: {blocks} blocks, " in line
    switched = switching(planned(LEVELS), "jvms-4")
    title, _ = plan_module._by_certificate(switched, tmp_path, None)
    assert title.endswith(", 80 % power, switches of the host left out:")
