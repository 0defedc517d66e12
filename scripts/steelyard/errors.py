# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can act on, and the exit codes that tell them apart.

Every error here carries one sentence that says what happened and what to do. Anything else that escapes is
a defect of the harness: its traceback is kept in a file, and a sentence says where.
"""

import os
import re
import tempfile
import traceback
from enum import IntEnum
from pathlib import Path
from typing import Self

from steelyard.escape import printable


class Exit(IntEnum):
    """Exit codes of every command, each with its one meaning (docs/reference/exit-codes.md is made of it)."""

    meaning: str
    remedy: str
    """What to do next; empty: nothing."""

    OK = 0, "done; of `gate`: pass", ""
    REGRESSION = 1, "of `gate` alone: a regression", "read the report that it names"
    INCONCLUSIVE = (
        2,
        "of `gate` alone: inconclusive",
        "give it more `--time`, a wider `--margin`, or a quieter host (`doctor`)",
    )
    ENVIRONMENT = (
        3,
        "something is missing on this host (JDK, Maven, taskset, Python, a container engine, a registry)",
        "install what the sentence names; `doctor` lists what is there",
    )
    BAD_INPUT = (
        4,
        "experiment, factor, level, setting or session directory refused",
        "correct what the sentence names; `list`, `explain` and `schema` say what is known",
    )
    PORT_IN_USE = (
        5,
        "a port is in use, or was taken while a server started",
        "end what listens there, or choose others with `--port`",
    )
    BUSY = 6, "another session runs on this host, or a workload is up", "wait for it, or `down`"
    SERVER_FAILED = (
        7,
        "a server or an injector did not start, or an arm's servers never had a setting that was asked for",
        "read the log that the sentence names (`up WORKLOAD` starts it alone), or `explain` the setting",
    )
    NO_SPACE = (
        8,
        "results cannot be written (disk full, no permission)",
        "free some space, or choose another folder with `--out`",
    )
    INCOMPLETE = (
        9,
        "the session ended, but in some block an arm and the baseline have no valid pair; of `certify`: too few pairs",
        "the report says which checks failed; a quieter host, or more `--blocks`",
    )
    NEWER_FORMAT = (
        10,
        "the session directory was written by a newer version (one of an older format is code 4)",
        "read it with that version",
    )
    BUILD_FAILED = (
        11,
        "Maven could not build the Java parts, or docker the images",
        "read the log that the sentence names",
    )
    CHECK_FAILED = (
        12,
        (
            "a check found something: `test`, `selfcheck`, `images verify`, `images lock --check`, `history check`,"
            " `journey try`"
        ),
        "read what it found, above the end of the output",
    )
    USAGE = 13, "wrong usage (no or an unknown command or option)", "see `--help` of the command"
    CRASHED = (
        14,
        "a defect of Steelyard itself; the sentence names the file that holds its traceback",
        "report it with that file",
    )
    ALTERED = (
        15,
        "a session directory is not as it was recorded: edited, or with files of another session",
        "put back the files as they were; what is altered is neither analyzed nor resumed",
    )
    PROGRAM_GONE = (
        16,
        "what a session runs (JDK, build, program, image) was removed or replaced while it went on; then `resume`",
        "put it back, then `resume DIR`",
    )
    INTERRUPTED = (
        130,
        "interrupted (Ctrl-C, SIGTERM, a closed terminal); what was measured is kept",
        "`resume DIR` goes on",
    )
    READER_GONE = 141, "who read the output has gone (`| head`), which is said by this code alone", ""

    def __new__(cls, code: int, meaning: str = "", remedy: str = "") -> Self:
        """A code with its meaning."""
        made = int.__new__(cls, code)
        made._value_, made.meaning, made.remedy = code, meaning, remedy
        return made


class SteelyardError(Exception):
    """Base: one sentence for the user, and the exit code of the command."""

    exit_code = Exit.ENVIRONMENT
    longest = 1000
    """Characters of the sentence; of a longer one the middle is left out."""

    def __init_subclass__(cls, exit_code: Exit = Exit.ENVIRONMENT) -> None:
        cls.exit_code = exit_code

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence, self.longest))


def one_line(text: str, longest: int) -> str:
    """Text that may hold anything, as one line for people: control characters as escapes, the middle left out."""
    plain = " ".join(printable(text).split())
    if len(plain) <= longest:
        return plain
    end = longest // 3
    begin = plain[: longest - end - 5]
    # Between words, as far as there are any.
    first, last = begin.rpartition(" ")[0] or begin, plain[-end:].partition(" ")[2] or plain[-end:]
    return f"{first} ... {last}"


_PLAIN = [
    (r"Input should be a valid integer(, unable to parse string as an integer)?", "must be a whole number"),
    (r"(must be a whole number), got a number with a fractional part", r"\1"),
    (r"Input should be a valid number(, unable to parse string as a number)?", "must be a number"),
    (r"Input should be a finite number", "must be a number"),
    (r"Input should be a valid (list|tuple|array)", "must be a list, as [a, b]"),
    (
        r"Input should be a valid (dictionary|mapping)( or instance of \w+)?",
        "must have keys, as {key: value}",
    ),
    (r"Input should be an object", "must have keys, as {key: value}"),
    (r"Input should be a valid string", "must be a text (in quotes, if it looks like a number)"),
    (r"Input should be a valid boolean(, unable to interpret input)?", "must be true or false"),
    (r"Input should be greater than or equal to (\S+)", r"must be at least \1"),
    (r"Input should be greater than (\S+)", r"must be more than \1"),
    (r"Input should be less than or equal to (\S+)", r"must be at most \1"),
    (r"Input should be less than (\S+)", r"must be less than \1"),
    (r"Input should be (.*)", r"must be \1"),
    *(
        (
            rf"String should match pattern '\^\[a-z(?:0-9)?\]\[a-z0-9-\]\{{0,{most - 1}\}}\$'",
            f"must be small letters, digits and hyphens, begin with a letter, and have at most {most} characters",
        )
        for most in (40, 60)
    ),
    (r"String should match pattern '(.*)'", r"must have the form \1"),
    (r"String should have at (least|most) (\d+) characters?", r"must have at \1 \2 characters"),
    (
        r"(?:List|Dictionary|Tuple) should have at (least|most) (\d+) items? after validation, not (\d+)",
        r"must have at \1 \2 entries, and not \3",
    ),
    (r"(at (?:least|most) 1) (character|entr)(?:s|ies)", r"\1 \2"),
    (r"(at (?:least|most) 1 entr)\b", r"\1y"),
    (r"Field required", "is missing"),
    (r"Extra inputs are not permitted", "is not known here"),
]
"""Sentences of the library that checks files and options, as people say it."""


def plain_words(sentence: str) -> str:
    """A sentence with what the library that checks input says of it in plain words."""
    for theirs, ours in _PLAIN:
        sentence = re.sub(theirs, ours, sentence)
    return sentence


class BadInput(SteelyardError, exit_code=Exit.BAD_INPUT):
    """The experiment, a factor, a level or an option was refused."""

    longest = 300


class FitsNoNode(BadInput, exit_code=Exit.BAD_INPUT):
    """Pods of an arm fit no node of the cluster; fewer CPUs may."""


class MissingRequirement(SteelyardError):
    """The host lacks something; the sentence names the command that installs it."""


class PortInUse(SteelyardError, exit_code=Exit.PORT_IN_USE):
    """A port that a server needs is taken."""


class Busy(SteelyardError, exit_code=Exit.BUSY):
    """Another session or workload runs on this host."""


class ServerFailed(SteelyardError, exit_code=Exit.SERVER_FAILED):
    """A server or an injector died or did not become ready; `component`: which, where that is known."""

    def __init__(self, sentence: str, component: str | None = None) -> None:
        super().__init__(sentence)
        self.component = component


class NoSpace(SteelyardError, exit_code=Exit.NO_SPACE):
    """Results could not be written (disk full, no permission)."""


class Incomplete(SteelyardError, exit_code=Exit.INCOMPLETE):
    """A session ended with too few valid trials for what was asked of it."""


class NewerFormat(SteelyardError, exit_code=Exit.NEWER_FORMAT):
    """A session directory from a newer version of Steelyard."""


class BuildFailed(SteelyardError, exit_code=Exit.BUILD_FAILED):
    """Maven could not build the Java parts."""


class Crashed(SteelyardError, exit_code=Exit.CRASHED):
    """A defect of the harness."""


def report_crash(error: Exception, folder: Path) -> Crashed:
    """An exception that nobody foresaw, as a sentence; its traceback is kept in the folder, or with temporary files."""
    report = "nowhere, for no file could be written"
    for place in (folder, Path(tempfile.gettempdir())):
        try:
            place.mkdir(parents=True, exist_ok=True)
            handle, report = tempfile.mkstemp(prefix="crash-", suffix=".txt", dir=place)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(traceback.format_exception(error))
            break
        except OSError:
            continue
    summary = one_line(f"{type(error).__name__}: {error}", 200)
    return Crashed(
        f"a defect of Steelyard ended this command ({summary}): report it with its traceback, {report}"
    )


class Altered(SteelyardError, exit_code=Exit.ALTERED):
    """A file of a session directory was changed, removed or added since it was recorded."""


class ProgramGone(SteelyardError, exit_code=Exit.PROGRAM_GONE):
    """A JDK, build or program that a session runs was removed or replaced; it goes on when it is back."""
