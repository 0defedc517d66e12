# SPDX-License-Identifier: Apache-2.0
"""Why a program ended, by what it printed: the line in which it says so, among stacks, banners and settings."""

import re
from pathlib import Path

from steelyard.errors import one_line

LONGEST = 400
"""Characters of a quoted line."""
READ = 512 * 1024
"""Bytes of a log that are looked at, at its beginning and at its end."""
_COLOURS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_MARKS = re.compile(
    r"^\W*(error|fatal|severe|panic)\b"  # at the beginning, as `Error: Cannot find module`, `nginx: [emerg]` is below
    r"|\b(ERROR|FATAL|SEVERE|CRITICAL|PANIC)\b"  # a level of a log
    r"|\[(emerg|alert|crit|error)\]"  # nginx, httpd
    r"|(?<![\w.$+-])[\w.$]*(Exception|Error)(:|$)"  # the class of an exception, before its message
    r"|\b[A-Z][A-Z0-9]{3,9}\d{3,4}E\b",  # messages of Open Liberty and OpenJ9
    re.ASCII,
)
_AT_THE_BEGINNING = re.compile(r"^\W*(error|fatal|severe|panic)\b", re.IGNORECASE)
_EMPTY = re.compile(
    # A JVM's own frame around its reason, which stands in the line before or after.
    r"^Error: Could not create the Java Virtual Machine\.?$"
    r"|^Error: A fatal exception has occurred\. Program will exit\.?$"
    r"|^Error occurred during initialization of (VM|boot layer)$"
    r"|^\W*error\W*$",
    re.IGNORECASE,
)


def reason(printed: str) -> str:
    """The line in which a program says why it ended; empty when it said nothing.

    That is the first line that is marked as an error; of one that marks none the first and the last line.
    """
    lines = [line.strip() for line in _COLOURS.sub("", printed).splitlines()]
    lines = [line for line in lines if re.search(r"\w", line)]
    for line in lines:
        if (_MARKS.search(line) or _AT_THE_BEGINNING.match(line)) and not _EMPTY.match(line):
            return one_line(line, LONGEST)
    saying = [line for line in lines if not _EMPTY.match(line)] or lines
    if not saying:
        return ""
    first, last = one_line(saying[0], LONGEST), one_line(saying[-1], LONGEST)
    between = " ... " if len(saying) > 2 else " | "
    return first if len(saying) == 1 else f"{first}{between}{last}"


def read_log(path: Path) -> str:
    """What a log holds, of a long one its beginning and its end; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(READ)
            left = path.stat().st_size - len(data)
            if left > 0:
                file.seek(-min(left, READ), 2)
                data += b"\n" + file.read(READ)
    except OSError:
        return ""
    return data.decode("utf-8", errors="replace")
