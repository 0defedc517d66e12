# SPDX-License-Identifier: Apache-2.0
"""Text that anybody may have written, at each border where something reads it as more than text."""

import csv
import io
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sample
from rich.console import Console
from rich.markup import escape

from steelyard import escape as borders
from steelyard.analysis.estimates import analyse
from steelyard.cli.console import open_console
from steelyard.report import write_report
from steelyard.report.canvas import INK
from steelyard.report.pages import to_html, to_markdown
from steelyard.report.plain import to_benchstat, to_csv
from steelyard.report.terminal import render_summary
from steelyard.report.view import View
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session, Trial
from steelyard.results.store import SessionDirectory

ODD = (
    "costs $5 or $x_{",
    r"$\frac{1}{$",
    "\x1b[31mred\x1b]0;title\x07",
    "a|b `c` <b>bold</b> [l](u) *x* _y_ ~z~ # &amp;",
    "_hidden",
    "=1+1",
    'quote " id="x" url(#a) #010203',
    "two\nlines\r\nand \x00 \u202e\u2028",
    "\N{SNOWMAN} 日本 \N{PILE OF POO}",
    "::error::no%0A",
    "- item",
    "1. item",
    "]]> --> <!-- <script>alert(1)</script>",
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e]")


def hostile(text: str) -> sample.Plan:
    """A session whose every word is this one."""
    return sample.Plan(
        name="odd",
        title=text,
        question=text,
        factors={"pages": {"label": text, "levels": [text, f"{text} 2"]}},
        study={"title": text, "published": text, "setup": text, "figures": [{"where": text, "value": text}]},
        blocks=2,
    )


def make_hostile(text: str) -> tuple[Session, Analysis, list[Trial]]:
    """Arms have plain names, as in a real session; labels, levels, host, command and checks have the text."""
    plan = hostile(text)
    session = sample.session_of(plan)
    names = {arm.name: f"pages-{number}" for number, arm in enumerate(session.arms)}
    arms = [
        arm.model_copy(
            update={"name": names[arm.name], "spec": arm.spec.model_copy(update={"arm": names[arm.name]})}
        )
        for arm in session.arms
    ]
    schedule = [place.model_copy(update={"arm": names[place.arm]}) for place in session.schedule]
    host = session.host.model_copy(update={"hostname": text, "cpu_model": text})
    session = session.model_copy(
        update={
            "arms": arms,
            "schedule": schedule,
            "host": host,
            "command": f"./steelyard run {text}",
            "notes": [text],
            "doctor": [text],
        }
    )
    trials = []
    for one in sample.trials_of(plan, session):
        checks = [check.model_copy(update={"detail": text}) for check in one.checks]
        latency = {text if name != "all" else name: value for name, value in one.latency.items()}
        trials.append(one.model_copy(update={"checks": checks, "latency": latency}))
    return session, analyse(session, trials), trials


@pytest.fixture(scope="module", params=ODD)
def odd(request: pytest.FixtureRequest) -> tuple[str, View]:
    return request.param, View(*make_hostile(request.param))


def test_the_page_shows_it_as_text(odd: tuple[str, View]) -> None:
    """A dollar made formulas of labels, and all four reports were lost after hours of trials."""
    text, view = odd
    page = to_html(view)
    assert not CONTROL.search(page)
    assert "<script>alert" not in page
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)
        # What a matplotlib would take for a tag, an identifier or a colour stays what it is.
        assert "var(--chart" not in " ".join(re.findall(r">([^<]+)<", drawing))
    if "$" in text:
        assert text.split()[-1].replace("<", "&lt;") in page
    if text.startswith("_"):
        assert page.count(text) > 10
    outside = re.sub(r"<text.*?</text>|<title.*?</title>|<desc.*?</desc>", "", page, flags=re.DOTALL)
    drawings = "".join(re.findall(r"<svg.*?</svg>", outside, re.DOTALL))
    assert not [ink for ink in INK.values() if ink in drawings]


def test_markdown_shows_it_as_text(odd: tuple[str, View]) -> None:
    text, view = odd
    page = to_markdown(view)
    assert not CONTROL.search(page.replace("\n", ""))
    assert not re.search(r"(?<!\\)<(?!br>)", page[: page.index("Repeat it: ")])
    for line in page.splitlines():
        assert not line.startswith(("::", "1. ", "- item"))
    table = [line for line in page.splitlines() if line.startswith("|")]
    pipes = [len(re.findall(r"(?<!\\)\|", line)) for line in table[:4]]
    assert len(set(pipes)) == 1, table[:4]
    command = page[page.index("Repeat it: ") :]
    fence = re.match("Repeat it: (`+)", command)
    assert fence
    assert len(re.findall(rf"(?<!`){fence[1]}(?!`)", command.split(". All figures")[0])) == 2
    assert text


def test_the_terminal_obeys_nothing_of_it(odd: tuple[str, View]) -> None:
    _, view = odd
    console = Console(width=120, file=io.StringIO(), force_terminal=False)
    console.print(render_summary(view.session, view.analysis, view.trials))
    assert isinstance(console.file, io.StringIO)
    assert not CONTROL.search(console.file.getvalue().replace("\n", ""))


def test_a_console_of_ours_shows_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    console = open_console()
    console.print(f"[bold]{escape(ODD[2])}[/bold]")
    console.print("two\nlines")
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\\x1b" in said
    assert said.endswith("two\nlines\n")


def test_machines_read_one_line_of_it(odd: tuple[str, View]) -> None:
    _, view = odd
    lines = to_benchstat(view).splitlines()
    assert not CONTROL.search("".join(lines))
    trials = [line for line in lines if line.startswith("Benchmark")]
    assert len(trials) == len(view.trials)
    assert all(re.fullmatch(r"Benchmark[A-Z]\w*/[^/=\s]+=[^/=\s]+", line.split()[0]) for line in trials)
    rest = [line for line in lines if not line.startswith(("Benchmark", "Unit "))]
    assert [line.partition(":")[0] for line in rest] == ["session", "host", "cpu", "jvm"]
    rows = list(csv.reader(io.StringIO(to_csv(view))))
    assert len({len(row) for row in rows}) == 1
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)


def test_all_reports_of_such_a_session_are_written(tmp_path: Path) -> None:
    found = SessionDirectory(tmp_path)
    sample.write(tmp_path, sample.two_arm_plan())
    assert {path.suffix for path in write_report(found)} == {".html", ".md", ".csv", ".benchstat"}


@pytest.mark.parametrize(
    ("border", "text", "shown"),
    [
        (borders.for_markdown, "5.51", "5.51"),
        (borders.for_markdown, "+7.4 %", "+7.4 %"),
        (borders.for_markdown, "1. item", r"1\. item"),
        (borders.for_markdown, "- item", r"\- item"),
        (borders.for_markdown, "---", r"\---"),
        (borders.for_markdown, "a|b `c` $d$ &amp;", r"a\|b \`c\` \$d\$ \&amp;"),
        (borders.for_code, "a", "`a`"),
        (borders.for_code, "a `b` ``c``", "``` a `b` ``c`` ```"),
        (borders.for_runner, "100 %\n::error::", "100 %25 ::error::"),
        (borders.for_runner_property, "a: b, c", "a%3A b%2C c"),
        (borders.for_spreadsheet, "=1+1", "'=1+1"),
        (borders.printable, "a\x1b[1m\tb\u202e\udcff", "a\\x1b[1m b\\u202e\\udcff"),
    ],
)
def test_each_border(border: Callable[[str], str], text: str, shown: str) -> None:
    assert border(text) == shown


def test_any_text_passes_every_border() -> None:
    draw = random.Random(30)
    for _ in range(3000):
        text = "".join(
            chr(draw.choice([draw.randrange(128), draw.randrange(sys.maxunicode + 1)])) for _ in range(12)
        )
        for border in (borders.printable, borders.for_markdown, borders.for_code, borders.for_runner):
            line = border(text)
            assert "\n" not in line
            assert not CONTROL.search(line)
            line.encode()
