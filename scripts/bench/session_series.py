# SPDX-License-Identifier: Apache-2.0
"""A series of sessions, one after the other, that a kill of the series or of one of them does not lose.

What ended is a line of a file. A command is told of Ctrl-C, SIGTERM and a closed terminal, and ends in order. It writes
its progress to a log and not into a pipe, so that it goes on where the series is killed; the next call takes up its
session, whether that has ended or not. Sessions of other options lie in other folders, and each has one of its own.
"""

import argparse
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from steelyard.errors import Exit, SteelyardError
from steelyard.paths import ROOT
from steelyard.processes.children import defer_signals
from steelyard.results.store import SessionDirectory

LOG = "progress.log"
FAILURES = 5
"""Sessions in a row that say nothing, with which a series ends: the next would say no more."""
PAUSE = 60.0
"""Seconds after one that said nothing: what disturbed it may be over then."""
REFUSALS = (Exit.BAD_INPUT, Exit.NEWER_FORMAT, Exit.ALTERED, Exit.PROGRAM_GONE)
"""How a command ends that cannot go on with a session: its kernel, version or JVM is another now."""

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
            code, is_interrupted = _run(words, output, log)
            log.seek(begin)
            lines = [line.strip() for line in log if line.strip()]
            output.seek(0)
            ended = Ended(code, lines[-1] if lines else "", output.read())
        if is_interrupted or ended.code == Exit.INTERRUPTED or ended.code < 0:
            raise KeyboardInterrupt
        if ended.code == Exit.BUSY:
            raise Stopped(ended.message)
        return ended

    return launch


def folder_of(folder: Path, options: Sequence[str]) -> Path:
    """Where the sessions with some options lie, in the folder of a series."""
    return folder / f"of-{hashlib.sha256(json.dumps(options).encode()).hexdigest()[:8]}"


def find_session(out: Path) -> SessionDirectory | None:
    """The session that was begun in a folder, the last one of several."""
    records = sorted(out.glob("*/session.json"), key=lambda path: path.stat().st_mtime)
    return SessionDirectory(records[-1].parent) if records else None


def find_ended(out: Path) -> SessionDirectory | None:
    """The same, where it has ended (raises Altered)."""
    session = find_session(out)
    return session if session is not None and session.has_ended() else None


def go_on(out: Path, start: Launch, new: Sequence[str], resume: Sequence[str]) -> Ended:
    """Go on with the session in a folder. One begins where there is none, or where it is refused and moved aside.

    Args:
        out: the folder.
        start: runs commands.
        new: words that begin a session there.
        resume: words that go on with the one that is there.
    """
    if find_session(out) is not None:
        ended = start(resume)
        if ended.code not in REFUSALS:
            return ended
        move_aside(out, "refused")
    return start(new)


def move_aside(out: Path, why: str) -> None:
    """Give the folder of a session another name, which ends in a word and the time; another session can begin there."""
    if out.exists():
        out.rename(out.with_name(f"{out.name}-{why}-{time.time():.0f}"))


def seconds_run(session: SessionDirectory) -> float:
    """Seconds that a session ran, by its journal: those from an interrupt to its resume left out."""
    steps = pairwise(session.journal())
    return math.fsum(after.time - before.time for before, after in steps if after.event != "session-resume")


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
    numbers = (signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        series()
    except KeyboardInterrupt:
        return "interrupted: the same call goes on"
    except (Stopped, SteelyardError) as stopped:
        return str(stopped)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return None


def _run(words: Sequence[str], output: IO[str], log: IO[str]) -> tuple[int, bool]:
    """Run `./steelyard` to its end; its exit code, and whether there was an interrupt: in a session of its own it hears
    of one from here alone."""
    command: subprocess.Popen[bytes] | None = None
    is_interrupted = False
    while command is None or command.returncode is None:
        try:
            if command is None:
                with defer_signals():
                    command = subprocess.Popen(
                        [ROOT / "steelyard", *words], stdout=output, stderr=log, start_new_session=True
                    )
            command.wait()
        except KeyboardInterrupt:
            if command is None:
                raise
            is_interrupted = True
            command.terminate()
    return command.returncode, is_interrupted


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


def read_rows(path: Path, options: Sequence[str] | None = None) -> list[Row]:
    """The rows of a file, oldest first; none where there is no file. A line that a kill cut off is none.

    Args:
        path: of the file.
        options: whose rows; None: all.
    """
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return [row for row in rows if options is None or row.get("options") == list(options)]


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
