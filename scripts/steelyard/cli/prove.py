# SPDX-License-Identifier: Apache-2.0
"""`selfcheck` and `test`: the harness proves itself."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, Option

from steelyard.cli.options import JdkOption, JsonOption, open_console, print_json
from steelyard.errors import Exit
from steelyard.host.java import find_jdk, find_maven, require_javac
from steelyard.selfcheck.render import render, to_markdown
from steelyard.selfcheck.run import SEED, SESSIONS, run_selfcheck
from steelyard.suite import run_suite
from steelyard.units import format_duration


def selfcheck(
    sessions: Annotated[
        int, Option("--sessions", metavar="N", min=100, help="Simulated sessions of each figure.")
    ] = SESSIONS,
    seed: Annotated[int, Option("--seed", metavar="N", help="Seed of the simulation.")] = SEED,
    only: Annotated[
        str, Option("--only", metavar="TEXT", help="Only cells whose name begins so.", show_default="all")
    ] = "",
    markdown: Annotated[bool, Option("--markdown", help="Print the table of docs/method.md.")] = False,
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


def run_tests(
    more: Annotated[
        list[str] | None,  # not [], which Debian's click refuses as a default of arguments
        Argument(metavar="[-- PYTEST]...", help="Further arguments of pytest.", show_default=False),
    ] = None,
    java: Annotated[bool, Option("--java/--no-java", help="Java tests too.")] = True,
    e2e: Annotated[bool, Option("--e2e/--no-e2e", help="Real servers and injectors too (minutes).")] = True,
    containers: Annotated[
        bool,
        Option(
            "--containers/--no-containers",
            help="Images of every platform and what runs in them too (minutes; sets up an engine as root on Debian).",
        ),
    ] = True,
    jdk: JdkOption = None,
) -> None:
    """Run every test and checker: unit tests, Java tests, golden files, faults, a real session, linters, types.

    Ends with the line `N passed, N failed, N skipped`; exit code 12 when something failed. What cannot run here
    is skipped, with the reason.
    """
    # Plain lines: this output is read in CI logs.
    chosen = find_jdk(jdk)
    require_javac(chosen)
    home = chosen.identity.home
    find_maven(Path(home))
    began = time.monotonic()
    chosen_stages = {"java": java, "e2e": e2e, "containers": containers}
    left_out = [stage for stage, wanted in chosen_stages.items() if not wanted]
    counts = run_suite(left_out, more or [], {**os.environ, "JAVA_HOME": home})
    typer.echo(f"all stages took {format_duration(time.monotonic() - began)}")
    typer.echo(", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "skipped")))
    if counts["failed"]:
        raise typer.Exit(Exit.CHECK_FAILED)
