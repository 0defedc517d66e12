# SPDX-License-Identifier: Apache-2.0
"""`history add`, `plot` and `check`: figures over commits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from steelyard.cli.console import print_json
from steelyard.cli.options import JsonOption, PoolOption
from steelyard.errors import BadInput, Exit
from steelyard.escape import printable
from steelyard.gate.history import (
    MetricSeries,
    change_sentence,
    entry_of,
    keep,
    read_acknowledged,
    read_entries,
    series_of,
    spread,
)
from steelyard.gate.plan import OTHER_METRICS
from steelyard.measure.registry import METRIC_INFOS
from steelyard.results.figures import count
from steelyard.results.gate import read_result
from steelyard.results.store import SessionDirectory, write_atomic

app = typer.Typer(
    help="Figures over commits: add sessions, draw them, find changes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
FolderOption = Annotated[
    Path, Option("--in", metavar="FOLDER", help="The history: a folder, or the work tree of a git branch.")
]
MetricsOption = Annotated[
    list[str],
    Option(
        "--metric",
        metavar="NAME",
        help="A metric; may be given several times.",
        show_default=", ".join(OTHER_METRICS),
    ),
]


@app.command()
def add(
    directories: Annotated[list[Path], Argument(metavar="DIR...", help="Session directories.")],
    folder: FolderOption = Path("history"),
    commit: Annotated[
        str | None,
        Option(
            "--commit",
            metavar="ID",
            help="What was measured.",
            show_default="the suite's, of its own servers",
        ),
    ] = None,
    arm: Annotated[
        str | None,
        Option(
            "--arm",
            metavar="NAME",
            help="Whose figures.",
            show_default="a gate's candidate, else the baseline",
        ),
    ] = None,
    pool: PoolOption = None,
) -> None:
    """Keep the figures of sessions as small files."""
    for directory in directories:
        session = SessionDirectory(directory)
        entry = entry_of(session.session(), session.trials(), arm, commit, read_result(session.path), pool)
        typer.echo(keep(folder, entry))


@app.command()
def plot(
    folder: FolderOption = Path("history"),
    to: Annotated[
        Path | None, Option("--to", metavar="FILE", help="The page.", show_default="index.html in the folder")
    ] = None,
    metrics: MetricsOption = [],  # noqa: B006 - typer reads the default, nothing changes it
    title: Annotated[str, Option("--title", metavar="TEXT", help="Its title.")] = "Performance over commits",
) -> None:
    """Write a page with charts over the sessions, their changes marked."""
    # Charts take half a second to load, which the other commands do not pay.
    from steelyard.gate.history_page import to_page  # noqa: PLC0415

    path = to or folder / "index.html"
    write_atomic(path, to_page(_series(folder, metrics), title))
    typer.echo(path)


@app.command()
def check(
    folder: FolderOption = Path("history"),
    metrics: MetricsOption = [],  # noqa: B006 - as above
    as_json: JsonOption = False,
) -> None:
    """Say where figures changed; exit code 12 for a change for the worse that acknowledged.yaml does not name."""
    series = _series(folder, metrics)
    places = [place for figures in series for place in figures.changes]
    bad = [place for place in places if place.harmful and place.acknowledged is None]
    if as_json:
        print_json(
            [
                {
                    "metric": place.metric,
                    "session": place.entry.session,
                    "commit": place.entry.commit,
                    "before": place.before,
                    "after": place.after,
                    "harmful": place.harmful,
                    "acknowledged": place.acknowledged,
                }
                for place in places
            ]
        )
    else:
        for place in places:
            typer.echo(printable(change_sentence(place)))
        looked = [figures for figures in series if spread(figures) is not None]
        sessions = len({entry.session for s in series for entry in s.entries})
        typer.echo(
            f"{count(len(places), 'change')} in {len(looked)} series of {count(sessions, 'session')},"
            f" {len(bad)} of them for the worse and not acknowledged"
        )
    if bad:
        raise typer.Exit(Exit.CHECK_FAILED)


def _series(folder: Path, names: Sequence[str]) -> list[MetricSeries]:
    known = {info.name for info in METRIC_INFOS}
    if unknown := [name for name in names if name not in known]:
        raise BadInput(f"{unknown[0]!r} is no metric: see `./steelyard list --metrics`")
    all_series = series_of(read_entries(folder), read_acknowledged(folder), names or OTHER_METRICS)
    if not all_series:
        raise BadInput(f"{folder} has no figure of {', '.join(names or OTHER_METRICS)}")
    return all_series
