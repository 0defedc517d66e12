# SPDX-License-Identifier: Apache-2.0
"""What a gate leaves for those who read it: gate.json for programs, gate.md for summaries and comments, gate.junit.xml
for test views, gate.annotations for the log of GitHub's runners.

The chart is text: job summaries show neither SVG nor pictures that are not published somewhere.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from steelyard.escape import for_runner, for_runner_property, printable
from steelyard.gate.result import GateResult, InterimResult
from steelyard.results.figures import capital, count, percent
from steelyard.results.store import write_atomic, write_record
from steelyard.units import format_duration

MARK = "steelyard-gate"
"""Begins the first line, which nobody sees; gate.sh names the gate there, so that the next run finds its comment."""
_WIDTH = 56
_SIGNS = {
    "pass": "\N{WHITE HEAVY CHECK MARK}",
    "regression": "\N{CROSS MARK}",
    "inconclusive": "\N{WHITE QUESTION MARK ORNAMENT}",
}
_SPECIAL = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*_|<>[]#@&~$"}
_COMMANDS = {"pass": "notice", "regression": "error", "inconclusive": "warning"}


class Bar(NamedTuple):
    """A row of the chart: harm as fractions, to the right what is worse."""

    label: str
    low: float
    center: float
    high: float


def write_outputs(folder: Path, result: GateResult) -> list[Path]:
    """Write all of them (raises NoSpace)."""
    texts = {
        "gate.md": to_markdown(result),
        "gate.junit.xml": to_junit(result),
        "gate.annotations": to_annotations(result),
    }
    write_record(folder / "gate.json", result)
    for name, text in texts.items():
        write_atomic(folder / name, text)
    return [folder / name for name in ("gate.json", *texts)]


def to_markdown(result: GateResult) -> str:
    """The summary, which is the comment as well."""
    sides = [f"`{_code(result.sides[key])}`" for key in ("baseline", "candidate")]
    lines = [
        f"<!-- {MARK}: {_comment(f'{result.workload.split()[0]} {result.metric}')} -->",
        f"### {_SIGNS[result.outcome]} {capital(result.outcome)}: {sides[1]} against {sides[0]}",
        "",
        f"{_escaped(capital(result.sentence))}",
        "",
    ]
    for note in result.notes:
        lines += [f"{_escaped(capital(note))}.", ""]
    bars = bars_of(result)
    if bars:
        lines += ["```text", *chart(bars, result.margin), "```", ""]
    if result.beside:
        lines += [
            "| beside it (decides nothing) | change | 95 % CI, simultaneous | beyond noise |",
            "| --- | ---: | ---: | --- |",
        ]
        for one in result.beside:
            change, _, interval = one.change.partition(" (")
            word = {True: "**worse**", False: "**better**", None: "no"}[one.worse]
            lines.append(f"| {_escaped(one.label)} | {change} | {interval.removesuffix(')')} | {word} |")
        lines.append("")
    return "\n".join([*lines, _small(result), ""])


def _small(result: GateResult) -> str:
    void = f", {result.void} void" * bool(result.void)
    ran = f"{count(result.trials, 'trial')}{void}, {format_duration(result.seconds)}"
    floor = f"floor of the noise certificate {percent(result.floor)}" if result.floor is not None else ""
    told = [
        f"{_escaped(result.workload)}, {_escaped(result.label)}, margin {percent(result.margin)}",
        floor,
        ran if result.trials else "nothing was run",
        f"session {_escaped(result.session)}",
    ]
    return f"<sub>{'; '.join(filter(None, told))}</sub>"


def bars_of(result: GateResult) -> list[Bar]:
    """The last look, the last one of the confirmation, then the other metrics."""
    found = [*_bar(result, _code(capital(result.label)), result.looks[-1:])]
    found += _bar(result, "  confirmation", (result.confirmation or [])[-1:])
    for one in result.beside:
        found += _harm(_code(one.label), one.low, one.ratio, one.high, one.better)
    return found


def _bar(result: GateResult, label: str, looks: Sequence[InterimResult]) -> list[Bar]:
    return [bar for one in looks for bar in _harm(label, one.low, one.ratio, one.high, result.better)]


def _harm(label: str, low: float | None, ratio: float | None, high: float | None, better: str) -> list[Bar]:
    if low is None or ratio is None or high is None:
        return []
    if better == "lower":
        return [Bar(label, low - 1, ratio - 1, high - 1)]
    return [Bar(label, 1 - high, 1 - ratio, 1 - low)]


def chart(bars: Sequence[Bar], margin: float) -> list[str]:
    """Intervals over an axis of harm: zero and the margin are lines, what is worse lies to the right."""
    reach = max(margin, *(max(abs(bar.low), abs(bar.high)) for bar in bars)) * 1.1
    reach = min(reach, 20 * margin)

    def place(harm: float) -> int:
        share = (max(-reach, min(reach, harm)) + reach) / (2 * reach)
        return min(_WIDTH - 1, math.floor(share * _WIDTH))

    wide = max(len(bar.label) for bar in bars)
    zero, limit = place(0.0), place(margin)
    rows = []
    for bar in bars:
        row = [" "] * _WIDTH
        row[zero], row[limit] = "|", ":"
        for at in range(place(bar.low), place(bar.high) + 1):
            row[at] = "-"
        row[place(bar.low)], row[place(bar.high)] = "[", "]"
        row[place(bar.center)] = "o"
        told = f"{percent(bar.center, 1, sign=True)} harm"
        rows.append(f"{bar.label:<{wide}}  {''.join(row)}  {told}".rstrip())
    axis = [" "] * _WIDTH
    _write(axis, "better", 0)
    _write(axis, "0", zero)
    _write(axis, f"margin {percent(margin)}", limit)
    return [*rows, f"{'':<{wide}}  {''.join(axis)}".rstrip()]


def _write(row: list[str], text: str, at: int) -> None:
    begin = max(0, min(at, len(row) - len(text)))
    row[begin : begin + len(text)] = text


def to_junit(result: GateResult) -> str:
    """One test case for the verdict, and one for each other metric, which never fails."""
    time = f"{result.seconds:.3f}"
    workload, sentence = printable(result.workload), printable(result.sentence)
    suite = ElementTree.Element("testsuite", name=f"steelyard gate {workload}", time=time)
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"gate.{workload.split()[0]}", name=printable(result.metric), time=time
    )
    if result.outcome == "regression":
        ElementTree.SubElement(case, "failure", message=sentence, type="regression")
    elif result.outcome == "inconclusive":
        ElementTree.SubElement(case, "skipped", message=sentence)
    lines = [sentence, *(printable(look.sentence) for look in [*result.looks, *(result.confirmation or [])])]
    ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
    for one in result.beside:
        name = printable(one.metric)
        beside = ElementTree.SubElement(suite, "testcase", classname="gate.beside", name=name, time="0")
        ElementTree.SubElement(beside, "system-out").text = printable(f"{one.label}: {one.change}")
    suite.set("tests", str(1 + len(result.beside)))
    suite.set("failures", str(int(result.outcome == "regression")))
    suite.set("skipped", str(int(result.outcome == "inconclusive")))
    suite.set("errors", "0")
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'


def to_annotations(result: GateResult) -> str:
    """Workflow commands: printed by a step, GitHub shows them on the page of its run."""
    lines = [
        _command(_COMMANDS[result.outcome], f"Performance gate: {result.outcome}", result.sentence),
        *(
            _command("warning", "Beside the gate's metric", f"{one.label} is worse: {one.change}")
            for one in result.beside
            if one.worse
        ),
    ]
    return "\n".join([*lines, ""])


def _command(kind: str, title: str, text: str) -> str:
    return f"::{kind} title={for_runner_property(title)}::{for_runner(text)}"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: what people called their sides may hold anything."""
    return " ".join(printable(text).translate(_SPECIAL).split())


def _code(text: str) -> str:
    """Text inside of a code span or block."""
    return " ".join(printable(text).replace("`", "'").replace("|", "/").split())


def _comment(text: str) -> str:
    """Text inside of a comment, which `--` may end."""
    return printable(text).replace("--", "- -").replace(">", "")
