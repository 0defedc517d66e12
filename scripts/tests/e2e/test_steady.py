# SPDX-License-Identifier: Apache-2.0
"""One session of the steady procedure on real ping servers, run to its end, and looked at from several sides."""

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory

from .driver import DONE, EXPERIMENT, Running, call, free_port, processes_that_mention
from .noise import is_undisturbed, void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("host")]

ARMS = {"jvms-1", "jvms-2"}
ATTEMPTS = 6
"""Sessions after which a machine that stands still in every one of them is given up."""


class Session:
    """A session that has ended."""

    def __init__(self, folder: Path) -> None:
        out = folder / "results"
        out.mkdir(parents=True)
        experiment = folder / "tiny.yaml"
        experiment.write_text(EXPERIMENT.replace("repeats: 1", "repeats: 0"), encoding="utf-8")
        running = Running(
            *("run", str(experiment), "--out", out.name, "--port", str(free_port()), "--seed", "7", "--json"),
            out=out,
        )
        output, _ = running.process.communicate()
        self.errors = running.errors.read_text(encoding="utf-8")
        assert running.process.returncode in DONE, self.errors
        self.document: dict[str, Any] = json.loads(output)
        self.directory: SessionDirectory = running.directory
        self.trials: list[Trial] = self.directory.trials()
        self.left = processes_that_mention(str(out))

    @property
    def undisturbed(self) -> list[Trial]:
        return [trial for trial in self.trials if is_undisturbed(trial)]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    """One; more where an arm has no undisturbed trial yet."""
    sessions: list[Session] = []
    while not {trial.arm for session in sessions for trial in session.undisturbed} >= ARMS:
        if len(sessions) == ATTEMPTS:
            pytest.fail(f"an arm has no undisturbed trial in {ATTEMPTS} sessions: {sessions[-1].errors}")
        sessions.append(Session(tmp_path_factory.mktemp("steady")))
        assert not void_for_other_reasons_than_noise(sessions[-1].trials)
    return sessions


@pytest.fixture
def session(sessions: list[Session]) -> Session:
    return sessions[0]


def test_every_arm_of_its_schedule_has_run(session: Session) -> None:
    assert [(trial.block, trial.arm) for trial in session.trials] == [
        (place.block, place.arm) for place in session.directory.session().schedule
    ]
    assert {trial.arm for trial in session.trials} == ARMS
    assert session.directory.has_ended()
    assert not session.left


def test_a_trial_counts_what_its_servers_did(sessions: list[Session]) -> None:
    for session in sessions:
        for trial in session.undisturbed:
            assert_measured(trial)


def test_its_report_is_made_and_made_again_by_its_directory_alone(session: Session) -> None:
    assert_reported(session.directory, session.document)


def assert_measured(trial: Trial) -> None:
    """For an undisturbed trial of `EXPERIMENT`."""
    assert trial.measurement is not None
    counted, sent = trial.measurement.value("server_requests"), trial.measurement.injector_requests
    assert counted is not None
    # The trial waits for the first request before it measures.
    assert sent > 0
    assert abs(counted / sent - 1) <= 0.001
    servers = [one for one in trial.components if one.role == "server"]
    assert len(servers) == int(trial.arm.removeprefix("jvms-"))
    # How much each server answers depends on the CPU that the host gave it, and is no matter for a test.
    assert all(one.value("throughput") is not None for one in servers)
    assert {"request", "jit", "gc"} <= {group for one in servers for group in one.cpu_by_group}
    assert trial.metrics["memory_rss"] > 20e6 * len(servers), "not that of so many JVMs"
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
