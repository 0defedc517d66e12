# SPDX-License-Identifier: Apache-2.0
"""A packaged Liberty server on a port of its own, for benchmarks."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from urllib.error import URLError
from urllib.request import urlopen

from steelyard.host.ports import free_port
from steelyard.processes.children import kill_with_parent
from steelyard.processes.environment import child_environment

HOST = "127.0.0.1"


class RunningServer:
    """Started when made; a context that ends it."""

    def __init__(
        self, package: Path, name: str, folder: Path, java_home: Path, environment: Mapping[str, str]
    ) -> None:
        """Start a server.

        Args:
            package: folder with its `wlp/`, which is only read.
            name: of the server in it.
            folder: for what it writes.
            java_home: the JDK that it runs on.
            environment: variables beside its port.
        """
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        variables = child_environment(
            {**os.environ, **environment},
            JAVA_HOME=str(java_home),
            WLP_OUTPUT_DIR=str(folder / "output"),
            LOG_DIR=str(folder / "logs"),
            VERBOSEGC="false",
            HTTP_PORT=str(self.port),
            EXECUTOR_THREADS="8",
        )
        command = ["sh", str(package / "wlp" / "bin" / "server"), "run", name]
        with (folder / "console.log").open("w", encoding="utf-8") as console:
            self._process = subprocess.Popen(
                kill_with_parent(command), env=variables, stdout=console, stderr=subprocess.STDOUT
            )
        self.pid = self._process.pid

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://{HOST}:{self.port}"

    def wait_until_ready(self, path: str) -> None:
        """Wait until a path answers 200.

        Raises:
            RuntimeError: it has ended.
        """
        while not self._answers(path):
            if self._process.poll() is not None:
                raise RuntimeError((self.folder / "console.log").read_text(encoding="utf-8"))
            time.sleep(0.3)

    def _answers(self, path: str) -> bool:
        try:
            with urlopen(self.url + path) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def get(self, path: str) -> str:
        """What a path answers."""
        with urlopen(self.url + path) as answer:
            return str(answer.read().decode())

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        self._process.terminate()
        self._process.wait()

    def __enter__(self) -> "RunningServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
