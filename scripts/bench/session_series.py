# SPDX-License-Identifier: Apache-2.0
"""A series of sessions, one after the other, that a kill of the series or of one of them does not lose.

What ended is a line of a file. A command writes its progress to a log and not into a pipe of the series, so that it
ends in order where the series is killed; the next call takes it up.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.errors import Exit, SteelyardError
from steelyard.paths import ROOT

LOG = "progress.log"
FAILURES = 5
"""Sessions in a row that say nothing, with which a series ends: the next would say no more."""
PAUSE = 60.0
"""Seconds after one that said nothing: what disturbed it may be over then."""

Row = dict[str, Any]
"""What is kept of a session, in JSON."""


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    message: str
    """The last line of its progress."""
    output: str = ""
    """What it printed."""

    @property
    def document(self) -> Row:
        """What it printed as JSON; empty where it did not come to that."""
        document: Row = json.loads(self.output) if self.output.strip() else {}
        return document


Launch = Callable[[Sequence[str]], Ended]
"""Runs `./steelyard` with these words; raises KeyboardInterrupt where it was interrupted."""


class Stopped(Exception):
    """Why a series ends before its end, a sentence."""


def launcher(folder: Path) -> Launch:
    """What runs commands, with their progress in a log of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOG
    sys.stderr.write(f"progress: tail -f {path}\n")

    def launch(words: Sequence[str]) -> Ended:
        with path.open("a+", encoding="utf-8") as log, tempfile.TemporaryFile("w+") as output:
            begin = log.seek(0, os.SEEK_END)
            with subprocess.Popen([ROOT / "steelyard", *words], stdout=output, stderr=log) as command:
                is_interrupted = _wait(command)
            log.seek(begin)
            lines = [line.strip() for line in log if line.strip()]
            output.seek(0)
            ended = Ended(command.returncode, lines[-1] if lines else "", output.read())
        if is_interrupted or ended.code == Exit.INTERRUPTED or ended.code < 0:
            raise KeyboardInterrupt
        if ended.code == Exit.BUSY:
            raise Stopped(ended.message)
        return ended

    return launch


def split_options(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words of a command line before and after `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def series_parser(about: str | None) -> argparse.ArgumentParser:
    """Takes the folder of a series and the time that it has.

    Args:
        about: docstring of the script, whose first line says what it is.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument(
        "--minutes",
        dest="time_left",
        metavar="MINUTES",
        type=_time_left,
        default=TimeLeft(None),
        help="that there are",
    )
    return parser


def _time_left(minutes: str) -> "TimeLeft":
    return TimeLeft(float(minutes))


def why_ended(series: Callable[[], object]) -> str | None:
    """Run a series; why it ended before its end, a sentence for `sys.exit`."""
    try:
        series()
    except KeyboardInterrupt:
        return "interrupted: the same call goes on"
    except (Stopped, SteelyardError) as stopped:
        return str(stopped)
    return None


def _wait(command: subprocess.Popen[bytes]) -> bool:
    """Wait for its end, and return whether there was an interrupt: a terminal's reaches the command too, which then
    ends in order."""
    is_interrupted = False
    while True:
        try:
            command.wait()
        except KeyboardInterrupt:
            is_interrupted = True
        else:
            return is_interrupted


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a file of them, on a line of its own whatever a kill left there."""
    with path.open("a+b") as file:
        if file.seek(0, os.SEEK_END) > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(row).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, oldest first; none where there is no file. A line that a kill cut off is none."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


class TimeLeft:
    """The time that a series has.

    Args:
        minutes: None: as long as it takes.
        clock: seconds.
    """

    def __init__(self, minutes: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + 60 * minutes if minutes is not None else None

    def holds(self, seconds: float) -> bool:
        """Whether there are so many seconds left."""
        return self._end is None or self._clock() + seconds <= self._end

    def require(self, seconds: float, what: str) -> None:
        """Raises Stopped where there are not: `what`, as `gate of 15 minutes`, does not begin."""
        if not self.holds(seconds):
            raise Stopped(f"no time for another {what}: the same call goes on")
