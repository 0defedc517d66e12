# SPDX-License-Identifier: Apache-2.0
"""What components tell of themselves over HTTP, asked of all at once and never waited for: the servers' counters of
requests (`GET /bench/counters`), and figures in Prometheus' text format.

A server that is busy answers late; its answer carries its own time of reading, so late answers lose nothing. The
questions are HTTP/1.0 with a kept connection: an answer has a length, or ends where the server closes the connection.
(The standard library's client waits, and parses headers as mail does, which would be the dearest part of a sample.)
"""

import json
import math
import re
import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

_LABELS = r'\{(?:[^"}\n]|"(?:\\.|[^"\\\n])*")*\}'
_FIGURE = re.compile(rf"^([A-Za-z_:][\w:]*(?:{_LABELS})?)[ \t]+(\S+)", re.MULTILINE)
ANSWER_LIMIT = 5.0
"""Seconds after which a server that does not answer is asked again on a new connection."""


class Count(NamedTuple):
    """Cumulative figures of one operation."""

    operation: str
    requests: int
    errors: int
    service_seconds: float


class Figure(NamedTuple):
    """A figure that a component tells of itself."""

    name: str
    """With its labels, as it is written."""
    value: float


Told = Count | Figure
Parse = Callable[[bytes], tuple[float | None, Sequence[Told]]]
"""From the body of an answer to the wall clock that it tells (epoch seconds; None: not), and what it says."""


def parse_answer(data: bytes, closed: bool) -> tuple[bytes, bool] | None:
    """The body of an answer and whether the connection is kept, from what has arrived; None: it is not complete.

    Args:
        data: everything received since the question.
        closed: whether the server closed the connection after it.

    Raises:
        ValueError: not an HTTP answer, one that was cut off, or not one of success.
    """
    head, separator, body = data.partition(b"\r\n\r\n")
    status, *headers = head.lower().split(b"\r\n")
    lengths = [header for header in headers if separator and header.startswith(b"content-length:")]
    length = int(lengths[0][15:]) if lengths else None
    is_whole = closed if length is None else len(body) >= length
    if not (separator and is_whole):
        if closed:
            raise ValueError("the server closed the connection without a whole answer")
        return None
    version, _, code = status.partition(b" ")
    if not version.startswith(b"http/1."):
        raise ValueError(f"not an HTTP answer: {data[:40]!r}")
    if code[:3] != b"200":
        raise ValueError(f"it answered with status {code[:3].decode(errors='replace')}")
    return body[:length], b"connection: keep-alive" in headers


def parse_counters(body: bytes) -> tuple[float | None, list[Count]]:
    """Read the answer of `/bench/counters`: the server's wall clock (epoch seconds) if it says it, and the counts.

    Raises:
        ValueError: not such an answer.
    """
    try:
        raw = json.loads(body)
        counts = [
            Count(name, _number(x["requests"]), _number(x["errors"]), _number(x["serviceTimeNanos"]) / 1e9)
            for name, x in raw["operations"].items()
        ]
        millis = raw.get("epochMillis")
        return (None if millis is None else _number(millis) / 1000), counts
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no counters: {error!r}") from error


def _number(value: object) -> int:
    """A whole number (raises TypeError: something else, a text that looks like one among it)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value


def parse_metrics(body: bytes) -> tuple[None, list[Figure]]:
    """Read Prometheus' text format; what is no finite number is left out (raises ValueError: nothing else is there)."""
    lines = _FIGURE.findall(body.decode(errors="replace"))
    figures = [Figure(name, float(value)) for name, value in lines if value.isascii() and "_" not in value]
    finite = [figure for figure in figures if math.isfinite(figure.value)]
    if not finite:
        raise ValueError("no figures")
    return None, finite


class Endpoint:
    """What one component tells at one address."""

    def __init__(
        self, process: str, url: str, parse: Parse = parse_counters, limit: float = ANSWER_LIMIT
    ) -> None:
        parts = urlsplit(url)
        self.process = process
        self.parse = parse
        self._limit = limit
        self.problem: str | None = None
        """Why the last question failed; None when it was answered or is still open."""
        self.noted: str | None = None
        """The problem that was told last."""
        self._address = (parts.hostname or "", parts.port or 80)
        head = f"GET {parts.path or '/'} HTTP/1.0\r\nHost: {parts.netloc}\r\nConnection: keep-alive\r\n"
        self._request = f"{head}Accept: application/json, text/plain\r\n\r\n".encode()
        self._socket: socket.socket | None = None
        self._asked: float | None = None
        """When the question that is open was asked, monotonic."""
        self._unsent = b""
        self._received = b""

    def awaits(self) -> tuple[int, int] | None:
        """File number of the connection and what to wait for (`select.poll`); None: no answer is awaited."""
        if self._asked is None or self._socket is None:
            return None
        return self._socket.fileno(), select.POLLOUT if self._unsent else select.POLLIN

    def ask(self, now: float) -> None:
        """Ask, unless the last question is still open and not too old."""
        if self._asked is not None:
            if now - self._asked < self._limit:
                return
            self._fail(f"no answer within {self._limit:g} s")
        self._asked, self._unsent, self._received = now, self._request, b""
        try:
            if self._socket is not None:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
                return
            self._socket = socket.socket()
            self._socket.setblocking(False)
            with suppress(BlockingIOError):  # the connection is being made
                self._socket.connect(self._address)
        except OSError as error:
            self._fail(error.strerror or str(error))

    def ready(self) -> tuple[float, Sequence[Told]] | None:
        """Go on after the connection became ready; the time and what is told once they are complete."""
        if self._socket is None or self._asked is None:
            return None
        try:
            if self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
                return None
            data = self._socket.recv(65536)
            self._received += data
            answer = parse_answer(self._received, closed=not data)
            if answer is None:
                return None
            epoch, content = self.parse(answer[0])
        except BlockingIOError:
            return None
        except (OSError, ValueError) as error:
            self._fail((error.strerror if isinstance(error, OSError) else None) or str(error))
            return None
        self.problem = self._asked = None
        if not answer[1]:
            self._close()
        return (time.time() if epoch is None else epoch), content

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self._close()

    def _close(self) -> None:
        """Close the connection, and give an open question up with it."""
        if self._socket is not None:
            self._socket.close()
        self._socket = self._asked = None


class Counters:
    """All endpoints together."""

    def __init__(self, answered: Callable[[str, float, Sequence[Told]], None]) -> None:
        self.endpoints: list[Endpoint] = []
        self._answered = answered

    def ask(self) -> None:
        """Ask every server."""
        now = time.monotonic()
        for endpoint in self.endpoints:
            endpoint.ask(now)

    def wait(self, until: float, wake: int | None = None, until_answered: bool = False) -> bool:
        """Take answers as they come.

        Args:
            until: monotonic time at which to return.
            wake: file number that ends the wait when it becomes readable.
            until_answered: return as soon as no question is open.

        Returns:
            Whether `wake` became readable.
        """
        while True:
            poll = select.poll()
            if wake is not None:
                poll.register(wake, select.POLLIN)
            waiting = {}
            for endpoint in self.endpoints:
                if awaited := endpoint.awaits():
                    waiting[awaited[0]] = endpoint
                    poll.register(*awaited)
            if until_answered and not waiting:
                return False
            left = until - time.monotonic()
            for number, _ in poll.poll(max(0.0, left) * 1000):
                if number == wake:
                    return True
                if (result := waiting[number].ready()) is not None:
                    self._answered(waiting[number].process, *result)
            if left <= 0:
                return False
