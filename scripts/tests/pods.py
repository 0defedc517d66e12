# SPDX-License-Identifier: Apache-2.0
"""Pods for tests: a real component, an observer beside it, a log that grows. What stands for the API server is a file,
`away`: while it is there, no command gets through.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import steelyard
from steelyard.sampling import observe
from steelyard.sampling.streams import Observer

SCRIPTS = Path(steelyard.__file__).parents[1]
OBSERVED = Path(__file__).parent / "sampling" / "observed.py"


class Pod:
    """A component and its observer."""

    def __init__(self, folder: Path, name: str, role: str = "server", launcher: Sequence[str] = ()) -> None:
        """`launcher`: a command that starts the component, in place of a start of itself."""
        self.name, self.folder, self.observed = name, folder, folder / "observed"
        self.log, self.away = folder / "0.log", folder.parent / "away"
        self.observed.mkdir(parents=True)
        self.mark = f"{name}-{os.getpid()}-{uuid4()}"
        self.component = subprocess.Popen(
            [*launcher, sys.executable, str(OBSERVED)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, observe.MARKER: self.mark},
        )
        assert self.component.stdout
        self.settings = {
            "role": role,
            "marker": self.mark,
            "counters_url": f"http://127.0.0.1:{self.component.stdout.readline().strip()}/bench/counters",
            "folder": str(self.observed),
            "work": str(folder),
        }
        self.observer = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the observer, as a container: its standard output is the log."""
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "steelyard.sampling.observe"],
                cwd=SCRIPTS,
                stdout=log,
                env={**os.environ, observe.SETTINGS: json.dumps(self.settings)},
            )

    def reached(self, identity: str = "one") -> Observer:
        """By commands that fail while nothing gets through."""

        def unless_away(command: str) -> list[str]:
            return ["sh", "-c", f"test ! -e {self.away} && {command}"]

        follow = unless_away(f"exec tail -n +1 -f {self.log}")
        return Observer("node-1", identity, follow, unless_away(f"exec tee {self.folder / observe.WORDS}"))

    def end(self) -> None:
        """End both."""
        for one in (self.component, self.observer):
            one.kill()
            one.wait()
