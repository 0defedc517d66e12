# SPDX-License-Identifier: Apache-2.0
"""Sessions of the other procedures on the fake engine; class caches, host states, searches."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeDeployment
from fake_site import READY_AFTER
from planned import asked
from sessions import WINDOW, Bench, events, failed, ping
from trees import THP, Kernel

from steelyard.analysis.warmup import ACCEPTED_FROM
from steelyard.errors import ServerFailed
from steelyard.measure.samples import Samples
from steelyard.results.schema import Trial
from steelyard.results.spec import Component, Spec
from steelyard.session.procedures import SAMPLES_LATE
from steelyard.units import MIB
from steelyard.workload.schema import Ready


def test_start_up_trials_time_the_first_answers(bench: Bench) -> None:
    directory = bench.session(
        ping(procedure="start-up", load={"users": 1}, metrics={"primary": "first_answers_time"})
    )
    trials = bench.run(directory, report=True)
    assert [failed(one) for one in trials] == [[]] * 4
    for one in trials:
        assert one.first_answers == {"ping": pytest.approx(READY_AFTER + 0.2, abs=0.2)}
        assert one.components[0].start_seconds == pytest.approx(READY_AFTER, abs=0.2)
        assert one.components[0].start_rss
        assert one.trace == []
        assert one.curves == {}
    assert bench.world.deployments[0].starts[0] == ["injector-1"]
    assert bench.world.deployments[0].spec.injectors[0].settings["model"] == "probe"


@pytest.mark.parametrize("may", [True, False])
def test_a_probe_asks_for_servers_before_they_start_where_it_may(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, may: bool
) -> None:
    start, asked_before = FakeDeployment.start, set[bool]()

    def look(self: FakeDeployment, components: Sequence[Component]) -> None:
        if components[0].role == "server":
            asked_before.add((self.logs("injector-1") / "start").exists())
        start(self, components)

    monkeypatch.setattr(FakeDeployment, "start", look)
    monkeypatch.setattr(FakeDeployment, "asked_before_start", may)
    trials = bench.run(bench.session(ping(procedure="start-up", load={"users": 1})))
    assert [failed(one) for one in trials] == [[]] * 4
    assert asked_before == {may}


def test_a_measured_start_begins_after_the_first_sample(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes 3 s to start: what the host did until then would not be known."""
    sample, started = FakeDeployment.sample, dict[Path, float]()

    def sample_late(self: FakeDeployment) -> None:
        now = self.world.clock.time()
        if self.sampling and now >= started.setdefault(self.directory, now) + 3.0:
            sample(self)

    monkeypatch.setattr(FakeDeployment, "sample", sample_late)
    directory = bench.session(ping(procedure="start-up", load={"users": 1}))
    for one in bench.run(directory):
        assert failed(one) == []
        folder = directory.trial_path(one.block, one.arm, one.attempt)
        (clock,) = Samples.load(folder / "samples").clocks()
        assert clock.t[0] <= one.phases["start"][0]


UNTIL_STEADY = {
    "users": 8,
    "ramp": 1,
    "warmup": {"until": "steady", "at_least": 5, "at_most": 130},
    "measure": 60,
}


def _warming(bench: Bench, warmth: Callable[[float], float]) -> Trial:
    """One trial that waits until servers of this warmth are steady."""
    bench.world.warmth = warmth
    bench.world.throughput = lambda _: 1000.0
    one = bench.run(bench.session(ping(load=UNTIL_STEADY), blocks=1))[0]
    assert failed(one) == []
    return one


def _lasted(one: Trial, phase: str) -> float:
    return one.phases[phase][1] - one.phases[phase][0]


def test_a_warm_up_ends_at_two_looks_in_a_row_over_a_full_minute(bench: Bench) -> None:
    one = _warming(bench, lambda seconds: seconds)
    assert one.steady
    assert _lasted(one, "warmup") == pytest.approx(ACCEPTED_FROM + SAMPLES_LATE, abs=1.1)
    assert one.measurement is not None
    told = one.measurement.steady_detail
    assert told.startswith("Warm-up: steady over the last 60 s: no change point")
    assert " Measurement: steady over the last 60 s: no change point" in told


def test_a_rise_takes_the_warm_up_to_its_cap(bench: Bench) -> None:
    one = _warming(bench, lambda seconds: seconds + 0.1 / 60 * seconds**2 / 2)
    assert one.steady is False
    assert _lasted(one, "warmup") == pytest.approx(130 + SAMPLES_LATE, abs=1.1)
    assert one.measurement is not None
    assert re.match(r"Warm-up: not steady over the last 60 s: .*the slope of", one.measurement.steady_detail)


def test_a_jump_while_it_is_measured_is_not_steady(bench: Bench) -> None:
    """The warm-up ends about 75 s after the ramp, and 30 s later throughput is 5 % higher."""
    one = _warming(bench, lambda seconds: seconds + 0.05 * max(0.0, seconds - 106.0))
    assert _lasted(one, "warmup") == pytest.approx(ACCEPTED_FROM + SAMPLES_LATE, abs=1.1)
    assert (one.steady, one.state) == (False, "valid")
    assert one.measurement is not None
    assert re.search(
        r"Measurement: not steady over the last 60 s: throughput changed (29|30|31) s before the end",
        one.measurement.steady_detail,
    )
    check = next(check for check in one.checks if check.name == "not-steady")
    assert (check.passed, check.voids) == (False, False)


def test_dips_of_collections_do_not_take_the_warm_up_to_its_cap(bench: Bench) -> None:
    """Every 25 s the servers serve nothing for two seconds."""

    def warmth(seconds: float) -> float:
        whole, into = divmod(seconds, 25.0)
        return 23.0 * whole + min(into, 23.0)

    one = _warming(bench, warmth)
    assert one.steady
    assert _lasted(one, "warmup") == pytest.approx(ACCEPTED_FROM + SAMPLES_LATE, abs=14.1)


@pytest.mark.parametrize(("compiling", "lasts"), [(0.0, 4.0), (12.0, 13.5), (99.0, 20.0)])
def test_a_warm_up_until_compiled_ends_when_the_compiler_does(
    bench: Bench, compiling: float, lasts: float
) -> None:
    """At least 4 s and at most 20 s; while it works the compiler takes half of the servers' CPU."""
    bench.world.compiling = compiling
    warmup = {"until": "compiled", "at_least": 4, "at_most": 20}
    one = bench.run(
        bench.session(ping(load={"users": 8, **WINDOW, "warmup": warmup, "measure": 6}), blocks=1)
    )[0]
    assert failed(one) == []
    assert _lasted(one, "warmup") == pytest.approx(lasts, abs=2.1)
    assert one.steady is (compiling < 20)


def test_ramp_up_trials_have_curves_from_the_first_second(bench: Bench) -> None:
    directory = bench.session(
        ping(procedure="ramp-up", load={"users": 8, "measure": 12}, metrics={"primary": "requests_lost"})
    )
    trials = bench.run(directory, report=True)
    assert [failed(one) for one in trials] == [[]] * 4
    for one in trials:
        assert len(one.curves["throughput"]) == 12
        assert one.curves["throughput"][5] == pytest.approx(100.0)
        assert one.curves["cpu_request"] == pytest.approx([0.45 * int(one.arm[-1])] * 12)
        assert one.steady is None
    assert bench.watcher.phases == ["wash-out", "prepare", "start", "measure", "stop", "collect"] * 4


def test_a_measured_start_follows_one_that_loads_the_data(bench: Bench) -> None:
    world = bench.world
    world.answers = {
        "/rest/info/loader/load?numCustomers=200": (200, "loaded"),
        "/rest/info/config/countCustomers": (200, "200"),
        "/rest/info/config/countBookings": (200, "17"),
    }
    world.throughput = lambda _: 2000.0
    question = asked(
        "acmeair",
        procedure="ramp-up",
        load={"users": 8, "measure": 5},
        factors={"threads": {"levels": [8, 16]}},
    )
    trials = bench.run(bench.session(question))
    assert [failed(one) for one in trials] == [[]] * 4
    first = world.deployments[0]
    assert first.starts == [["database"], ["server-1"], ["injector-1"], ["server-1"]]
    assert first.stops[0] == "server-1"


def test_a_trial_under_a_limit_survives_or_does_not(bench: Bench) -> None:
    bench.world.deaths = {"02-jvms-1": ("server-1", 3.5)}
    directory = bench.session(
        ping(procedure="survive", load={"users": 8, "measure": 6}, metrics={"primary": "survived"})
    )
    trials = bench.run(directory, report=True)
    assert [failed(one) for one in trials] == [[]] * 4
    assert [(one.block, one.arm) for one in trials if not one.survived] == [(2, "jvms-1")]
    died = next(one for one in trials if not one.survived)
    assert died.measurement is not None
    assert died.measurement.restarts == ["server-1 ended with exit code 137"]
    assert died.measurement.measure_seconds == pytest.approx(3.0)


def test_too_little_memory_to_start_with_is_an_answer_and_no_failed_start(bench: Bench) -> None:
    """A search for the least memory goes below it on purpose, in both arms one after the other."""
    bench.world.starved = True
    bench.world.deaths = {
        f"01-{arm}{again}": ("server-1", 0.0) for arm in ("jvms-1", "jvms-2") for again in ("", "-r1")
    }
    question = ping(
        procedure="survive",
        load={"users": 8, "measure": 3},
        metrics={"primary": "survived"},
        design={"blocks": 2, "repeats": 0},
    )
    trials = bench.run(bench.session(question))
    assert [(one.state, one.survived) for one in trials if one.block == 1] == [("valid", False)] * 2
    assert [one.metrics for one in trials if one.block == 1] == [{"survived": 0.0}] * 2
    checks = [check for one in trials if one.block == 1 for check in one.checks]
    assert [(check.name, check.voids, check.has_failed) for check in checks] == [("start", False, True)] * 2
    assert [one.survived for one in trials if one.block == 2] == [True, True]


SURVIVES: dict[str, Any] = {
    "procedure": "survive",
    "metrics": {"primary": "survived"},
    "design": {"blocks": 2, "repeats": 0},
}


@pytest.mark.parametrize(("faults", "survived"), [(40.0, True), (60.0, False)])
def test_a_server_that_thrashes_at_its_limit_has_not_survived(
    bench: Bench, faults: float, survived: bool
) -> None:
    bench.world.faults = faults
    question = ping(load={"users": 8, "measure": 6}, **SURVIVES)
    one = bench.run(bench.session(question, blocks=1, memory_bytes=64 * MIB))[0]
    assert (one.state, one.survived) == ("valid", survived)
    assert one.measurement is not None
    assert one.measurement.restarts == []
    assert one.measurement.thrashing == [
        "server-1 thrashed at its limit of 64 MiB: it read its own memory back from the disk 60 times a second"
    ] * (not survived)


def test_a_start_that_ends_in_thrashing_is_an_answer_and_no_failed_start(bench: Bench) -> None:
    bench.world.ready_after = math.inf
    question = ping(load={"users": 8, "measure": 6}, **SURVIVES)
    asked_of = {"memory_bytes": 64 * MIB, "ready": Ready(path="/ready", within=40.0)}
    bench.world.faults = 60.0
    for one in bench.run(bench.session(question, blocks=1, **asked_of)):
        assert (one.state, one.survived) == ("valid", False)
        assert re.match(
            r"server-\d did not answer within 40 s: see .*; server-1 thrashed at its limit of 64 MiB: ",
            str(one.failure),
        )
    bench.world.faults = 40.0
    with pytest.raises(ServerFailed, match=r"did not start: server-\d did not answer within 40 s: see \S+$"):
        bench.run(bench.session(question, blocks=1, **asked_of))


@pytest.mark.parametrize("feature", [17, 25])
def test_class_caches_are_filled_once_for_each_arm(bench: Bench, feature: int) -> None:
    directory = bench.session(
        asked(
            "ping",
            procedure="start-up",
            factors={"class_cache": {"levels": ["none", "cold", "warm"]}},
            metrics={"primary": "first_answers_time"},
        ),
        feature=feature,
    )
    trials = bench.run(directory)
    assert [failed(one) for one in trials] == [[]] * 6
    assert events(directory).count("populate") == 1
    filled = [d for d in bench.world.deployments if d.directory.name == "populate-class-cache-warm"]
    assert len(filled) == 1
    assert (directory.path / "caches" / "class-cache-warm" / "server" / "classes").exists()
    warm = [d for d in bench.world.deployments if d.spec.arm == "class-cache-warm" and d not in filled]
    assert [d.caches_seen for d in warm] == [{"server-1": ["classes"]}] * 2
    assert not list(directory.trials_path.glob("populate*/trial.json"))


def test_a_cache_that_is_not_written_is_a_failed_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fake_engine.WRITES_CACHE", ("-XX:Nothing",))
    directory = bench.session(
        asked("ping", procedure="start-up", factors={"class_cache": {"levels": ["warm", "none"]}}),
    )
    with pytest.raises(ServerFailed, match="server of arm class-cache-warm wrote no cache: see"):
        bench.run(directory)
    assert {one.state for one in directory.trials() if one.arm == "class-cache-warm"} == {"void"}


def test_a_cache_whose_writer_was_killed_is_not_taken(bench: Bench) -> None:
    """What it had written by then is a part of one."""
    bench.world.kills = {"populate-class-cache-warm"}
    directory = bench.session(
        asked("ping", procedure="start-up", factors={"class_cache": {"levels": ["warm", "none"]}}),
    )
    sentence = r"the run that fills the class caches failed: server-\d did not stop and was killed"
    with pytest.raises(ServerFailed, match=sentence):
        bench.run(directory)
    assert not (directory.path / "caches").exists()


def test_a_server_that_was_killed_before_the_measured_start_voids_its_trial(bench: Bench) -> None:
    """It left work to the start that is measured."""
    bench.world.answers = {
        "/rest/info/loader/load?numCustomers=200": (200, "loaded"),
        "/rest/info/config/countCustomers": (200, "200"),
        "/rest/info/config/countBookings": (200, "17"),
    }
    bench.world.kills = {"01-threads-8"}
    question = asked("acmeair", procedure="start-up", factors={"threads": {"levels": [8, 16]}})
    trials = bench.run(bench.session(question, blocks=1))
    first = next(trial for trial in trials if (trial.arm, trial.attempt) == ("threads-8", 0))
    assert (first.state, str(first.failure)) == ("void", "server-1 did not stop and was killed")


def test_host_states_are_set_for_each_plot_and_put_back(bench: Bench, tmp_path: Path) -> None:
    kernel = bench.kernel = Kernel(tmp_path / "tree")
    seen: list[tuple[str, str | None]] = []
    throughput = bench.world.throughput

    def look(spec: Spec) -> float:
        seen.append((str(spec.host_states["thp"]), kernel.choice(THP)))
        return throughput(spec)

    bench.world.throughput = look
    directory = bench.session(ping(factors={"thp": {"levels": ["never", "always"]}}))
    trials = bench.run(directory)
    assert [failed(one) for one in trials] == [[]] * 4
    assert {wanted for wanted, _ in seen} == {"never", "always"}
    assert all(wanted == there for wanted, there in seen)
    assert kernel.choice(THP) == "madvise"
    assert bench.watcher.phases[:2] == ["wash-out", "set-host"]
    assert bench.children.told[0] == "!host-states"
    assert bench.children.told[-1] == "~host-states"


def test_a_host_state_that_changed_meanwhile_voids(bench: Bench, tmp_path: Path) -> None:
    kernel = bench.kernel = Kernel(tmp_path / "tree")

    def meddle(_: Spec) -> float:
        kernel.write(THP, "madvise")
        return 100.0

    bench.world.throughput = meddle
    directory = bench.session(ping(factors={"thp": {"levels": ["never", "always"]}}, design={"repeats": 0}))
    trials = bench.run(directory)
    assert {one.state for one in trials} == {"void"}
    assert {one.checks[0].name for one in trials} == {"settings"}
    assert "host state thp reads back madvise" in str(trials[0].failure)


def test_a_search_ends_at_the_edge(bench: Bench) -> None:
    bench.world.throughput = lambda spec: 20.0 * (spec.load.users or 0)
    bench.world.latency = lambda spec: 0.001 * (spec.load.users or 0)
    question = asked(
        "ping",
        search={"raise": "users", "within": {"p99": "100ms"}, "start": 20, "resolution": 0.1, "confirm": 0},
        load={"users": 20, **WINDOW, "measure": 10},
        design={"blocks": 1},
        factors={"jvms": {"levels": [1]}},
    )
    directory = bench.session(question, blocks=1)
    with pytest.raises(KeyboardInterrupt):
        bench.run(directory, interrupt=lambda planned, phase: (planned.order, phase) == (2, "measure"))
    bench.run(directory, report=True)
    values = [one.value for one in directory.trials()]
    assert values[:2] == [20.0, pytest.approx(40.0)]
    assert [
        d.spec.injectors[0].settings["users"]
        for d in bench.world.deployments
        if d.directory.name.endswith("-r1")
    ] == [40]
    (found,) = directory.analysis().searches
    (run,) = found.runs
    assert run.end == "found"
    assert run.passed is not None
    assert run.failed is not None
    assert 80 <= run.passed <= 100 < run.failed <= 1.1 * run.passed + 1
