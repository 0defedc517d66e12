# SPDX-License-Identifier: Apache-2.0
"""Request counters of the servers (`GET /bench/counters`), asked of all at once and never waited for.

A server that is busy answers late; its answer carries its own time of reading, so late answers lose nothing.
"""

import errno
import json
import os
import select
import socket
import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from steelyard.sampling.http import Response, parse_response, request

ANSWER_LIMIT = 5.0
"""Seconds after which a server that does not answer is asked again on a new connection."""


class Count(NamedTuple):
    """Cumulative figures of one operation."""

    operation: str
    requests: int
    errors: int
    service_seconds: float


def parse_counters(body: bytes) -> tuple[float | None, list[Count]]:
    """Read the answer of `/bench/counters`: the server's wall clock (epoch seconds) if it says it, and the counts.

    Raises:
        ValueError: not such an answer.
    """
    try:
        raw = json.loads(body)
        counts = [
            Count(name, int(x["requests"]), int(x["errors"]), int(x["serviceTimeNanos"]) / 1e9)
            for name, x in raw["operations"].items()
        ]
        millis = raw.get("epochMillis")
        return (None if millis is None else float(millis) / 1000), counts
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no counters: {error!r}") from error


class Endpoint:
    """The counters of one server, over one connection that is kept open."""

    def __init__(self, process: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"counters_url {url!r} of {process} is not an http address")
        self.process = process
        self.problem: str | None = None
        """Why the last question failed; None when it was answered or is still open."""
        self._address = (parts.hostname, parts.port or 80)
        self._request = request(parts.netloc, parts.path or "/")
        self._socket: socket.socket | None = None
        self._received = b""
        self._asked: float | None = None
        self._unsent = b""
        self._fresh = False

    @property
    def open(self) -> bool:
        """Whether an answer is awaited."""
        return self._asked is not None

    @property
    def fileno(self) -> int:
        """The connection's file number, -1 when there is none."""
        return self._socket.fileno() if self._socket else -1

    @property
    def events(self) -> int:
        """What to wait for on the connection (`select.poll`)."""
        return select.POLLOUT if self._unsent else select.POLLIN

    def ask(self, now: float) -> None:
        """Ask, unless the last question is still open and not too old."""
        if self._asked is not None:
            if now - self._asked < ANSWER_LIMIT:
                return
            self.fail(f"no answer within {ANSWER_LIMIT:g} s")
        self._asked = now
        self._received = b""
        self._unsent = self._request
        try:
            if self._socket is None:
                self._connect()
            else:
                self._fresh = False
                self._send()
        except OSError as error:
            self._retry(error)

    def ready(self) -> tuple[float, list[Count]] | None:
        """Go on after the connection became ready; the time and counts once they are complete."""
        if self._socket is None:
            return None
        try:
            if self._unsent:
                self._send()
                return None
            data = self._socket.recv(65536)
        except BlockingIOError:
            return None
        except OSError as error:
            self._retry(error)
            return None
        self._received += data
        try:
            response = parse_response(self._received, closed=not data)
            return None if response is None else self._accept(response)
        except ValueError as error:
            if not self._received and not self._fresh:
                self._retry(OSError(str(error)))  # a kept connection that the server closed meanwhile
            else:
                self.fail(str(error))
            return None

    def fail(self, problem: str) -> None:
        """Give the question up and the connection with it."""
        self.problem = problem
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._asked = None
        self._unsent = b""

    def _accept(self, response: Response) -> tuple[float, list[Count]]:
        if response.status != 200:
            raise ValueError(f"it answered with status {response.status}")
        epoch, counts = parse_counters(response.body)
        self._asked = None
        self.problem = None
        if not response.keep_open:
            self.close()
        return (time.time() if epoch is None else epoch), counts

    def _connect(self) -> None:
        family, kind, protocol, _, address = socket.getaddrinfo(*self._address, type=socket.SOCK_STREAM)[0]
        self._socket = socket.socket(family, kind, protocol)
        self._socket.setblocking(False)
        self._fresh = True
        result = self._socket.connect_ex(address)
        if result not in (0, errno.EINPROGRESS):
            raise OSError(result, os.strerror(result))

    def _send(self) -> None:
        if self._socket is not None:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]

    def _retry(self, error: OSError) -> None:
        """A kept connection may have been closed by the server: then ask once more on a new one."""
        asked, fresh = self._asked, self._fresh
        self.fail(error.strerror or str(error))
        if fresh or asked is None:
            return
        self._asked, self._unsent, self._received = asked, self._request, b""
        try:
            self._connect()
        except OSError as again:
            self.fail(again.strerror or str(again))


Answer = Callable[[str, float, list[Count]], None]


class Counters:
    """All endpoints together."""

    def __init__(self, answered: Answer) -> None:
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
        while not (until_answered and not any(endpoint.open for endpoint in self.endpoints)):
            poll = select.poll()
            if wake is not None:
                poll.register(wake, select.POLLIN)
            waiting = {}
            for endpoint in self.endpoints:
                if endpoint.open and endpoint.fileno >= 0:
                    waiting[endpoint.fileno] = endpoint
                    poll.register(endpoint.fileno, endpoint.events)
            left = until - time.monotonic()
            for number, _ in poll.poll(max(0.0, left) * 1000):
                if number == wake:
                    return True
                self._go_on(waiting[number])
            if left <= 0:
                return False
        return False

    def _go_on(self, endpoint: Endpoint) -> None:
        result = endpoint.ready()
        if result is not None:
            self._answered(endpoint.process, *result)

    def close(self) -> None:
        """Close all connections."""
        for endpoint in self.endpoints:
            endpoint.close()
