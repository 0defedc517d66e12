# SPDX-License-Identifier: Apache-2.0
"""Sessions of steady trials on the fake engine: trials, ledger, journal, repeats, resume."""

import json
from collections import namedtuple
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import make_component
from fake_site import READY_AFTER
from planned import asked
from sessions import WINDOW, Bench, events, failed, order, ping
from trees import Kernel

from steelyard.engines.base import Running
from steelyard.errors import MissingRequirement, NoSpace, ServerFailed
from steelyard.host.lock import is_running
from steelyard.results.failure import Failure
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory
from steelyard.session import runner, trial_run
from steelyard.session.trial import _set_aside


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
    assert bench.watcher.phases == ["wash-out", "start", "ramp", "warmup", "measure", "stop", "collect"] * 4
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


def test_its_folder_tells_that_a_session_runs(bench: Bench) -> None:
    directory = bench.session(ping())
    running: set[bool] = set()

    def throughput(_: Spec) -> float:
        running.add(is_running(directory.path))
        return 100.0

    bench.world.throughput = throughput
    bench.run(directory)
    assert running == {True}
    assert not is_running(directory.path)


def test_between_blocks_the_answer_so_far_is_told_and_in_the_report(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.world.throughput = lambda spec: 100.0 * len(spec.servers) + 2 * len(bench.world.deployments) % 5
    directory = bench.session(ping(), blocks=4)
    written: list[int] = []
    monkeypatch.setattr(runner, "write_report", lambda kept: written.append(len(kept.trials())))
    bench.run(directory, report=True)
    told = [note for note in bench.watcher.notes if note.startswith("interim")]
    assert [note.split(", no")[0] for note in told] == [f"interim, after {n} of 4 blocks" for n in (2, 3)]
    assert not any("noise" in note for note in told), (
        "twice the throughput, which is beyond noise at the end alone"
    )
    assert all("95 % CI" in note and str(directory.path / "report.html") in note for note in told)
    assert written == [4, 6, 8]


def test_an_interrupt_right_after_the_record_of_the_first_trial_leaves_its_report(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = bench.session(ping())
    log = SessionDirectory.log

    def log_and_interrupt(self: SessionDirectory, at: float, event: str, **more: Any) -> None:
        log(self, at, event, **more)
        if event == "trial-end":
            raise KeyboardInterrupt

    monkeypatch.setattr(SessionDirectory, "log", log_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        bench.run(directory, report=True)
    assert len(directory.trials()) == 1
    assert (directory.path / "report.html").exists()


def test_what_a_trial_leaves(bench: Bench) -> None:
    directory = bench.session(ping())
    bench.run(directory)
    folder = directory.trial_path(1, "jvms-2", 0)
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"trial.json", "sampler.json", "replay/deployment.sh", "load/injector-2/latency.hlog"} <= left
    watched = json.loads((folder / "sampler.json").read_text(encoding="utf-8"))["processes"]
    assert [(one["name"], one["role"]) for one in watched] == [
        ("injector-1", "injector"),
        ("injector-2", "injector"),
        ("server-1", "server"),
        ("server-2", "server"),
        ("harness", "harness"),
    ]
    assert watched[2]["counters_url"] == f"http://127.0.0.1:{bench.port}/bench/counters"


def test_daemons_of_engines_are_no_disturbance_of_any_trial(bench: Bench) -> None:
    bench.world.daemons = [1]
    directory = bench.session(ping())
    bench.run(directory)
    folder = directory.trial_path(1, "jvms-2", 0)
    watched = json.loads((folder / "sampler.json").read_text(encoding="utf-8"))["processes"]
    assert {"name": "engine:1", "pid": 1, "role": "backing", "alone": True} in watched


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
    assert world.deployments[0].starts == [["injector-1"], ["database"], ["server-1"]]
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
    assert void.failure == Failure(
        component="server-2", cause="restarts", detail="server-2 ended with exit code 137"
    )
    assert [(check.name, check.voids) for check in void.checks] == [("restarts", True)]
    assert void.measurement is None
    assert "measure" in void.phases
    assert sorted(order(directory)[4:]) == [(1, "jvms-1", 1), (1, "jvms-2", 1)]
    assert directory.trial_path(1, "jvms-2", 1).name == "01-jvms-2-r1"
    assert runner.missing_places(directory.session(), directory.trials()) == []
    assert all(deployment.closed for deployment in bench.world.deployments)


def test_an_injector_that_dies_voids_its_trial(bench: Bench) -> None:
    bench.world.deaths = {"01-jvms-1": ("injector-2", 7.0)}
    directory = bench.session(ping(design={"repeats": 0}))
    bench.run(directory)
    void = next(one for one in directory.trials() if one.state == "void")
    assert (str(void.failure), void.checks[0].name) == ("injector-2 ended with exit code 137", "injectors")
    # Of the other arm there is a trial, and no baseline beside it.
    lacking = ["block 1 of jvms-1", "block 1 of jvms-2"]
    assert sorted(runner.missing_places(directory.session(), directory.trials())) == lacking


def fails_at_start(*folders: str) -> dict[str, tuple[str, float]]:
    return dict.fromkeys(folders, ("server-1", 0.0))


def test_servers_that_never_start_end_the_session_after_two_trials(bench: Bench) -> None:
    bench.world.deaths = fails_at_start(*(f"0{block}-jvms-{n}" for block in (1, 2) for n in (1, 2)))
    directory = bench.session(ping())
    why = "2 trials in a row did not start: server-1 ended with exit code 1"
    with pytest.raises(ServerFailed, match=why):
        bench.run(directory)
    assert [one.checks[0].name for one in directory.trials()] == ["start", "start"]
    assert [(one.event, one.detail) for one in directory.journal()][-1] == ("interrupted", why)


def test_settings_that_an_arm_never_gets_end_the_session_after_two_of_its_trials(bench: Bench) -> None:
    bench.world.info = {"availableProcessors": 64}
    directory = bench.session(ping())
    why = r"all 2 trials of jvms-(1|2) ran .* than were asked for: server-1 has processors 64 instead of \d"
    with pytest.raises(ServerFailed, match=why):
        bench.run(directory)
    assert [one.state for one in directory.trials()] == ["void"] * 3, "of one arm two"
    # Mended: what differed before does not count any more.
    bench.world.info = {}
    bench.run(directory)
    assert runner.missing_places(directory.session(), directory.trials()) == []


def test_an_arm_that_cannot_start_does_not_use_up_the_repeats(bench: Bench) -> None:
    """The other arm's trials run well between its failures."""
    bench.world.deaths = fails_at_start(*(f"0{block}-jvms-2" for block in (1, 2, 3)))
    directory = bench.session(ping(), blocks=3)
    why = "2 trials of jvms-2 in a row did not start: server-1 ended with exit code 1"
    with pytest.raises(ServerFailed, match=why):
        bench.run(directory)
    failed_ones = [one for one in directory.trials() if one.state == "void"]
    assert [(one.block, one.arm, one.attempt) for one in failed_ones] == [(1, "jvms-2", 0), (2, "jvms-2", 0)]
    assert directory.analysis().by_arm["jvms-2"].not_started == 2
    # Not mended: the next failure ends it at once. Mended: it goes on, and repeats what was lost.
    with pytest.raises(ServerFailed, match="3 trials of jvms-2 in a row"):
        bench.run(directory)
    bench.world.deaths = {}
    trials = bench.run(directory)
    assert runner.missing_places(directory.session(), trials) == []
    assert sorted((one.block, one.arm) for one in trials if one.attempt) == [
        (block, arm) for block in (1, 2, 3) for arm in ("jvms-1", "jvms-2")
    ]


def test_a_single_failure_at_start_is_repeated_like_a_void(bench: Bench) -> None:
    bench.world.deaths = fails_at_start("01-jvms-2", "03-jvms-2")
    directory = bench.session(ping(), blocks=3)
    trials = bench.run(directory)
    assert sorted(order(directory)[6:]) == [
        (block, arm, 1) for block in (1, 3) for arm in ("jvms-1", "jvms-2")
    ]
    assert runner.missing_places(directory.session(), trials) == []


@pytest.mark.parametrize(
    ("silent", "void"),
    [
        ("host", {"steal", "other-cpu", "clock-step", "sample-gaps"}),
        ("processes", {"injector-cpu", "sample-gaps", "stalled"}),
        ("counters", {"errors", "counts", "counts-window"}),
    ],
)
def test_what_the_sampler_did_not_see_has_failed(bench: Bench, silent: str, void: set[str]) -> None:
    bench.world.silent = {silent}
    directory = bench.session(ping(design={"repeats": 0}))
    one = bench.run(directory)[0]
    assert {check.name for check in one.checks if check.voids and check.has_failed} == void
    assert one.state == "void"
    assert "throughput" in one.metrics or silent == "counters"


def test_another_build_and_other_settings_void(bench: Bench) -> None:
    bench.world.info = {"build": "other", "availableProcessors": 64}
    one = bench.run(bench.session(ping(design={"repeats": 0}), blocks=1))[0]
    assert {check.name for check in one.checks if check.voids and check.has_failed} == {"build", "settings"}
    assert "server-1 reports build 'other', expected 'b0'" in next(
        c.detail for c in one.checks if c.name == "build"
    )


@pytest.mark.parametrize(
    ("jvm", "told", "says"),
    [
        ({"pages": "transparent"}, {"pages": "small"}, "has pages small instead of transparent"),
        ({"nursery": "16m"}, {"nursery": None}, "does not tell its nursery, which should be 16 MiB"),
    ],
)
def test_a_setting_that_was_not_granted_or_not_seen_voids(
    bench: Bench, jvm: dict[str, str], told: dict[str, Any], says: str
) -> None:
    bench.world.told = told
    wanted = ping(design={"repeats": 0}, deployment={"total_heap": "64m", "jvm": jvm})
    one = bench.run(bench.session(wanted, blocks=1))[0]
    assert [check.name for check in one.checks if check.voids and check.has_failed] == ["settings"]
    assert says in next(check.detail for check in one.checks if check.name == "settings")


def test_large_pages_that_cannot_be_had_end_a_session_before_its_first_trial(
    bench: Bench, tmp_path: Path
) -> None:
    bench.kernel = Kernel(tmp_path / "host")
    directory = bench.session(ping(deployment={"total_heap": "64m", "jvm": {"pages": "large"}}))
    with pytest.raises(
        MissingRequirement, match=r"needs 162 large pages .*, and 0 are free: reserve them with"
    ):
        bench.run(directory)
    assert directory.trials() == []
    assert not directory.has_journal()


@pytest.mark.parametrize("procedure", ["start-up", "ramp-up"])
def test_a_fresh_server_is_asked_only_after_its_measurement(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, procedure: str
) -> None:
    asked_in: list[str] = []
    told = bench.world.observe

    def observe(running: Running, info: Mapping[str, Any], _granted: object) -> Any:
        asked_in.append(bench.watcher.phases[-1])
        return told(running, info)

    monkeypatch.setattr(bench.world, "observe", observe)
    bench.run(bench.session(ping(design={"repeats": 0}, procedure=procedure)))
    assert set(asked_in) == {"stop"}


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
    last = list(directory.journal())[-1]
    assert (last.event, last.detail) == ("interrupted", "Ctrl-C, or a signal to end")
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


def test_a_full_disk_ends_the_session_and_it_goes_on_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    directory = bench.session(ping())
    with monkeypatch.context() as full:
        full.setattr(trial_run.shutil, "disk_usage", lambda _: usage(1, 1, 5 * 2**20))
        with pytest.raises(NoSpace, match=r"only 5 MiB are left for .*: free some space, then resume"):
            bench.run(directory)
    assert directory.trials() == []
    assert bench.world.deployments[-1].closed
    assert str(list(directory.journal())[-1].detail).startswith("only 5 MiB are left for")
    assert [one.state for one in bench.run(directory)] == ["valid"] * 4


def test_a_sampler_that_ends_voids_its_trial(bench: Bench) -> None:
    def throughput(spec: Any) -> float:
        deployment = bench.world.current
        if deployment.directory.name == "01-jvms-1" and deployment.load_from is not None:
            deployment.sampling = False
        return 100.0

    bench.world.throughput = throughput
    trials = bench.run(bench.session(ping(design={"repeats": 0})))
    (void,) = [one for one in trials if one.state == "void"]
    assert str(void.failure) == "the sampler ended: sampler ended with exit code 0"
    assert void.checks[0].name == "sampler"


def test_what_a_killed_trial_left_is_set_aside_without_its_keys(bench: Bench) -> None:
    directory = bench.session(ping())
    folder = directory.trial_path(1, directory.session().schedule[0].arm, 0)
    for left in ("server-1/usr", "shared", "server-1/tmp", "server-1/rows"):
        key = folder / "servers" / left / "key.pem"
        key.parent.mkdir(parents=True)
        key.write_text("secret", encoding="utf-8")
    (folder / "servers" / "server-1" / "console.log").write_text("words", encoding="utf-8")
    bench.run(directory)
    aside = folder.with_name(f"{folder.name}.interrupted-1")
    assert (aside / "servers" / "server-1" / "console.log").exists()
    assert [path.parent.name for path in aside.rglob("key.pem")] == ["rows"]
    assert len(directory.trials()) == 4
    _set_aside(aside, [make_component(name="server-1", data="rows")])
    again = aside.with_name(f"{aside.name}.interrupted-1")
    assert (again / "servers" / "server-1" / "console.log").exists()
    assert not list(again.rglob("key.pem"))
