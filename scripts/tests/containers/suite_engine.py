# SPDX-License-Identifier: Apache-2.0
"""The engine that the suite itself started: the only one that a test may restart."""

import os
import signal
import subprocess
from pathlib import Path

from waiting import ended, wait_until


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
        wait_until(lambda: not self.runs(), f"the end of dockerd; see {self._folder}/dockerd.log")
        with (self._folder / "dockerd.log").open("ab") as log:
            daemon = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._record.write_text(f"{daemon.pid} {_start_time(daemon.pid)}\n", encoding="ascii")
        wait_until(
            lambda: subprocess.run(["docker", "version"], capture_output=True, check=False).returncode == 0,
            f"an answer of dockerd; see {self._folder}/dockerd.log",
            ended(daemon),
        )


def _start_time(pid: int) -> str:
    """Field 22 of the kernel's status line; a zombie has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    if fields[0] == "Z":
        raise ProcessLookupError(pid)
    return fields[19]
