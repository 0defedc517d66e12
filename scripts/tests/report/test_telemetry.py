# SPDX-License-Identifier: Apache-2.0
"""What a receiver of OpenTelemetry gets of a session, read as OTLP's JSON encoding says."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import sample
from e2e.driver import free_port
from fake_site import answers, serving
from rich.console import Console

from steelyard.cli.live import PlainScreen
from steelyard.cli.telemetry import Receiver, find_receiver, send_telemetry
from steelyard.errors import BadInput
from steelyard.results.schema import Session, Trial
from steelyard.results.store import SessionDirectory


class Collector:
    """A receiver on a port of loopback that keeps what it gets."""

    def __init__(self, status: int = 200) -> None:
        self.messages: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {key.lower(): value for key, value in self.headers.items()}
                collector.messages.append((self.path, json.loads(body), headers))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def spans(self) -> list[dict[str, Any]]:
        resources = [body["resourceSpans"][0] for path, body, _ in self.messages if path == "/v1/traces"]
        return [span for resource in resources for span in resource["scopeSpans"][0]["spans"]]

    def points(self) -> dict[tuple[str, str], float]:
        """Figures by name and arm, of the last message that has them."""
        found = {}
        for path, body, _ in self.messages:
            if path != "/v1/metrics":
                continue
            for metric in body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]:
                for point in metric["gauge"]["dataPoints"]:
                    arm = attributes(point)["steelyard.arm"]
                    assert re.fullmatch(r"\d{19}", point["timeUnixNano"])
                    found[metric["name"], arm] = point["asDouble"]
        return found


def attributes(holder: dict[str, Any]) -> dict[str, Any]:
    """Attributes as they are, once each."""
    read = {"stringValue": str, "intValue": int, "doubleValue": float, "boolValue": bool}
    pairs = [(one["key"], next(iter(one["value"].items()))) for one in holder["attributes"]]
    values = {key: read[kind](value) for key, (kind, value) in pairs}
    assert len(values) == len(pairs)
    return values


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    collector = Collector(status)
    with serving(collector.server):
        yield collector


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> SessionDirectory:
    return sample.write(tmp_path_factory.mktemp("telemetry"), sample.study_plan())


def send(directory: SessionDirectory, receiver: Receiver, stop: type[BaseException] | None = None) -> str:
    """Let a session end, or be stopped; what the screen printed."""
    printed = io.StringIO()
    session = directory.session()
    shown = PlainScreen(Console(file=printed, width=300), session)

    def run() -> None:
        with send_telemetry(shown, directory, session, receiver) as watcher:
            trials = directory.trials()
            for done, trial in enumerate(trials, start=1):
                watcher.trial_ended(trial, done, len(trials))
            if stop is not None:
                raise stop

    if stop is None:
        run()
    else:
        with pytest.raises(stop):
            run()
    return printed.getvalue()


def test_a_session_is_a_trace_of_its_trials_and_their_phases(
    directory: SessionDirectory, collector: Collector
) -> None:
    printed = send(directory, Receiver(collector.url, {"authorization": "Bearer x"}))
    session, trials = directory.session(), directory.trials()
    spans = collector.spans()
    assert {span["traceId"] for span in spans} == {spans[0]["traceId"]}
    assert all(re.fullmatch("[0-9a-f]{32}", span["traceId"]) for span in spans)
    assert all(re.fullmatch("[0-9a-f]{16}", span["spanId"]) for span in spans)
    assert len({span["spanId"] for span in spans}) == len(spans)
    assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)
    (root,) = (span for span in spans if "parentSpanId" not in span)
    assert root["name"] == "session jvm-count"
    assert attributes(root)["test.suite.run.status"] == "success"
    of_trials = [span for span in spans if span.get("parentSpanId") == root["spanId"]]
    assert len(of_trials) == len(trials)
    phases = [span for span in spans if span.get("parentSpanId") in {one["spanId"] for one in of_trials}]
    assert len(phases) == sum(len(trial.phases) for trial in trials)
    void = [attributes(span) for span in of_trials if span.get("status", {}).get("code") == 2]
    assert len(void) == sum(trial.state == "void" for trial in trials) == 1
    assert void[0]["steelyard.arm"] == "jvms-4"
    assert void[0]["steelyard.factor.jvms"] == 4
    assert void[0]["test.case.result.status"] == "fail"
    assert void[0]["error.type"] in {check.name for trial in trials for check in trial.checks}
    resource = collector.messages[0][1]["resourceSpans"][0]["resource"]
    told = attributes(resource)
    assert told["service.name"] == "steelyard"
    assert told["service.instance.id"] == session.id
    assert told["host.name"] == session.host.hostname
    assert told["host.arch"] == "amd64"
    assert {headers["authorization"] for _, _, headers in collector.messages} == {"Bearer x"}
    assert {headers["content-type"] for _, _, headers in collector.messages} == {"application/json"}
    assert "telemetry" not in printed
    assert "block 1" in printed, "the screen is told as before"


def test_figures_are_those_of_valid_trials_and_of_the_analysis(
    directory: SessionDirectory, collector: Collector
) -> None:
    send(directory, Receiver(collector.url, {}))
    points, analysis = collector.points(), directory.analysis()
    last = [trial for trial in directory.trials() if trial.arm == "jvms-4" and trial.state == "valid"][-1]
    assert points["steelyard.trial.throughput", "jvms-4"] == last.metrics["throughput"]
    summary = analysis.summaries["throughput"]["jvms-4"]
    assert points["steelyard.session.throughput", "jvms-4"] == summary.mean
    body = next(body for path, body, _ in reversed(collector.messages) if path == "/v1/metrics")
    gauges = {one["name"]: one for one in body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
    assert gauges["steelyard.session.throughput"]["unit"] == "{request}/s"
    assert gauges["steelyard.session.memory_rss"]["unit"] == "By"
    ratios = {
        (told["steelyard.metric"], told["steelyard.arm"]): point["asDouble"]
        for point in gauges["steelyard.change.ratio"]["gauge"]["dataPoints"]
        for told in [attributes(point)]
    }
    assert ratios["throughput", "jvms-4"] == analysis.estimates["throughput"]["jvms-4"].ratio


@pytest.mark.parametrize(("stop", "status"), [(KeyboardInterrupt, "aborted"), (RuntimeError, "failure")])
def test_a_session_that_is_stopped_is_told_as_that(
    directory: SessionDirectory, collector: Collector, stop: type[BaseException], status: str
) -> None:
    send(directory, Receiver(collector.url, {}), stop)
    (root,) = (span for span in collector.spans() if "parentSpanId" not in span)
    assert attributes(root)["test.suite.run.status"] == status


def test_a_receiver_that_is_not_there_ends_nothing_and_is_told_once(directory: SessionDirectory) -> None:
    port = free_port()
    printed = send(directory, Receiver(f"http://127.0.0.1:{port}", {}))
    assert printed.count("note:") == 1
    assert re.search(rf"note: (\d+) of \1 messages of telemetry were not received by \S+:{port}: ", printed)


def test_a_receiver_that_refuses_is_told_with_its_status(directory: SessionDirectory) -> None:
    with collecting(status=401) as collector:
        printed = send(directory, Receiver(collector.url, {}))
    assert "HTTP 401 for /v1/" in printed


def test_a_receiver_of_another_protocol_is_told(directory: SessionDirectory) -> None:
    with answers(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\r\n") as url:  # the first frame of HTTP/2
        printed = send(directory, Receiver(url, {}))
    assert re.search(r"note: (\d+) of \1 messages of telemetry were not received", printed)
    assert "no answer in time" not in printed, "the thread died"


def test_the_option_comes_before_the_environment_which_can_switch_it_off() -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b,tenant=lab",
    }
    read = find_receiver(None, environment)
    assert read == Receiver("http://collector:4318", {"api-key": "a b", "tenant": "lab"})
    asked = find_receiver("http://127.0.0.1:4318", environment)
    assert asked is not None
    assert asked.endpoint == "http://127.0.0.1:4318"
    assert find_receiver(None, environment | {"OTEL_SDK_DISABLED": "true"}) is None
    assert find_receiver(None, {}) is None


@pytest.mark.parametrize(
    "wrong",
    [
        "127.0.0.1:4318",
        "grpc://127.0.0.1:4317",
        "http://",
        "http://[::1",
        "http://h:abc",
        "http://h:70000",
        "http://h:0",
    ],
)
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with pytest.raises(BadInput, match=r"--otlp-endpoint is .*: give http://HOST:PORT"):
        find_receiver(wrong, {})


def test_what_a_trial_holds_is_json_that_every_parser_reads(directory: SessionDirectory) -> None:
    from steelyard.report.otlp import trial_figures

    session: Session = directory.session()
    trial: Trial = directory.trials()[0]
    odd = trial.model_copy(update={"metrics": trial.metrics | {"throughput": float("nan")}})
    text = json.dumps(trial_figures(session, odd), allow_nan=False)
    assert "steelyard.trial.throughput" not in text
