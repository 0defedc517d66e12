# SPDX-License-Identifier: Apache-2.0
"""Whole sessions of every procedure on the fake engine: trials, journal, resume, caches, host states."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_engine import READY_AFTER, FakeChildren, FakeEngine, Recorder, World
from planned import asked, identity, processes, session_of, specs_of
from trees import THP, Kernel

from steelyard.engines.base import Engine
from steelyard.errors import ServerFailed
from steelyard.experiment.loader import Question
from steelyard.load import injector
from steelyard.results.schema import Trial
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session import caches, deploying, flight, procedures, runner, trial

WINDOW = {"ramp": 1, "warmup": {"until": "fixed", "at_least": 2}, "measure": 5}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose clock is the clock of everything that a session goes through."""
    made = World()
    for module in (runner, trial, flight, procedures, caches, deploying, injector):
        monkeypatch.setattr(module, "time", made.clock)
    # Of this process's own group: on a host with a CPU limit it grows by itself.
    monkeypatch.setattr(procedures, "throttled_seconds", lambda: 0.0)
    return made


@pytest.fixture(scope="session")
def port() -> int:
    """The first of some free ports."""
    for first in range(21000, 32000, 20):
        if all(_free(first + offset) for offset in range(8)):
            return first
    raise AssertionError("no free ports")


def _free(number: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", number)) != 0


class Bench:
    """Sessions in a folder, on one world."""

    def __init__(self, folder: Path, world: World, port: int) -> None:
        self.folder, self.world, self.port = folder, world, port
        self.kernel: Kernel | None = None
        self.children = FakeChildren(world)

    def session(self, question: Question, blocks: int = 2, feature: int = 17) -> SessionDirectory:
        """A session that has not begun."""
        specs = specs_of(question, runtime=processes(identity("hotspot", feature)), first_port=self.port)
        directory = SessionDirectory(self.folder / f"session-{len(list(self.folder.iterdir()))}")
        (directory.path / "trials").mkdir(parents=True)
        write_record(directory.path / "session.json", session_of(question, specs, blocks))
        return directory

    def run(self, directory: SessionDirectory, report: bool = False, **watching: Any) -> list[Trial]:
        """Run it, or what is left of it; a report is drawn where it is asked for."""
        with pytest.MonkeyPatch.context() as patch:
            if not report:
                patch.setattr(runner, "write_report", lambda _: [])
            return self._run(directory, **watching)

    def _run(self, directory: SessionDirectory, **watching: Any) -> list[Trial]:
        self.watcher = Recorder(**watching)
        engines: dict[str, Engine] = {"process": FakeEngine(self.world)}
        lock = self.folder / "lock"
        system = {"system": self.kernel} if self.kernel is not None else {}
        return runner.run_session(directory, engines, self.children, self.watcher, lock=lock, **system)


@pytest.fixture
def bench(tmp_path: Path, world: World, port: int) -> Iterator[Bench]:
    made = Bench(tmp_path, world, port)
    yield made
    for deployment in world.deployments:
        deployment.close()


def order(directory: SessionDirectory) -> list[tuple[int, str, int]]:
    return [(one.block, one.arm, one.attempt) for one in directory.trials()]


def events(directory: SessionDirectory) -> list[str]:
    return [entry.event for entry in directory.journal()]


def failed(one: Trial) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in one.checks if check.voids and check.failed]


def ping(**keys: Any) -> Question:
    return asked("ping", **{"load": {"users": 8, "injectors": 2, **WINDOW}, **keys})


def test_a_session_of_steady_trials(bench: Bench) -> None:
    bench.world.throughput = lambda spec: 100.0 * len(spec.servers)
    directory = bench.session(ping())
    trials = bench.run(directory, report=True)
    assert [failed(one) for one in trials] == [[]] * 4
    assert [(one.block, one.arm) for one in trials] == [
        (p.block, p.arm) for p in directory.session().schedule
    ]
    assert bench.world.checked == 2
    assert events(directory)[0] == "session-start"
    assert events(directory)[-1] == "session-end"
    assert bench.watcher.phases == ["start", "ramp", "warmup", "measure", "stop", "collect"] * 4
    assert bench.watcher.rates[-1] == pytest.approx(100.0 * len(bench.world.deployments[-1].spec.servers))
    for one in trials:
        servers = int(one.arm[-1])
        assert one.measurement is not None
        assert one.measurement.window_server_rate == pytest.approx(100 * servers)
        assert one.measurement.window_injector_rate == pytest.approx(100 * servers)
        assert one.measurement.server_requests == one.measurement.injector_requests
        assert one.metrics["throughput"] == pytest.approx(100 * servers)
        assert one.latency["ping"].p50 == pytest.approx(0.002, rel=0.01)
        assert [(c.name, c.role) for c in one.components][-2:] == [
            ("injector-1", "injector"),
            ("injector-2", "injector"),
        ]
        server = one.components[0]
        assert server.start_seconds == pytest.approx(READY_AFTER, abs=0.1)
        assert server.cpu_seconds == pytest.approx(2.5)
        assert one.trace[-1][1] == pytest.approx(100 * servers)
        begin, end = one.phases["measure"]
        assert end - begin == pytest.approx(5.0)
        assert begin == int(begin)  # samples and intervals end at whole seconds
    assert (directory.path / "report.html").exists()
    assert directory.analysis().estimates["throughput"]["jvms-2"].ratio == pytest.approx(2.0)


def test_what_a_trial_leaves(bench: Bench) -> None:
    directory = bench.session(ping())
    bench.run(directory)
    folder = directory.trial_path(1, "jvms-2", 0)
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"trial.json", "sampler.json", "replay/deployment.sh", "load/injector-2/latency.hlog"} <= left
    watched = json.loads((folder / "sampler.json").read_text(encoding="utf-8"))["processes"]
    assert [(one["name"], one["role"]) for one in watched] == [
        ("server-1", "server"),
        ("server-2", "server"),
        ("injector-1", "injector"),
        ("injector-2", "injector"),
        ("harness", "harness"),
    ]
    assert watched[0]["counters_url"] == f"http://127.0.0.1:{bench.port}/bench/counters"


def test_every_trial_of_a_block_draws_from_the_same_seed(bench: Bench) -> None:
    bench.run(bench.session(ping()))
    drawn = [(d.directory.name[:2], d.spec.injectors[0].settings["seed"]) for d in bench.world.deployments]
    assert sorted(drawn) == [("01", 8), ("01", 8), ("02", 9), ("02", 9)]


def test_data_is_loaded_and_checked_and_counted(bench: Bench) -> None:
    world = bench.world
    world.answers = {
        "/rest/info/loader/load?numCustomers=200": (200, "loaded"),
        "/rest/info/config/countCustomers": (200, "200\n"),
        "/rest/info/config/countBookings": (200, "17"),
    }
    world.throughput = lambda _: 2000.0
    question = asked(
        "acmeair",
        load={"users": 8, **WINDOW},
        factors={"topology": {"levels": ["monolith"]}, "threads": {"levels": [8, 16]}},
    )
    directory = bench.session(question, blocks=2)
    trials = bench.run(directory)
    assert [failed(one) for one in trials] == [[]] * 4
    assert trials[0].measurement is not None
    assert trials[0].measurement.server_requests == trials[0].measurement.injector_requests
    assert world.deployments[0].starts == [["database"], ["server-1"], ["injector-1"]]
    assert world.deployments[0].stops[0] == "injector-1"
    world.answers["/rest/info/config/countCustomers"] = (200, "199")
    world.answers["/rest/info/config/countBookings"] = (500, "no")
    again = bench.run(bench.session(question, blocks=2))
    (told,) = {tuple(failed(one)) for one in again}
    assert told[0] == (
        "consistency: The data is not sound after the load: the number of customers: it is 199, expected 200;"
        " the bookings can be counted: server-1 gave status 500 to /rest/info/config/countBookings."
    )


def test_a_loader_that_says_no_voids_the_trial_and_two_of_them_end_the_session(bench: Bench) -> None:
    bench.world.answers = {"/rest/info/loader/load?numCustomers=200": (500, "no database\nat line 1")}
    question = asked("acmeair", load={"users": 8, **WINDOW}, factors={"threads": {"levels": [8, 16]}})
    directory = bench.session(question)
    with pytest.raises(
        ServerFailed, match=r"2 trials in a row did not start: .*status 500, it said: no database$"
    ):
        bench.run(directory, report=True)
    assert [one.state for one in directory.trials()] == ["void", "void"]
    assert (directory.path / "report.html").exists()


def test_a_server_that_dies_voids_its_trial_which_is_kept_and_repeated(bench: Bench) -> None:
    bench.world.deaths = {"01-jvms-2": ("server-2", 7.0)}
    directory = bench.session(ping())
    trials = bench.run(directory)
    void = next(one for one in trials if one.state == "void")
    assert (void.block, void.arm, void.attempt) == (1, "jvms-2", 0)
    assert void.failure == "server-2 ended with exit code 137"
    assert [(check.name, check.voids) for check in void.checks] == [("restarts", True)]
    assert void.measurement is None
    assert "measure" in void.phases
    assert order(directory)[-1] == (1, "jvms-2", 1)
    assert directory.trial_path(1, "jvms-2", 1).name == "01-jvms-2-r1"
    assert runner.missing(directory.session(), directory.trials()) == []
    assert all(deployment.closed for deployment in bench.world.deployments)


def test_an_injector_that_dies_voids_its_trial(bench: Bench) -> None:
    bench.world.deaths = {"01-jvms-1": ("injector-2", 7.0)}
    directory = bench.session(ping(design={"repeats": 0}))
    bench.run(directory)
    void = next(one for one in directory.trials() if one.state == "void")
    assert (void.failure, void.checks[0].name) == ("injector-2 ended with exit code 137", "injectors")
    assert runner.missing(directory.session(), directory.trials()) == ["block 1 of jvms-1"]


def test_servers_that_never_start_end_the_session_after_two_trials(bench: Bench) -> None:
    bench.world.deaths = {f"0{block}-jvms-{n}": ("server-1", 0.0) for block in (1, 2) for n in (1, 2)}
    directory = bench.session(ping())
    with pytest.raises(
        ServerFailed, match="2 trials in a row did not start: server-1 ended with exit code 1"
    ):
        bench.run(directory)
    assert [one.checks[0].name for one in directory.trials()] == ["start", "start"]
    assert events(directory)[-1] == "trial-end"


@pytest.mark.parametrize(
    ("silent", "void"),
    [
        ("host", {"steal", "other-cpu", "clock-step"}),
        ("processes", {"injector-cpu"}),
        ("counters", {"errors", "counts", "counts-window"}),
    ],
)
def test_what_the_sampler_did_not_see_has_failed(bench: Bench, silent: str, void: set[str]) -> None:
    bench.world.silent = {silent}
    directory = bench.session(ping(design={"repeats": 0}))
    one = bench.run(directory)[0]
    assert {check.name for check in one.checks if check.voids and check.failed} == void
    assert one.state == "void"
    assert "throughput" in one.metrics or silent == "counters"


def test_another_build_and_other_settings_void(bench: Bench) -> None:
    bench.world.info = {"build": "other", "availableProcessors": 64}
    one = bench.run(bench.session(ping(design={"repeats": 0})))[0]
    assert {check.name for check in one.checks if check.voids and check.failed} == {"build", "settings"}
    assert "server-1 reports build 'other', expected 'b0'" in next(
        c.detail for c in one.checks if c.name == "build"
    )


@pytest.mark.parametrize("phase", ["start", "warmup", "measure", "stop"])
def test_an_interrupted_session_goes_on_to_the_same_order(bench: Bench, phase: str) -> None:
    whole = bench.session(ping())
    bench.run(whole)
    directory = bench.session(ping())
    with pytest.raises(KeyboardInterrupt):
        bench.run(directory, interrupt=lambda planned, now: (planned.order, now) == (2, phase))
    assert len(directory.trials()) == 2
    assert bench.world.deployments[-1].closed
    assert (directory.path / "analysis.json").exists()
    assert events(directory)[-1] == "interrupted"
    bench.run(directory)
    assert order(directory) == order(whole)
    assert bench.watcher.totals == [(2, 4), (3, 4)]
    assert "session-resume" in events(directory)
    aside = directory.trial_path(*[(p.block, p.arm, 0) for p in directory.session().schedule][2])
    assert aside.with_name(f"{aside.name}.interrupted-1").is_dir()
    told = [one.analysis().estimates["throughput"]["jvms-2"].ratio for one in (directory, whole)]
    assert told[0] == pytest.approx(told[1])


def test_specs_are_read_and_not_made_anew(bench: Bench) -> None:
    """What is edited in session.json holds: nothing is decided again from the experiment or the workload."""
    directory = bench.session(ping())
    path = directory.path / "session.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    for arm in raw["arms"]:
        arm["spec"]["load"]["measure"] = 7.0
        arm["spec"]["components"][0]["environment"]["MARK"] = "kept"
    raw["schedule"].reverse()
    path.write_text(json.dumps(raw), encoding="utf-8")
    trials = bench.run(directory)
    assert {one.measurement.measure_seconds for one in trials if one.measurement} == {7.0}
    assert {d.spec.servers[0].environment["MARK"] for d in bench.world.deployments} == {"kept"}
    assert [(one.block, one.arm) for one in trials] == [(p["block"], p["arm"]) for p in raw["schedule"]]


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
    assert bench.watcher.phases == ["prepare", "start", "measure", "stop", "collect"] * 4


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
    with pytest.raises(
        ServerFailed, match="server of arm class-cache-warm wrote no class cache when it ended"
    ):
        bench.run(directory)
    assert {one.state for one in directory.trials() if one.arm == "class-cache-warm"} == {"void"}


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
    assert bench.watcher.phases[0] == "set-host"
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
