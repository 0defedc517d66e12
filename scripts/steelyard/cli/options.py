# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ExperimentArgument = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT", help="Name of a file in experiments/ (see `list`), or a path to one."
    ),
]
SessionArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Session directory, results/<experiment>-<time>.")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Fewer levels and blocks, short windows: an indication.")
]
BlocksOption = Annotated[
    int | None,
    typer.Option("--blocks", metavar="N", help="Blocks: how often every arm is run.", show_default=False),
]
SetOption = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="FACTOR=LEVELS",
        help="Other levels of a factor (jvms=1,2,8), a new factor (gc_threads=1,2), or a fixed setting (users=24)."
        " May be given several times.",
        show_default=False,
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="process (no containers) or compose; both, with a comma between, compares them.",
        show_default="what the experiment says, else process",
    ),
]
WorkloadOption = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="WORKLOAD",
        help="Another workload than the experiment's: a name, or the path of a workload file.",
        show_default=False,
    ),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Seed of the order of trials.", show_default="drawn")
]
JdkOption = Annotated[
    Path | None,
    typer.Option(
        "--jdk", metavar="PATH", help="JDK of the servers.", show_default="JAVA_HOME, else java on PATH"
    ),
]
PortOption = Annotated[
    int, typer.Option("--port", metavar="P", min=1024, max=65000, help="Port of the first server.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def with_engine(settings: list[str], engine: str | None) -> list[str]:
    """`--set` settings with `--engine`, which is a short way to say one of them."""
    return [*settings, f"engine={engine}"] if engine is not None else settings
