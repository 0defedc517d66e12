# SPDX-License-Identifier: Apache-2.0
"""The command line: one place that turns errors into a sentence and an exit code."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

import typer
from rich.console import Console

from steelyard import __version__
from steelyard.cli import images, inspect, prove, run, workload
from steelyard.errors import Exit, SteelyardError

app = typer.Typer(
    name="steelyard",
    help="Weighs one way of running a Java server against another, and says how sure it is.",
    epilog=(
        "Start with:  steelyard run jvm-count --quick  .  Exit codes: 0 done; 1 tests or self-check failed; 2 wrong"
        " usage; 3 something is missing on this host; 4 experiment or option refused; 5 port in use; 6 another"
        " session runs; 7 a server did not start; 8 results cannot be written; 9 session incomplete; 10 session of a"
        " newer version; 11 build failed; 15 session edited; 16 a program of the session is gone; 130 interrupted."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_COMMANDS: dict[str, list[Callable[..., None]]] = {
    "Sessions": [run.run, run.resume, inspect.plan, inspect.analyze, inspect.report, inspect.list_],
    "This host": [inspect.doctor, workload.up, workload.down],
    "The suite": [inspect.schema, prove.selfcheck],
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(name=_command.__name__.rstrip("_"), rich_help_panel=_panel)(_command)
app.command(name="test", rich_help_panel="The suite")(prove.run_tests)
app.add_typer(images.app, name="images", rich_help_panel="The suite")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    del version


def main() -> None:
    """Run a command; every error that a user can act on is one sentence on standard error."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        app(prog_name="./steelyard")
    except SteelyardError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"steelyard: {error}", markup=False)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader (`| head`) has gone; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Exit.OK)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
