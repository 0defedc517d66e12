# SPDX-License-Identifier: Apache-2.0
"""Pods for tests: a real component and an observer beside it. What stands for the API server is a file, `away`: while
it is there, nothing gets through.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from waiting import wait_until

import steelyard
from steelyard.sampling import config
from steelyard.sampling.streams import Observer

SCRIPTS = Path(steelyard.__file__).parents[1]
OBSERVED = Path(__file__).parent / "sampling" / "observed.py"


class Pod:
    """A component and its observer."""

    def __init__(self, folder: Path, name: str, role: str = "server", launcher: Sequence[str] = ()) -> None:
        """`launcher`: a command that starts the component, in place of a start of itself."""
        self.name, self.folder, self.observed = name, folder, folder / "observed"
        self.away = folder.parent / "away"
        self.observed.mkdir(parents=True)
        self._sockets: list[socket.socket] = []
        self.mark = f"{name}-{os.getpid()}-{uuid4()}"
        self.component = subprocess.Popen(
            [*launcher, sys.executable, str(OBSERVED)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, config.MARKER: self.mark},
        )
        assert self.component.stdout
        self.settings = {
            "token": "secret",
            "role": role,
            "marker": self.mark,
            "counters_url": f"http://127.0.0.1:{self.component.stdout.readline().strip()}/bench/counters",
            "folder": str(self.observed),
            "work": str(folder),
            "port": 0,
        }
        self.observer = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the observer, as a container; its port is in a file."""
        port = self.folder / "port"
        port.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "steelyard.sampling.observe"],
            cwd=SCRIPTS,
            env={**os.environ, config.SETTINGS: json.dumps(self.settings)},
        )
        wait_until(port.exists, "the port of an observer")
        return process

    def reached(self, identity: str = "one") -> Observer:
        """By connections that fail while nothing gets through."""
        return Observer("node-1", identity, self.connect, "/secret")

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """A connection to the observer."""
        if self.away.exists():
            raise ConnectionRefusedError("away")
        port = int((self.folder / "port").read_text(encoding="ascii"))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout)
        connection.connect()
        self._sockets.append(connection.sock)
        return connection

    def cut(self) -> None:
        """Break all connections."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def get(self, path: str) -> bytes:
        """What the observer answers to who knows its token."""
        return self.request("GET", f"/secret{path}").read()

    def request(self, method: str, path: str) -> http.client.HTTPResponse:
        """What the observer answers to anybody."""
        connection = self.connect(60.0)
        connection.request(method, path)
        return connection.getresponse()

    def end(self) -> None:
        """End both."""
        for one in (self.component, self.observer):
            one.kill()
            one.wait()
