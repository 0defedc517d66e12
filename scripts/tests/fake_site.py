# SPDX-License-Identifier: Apache-2.0
"""What components answer over HTTP."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any, Protocol, TypeVar

from fake_clock import FakeClock

from steelyard.results.spec import Component

ServerT = TypeVar("ServerT", bound=BaseServer)
READY_AFTER = 0.6
"""Seconds from the start of a component to its first good answer."""


class Told(Protocol):
    """What a component is told of the world."""

    clock: FakeClock
    answers: dict[str, tuple[int, str]]
    info: dict[str, Any]
    ready_after: float


class Site(ThreadingHTTPServer):
    """What one component answers, on any port that is free: that of its spec may be another program's."""

    daemon_threads = True

    def __init__(self, component: Component, world: Told) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
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


@contextmanager
def serving(server: ServerT) -> Iterator[ServerT]:
    """A server that serves in a thread of its own until the end of the block, which closes it."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def answers(raw: bytes) -> Iterator[str]:
    """The address of a server that answers every request with these bytes, whatever protocol they are."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.wfile.write(raw)
            self.close_connection = True

        do_POST = do_GET  # noqa: N815 - the name that the library asks for

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"
