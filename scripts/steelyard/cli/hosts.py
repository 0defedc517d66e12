# SPDX-License-Identifier: Apache-2.0
"""`tune`: what could be better on this host, by the POWER9 study's checklist. `compare`: two sessions of two hosts."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from steelyard.analysis.across import Effect, Side, differences, effects, host_differences, yields
from steelyard.analysis.estimates import analyse
from steelyard.cli.console import open_console, print_heading, print_json, print_line
from steelyard.cli.options import JsonOption
from steelyard.errors import BadInput
from steelyard.host.system import System
from steelyard.host.tune import Advice, advise
from steelyard.report.comparing import host_name, no_cause, side_by_side
from steelyard.report.terminal import to_rich_table
from steelyard.results.store import SessionDirectory

SessionPath = Annotated[
    Path, Argument(metavar="SESSION", help="A session directory.", exists=True, file_okay=False)
]


def tune(as_json: JsonOption = False) -> None:
    """What is set here, what would be better, the experiment that shows it, the commands that set it and undo it.

    The checklist of the POWER9 study for this host; changes nothing.
    """
    checklist = advise(System())
    if as_json:
        print_json([advice._asdict() for advice in checklist])
        return
    console = open_console()
    for advice in checklist:
        print_heading(console, advice.topic)
        for line in _lines(advice):
            print_line(console, f"  {line}")


def _lines(advice: Advice) -> list[str]:
    fields = {
        "now": advice.now,
        "better": advice.better,
        "study": advice.said,
        "shows it": f"./steelyard run {advice.experiment}" if advice.experiment else "",
        "set": advice.sets,
        "undo": advice.undoes,
    }
    return [f"{label + ':':<10}{text}" for label, text in fields.items() if text]


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
    """Set two sessions of one experiment side by side, from two hosts or one: effects, throughput per core, GiB, price.

    Refuses sessions whose workload, data, load or versions differ.
    """
    given: list[dict[str, float]] = [{}, {}]
    for name, text in (("price", price), ("cores", cores), ("watts", watts)):
        for values, value in zip(given, _pair(name, text), strict=False):
            values[name] = value
    sides = [_side(path, values) for path, values in zip((first, second), given, strict=True)]
    paths, schedulers = host_differences(*sides)
    if reasons := [*differences(*(side.session for side in sides)), *paths]:
        raise BadInput(
            f"{first} and {second} cannot be set side by side, for more than host and time differs: "
            + "; ".join(reasons[:4])
            + (f"; and {len(reasons) - 4} more" if len(reasons) > 4 else "")
        )
    if as_json:
        hosts = [
            {"host": host_name(side.session), "session": side.session.id, "yields": _plain(side)}
            for side in sides
        ]
        print_json({"sessions": hosts, "effects": [_document(effect) for effect in effects(*sides)]})
        return
    console = open_console()
    for name, side in zip(("first: ", "second:"), sides, strict=True):
        print_line(console, f"{name} {host_name(side.session)} ({side.session.id})")
    for line in schedulers:
        print_line(console, line)
    for table in side_by_side(*sides):
        print_heading(console, f"\n{table.caption}")
        console.print(to_rich_table(table))
        for note in table.notes:
            print_line(console, note)
    print_line(console, f"\n{no_cause(*sides)}")


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
    return {
        arm: {name: value._asdict() for name, value in values.items()} for arm, values in yields(side).items()
    }


def _document(effect: Effect) -> dict[str, object]:
    first, second = (
        estimate and estimate.model_dump(mode="json") for estimate in (effect.first, effect.second)
    )
    apart = effect.apart and effect.apart._asdict()
    return {**effect._asdict(), "first": first, "second": second, "apart": apart}
