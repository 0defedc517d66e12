# SPDX-License-Identifier: Apache-2.0
"""Time that passes only when somebody sleeps, and what components answer over HTTP meanwhile."""

import json
import math
import os
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from steelyard.results.spec import Component

EPOCH = 1_800_000_000.25
READY_AFTER = 2.5
"""Seconds from the start of a component to its first good answer."""


class Clock:
    """Stands in for the module `time`: it moves when somebody sleeps, and stops at every whole second on its way."""

    def __init__(self) -> None:
        self.now = EPOCH
        self.stepped = 0.0
        self.each_second: Callable[[], None] = lambda: None
        self.before_sleep: Callable[[], None] = lambda: None
        self._lock = threading.RLock()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now - EPOCH + 5.0 - self.stepped

    def step(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        with self._lock:
            self.now += seconds
            self.stepped += seconds

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.before_sleep()
            end = self.now + seconds
            while (second := math.floor(self.now) + 1.0) <= end:
                self.now = second
                self.each_second()
            self.now = end


class Told(Protocol):
    """What a component is told of the world."""

    clock: Clock
    answers: dict[str, tuple[int, str]]
    info: dict[str, Any]
    ready_after: float


class Site(ThreadingHTTPServer):
    """What one component answers on its port."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, component: Component, world: Told) -> None:
        assert component.port is not None
        super().__init__(("127.0.0.1", component.port), _Answer)
        self.component, self.world, self.ready_at = component, world, world.clock.time() + world.ready_after
        self.own_requests = 0
        self.thread = threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True)
        self.thread.start()

    def end(self) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()

    def answer(self, path: str) -> tuple[int, str]:
        component, world = self.component, self.world
        if path == component.ready.path:
            return (200 if world.clock.time() >= self.ready_at else 503), "{}"
        if path == component.info:
            cpus = len(component.cpus)
            told = {"pid": os.getpid(), "availableProcessors": cpus, "settings": component.expected_info}
            return 200, json.dumps({**told, "build": component.artifact.build, **world.info})
        self.own_requests += 1
        return world.answers.get(path, (404, "nothing"))


class _Answer(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        status, text = self.server.answer(self.path)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Stay quiet."""
