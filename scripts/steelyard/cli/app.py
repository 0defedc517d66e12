# SPDX-License-Identifier: Apache-2.0
"""The command line: one place that turns errors into a sentence and an exit code."""

import errno
import importlib
import inspect as inspect_module
import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import typer

from steelyard import __version__
from steelyard.cli import (
    certify,
    completion,
    explain,
    gate,
    history,
    host,
    hosts,
    images,
    inspect,
    journey,
    plan,
    prove,
    resume,
    run,
    serve,
    workload,
)
from steelyard.cli.console import is_terminal, open_console
from steelyard.cli.usage import describe_usage
from steelyard.errors import BadInput, Exit, NoSpace, SteelyardError, report_crash
from steelyard.paths import CACHE, PROGRAM, name_program

try:  # older ones, as Debian's in the harness image, take click's
    _errors = importlib.import_module("typer.exceptions")
except ImportError:
    _errors = importlib.import_module("click")
Abort = _errors.Abort
TyperException = getattr(_errors, "TyperException", None) or _errors.ClickException

_FRAMED = 80
"""Characters of a line from which on help has frames and columns."""

_context: dict[str, Any] = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="steelyard",
    help="Weighs one way of running a Java server against another, and says how sure it is.",
    epilog=name_program(
        "Start with:  steelyard run jvm-count --quick  .  Documents: docs/README.md; exit codes:"
        " docs/reference/exit-codes.md, or  steelyard explain CODE  ."
    ),
    no_args_is_help=True,
    context_settings=_context,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_COMMANDS: dict[str, list[Callable[..., None]]] = {
    "Sessions": [
        run.run,
        resume.resume,
        plan.plan,
        inspect.analyze,
        inspect.report,
        inspect.list_,
        hosts.compare,
        serve.serve,
    ],
    "The gate": [gate.gate, certify.certify],
    "This host": [inspect.doctor, hosts.tune, workload.up, workload.down, workload.init],
    "The suite": [explain.explain, inspect.schema, prove.selfcheck, completion.completion],
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(name=_command.__name__.rstrip("_"), rich_help_panel=_panel)(_command)
# Its arguments, `--help` among them, are those of the program that it becomes.
app.command(
    name="test",
    rich_help_panel="The suite",
    add_help_option=False,
    context_settings={
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "allow_interspersed_args": False,
    },
)(prove.run_tests)
app.add_typer(history.app, name="history", rich_help_panel="The gate")
app.add_typer(host.app, name="host", rich_help_panel="This host")
app.add_typer(journey.app, name="journey", rich_help_panel="Sessions")
app.add_typer(images.app, name="images", rich_help_panel="The suite")


def _unwrap_help(group: typer.Typer) -> None:
    """Make one line of each paragraph of help, or it would be folded at the ends of the lines of the source too."""
    for command in group.registered_commands:
        text = inspect_module.getdoc(command.callback) or ""
        parts = text.split("\n\n")
        command.help = "\n\n".join(part if "\b" in part else " ".join(part.split()) for part in parts)
    for below in group.registered_groups:
        _unwrap_help(below.typer_instance or typer.Typer())


_unwrap_help(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
    install_completion: bool = typer.Option(
        False,
        "--install-completion",
        callback=completion.install_completion,
        is_eager=True,
        help="Have this shell (bash, zsh, fish) complete commands, options and names.",
    ),
) -> None:
    del version, install_completion


def main() -> None:
    """Run a command; every error is one sentence on standard error, and an exit code of its own."""
    closed = _open_streams()
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        sys.exit(_run(closed))
    except SteelyardError as error:
        failure = error
    except TyperException as error:
        if not error.format_message():  # no command at all: the help was printed
            sys.exit(Exit.USAGE)
        failure = BadInput(describe_usage(error.format_message(), sys.argv[1:], typer.main.get_command(app)))
        failure.exit_code = Exit.USAGE
    except (KeyboardInterrupt, Abort):
        sys.exit(Exit.INTERRUPTED)
    except Exception as error:  # whatever it is, it must not look like a regression
        failure = report_crash(error, CACHE / "crashes")
    sys.stderr.write(f"steelyard: {name_program(str(failure))}\n")
    sys.exit(failure.exit_code)


def _run(closed: str) -> int:
    if closed:
        raise NoSpace(f"nothing can be printed: {closed} is closed; redirect it to a file, or to /dev/null")
    try:
        for word in sys.argv:
            word.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the argument {error.object!r} is no valid text (UTF-8)") from error
    # What is no terminal gets help in the width of all else that is printed there.
    _fit_help(shutil.get_terminal_size().columns if is_terminal(sys.stdout) else open_console().width)
    try:
        return app(prog_name=PROGRAM, standalone_mode=False, complete_var=completion.VARIABLE) or Exit.OK
    except BrokenPipeError:
        _discard_output(1)
        return Exit.READER_GONE
    except OSError as error:
        error_type = {errno.ENAMETOOLONG: BadInput, errno.ENOSPC: NoSpace}.get(error.errno or 0)
        if error_type is None:
            raise
        if error.filename is None:
            _discard_output(1)  # it is what was printed that has no space, and Python would try once more
        raise error_type(f"{error.filename or 'the output'}: {os.strerror(error.errno or 0)}") from error
    except SystemExit:
        # Only the libraries that print end so, when their reader (`| head`) has gone; Python would complain once more
        # when it flushes.
        _discard_output(1)
        return Exit.READER_GONE


def _fit_help(width: int) -> None:
    """Frames and columns of help would cut names of options on narrow terminals: there it is plain."""
    app.rich_markup_mode = "rich" if width >= _FRAMED else None
    _context["terminal_width"] = width
    words = sys.argv[1:]
    groups = {group.name for group in app.registered_groups}
    shows_help = not words or words[-1] in groups or not {"-h", "--help"}.isdisjoint(words)
    if shows_help:  # importing it takes a fifth of a second
        importlib.import_module("typer.rich_utils").MAX_WIDTH = width  # type: ignore[attr-defined]


def _open_streams() -> str:
    """What of standard output the caller has closed (`>&-`), empty for nothing. It leads to nowhere from now on, or the
    next file that is opened would take its place."""
    closed = ""
    for number, name in enumerate(("standard input", "standard output", "standard error")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            closed = name if number == 1 else closed
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:  # Python's own, where it found none
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False, encoding="utf-8"))
    return closed


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGHUP:
        # A terminal that goes tells the leader of its session twice, which would cut the cleaning up short. Whatever is
        # still said must not fail: such a terminal refuses it, a file or a pipe takes it.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for descriptor in (1, 2):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode):
                _discard_output(descriptor)
    raise KeyboardInterrupt


def _discard_output(descriptor: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
