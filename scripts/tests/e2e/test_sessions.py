# SPDX-License-Identifier: Apache-2.0
"""Sessions on the real ping server with the real injector."""

import json
import os
import signal
import time
from pathlib import Path
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
    processes_that_mention,
    start,
    void_for_other_reasons_than_noise,
)

pytestmark = pytest.mark.e2e


def test_a_session_from_start_to_report(experiment: Path, out: Path) -> None:
    session = start(experiment, out, "--json")
    output, _ = session.process.communicate(timeout=400)
    assert session.process.returncode in DONE, session.errors.read_text(encoding="utf-8")
    directory = session.directory
    trials = directory.trials()
    assert {(trial.block, trial.arm) for trial in trials} == {
        (b, a) for b in (1, 2) for a in ("jvms-1", "jvms-2")
    }
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials:
        assert trial.measurement is not None
        counted, sent = trial.measurement.server_requests, trial.measurement.injector_requests
        assert counted is not None
        assert sent > 1000
        assert abs(counted / sent - 1) <= 0.001
        servers = [one for one in trial.components if one.role == "server"]
        assert len(servers) == int(trial.arm.removeprefix("jvms-"))
        # That users are dealt out evenly is the injector's own test; how much each server answers depends on the CPU
        # that the host gave it, and is no matter for a test.
        assert all(one.throughput is not None and one.throughput > 0 for one in servers), (
            "a server got no users"
        )
        assert {"request", "jit", "gc"} <= {group for one in servers for group in one.cpu_by_group}
        assert trial.metrics["memory_rss"] > 50e6 * len(servers)
        assert trial.metrics["gc_per_second"] > 0
    document = json.loads(output)
    valid = sum(trial.state == "valid" and trial.arm == "jvms-1" for trial in trials)
    figures = document["analysis"]["summaries"]["throughput"].get("jvms-1", {"n": 0})
    assert figures["n"] == valid
    for name in ("report.html", "report.md", "report.csv", "report.benchstat"):
        assert (directory.path / name).stat().st_size > 0
    assert not processes_that_mention(str(out))
    # Anyone can analyse again from the directory alone, and gets the same.
    before = (directory.path / "analysis.json").read_bytes()
    assert call("analyze", str(directory.path)).returncode == 0
    assert (directory.path / "analysis.json").read_bytes() == before


def test_ctrl_c_in_each_phase_leaves_nothing_and_resume_completes_the_schedule(
    experiment: Path, out: Path
) -> None:
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("start", began)
    refused = call("run", str(experiment), "--out", str(out.parent / "second"), "--port", str(free_port()))
    assert refused.returncode == 6, refused.stderr
    assert "session" in refused.stderr
    directory = session.directory
    schedule = directory.session().schedule
    for number, phase in enumerate(("start", "ramp", "warmup", "measure", "stop", "collect")):
        if number:
            began = time.time()
            session = Running("resume", str(directory.path), out=out)
        session.wait_for_phase(phase, began)
        assert session.interrupt() == 130
        assert not processes_that_mention(str(out)), f"left behind after Ctrl-C in {phase}"
        assert "resume" in session.errors.read_text(encoding="utf-8")
    session = Running("resume", str(directory.path), out=out)
    assert session.end() in DONE, session.errors.read_text(encoding="utf-8")
    trials = directory.trials()
    scheduled = [(trial.block, trial.arm) for trial in trials if trial.attempt == 0]
    assert scheduled == [(place.block, place.arm) for place in schedule]
    assert not void_for_other_reasons_than_noise(trials)
    assert list(directory.trials_path.glob("*.interrupted-1"))


def test_a_harness_that_is_killed_leaves_nothing_and_resumes(experiment: Path, out: Path) -> None:
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("measure", began)
    session.process.kill()
    session.end()
    deadline = time.monotonic() + 30
    while processes_that_mention(str(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not processes_that_mention(str(out))
    directory = session.directory
    session = Running("resume", str(directory.path), out=out)
    session.wait_until(lambda: bool(directory.trials()), "a trial")
    assert session.interrupt() == 130
    assert not void_for_other_reasons_than_noise(directory.trials())


def test_an_injector_killed_in_mid_measurement_voids_the_trial(experiment: Path, out: Path) -> None:
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("measure", began)
    os.kill(session.running_pids("injector")[0], signal.SIGKILL)
    directory = session.directory
    session.wait_until(lambda: len(directory.trials()) > 1, "a trial after the killed one")
    assert session.interrupt() == 130
    first, second = directory.trials()[:2]
    assert_void_for(first, "injectors")
    assert not void_for_other_reasons_than_noise([second])
    assert not processes_that_mention(str(out))


def assert_void_for(trial: Trial, check: str) -> None:
    """The trial failed this check and no other, for a process that was killed."""
    assert trial.state == "void"
    assert [failed.name for failed in trial.checks if failed.failed] == [check]
    assert "signal 9" in str(trial.failure) or "code -9" in str(trial.failure)


def test_a_server_killed_in_mid_measurement_voids_the_trial_and_is_repeated(
    experiment: Path, out: Path
) -> None:
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("measure", began)
    os.kill(session.running_pids("server")[0], signal.SIGKILL)
    assert session.end() in DONE, session.errors.read_text(encoding="utf-8")
    trials = session.directory.trials()
    first = trials[0]
    assert_void_for(first, "restarts")
    repeats = [
        trial
        for trial in trials
        if (trial.block, trial.arm) == (first.block, first.arm) and trial.attempt > 0
    ]
    assert repeats
    assert repeats[0].order > max(trial.order for trial in trials if trial.attempt == 0)
    assert not void_for_other_reasons_than_noise(trials[1:])


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
        session.wait_until(lambda: len(session.directory.trials()) > 0, "a finished trial")
        kept = session.directory.trials()
        (small / "filler").write_bytes(b"\0" * (35 << 20))
        assert session.end() == 8, session.errors.read_text(encoding="utf-8")
        assert "free some space" in session.errors.read_text(encoding="utf-8")
        assert not processes_that_mention(str(small))
        (small / "filler").unlink()
        directory = session.directory
        session = Running("resume", str(directory.path), out=small)
        session.wait_until(lambda: len(directory.trials()) > len(kept), "another trial")
        assert session.interrupt() == 130
        assert directory.trials()[: len(kept)] == kept
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
            with urlopen(f"{address}/ping", timeout=10) as response:
                assert response.status == 200
        assert call("up", "ping", "--port", str(free_port())).returncode == 6
        assert call("run", "jvm-count", "--quick").returncode == 6
    finally:
        down = call("down")
    assert down.stdout.startswith("ping is down")
    assert call("down").stdout.startswith("nothing is up")
