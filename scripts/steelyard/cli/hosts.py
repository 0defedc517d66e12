# SPDX-License-Identifier: Apache-2.0
"""`tune`: what could be better on this host, by the POWER9 study's checklist. `compare`: two sessions of two hosts."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from steelyard.analysis.across import Side, differences, effects, yields
from steelyard.analysis.estimates import analyse
from steelyard.cli.options import JsonOption, open_console, print_json, say
from steelyard.errors import BadInput
from steelyard.host.system import System
from steelyard.host.tune import Advice, advise
from steelyard.report.comparing import NO_CAUSE, host_name, side_by_side
from steelyard.report.terminal import to_rich_table
from steelyard.results.store import SessionDirectory

SessionPath = Annotated[
    Path, Argument(metavar="SESSION", help="A session directory.", exists=True, file_okay=False)
]


def tune(as_json: JsonOption = False) -> None:
    """What is set here, what would be better, the experiment that shows it, the commands that set it and undo it.

    The checklist of the POWER9 study for this host; changes nothing.
    """
    found = advise(System())
    if as_json:
        print_json([one._asdict() for one in found])
        return
    console = open_console()
    for one in found:
        console.print(f"[bold]{one.topic}[/bold]")
        for line in _lines(one):
            say(console, f"  {line}")


def _lines(one: Advice) -> list[str]:
    told = {
        "now": one.now,
        "better": one.better,
        "study": one.said,
        "shows it": f"./steelyard run {one.experiment}" if one.experiment else "",
        "set": one.sets,
        "undo": one.undoes,
    }
    return [f"{what + ':':<10}{text}" for what, text in told.items() if text]


def compare(
    first: SessionPath,
    second: SessionPath,
    price: Annotated[
        str | None, Option("--price", metavar="A,B", help="Price of either host, any unit.")
    ] = None,
    cores: Annotated[
        str | None,
        Option(
            "--cores", metavar="A,B", help="Cores to divide by.", show_default="those that the servers had"
        ),
    ] = None,
    watts: Annotated[
        str | None, Option("--watts", metavar="A,B", help="Power of either host under load.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set two sessions of one experiment from two hosts side by side: effects, and throughput per core, GiB and price.

    Refuses sessions whose workload, data, load or versions differ.
    """
    given: list[dict[str, float]] = [{}, {}]
    for name, text in (("price", price), ("cores", cores), ("watts", watts)):
        for values, value in zip(given, _pair(name, text), strict=False):
            values[name] = value
    one, other = (_side(path, values) for path, values in zip((first, second), given, strict=True))
    if found := differences(one.session, other.session):
        raise BadInput(
            f"{first} and {second} cannot be set side by side, for more than their hosts differs: "
            + "; ".join(found[:4])
            + (f"; and {len(found) - 4} more" if len(found) > 4 else "")
        )
    if as_json:
        told = [
            {"host": host_name(side.session), "session": side.session.id, "yields": _plain(side)}
            for side in (one, other)
        ]
        print_json({"sessions": told, "effects": [_document(*effect) for effect in effects(one, other)]})
        return
    console = open_console()
    say(console, f"first:  {host_name(one.session)} ({one.session.id})")
    say(console, f"second: {host_name(other.session)} ({other.session.id})")
    for table in side_by_side(one, other):
        console.print(f"\n[bold]{table.caption}[/bold]")
        console.print(to_rich_table(table))
        for note in table.notes:
            say(console, note)
    say(console, f"\n{NO_CAUSE}")


def _side(path: Path, given: dict[str, float]) -> Side:
    directory = SessionDirectory(path)
    session, trials = directory.session(), directory.trials()
    if not trials:
        raise BadInput(f"{path} holds no finished trial yet: go on with `./steelyard resume {path}`")
    return Side(session, analyse(session, trials), trials, given)


def _pair(name: str, text: str | None) -> tuple[float, ...]:
    """Two numbers above zero, as `A,B`; nothing where it was not given."""
    if text is None:
        return ()
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != 2 or not all(0 < value < float("inf") for value in values):
        raise BadInput(
            f"--{name} {text}: give a number above zero for either host, for example --{name} 16,8"
        )
    return values


def _plain(side: Side) -> dict[str, dict[str, dict[str, float | None]]]:
    return {arm: {name: one._asdict() for name, one in per.items()} for arm, per in yields(side).items()}


def _document(metric: str, arm: str, *more: object) -> dict[str, object]:
    first, second, apart = more
    shown = [one.model_dump(mode="json") if hasattr(one, "model_dump") else one for one in (first, second)]
    return {
        "metric": metric,
        "arm": arm,
        "first": shown[0],
        "second": shown[1],
        "apart": apart._asdict() if hasattr(apart, "_asdict") else None,
    }
