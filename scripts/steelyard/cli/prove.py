# SPDX-License-Identifier: Apache-2.0
"""`selfcheck` and `test`: the harness proves itself."""

import os
import sys
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Option

from steelyard.cli.console import open_console, print_json
from steelyard.cli.options import JsonOption, require_clone
from steelyard.errors import Exit
from steelyard.selfcheck.render import render, to_markdown
from steelyard.selfcheck.run import SEED, SESSIONS, run_selfcheck


def selfcheck(
    sessions: Annotated[
        int, Option("--sessions", metavar="N", min=100, help="Simulated sessions of each figure.")
    ] = SESSIONS,
    seed: Annotated[int, Option("--seed", metavar="N", help="Seed of the simulation.")] = SEED,
    only: Annotated[
        str, Option("--only", metavar="TEXT", help="Only cells whose name begins so.", show_default="all")
    ] = "",
    markdown: Annotated[bool, Option("--markdown", help="Print a table for documents.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show false alarms, coverage and power of the harness over thousands of simulated sessions.

    Simulated servers with a known true effect, drift and noise go through the real scheduler, ledger, analysis and
    verdict. Exit code 12 when a figure is outside its band.
    """
    console = open_console(stderr=True)
    with Progress(
        TextColumn("simulating"), BarColumn(), TimeRemainingColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task("simulating", total=1.0)
        result = run_selfcheck(sessions, seed, lambda done: bar.update(task, completed=done), only=only)
    if as_json:
        print_json(result.model_dump(mode="json"))
    elif markdown:
        typer.echo(to_markdown(result))
    else:
        open_console().print(render(result))
    if not result.passed:
        raise typer.Exit(Exit.CHECK_FAILED)


def run_tests() -> None:
    """Run the project's own tests and checkers, in tiers: ./steelyard test --help."""
    require_clone("test")
    # The words as they were typed: a parser would take `--` away, after which all is pytest's.
    words = sys.argv[sys.argv.index("test") + 1 :]
    os.execv(sys.executable, [sys.executable, "-m", "suite", *words])
