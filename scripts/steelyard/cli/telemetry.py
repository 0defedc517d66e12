# SPDX-License-Identifier: Apache-2.0
"""Sends a session to a receiver of OpenTelemetry while it runs, and never lets that end or delay it.

OTLP's JSON encoding over HTTP is what `urllib` and `json` can write. Debian, of which the harness image is made, has no
package of the SDK, which would be many packages for two kinds of message.
"""

import contextlib
import http.client
import json
import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from steelyard.clock import Deadline
from steelyard.errors import BadInput, SteelyardError
from steelyard.report.otlp import (
    METRICS,
    TRACES,
    Payload,
    session_figures,
    session_span,
    trial_figures,
    trial_spans,
)
from steelyard.results.figures import count
from steelyard.results.schema import Session, Trial
from steelyard.results.store import SessionDirectory
from steelyard.session.context import PassingWatcher, Watcher

ENDPOINT, HEADERS, DISABLED = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SDK_DISABLED"
"""Variables of OpenTelemetry that are followed."""
_SECONDS = 10.0
"""What one message may take, as the specification's default, and what is waited for the last ones."""
_TICK = 0.05
_WAITING = 1_000
"""Messages that may wait: two a trial."""


@dataclass(frozen=True)
class LiveOutputs:
    """What follows a running session beside the screen."""

    metrics_port: int | None = None
    """Port of loopback for Prometheus."""
    otlp_endpoint: str | None = None
    """Receiver of OpenTelemetry; None: that of the environment."""


NO_OUTPUTS = LiveOutputs()


@dataclass(frozen=True)
class Receiver:
    """Where messages go."""

    endpoint: str
    """Without the path of a signal: `http://127.0.0.1:4318`."""
    headers: Mapping[str, str]


def find_receiver(option: str | None, environment: Mapping[str, str] = os.environ) -> Receiver | None:
    """The receiver of the option, else of the environment; None: nothing is sent.

    Raises:
        BadInput: it is no address of a receiver.
    """
    if option is None and environment.get(DISABLED, "").lower() == "true":
        return None
    endpoint = option if option is not None else environment.get(ENDPOINT, "")
    if not endpoint:
        return None
    if not _is_address(endpoint):
        source = "--otlp-endpoint" if option is not None else ENDPOINT
        raise BadInput(f"{source} is {endpoint!r}: give http://HOST:PORT, for example http://127.0.0.1:4318")
    pairs = (pair.partition("=") for pair in environment.get(HEADERS, "").split(",") if "=" in pair)
    return Receiver(endpoint.rstrip("/"), {key.strip(): unquote(value.strip()) for key, _, value in pairs})


def _is_address(endpoint: str) -> bool:
    """Whether requests can be sent there: a scheme that is known, a host and a port that are of the right form."""
    try:
        parts = urlsplit(endpoint)
        return bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:  # of brackets or of the port
        return False


@contextmanager
def send_telemetry(
    watcher: Watcher, directory: SessionDirectory, session: Session, receiver: Receiver | None
) -> Iterator[Watcher]:
    """Send each trial when it has ended, and the session and its figures at the end; the watcher is told as before.

    Args:
        watcher: the screen.
        directory: of the session, whose analysis is read at the end.
        session: it.
        receiver: None: send nothing.
    """
    if receiver is None:
        yield watcher
        return
    sender = _Sender(receiver)
    status = "aborted"
    try:
        yield _TelemetryWatcher(watcher, session, sender)
        status = "success"
    except KeyboardInterrupt:
        raise
    except BaseException:
        status = "failure"
        raise
    finally:
        now = time.time()
        with contextlib.suppress(SteelyardError):
            sender.put(METRICS, session_figures(session, directory.analysis(), now))
        sender.put(TRACES, session_span(session, now, status))
        if (lost := sender.close()) is not None:
            watcher.note(lost)


class _Sender:
    """A thread that posts what waits, in order; what cannot be posted is counted."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._waiting: queue.Queue[tuple[str, Payload] | None] = queue.Queue(_WAITING)
        self._tried, self._sent, self._why = 0, 0, "no answer in time"
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    def put(self, path: str, payload: Payload) -> None:
        """Post it soon; returns at once."""
        self._tried += 1
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait((path, payload))

    def close(self) -> str | None:
        """Wait a while for what is left; a sentence on what was not received, None: all was."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        deadline = Deadline(_SECONDS)
        while self._thread.is_alive() and not deadline.is_over:
            deadline.sleep(_TICK)
        lost = self._tried - self._sent
        if not lost:
            return None
        where = self._receiver.endpoint
        return f"{lost} of {count(self._tried, 'message')} of telemetry were not received by {where}: {self._why}"

    def _run(self) -> None:
        while (message := self._waiting.get()) is not None:
            path, payload = message
            try:
                self._post(path, payload)
                self._sent += 1
            except HTTPError as error:
                self._why = f"HTTP {error.code} for {path}"
            except (OSError, ValueError, http.client.HTTPException) as error:
                self._why = str(getattr(error, "reason", error)) or type(error).__name__

    def _post(self, path: str, payload: Payload) -> None:
        body = json.dumps(payload, allow_nan=False).encode()
        headers = {"Content-Type": "application/json", **self._receiver.headers}
        request = Request(self._receiver.endpoint + path, body, headers)
        with urlopen(request, timeout=_SECONDS) as answer:
            answer.read()


class _TelemetryWatcher(PassingWatcher):
    """Sends trials."""

    def __init__(self, watcher: Watcher, session: Session, sender: _Sender) -> None:
        super().__init__(watcher)
        self._session = session
        self._sender = sender

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Send the trial, and of a valid one its figures: between trials, when nothing is measured."""
        self._sender.put(TRACES, trial_spans(self._session, trial))
        if trial.state == "valid":
            self._sender.put(METRICS, trial_figures(self._session, trial))
        super().trial_ended(trial, done, total)
