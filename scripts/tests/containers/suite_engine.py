# SPDX-License-Identifier: Apache-2.0
"""The engine that the suite itself started: the only one that a test may restart."""

import os
import signal
import subprocess
import time
from pathlib import Path

LIMIT = 240.0


class SuiteEngine:
    """The dockerd of `images/local/setup-engine.sh`, by the files that it keeps in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._record = folder / "dockerd.pid"

    def runs(self) -> bool:
        """Whether the suite started an engine and it is still there."""
        try:
            pid, started = self._record.read_text(encoding="ascii").split()
            return _start_time(int(pid)) == started
        except (OSError, ValueError):
            return False

    def restart(self) -> None:
        """End the daemon, which ends its containers, and start it as it was."""
        pid = int(self._record.read_text(encoding="ascii").split()[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + LIMIT
        while self.runs() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not self.runs(), f"dockerd does not end; see {self._folder}/dockerd.log"
        with (self._folder / "dockerd.log").open("ab") as log:
            daemon = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._record.write_text(f"{daemon.pid} {_start_time(daemon.pid)}\n", encoding="ascii")
        deadline = time.monotonic() + LIMIT
        while subprocess.run(["docker", "version"], capture_output=True, check=False).returncode != 0:
            assert time.monotonic() < deadline, f"dockerd does not answer; see {self._folder}/dockerd.log"
            time.sleep(0.2)


def _start_time(pid: int) -> str:
    """Field 22 of the kernel's status line; a zombie has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    if fields[0] == "Z":
        raise ProcessLookupError(pid)
    return fields[19]
