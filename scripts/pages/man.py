# SPDX-License-Identifier: Apache-2.0
"""The manual page, made of the parser of the command line: `man docs/steelyard.1`."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperOption

from pages.parser import PASSED_ON, commands_of, plain_help, root
from steelyard.errors import Exit

MAN = Path(__file__).resolve().parents[2] / "docs" / "steelyard.1"
_VARIABLES = {
    "JAVA_HOME": "the JDK, where --jdk chooses none",
    "STEELYARD_JDKS": "a colon-separated list of folders with more JDKs",
    "STEELYARD_TRUST": "as --trust",
    "NO_COLOR": "prints no colours",
    "FORCE_COLOR": "prints colours into a file or a pipe",
    "CI": "set in a pipeline: nothing moves and nothing is asked, also on a terminal",
    "COLUMNS": "width of what is printed",
}
_EXAMPLES = {
    "steelyard run jvm-count --quick": "a first report",
    "steelyard plan jvm-count": "what that would do, without its doing it",
    "steelyard init my-server": "a workload file for a server of your own",
}


def write_man() -> str:
    """The page in roff."""
    parts = [
        '.\\" SPDX-License-Identifier: Apache-2.0',
        '.\\" Written by `python -m pages.reference`.',
        '.TH STEELYARD 1 "" "Steelyard" "User Commands"',
        *_section("name", ["steelyard \\- compare ways of running a Java server"]),
        *_section("synopsis", [".B steelyard", "COMMAND [OPTIONS]"]),
        *_section("description", [_text(root().help or "")]),
        ".SH OPTIONS",
        *_options(root()),
        ".SH COMMANDS",
    ]
    for name, command in commands_of(root()):
        parts += _command(name, command)
    codes = {str(int(code)): f"{code.meaning}. {code.remedy}".rstrip(". ") + "." for code in Exit}
    parts += _section("exit status", _entries(codes.items()))
    parts += _section("environment", _entries(_VARIABLES.items()))
    parts += _section("examples", _entries(_EXAMPLES.items()))
    return "\n".join(parts) + "\n"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f".SH {title.upper()}"
    yield from lines


def _command(name: str, command: TyperCommand) -> Iterator[str]:
    words = " ".join(
        str(argument.metavar or (argument.name or "").upper())
        for argument in command.params
        if isinstance(argument, TyperArgument)
    )
    yield f'.SS "{_text(f"steelyard {name} {words}".strip())}"'
    yield from (
        line for part in plain_help(command.help or "").split("\n\n") for line in (_text(part), ".PP")
    )
    if name not in PASSED_ON:
        yield from _options(command)


def _options(command: object) -> Iterator[str]:
    params = getattr(command, "params", [])
    options = [one for one in params if isinstance(one, TyperOption) and not one.hidden]
    names = (
        ", ".join((*one.opts, *one.secondary_opts)) + ("" if one.is_flag else f" {one.metavar or 'VALUE'}")
        for one in options
    )
    texts = (" ".join(plain_help(one.help or "").split()) for one in options)
    return _entries(zip(names, texts, strict=True))


def _entries(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Terms with what they mean below them."""
    for term, meaning in entries:
        yield from (".TP", f"\\fB{_text(term)}\\fR", _text(meaning) or "\\&")


def _text(text: str) -> str:
    """Text that roff does not obey: its escapes, hyphens that are copied, and what makes a request of a line."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "").replace('"', "\\(dq")
    return re.sub(r"^([.'])", r"\\&\1", plain)
