# SPDX-License-Identifier: Apache-2.0
"""Sessions on the real ping server with the real injector."""

import json
import os
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from steelyard.processes.listening import listeners
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory

from .driver import DONE, EXPERIMENT, Running, call, free_port, mount, processes_that_mention, start
from .noise import is_undisturbed, void_for_other_reasons_than_noise
from .test_steady import assert_measured, assert_reported

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]


def test_stopped_in_each_phase_a_session_leaves_nothing_and_completes_its_schedule(
    tmp_path: Path, out: Path
) -> None:
    """Ctrl-C, in mid-measurement a kill of the harness; then a server dies, and an injector beside the other arm."""
    experiment = tmp_path / "tiny.yaml"
    # A kill comes too late when all stands still before it: then the next trial is the one that is killed.
    experiment.write_text(EXPERIMENT.replace("blocks: 2", "blocks: 3"), encoding="utf-8")
    directory = stop_in_each_phase(experiment, out)
    schedule = directory.session().schedule
    session = Running("resume", str(directory.path), "--json", out=out)
    killed = [*session.kill_in_a_trial("server"), *session.kill_in_a_trial("injector")]
    output, _ = session.process.communicate()
    assert session.process.returncode in DONE, session.errors.read_text(encoding="utf-8")
    trials = directory.trials()
    count = len(schedule)
    assert [(trial.block, trial.arm) for trial in trials[:count]] == [
        (place.block, place.arm) for place in schedule
    ]
    assert_void_for(killed[0], "restarts")
    assert_void_for(killed[1], "injectors")
    # A busy machine may have voided trials of another block as well; of each block there is one round of repeats.
    repeats = trials[count:]
    assert {trial.attempt for trial in repeats} == {1}
    for lost in {trial.block for trial in killed}:
        again = sorted(trial.arm for trial in repeats if trial.block == lost)
        assert again == sorted(place.arm for place in schedule if place.block == lost), (
            "a block is repeated as a whole, at the end"
        )
    others = [trial for trial in trials if trial not in killed]
    assert not void_for_other_reasons_than_noise(others)
    for trial in filter(is_undisturbed, others):
        assert_measured(trial)
    assert list(directory.trials_path.glob("*.interrupted-1"))
    told = (directory.path / "report.md").read_text(encoding="utf-8")
    assert "The session was interrupted 4 times: " in told
    assert told.count("(Ctrl-C, or a signal to end), resumed ") == 3
    assert told.count("(its process was killed, or the host stopped), resumed ") == 1
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
    assert [failed.name for failed in trial.checks if failed.has_failed] == [check]
    assert "signal 9" in str(trial.failure) or "code -9" in str(trial.failure)


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
            with urlopen(f"{address}/ping") as response:
                assert response.status == 200
        # Loaders and administration ask for no password: nobody but this machine reaches them unless asked.
        servers = [int(line.split()[-1]) for line in up.stdout.splitlines() if line.startswith("http")]
        heard = {one.address for one in listeners(servers) if one.port in (port, port + 1)}
        assert heard <= {"127.0.0.1", "::ffff:127.0.0.1"}  # as a JVM's socket of both families says it
        assert heard
        assert call("up", "ping", "--port", str(free_port())).returncode == 6
        assert call("run", "jvm-count", "--quick").returncode == 6
    finally:
        down = call("down")
    assert down.stdout.startswith("ping is down")
    assert call("down").stdout.startswith("nothing is up")
