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
from steelyard.results.figures import RatioInterval, bounds, capital, count, effect, margin_text, percent
from steelyard.results.gate import GateResult
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
        f"{_escape(capital(result.sentence))}",
        "",
    ]
    for note in result.notes:
        lines += [f"{_escape(capital(note))}.", ""]
    bars = bars_of(result)
    if bars:
        lines += ["```text", *chart(bars, result.margin), "```", ""]
    if result.beside:
        lines += [
            "| beside it (decides nothing) | change | 95 % CI, simultaneous | beyond noise |",
            "| --- | ---: | ---: | --- |",
        ]
        for metric in result.beside:
            word = {"": "no", "beyond noise": "yes"}.get(metric.finding, f"**{metric.finding}**")
            interval = bounds(metric) or "no interval"
            lines.append(f"| {_escape(metric.label)} | {effect(metric)} | {interval} | {word} |")
        lines.append("")
    return "\n".join([*lines, _small(result), ""])


def _small(result: GateResult) -> str:
    void = f", {result.void} void" if result.void else ""
    ran = f"{count(result.trials, 'trial')}{void}, {format_duration(result.seconds)}"
    floor = f"floor of the noise certificate {percent(result.floor)}" if result.floor is not None else ""
    parts = [
        f"{_escape(result.workload)}, {_escape(result.label)}, margin {margin_text(result.margin)}",
        floor,
        ran if result.trials else "nothing was run",
        f"session {_escape(result.session)}",
    ]
    return f"<sub>{'; '.join(filter(None, parts))}</sub>"


def bars_of(result: GateResult) -> list[Bar]:
    """The last interim analysis, the last one of the confirmation, then the other metrics."""
    confirmations = result.confirmation or []
    return [
        *(
            bar
            for last in result.looks[-1:]
            for bar in _bar(_code(capital(result.label)), last, result.better)
        ),
        *(bar for last in confirmations[-1:] for bar in _bar("  confirmation", last, result.better)),
        *(bar for metric in result.beside for bar in _bar(_code(metric.label), metric, metric.better)),
    ]


def _bar(label: str, estimate: RatioInterval, better: str) -> list[Bar]:
    """The bar of an estimate on the axis of harm; none without an interval, or where neither direction is better."""
    low, ratio, high = estimate.low, estimate.ratio, estimate.high
    if low is None or ratio is None or high is None or better == "neither":
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
        harm = f"{percent(bar.center, 1, sign=True)} harm"
        rows.append(f"{bar.label:<{wide}}  {''.join(row)}  {harm}".rstrip())
    axis = [" "] * _WIDTH
    _write(axis, "better", 0)
    _write(axis, "0", zero)
    _write(axis, f"margin {margin_text(margin)}", limit)
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
    analyses = [*result.looks, *(result.confirmation or [])]
    lines = [sentence, *(printable(analysis.sentence) for analysis in analyses)]
    ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
    for metric in result.beside:
        name = printable(metric.metric)
        further = ElementTree.SubElement(suite, "testcase", classname="gate.beside", name=name, time="0")
        ElementTree.SubElement(further, "system-out").text = printable(f"{metric.label}: {metric.change}")
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
            _command("warning", "Beside the gate's metric", f"{metric.label} is worse: {metric.change}")
            for metric in result.beside
            if metric.worse
        ),
    ]
    return "\n".join([*lines, ""])


def _command(name: str, title: str, text: str) -> str:
    return f"::{name} title={for_runner_property(title)}::{for_runner(text)}"


def _escape(text: str) -> str:
    """Text that Markdown shows as it is: what people called their sides may hold anything."""
    return " ".join(printable(text).translate(_SPECIAL).split())


def _code(text: str) -> str:
    """Text inside of a code span or block."""
    return " ".join(printable(text).replace("`", "'").replace("|", "/").split())


def _comment(text: str) -> str:
    """Text inside of a comment, which `--` may end."""
    return printable(text).replace("--", "- -").replace(">", "")
