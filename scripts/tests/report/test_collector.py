# SPDX-License-Identifier: Apache-2.0
"""A recorded session, sent to OpenTelemetry's Collector and read back from what that wrote."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import sample
from e2e.driver import free_port
from test_telemetry import attributes, send
from waiting import wait_until

from steelyard.cli.telemetry import Receiver
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory

pytestmark = pytest.mark.full

SOURCES = Path(__file__).parent / "collector"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard"


def build_collector() -> Path:
    """The program, compiled of its Go modules the first time and kept; where it cannot be, the test is skipped."""
    parts = [path for path in sorted(SOURCES.iterdir()) if path.suffix in (".go", ".mod", ".sum")]
    digest = sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()[:12]
    program = CACHE / f"collector-{digest}-{os.uname().machine}"
    if program.exists():
        return program
    if shutil.which("go") is None:
        pytest.skip("the Collector is compiled of its Go modules, and Go is not on PATH")
    needed = next(
        line.split()[1] for line in (SOURCES / "go.mod").read_text().splitlines() if line[:3] == "go "
    )
    own = subprocess.run(
        ["go", "env", "GOVERSION"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if release(own) < release(needed):
        pytest.skip(f"the Collector is compiled with Go {needed} or newer, and {own} is on PATH")
    CACHE.mkdir(parents=True, exist_ok=True)
    made = program.with_suffix(f".{os.getpid()}")
    own_go = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", str(made), "."]
    subprocess.run(command, cwd=SOURCES, env=os.environ | own_go, check=True)
    return made.rename(program)


def release(version: str) -> tuple[int, int]:
    """`go1.26.8` -> (1, 26)."""
    major, minor, *_ = version.removeprefix("go").split(".")
    return int(major), int(minor)


class Written:
    """What the Collector got: messages of its file exporter, one to a line."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self._folder = folder

    def spans(self) -> list[dict[str, Any]]:
        messages = self._messages("traces")
        scopes = [scope for m in messages for one in m["resourceSpans"] for scope in one["scopeSpans"]]
        return [span for scope in scopes for span in scope["spans"]]

    def resources(self) -> list[dict[str, Any]]:
        return [one["resource"] for m in self._messages("metrics") for one in m["resourceMetrics"]]

    def gauges(self) -> list[dict[str, Any]]:
        messages = self._messages("metrics")
        scopes = [scope for m in messages for one in m["resourceMetrics"] for scope in one["scopeMetrics"]]
        return [metric for scope in scopes for metric in scope["metrics"]]

    def _messages(self, signal_name: str) -> list[dict[str, Any]]:
        path = self._folder / f"{signal_name}.jsonl"
        # It writes now and then: the last line may not be whole.
        *lines, _ = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
        return [json.loads(line) for line in lines]


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Written]:
    program = build_collector()
    port = free_port()
    config = (SOURCES / "collector.yaml").read_text(encoding="utf-8")
    file = tmp_path / "collector.yaml"
    file.write_text(config.replace("PORT", str(port)).replace("FOLDER", str(tmp_path)), encoding="utf-8")
    log = tmp_path / "collector.log"
    with (
        log.open("wb") as output,
        subprocess.Popen([program, "--config", f"file:{file}"], stdout=output, stderr=output) as running,
    ):
        try:
            wait_until(
                lambda: accepts(port),
                "the Collector",
                lambda: log.read_text(errors="replace") if running.poll() is not None else None,
            )
            yield Written(tmp_path, f"http://127.0.0.1:{port}")
        finally:
            running.send_signal(signal.SIGTERM)


def accepts(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def end_of(trial: Trial) -> str:
    """When its last phase ended, as OTLP writes it."""
    return str(round(max(end for _, end in trial.phases.values()) * 1e9))


def test_a_collector_reads_names_units_and_values_of_a_session(tmp_path: Path, collector: Written) -> None:
    directory: SessionDirectory = sample.write(tmp_path / "session", sample.study_plan())
    session, trials, analysis = directory.session(), directory.trials(), directory.analysis()
    printed = send(directory, Receiver(collector.url, {}))
    assert "telemetry" not in printed, "the Collector took every message"

    # What is sent last: the figures of the session, and its own span.
    wait_until(lambda: any(one["name"] == "steelyard.change.high" for one in collector.gauges()), "figures")
    wait_until(lambda: any(not span.get("parentSpanId") for span in collector.spans()), "the session's span")
    spans = collector.spans()
    (root,) = (span for span in spans if not span.get("parentSpanId"))
    assert root["name"] == "session jvm-count"
    of_trials = [span for span in spans if span.get("parentSpanId") == root["spanId"]]
    assert len(of_trials) == len(trials)
    assert len(spans) == 1 + len(trials) + sum(len(trial.phases) for trial in trials)
    starts = sorted(int(span["startTimeUnixNano"]) for span in of_trials)
    assert starts == sorted(round(trial.started * 1e9) for trial in trials)

    told = attributes(collector.resources()[0])
    assert told["service.name"] == "steelyard"
    assert told["service.instance.id"] == session.id

    units = {gauge["name"]: gauge.get("unit", "") for gauge in collector.gauges()}
    assert units["steelyard.trial.throughput"] == units["steelyard.session.throughput"] == "{request}/s"
    assert units["steelyard.trial.memory_rss"] == "By"
    assert units["steelyard.change.ratio"] == "1"

    points = [
        (gauge["name"], attributes(point), point["timeUnixNano"], point["asDouble"])
        for gauge in collector.gauges()
        for point in gauge["gauge"]["dataPoints"]
    ]
    of_trials_sent = {
        (name, place["steelyard.arm"], place["steelyard.block"], at): value
        for name, place, at, value in points
        if name.startswith("steelyard.trial.")
    }
    assert of_trials_sent == {
        (f"steelyard.trial.{name}", trial.arm, trial.block, end_of(trial)): value
        for trial in trials
        if trial.state == "valid"
        for name, value in trial.metrics.items()
    }
    values = {
        (name, place["steelyard.arm"], place.get("steelyard.metric")): value
        for name, place, _, value in points
        if not name.startswith("steelyard.trial.")
    }
    for metric, arms in analysis.summaries.items():
        for arm, summary in arms.items():
            if summary.n:
                assert values[f"steelyard.session.{metric}", arm, None] == summary.mean
    for metric, estimates in analysis.estimates.items():
        for arm, estimate in estimates.items():
            for end in ("ratio", "low", "high"):
                assert values.get((f"steelyard.change.{end}", arm, metric)) == getattr(estimate, end)
