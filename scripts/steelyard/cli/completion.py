# SPDX-License-Identifier: Apache-2.0
"""`completion`: what shells need to complete commands, options, and the names of experiments and workloads."""

import importlib
import os
import re
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument
from typer.completion import completion_init, get_completion_script, install  # type: ignore[attr-defined]

from steelyard.errors import BadInput, NoSpace
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS, LAUNCHER
from steelyard.workload.loader import workload_names

VARIABLE = "_STEELYARD_COMPLETE"
"""Environment variable by which a shell asks."""
_SHELLS = ("bash", "zsh", "fish")

completion_init()


def completion(
    shell: Annotated[str, Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print what makes a shell complete ./steelyard: commands, options, experiments and workloads.

    bash: eval "$(./steelyard completion bash)", in ~/.bashrc with the path of the checkout.
    """
    if shell not in _SHELLS:
        raise BadInput(f"there is no completion for {shell!r}: there is one for {', '.join(_SHELLS)}")
    script = get_completion_script(prog_name="steelyard", complete_var=VARIABLE, shell=shell)
    typer.echo(call_launcher(script))


def call_launcher(script: str) -> str:
    """A script of zsh or fish that asks the launcher by its path: in a checkout nothing on PATH is called `steelyard`.

    That of bash asks the command that was typed.
    """
    return re.sub(r"(?<= )steelyard(?=\)|\"$)", lambda _: LAUNCHER, script, flags=re.MULTILINE)


def install_completion(wanted: bool) -> None:
    """Put the script of the shell that this runs in where that shell reads it, and say where.

    Raises:
        BadInput: the shell is not known.
        NoSpace: its file cannot be written.
    """
    if not wanted:
        return
    shell = _shell_of_the_caller()
    if shell not in _SHELLS:
        raise BadInput(
            f"there is no completion for {shell or 'a shell that cannot be told'}: there is one for"
            f" {', '.join(_SHELLS)}; `steelyard completion SHELL` prints it"
        )
    try:
        _, path = install(shell=shell, prog_name="steelyard", complete_var=VARIABLE)
        path.write_text(call_launcher(path.read_text(encoding="utf-8")), encoding="utf-8")
    except OSError as error:
        raise NoSpace(
            f"{error.filename}: {error.strerror}: completion is not installed; `steelyard completion {shell}` prints it"
        ) from error
    typer.echo(f"completion for {shell} is in {path}; it works in the next shell that you open")
    raise typer.Exit


def _shell_of_the_caller() -> str:
    try:
        shellingham = importlib.import_module("shellingham")  # Debian's typer comes without it
        return str(shellingham.detect_shell()[0])
    except (ImportError, RuntimeError):
        return Path(os.environ.get("SHELL", "")).name


def experiments(incomplete: str) -> list[str]:
    """Names of experiments that begin so."""
    return [name for name in experiment_files(EXPERIMENTS) if name.startswith(incomplete)]


def workloads(incomplete: str) -> list[str]:
    """Names of workloads that begin so."""
    return [name for name in workload_names() if name.startswith(incomplete)]
