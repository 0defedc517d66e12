# SPDX-License-Identifier: Apache-2.0
"""Sessions on the compose engine: real containers, real load, and what can go wrong with them."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from e2e.driver import (
    EXPERIMENT,
    Running,
    call,
    end_all,
    free_port,
    mount,
    processes_that_mention,
    start,
    void_for_other_reasons_than_noise,
)
from waiting import wait_until

from steelyard.engines.compose.bundle import SESSION_LABEL
from steelyard.engines.images import LOADGEN, image_reference
from steelyard.errors import MissingRequirement
from steelyard.host.docker import find_docker
from steelyard.results.store import SessionDirectory
from steelyard.workload.loader import load_workload
from suite import ENGINE_STATE

from .bundle import let_containers_in
from .suite_engine import SuiteEngine

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("turn")]


@pytest.fixture(autouse=True)
def _no_session_left(leaves_nothing: None) -> Iterator[None]:
    yield
    end_all()


def _inventory() -> dict[str, set[str]]:
    """What is ours or nobody's; the engine may be somebody's who starts containers of their own meanwhile."""
    lists = {
        "containers": ("ps", "--all", "--quiet", "--filter", f"label={SESSION_LABEL}"),
        "networks": ("network", "ls", "--quiet", "--filter", "name=steelyard-"),
        "volumes": ("volume", "ls", "--quiet", "--filter", "dangling=true"),
    }
    return {kind: set(_docker(*command).split()) for kind, command in lists.items()}


def _left(before: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is there now and was not before."""
    now = _inventory()
    return {kind: now[kind] - before[kind] for kind in before if now[kind] - before[kind]}


_ENVIRONMENT = dict(os.environ)
"""That of the ordinary engine, whatever a test sets meanwhile."""


def _docker(*arguments: str) -> str:
    command = ["docker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=_ENVIRONMENT).stdout


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    text = EXPERIMENT.replace("deployment:\n", "deployment:\n  engine: compose\n")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    let_containers_in(tmp_path)
    path = tmp_path / "results"
    path.mkdir()
    return path


def test_the_published_study_from_containers(out: Path) -> None:
    """The experiment that the README starts with, as it is, with the first of its three quick blocks."""
    asked = ("run", "jvm-count", "--quick", "--engine", "compose", "--port", str(free_port()))
    session = Running(*asked, "--out", str(out), out=out)
    directory = session.directory
    for number in (1, 2):  # one at a time: each has a patience of its own
        session.wait_until(lambda number=number: len(directory.trials()) >= number, f"trial {number}")  # type: ignore[misc]
    assert session.interrupt() == 130
    trials = directory.trials()
    assert {(trial.block, trial.arm) for trial in trials} == {(1, "jvms-1"), (1, "jvms-2")}
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials:
        assert trial.metrics["throughput"] > 0
        servers = [one for one in trial.components if one.role == "server"]
        assert trial.metrics["cgroup_memory"] > 50e6 * len(servers)
    components = [one for arm in directory.session().arms for one in arm.spec.components]
    assert {one.role for one in components} == {"server", "injector"}
    assert all("@sha256:" in str(one.artifact.image) for one in components)
    assert call("report", str(directory.path)).returncode == 0
    report = (directory.path / "report.md").read_text(encoding="utf-8")
    assert str(components[0].artifact.image) in report


def test_ctrl_c_leaves_nothing_and_resume_goes_on(experiment: Path, out: Path) -> None:
    before = _inventory()
    began = time.time()
    session = start(experiment, out)
    directory = session.directory
    for number, phase in enumerate(("start", "measure", "stop")):
        if number:
            began = time.time()
            session = Running("resume", str(directory.path), out=out)
        session.wait_for_phase(phase, began)
        assert session.interrupt() == 130
        assert not _left(before), f"left behind after Ctrl-C in {phase}"
        assert not processes_that_mention(str(out))
    session = Running("resume", str(directory.path), out=out)
    session.wait_until(lambda: bool(directory.trials()), "a trial")
    assert session.interrupt() == 130
    trials = directory.trials()
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials:
        assert trial.measurement is not None
        assert trial.measurement.injector_requests > 0
        if trial.state == "valid":  # a stall of the machine at a window's edge voids a trial
            assert trial.measurement.value("server_requests") == trial.measurement.injector_requests
        for one in trial.components:
            if one.role == "server":
                assert one.cgroup is not None
                assert one.cgroup.value("cpu_seconds") == pytest.approx(
                    one.value("cpu_seconds"), rel=0.1, abs=0.1
                )
                assert one.cgroup.value("oom_kills") == 0


def test_a_killed_harness_leaves_nothing(experiment: Path, out: Path) -> None:
    before = _inventory()
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("measure", began)
    session.process.kill()
    session.end()
    wait_until(lambda: not _left(before), lambda: f"the end of what was left: {_left(before)}")


def test_what_even_the_guard_could_not_remove_is_removed_by_resume(experiment: Path, out: Path) -> None:
    before = _inventory()
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("measure", began)
    directory = session.directory
    session.process.send_signal(signal.SIGSTOP)  # else it would have another guard
    for process in psutil.Process(session.process.pid).children():
        if any(word.endswith("guard.py") for word in process.cmdline()):
            process.kill()
    session.process.kill()
    session.end()
    assert _left(before)
    began = time.time()
    session = Running("resume", str(directory.path), out=out)
    session.wait_for_phase("warmup", began)
    assert session.interrupt() == 130
    assert not _left(before)


@pytest.fixture
def suite_engine() -> SuiteEngine | None:
    """The engine where the suite started it; another is not the suite's to restart."""
    engine = SuiteEngine(ENGINE_STATE)
    return engine if engine.runs() else None


def test_a_killed_container_and_an_engine_that_restarts_cost_a_trial_each_and_not_the_session(
    experiment: Path, out: Path, suite_engine: SuiteEngine | None
) -> None:
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("measure", began)
    directory = session.directory
    ours = ("--filter", f"label={SESSION_LABEL}={directory.path.name}")
    names = _docker("ps", *ours, "--format", "{{.Names}}").split()
    killed = time.time()
    _docker("kill", next(name for name in names if name.endswith("-server-1-1")))
    lost = 1
    if suite_engine is not None:
        session.wait_for_phase("measure", killed)
        suite_engine.restart()
        lost = 2
    session.wait_until(lambda: len(directory.trials()) > lost, "a trial after those that were lost")
    assert session.interrupt() == 130
    trials = directory.trials()
    assert [trial.state for trial in trials[:lost]] == ["void"] * lost
    assert [check.name for check in trials[0].checks if not check.passed] == ["restarts"]
    assert str(trials[0].failure).startswith("server-1 ended with signal 9")
    assert not void_for_other_reasons_than_noise([trials[lost]])


def test_a_server_without_memory_is_named_as_such(experiment: Path, out: Path) -> None:
    done = call(
        *("run", str(experiment), "--out", str(out), "--port", str(free_port())),
        # Arms have equal limits in total, unless the limit is the question.
        *("--set", "jvms=1", "--set", "memory=150m,149m", "--set", "initial_heap=same"),
        *("--set", "jvm_args=[-XX:+AlwaysPreTouch]", "--set", "total_heap=512m"),
    )
    assert done.returncode == 7, done.stderr
    assert re.search(
        r"killed because memory ran out \(its limit is (150|149) MiB\): raise `memory`", done.stderr
    )
    assert [trial.state for trial in SessionDirectory(next(out.iterdir())).trials()] == ["void", "void"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_stops_the_session_and_its_containers(experiment: Path, out: Path) -> None:
    mount(f"mount -t tmpfs -o size=60m,mode=0755 tmpfs {out}")
    try:
        began = time.time()
        session = start(experiment, out)
        session.wait_for_phase("measure", began)
        (out / "filler").write_bytes(b"\0" * (35 << 20))
        assert session.end() == 8, session.errors.read_text(encoding="utf-8")
        assert "free some space" in session.errors.read_text(encoding="utf-8")
    finally:
        mount(f"umount -l {out}")


def test_a_trial_can_be_repeated_by_hand(experiment: Path, out: Path) -> None:
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("stop", began)
    assert session.interrupt() == 130
    trial = next(session.directory.trials_path.iterdir())
    replay = trial / "replay"
    command = [
        "docker",
        "compose",
        "-p",
        "replayed",
        "-f",
        "compose.yaml",
        "-f",
        "trial.yaml",
        "--profile",
        "load",
    ]
    try:
        subprocess.run([*command, "up", "-d"], cwd=replay, check=True, capture_output=True)
        health = replay / "load" / "injector-1" / "health.jsonl"
        wait_until(lambda: _requests(health) > 0, "a request")
    finally:
        subprocess.run(
            [*command, "down", "-v", "-t", "5"],
            cwd=replay,
            check=True,
            capture_output=True,
        )


def _requests(health: Path) -> int:
    try:
        return int(json.loads(health.read_text(encoding="utf-8").splitlines()[-1])["requests"])
    except (OSError, ValueError, IndexError):
        return 0


def test_an_image_that_is_nowhere_is_named_before_anything_starts(
    experiment: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_REGISTRY", "127.0.0.1:9/none")
    done = call("run", str(experiment), "--out", str(out))
    assert done.returncode == 3
    assert "the image 127.0.0.1:9/none/ping:" in done.stderr
    assert "./steelyard images build" in done.stderr
    assert not list(out.iterdir())


@pytest.fixture
def foreign_registry(tmp_path: Path) -> Iterator[str]:
    """A registry name under which this host has images, but for another architecture."""
    registry = "steelyard-test.invalid/foreign"
    (tmp_path / "Containerfile").write_text("FROM scratch\nCOPY Containerfile /\n", encoding="utf-8")
    described = load_workload("ping").workload.topology(None)[1].components["server"].container
    assert described is not None
    named = {**os.environ, "STEELYARD_REGISTRY": registry}
    names = [image_reference(one, environment=named) for one in (described, LOADGEN)]
    tags = [word for name in names for word in ("--tag", name)]
    build = ["docker", "buildx", "build", "--quiet", "--platform", "linux/ppc64le", "--load", *tags]
    subprocess.run([*build, "-f", "Containerfile", "."], cwd=tmp_path, check=True, capture_output=True)
    yield registry
    _docker("image", "rm", *names)


def test_an_image_for_another_architecture_is_refused(
    experiment: Path, out: Path, monkeypatch: pytest.MonkeyPatch, foreign_registry: str
) -> None:
    monkeypatch.setenv("STEELYARD_REGISTRY", foreign_registry)
    done = call("run", str(experiment), "--out", str(out))
    assert done.returncode == 3
    assert "is for ppc64le and the host is" in done.stderr
    assert not list(out.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_user_who_may_not_use_the_engine_is_told_how() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            find_docker()
            said = "nothing was refused"
        except MissingRequirement as error:
            said = str(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert "add the user to the group docker" in os.read(reader, 4096).decode()


def test_up_and_down_in_containers() -> None:
    port = free_port()
    before = _inventory()
    asked = ("up", "ping", "--engine", "compose", "--jvms", "2", "--heap", "128m", "--json")
    try:
        up = call(*asked, "--port", str(port))
        assert up.returncode == 0, up.stderr
        servers: list[dict[str, Any]] = json.loads(up.stdout)["servers"]
        assert [server["url"] for server in servers] == [f"http://127.0.0.1:{port + n}" for n in (0, 1)]
        assert all(Path(f"/proc/{server['pid']}").exists() for server in servers)
    finally:
        down = call("down")
    assert down.stdout.startswith("ping is down")
    assert not _left(before)
