# SPDX-License-Identifier: Apache-2.0
"""Sessions on the real ping server with the real injector."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory

from .driver import (
    DONE,
    Running,
    call,
    free_port,
    mount,
    patience,
    processes_that_mention,
    start,
    void_for_other_reasons_than_noise,
)

pytestmark = pytest.mark.e2e


def test_stopped_in_each_phase_a_session_leaves_nothing_and_completes_its_schedule(
    experiment: Path, out: Path
) -> None:
    """Ctrl-C, in mid-measurement a kill of the harness; then a server dies, and an injector beside the other arm."""
    directory = stop_in_each_phase(experiment, out)
    schedule = directory.session().schedule
    # None, but on a busy machine: a trial may have ended before what was to stop it came.
    done = len(directory.trials())
    session = Running("resume", str(directory.path), "--json", out=out)
    for role, ended in (("server", done), ("injector", done + 1)):
        session.wait_for_trials(ended)
        session.wait_for_phase("measure", time.time())
        os.kill(session.running_pids(role)[0], signal.SIGKILL)
    session.wait_for_trials(4)  # the repeats are left, and have the patience of a busy machine for themselves
    output, _ = session.process.communicate(timeout=patience(480))
    assert session.process.returncode in DONE, session.errors.read_text(encoding="utf-8")
    trials = directory.trials()
    assert [(trial.block, trial.arm) for trial in trials[:4]] == [
        (place.block, place.arm) for place in schedule
    ]
    killed, others = trials[done : done + 2], [*trials[:done], *trials[done + 2 :]]
    assert_void_for(killed[0], "restarts")
    assert_void_for(killed[1], "injectors")
    # A busy machine may have voided trials of another block as well; of each block there is one round of repeats.
    repeats = trials[4:]
    assert {trial.attempt for trial in repeats} == {1}
    for lost in {trial.block for trial in killed}:
        again = sorted(trial.arm for trial in repeats if trial.block == lost)
        assert again == sorted(place.arm for place in schedule if place.block == lost), (
            "a block is repeated as a whole, at the end"
        )
    assert not void_for_other_reasons_than_noise(others)
    for trial in others:
        assert_measured(trial)
    assert list(directory.trials_path.glob("*.interrupted-1"))
    told = (directory.path / "report.md").read_text(encoding="utf-8")
    assert "The session was interrupted 4 times: " in told
    assert told.count("(Ctrl-C, or a signal to end), resumed ") == 3
    assert told.count("(its process ended without a word, killed or with the host), resumed ") == 1
    assert_reported(directory, json.loads(output))
    assert not processes_that_mention(str(out))


def stop_in_each_phase(experiment: Path, out: Path) -> SessionDirectory:
    """A session that hardly came further than its first trial; `bench/faults.py` knows all phases of all procedures."""
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("start", began)
    refused = call("run", str(experiment), "--out", str(out.parent / "second"), "--port", str(free_port()))
    assert refused.returncode == 6, refused.stderr
    assert "session" in refused.stderr
    directory = session.directory
    for number, phase in enumerate(("start", "warmup", "measure", "collect")):
        if number:
            began = time.time()
            session = Running("resume", str(directory.path), out=out)
        session.wait_for_phase(phase, began)
        if phase == "measure":
            session.kill()
            continue
        assert session.interrupt() == 130
        assert not processes_that_mention(str(out)), f"left behind after Ctrl-C in {phase}"
        assert "resume" in session.errors.read_text(encoding="utf-8")
    return directory


def assert_void_for(trial: Trial, check: str) -> None:
    """The trial failed this check and no other, for a process that was killed."""
    assert trial.state == "void"
    assert [failed.name for failed in trial.checks if failed.failed] == [check]
    assert "signal 9" in str(trial.failure) or "code -9" in str(trial.failure)


def assert_measured(trial: Trial) -> None:
    assert trial.measurement is not None
    counted, sent = trial.measurement.server_requests, trial.measurement.injector_requests
    assert counted is not None
    assert sent > 10
    assert abs(counted / sent - 1) <= 0.001
    servers = [one for one in trial.components if one.role == "server"]
    assert len(servers) == int(trial.arm.removeprefix("jvms-"))
    # That users are dealt out evenly is the injector's own test; how much each server answers depends on the CPU
    # that the host gave it, and is no matter for a test.
    assert all(one.throughput is not None and one.throughput > 0 for one in servers), "a server got no users"
    assert {"request", "jit", "gc"} <= {group for one in servers for group in one.cpu_by_group}
    assert trial.metrics["memory_rss"] > 50e6 * len(servers)
    # Where a busy machine got little done, a nursery may not have been filled.
    assert trial.metrics["gc_per_second"] > 0 or sent <= 5000


def assert_reported(directory: SessionDirectory, document: dict[str, Any]) -> None:
    valid = sum(trial.state == "valid" and trial.arm == "jvms-1" for trial in directory.trials())
    figures = document["analysis"]["summaries"]["throughput"].get("jvms-1", {"n": 0})
    assert figures["n"] == valid
    for name in ("report.html", "report.md", "report.csv", "report.benchstat"):
        assert (directory.path / name).stat().st_size > 0
    # Anyone can analyse again from the directory alone, and gets the same.
    before = (directory.path / "analysis.json").read_bytes()
    assert call("analyze", str(directory.path)).returncode == 0
    assert (directory.path / "analysis.json").read_bytes() == before


def test_a_server_that_dies_at_start_ends_the_session_with_its_own_words(experiment: Path, out: Path) -> None:
    port = str(free_port())
    done = call(
        "run", str(experiment), "--out", str(out), "--port", port, "--set", "jvm_args=[-XX:+NoSuchOption]"
    )
    assert done.returncode == 7, done.stderr
    assert "Unrecognized VM option 'NoSuchOption'" in done.stderr
    assert not processes_that_mention(str(out))
    directory = SessionDirectory(next(out.iterdir()))
    assert [trial.state for trial in directory.trials()] == ["void", "void"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_stops_the_session_and_loses_nothing(experiment: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount(f"mount -t tmpfs -o size=60m tmpfs {small}")
    try:
        began = time.time()
        session = start(experiment, small)
        session.wait_for_phase("measure", began)
        kept = session.wait_for_trials(1)
        (small / "filler").write_bytes(b"\0" * (35 << 20))
        assert session.end() == 8, session.errors.read_text(encoding="utf-8")
        assert "free some space" in session.errors.read_text(encoding="utf-8")
        assert not processes_that_mention(str(small))
        (small / "filler").unlink()
        directory = session.directory
        began = time.time()
        session = Running("resume", str(directory.path), out=small)
        session.wait_for_phase("measure", began)
        assert session.interrupt() == 130
        assert not processes_that_mention(str(small))
        assert directory.trials() == kept
    finally:
        mount(f"umount -l {small}")


def test_up_prints_addresses_that_answer_and_down_stops_them() -> None:
    port = free_port()
    up = call("up", "ping", "--jvms", "2", "--port", str(port), "--heap", "128m")
    try:
        assert up.returncode == 0, up.stderr
        addresses = [line.split()[0] for line in up.stdout.splitlines() if line.startswith("http")]
        assert addresses == [f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"]

        for address in addresses:
            with urlopen(f"{address}/ping", timeout=60) as response:
                assert response.status == 200
        assert call("up", "ping", "--port", str(free_port())).returncode == 6
        assert call("run", "jvm-count", "--quick").returncode == 6
    finally:
        down = call("down")
    assert down.stdout.startswith("ping is down")
    assert call("down").stdout.startswith("nothing is up")
