# SPDX-License-Identifier: Apache-2.0
"""Text that anybody may have written (titles, labels, levels, names of hosts, what tools said), at each border at which
something reads it as more than text: a terminal, Markdown, XML, the log of a GitHub runner, a spreadsheet, `benchstat`.

HTML is escaped by its templates, charts by `report.canvas`.
"""

import re

_KEPT = "\N{NO-BREAK SPACE}"
_MARKS = re.compile(r"([\\`*_|<>\[\]#~$&])")
_BEGINS = re.compile(r"^(?:[-+](?=\s|$)|--|=|::|\d+(?=[.)](?:\s|$)))")
"""What makes a list, a rule or a heading of a line that begins with it, or a command where a runner prints it."""
_FORMULA = ("=", "+", "-", "@")


def printable(text: str) -> str:
    """The text on one line, without what a terminal obeys or XML forbids: control characters become their escapes."""
    return "".join(
        character if character.isprintable() or character == _KEPT else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return " " if character.isspace() else character.encode("unicode_escape").decode()


def for_markdown(text: str) -> str:
    """The text as Markdown shows it, on one line, wherever it stands."""
    line = _MARKS.sub(r"\\\1", " ".join(printable(text).split()))
    begin = _BEGINS.match(line)
    if begin is None:
        return line
    sign = begin.group()
    return f"{sign}\\{line[len(sign) :]}" if sign.isdigit() else f"\\{line}"


def for_code(text: str) -> str:
    """The text as a code span of Markdown, fenced by more backticks than it has in a row; not for tables."""
    line = " ".join(printable(text).split())
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def for_runner(text: str) -> str:
    """The text as the message of a workflow command of GitHub's runners."""
    return printable(text).replace("%", "%25")


def for_runner_property(text: str) -> str:
    """The text as a property of such a command."""
    return for_runner(text).replace(":", "%3A").replace(",", "%2C")


def for_spreadsheet(text: str) -> str:
    """The text as a cell of CSV that no spreadsheet takes for a formula."""
    line = printable(text)
    return f"'{line}" if line.startswith(_FORMULA) else line
