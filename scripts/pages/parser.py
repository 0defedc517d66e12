# SPDX-License-Identifier: Apache-2.0
"""The command line as its parser has it, for the pages that are made of it."""

import re
from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup

from steelyard.cli.app import app

PASSED_ON = {"test": "Its options are those of `python -m suite`: `./steelyard test --help`."}
"""Commands that hand all of their words to another program."""


def root() -> TyperGroup:
    """The command `steelyard` itself."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return group


def commands_of(group: TyperGroup, before: str = "") -> Iterator[tuple[str, TyperCommand]]:
    """Every command that is not hidden, by its whole name, in the order of the help."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands_of(command, f"{before}{name} ")
        elif isinstance(command, TyperCommand) and not command.hidden:
            yield f"{before}{name}", command


def plain_help(text: str) -> str:
    """Help as Markdown: without marks of the terminal, each paragraph in one line."""
    plain = (
        re.sub(r"\[/?(?:bold|dim|italic|[a-z]+ [a-z]+)\]", "", text).replace("\b", "").replace("\f", "\n\n")
    )
    return "\n\n".join(" ".join(part.split()) for part in plain.split("\n\n") if part.strip())
