# SPDX-License-Identifier: Apache-2.0
"""How commands print: consoles as wide as they should be, which nobody's text can tell what to do, and JSON."""

import json
import os
import re
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import Any, TextIO

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from steelyard.escape import printable
from steelyard.paths import name_program


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sits before it. In a pipeline, where CI is set, nobody does, also if its runner opens one."""
    return stream.isatty() and os.environ.get("CI", "").lower() in ("", "0", "false")


def open_console(stderr: bool = False) -> Console:
    """A console on standard output or error. What is no terminal (a log, a pipe) gets lines of 140 characters.

    Rich itself takes 80 there, into which no table of ours fits; the variable COLUMNS decides as ever. FORCE_COLOR
    brings colours into a log, and nothing that moves; NO_COLOR leaves them out everywhere.
    """
    terminal = is_terminal(sys.stderr if stderr else sys.stdout)
    return _Terminal(
        markup=False,  # brackets in a path, a name or a sentence of another program are brackets
        stderr=stderr,
        width=None if terminal or "COLUMNS" in os.environ else 140,
        force_terminal=terminal,
        color_system="standard" if os.environ.get("FORCE_COLOR") and not terminal else "auto",
    )


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON lets stand and a terminal obeys: the second set of control characters, and those that turn text around."""


class _Terminal(Console):
    """A console that shows control characters of a text, whosever it is, and does not let the terminal obey them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is drawn; codes of Rich's own are no text and stay."""
        for segment in super().render(renderable, options):
            text = name_program(segment.text)
            if segment.control or text.replace("\n", "").isprintable():
                yield segment if text == segment.text else Segment(text, segment.style, segment.control)
            else:
                yield Segment("\n".join(map(printable, text.split("\n"))), segment.style)


def print_line(console: Console, line: str) -> None:
    """Print a line as it is, however long."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_heading(console: Console, heading: str, rest: str = "") -> None:
    """Print a heading in bold, and the rest of its line as it is."""
    console.print(Text.assemble((heading, "bold"), rest))


def print_sentence(console: Console, sentence: str, indent: str = "") -> None:
    """Print a sentence for people: on a terminal folded between words, else as one line.

    Commands, which are copied, are for `say`.
    """
    if console.is_terminal:
        console.print(Padding(Text(sentence), (0, 0, 0, len(indent)), expand=False))
    else:
        print_line(console, f"{indent}{sentence}")


def print_json(document: Any) -> None:
    """Print JSON on standard output: UTF-8, which JSON is, whatever the encoding of a terminal."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A name of a file may hold bytes that are no text; the escapes of JSON and of Python are the same for these.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    text = json.dumps(document, indent=1, ensure_ascii=False)
    typer.echo(_OBEYED.sub(lambda match: f"\\u{ord(match.group()):04x}", text), file=sys.stdout)
