# SPDX-License-Identifier: Apache-2.0
"""A session on a server that this project did not write: docs/own-server.md, with its example as it stands there."""

import os
import shutil
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from steelyard.paths import ROOT
from steelyard.results.schema import Check, Trial

from .driver import DONE, EXPERIMENT, call, free_port, processes_that_mention, start

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXAMPLE = ROOT / "docs" / "examples" / "fuseki"
PAGE = ROOT / "docs" / "own-server.md"
MIX = {"search": 0.4, "show": 0.4, "write-note": 0.1, "read-note": 0.1}


def fetch_command() -> list[str]:
    """The command of the page that fetches the server; Maven's own repository keeps what it has fetched."""
    lines = PAGE.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return next(line.split() for line in lines if line.startswith("mvn "))


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with the server beside it."""
    folder = tmp_path_factory.mktemp("fetched") / "my-server"
    shutil.copytree(EXAMPLE, folder)
    done = subprocess.run(fetch_command(), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def workload(fetched: Path, tmp_path: Path) -> Path:
    """The same in a folder of the test's own."""
    return shutil.copytree(fetched, tmp_path / "my-server") / "workload.yaml"


def test_a_server_that_knows_nothing_of_steelyard_is_weighed(
    workload: Path, tmp_path: Path, out: Path
) -> None:
    experiment = tmp_path / "tiny.yaml"
    experiment.write_text(EXPERIMENT.replace("blocks: 2", "blocks: 6"), encoding="utf-8")
    session = start(experiment, out, "--workload", str(workload.relative_to(out.parent)))
    trials = session.wait_for_undisturbed(2)
    assert session.interrupt() in (*DONE, 130), session.errors.read_text(encoding="utf-8")
    directory = session.directory
    assert {trial.arm for trial in trials} == {"jvms-1", "jvms-2"}
    for trial in trials:
        _was_loaded(trial)
        _says_what_it_lacks(trial)
        servers = [one for one in trial.components if one.role == "server"]
        assert len(servers) == int(trial.arm.removeprefix("jvms-"))
        for server in servers:
            assert server.value("requests") is None, (
                "it has no counters, so nothing is known and nothing is zero"
            )
            assert (server.value("cpu_seconds") or 0) > 0, f"{server.name} got no users"
            assert (server.value("rss_mean") or 0) > 20e6
            assert server.value("gc_count") is not None, "its GC log is read as any other JVM's"
            assert server.cpu_by_group["request"] > 0
    read = directory.session()
    assert Path(read.workload_path) == workload
    assert not any(arm.spec.servers[0].counters for arm in read.arms)
    reported = call("report", str(directory.path))
    assert reported.returncode == 0, reported.stderr
    for name in ("report.html", "report.md"):
        text = (directory.path / name).read_text(encoding="utf-8")
        assert "counters of its own" in text, name
    quoted = [
        line.removeprefix("> ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "> "
    ]
    assert quoted
    assert not set(quoted) - set(text.splitlines()), "the page quotes what the report does not say"
    assert not processes_that_mention(str(out))


def test_the_server_alone_is_up_from_a_file_named_from_here(workload: Path) -> None:
    port = free_port()
    up = call("up", os.path.relpath(workload), "--port", str(port), "--heap", "128m")
    assert up.returncode == 0, up.stderr
    try:
        assert f"http://127.0.0.1:{port}" in up.stdout
        with urlopen(f"http://127.0.0.1:{port}/$/ping") as answer:
            assert answer.status == 200
    finally:
        assert call("down").stdout.endswith("is down\n")
    assert not processes_that_mention(str(workload.parent))


def test_three_answers_make_a_file_with_which_a_server_is_up_and_tried(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("hello", encoding="utf-8")
    given = (
        "--start",
        "python3 -m http.server 8000 --bind 127.0.0.1",
        "--port",
        "8000",
        "--path",
        "/page.txt",
    )
    made = call("init", "hello", *given, through=("env", "-C", str(tmp_path)))
    assert made.returncode == 0, made.stderr
    planned = call("plan", str(tmp_path / "hello" / "processes.yaml"), "--quick")
    assert planned.returncode == 0, planned.stderr
    file = str(tmp_path / "hello" / "workload.yaml")
    up = call("up", file, "--port", str(free_port()))
    assert up.returncode == 0, up.stderr
    try:
        tried = call("journey", "try", file)
        assert tried.returncode == 0, tried.stdout + tried.stderr
        assert "200  GET" in tried.stdout
    finally:
        assert call("down").stdout.endswith("is down\n")
    assert not processes_that_mention(str(tmp_path))


def test_what_the_workload_file_lacks_is_told_with_its_line(workload: Path) -> None:
    text = workload.read_text(encoding="utf-8")
    workload.write_text(text.replace("operation: show", "operaton: show"), encoding="utf-8")
    line = text[: text.index("operation: show")].count("\n") + 1
    refused = call("plan", "jvm-count", "--workload", str(workload))
    assert refused.returncode == 4, refused.stderr
    assert f"workload.yaml:{line}" in refused.stderr
    assert "operation" in refused.stderr


def _was_loaded(trial: Trial) -> None:
    """Every operation was played and answered as its checks ask, in the shares that the file has."""
    measured = trial.measurement
    assert measured is not None
    assert measured.injector_requests > 0
    assert measured.injector_errors == 0
    # Among few requests there may be none of an operation that is one in ten.
    played = set(trial.latency)
    assert played == {*MIX, "all"} or (measured.injector_requests <= 200 and played < {*MIX, "all"})
    assert measured.mix_intended == pytest.approx(MIX)
    assert _check(trial, "operation-mix").passed
    assert trial.metrics["throughput"] == pytest.approx(measured.window_injector_rate)
    assert measured.value("window_server_rate") is None
    assert _check(trial, "consistency").passed


def _says_what_it_lacks(trial: Trial) -> None:
    for name in ("counts", "counts-window", "counts-exact", "build", "outcomes"):
        check = _check(trial, name)
        assert not check.applies, name
        assert check.detail, name
    for name in ("errors", "operation-mix", "injectors", "settings", "restarts"):
        assert _check(trial, name).applies, name


def _check(trial: Trial, name: str) -> Check:
    return next(check for check in trial.checks if check.name == name)
