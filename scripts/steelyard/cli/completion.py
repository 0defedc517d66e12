# SPDX-License-Identifier: Apache-2.0
"""`completion`: what shells need to complete commands, options, and the names of experiments and workloads."""

from typing import Annotated

import typer
from typer import Argument
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

from steelyard.errors import BadInput
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS
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
    typer.echo(get_completion_script(prog_name="steelyard", complete_var=VARIABLE, shell=shell))


def experiments(incomplete: str) -> list[str]:
    """Names of experiments that begin so."""
    return [name for name in experiment_files(EXPERIMENTS) if name.startswith(incomplete)]


def workloads(incomplete: str) -> list[str]:
    """Names of workloads that begin so."""
    return [name for name in workload_names() if name.startswith(incomplete)]
