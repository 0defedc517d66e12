# SPDX-License-Identifier: Apache-2.0
"""The report of a gate: its first screen holds the margin that was asked, the verdict, and what that rests on."""

import re
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
import sample
from commands import run_command
from sample_gate import gate_view, make_gate, write_gate

from steelyard.analysis.across import Side
from steelyard.analysis.sentences import answer
from steelyard.report import write_report
from steelyard.report.first_screen import first_screen
from steelyard.report.ratios import block_ratios
from steelyard.report.tables import headline
from steelyard.report.verdict import verdict_lead, verdict_sentences
from steelyard.results.figures import bounds
from steelyard.results.gate import OtherMetric
from steelyard.results.store import write_record
from steelyard.serve.index import read_row
from steelyard.serve.pages import comparison_page

CPU = "CPU of the servers per 1,000 requests"


@pytest.mark.parametrize(
    ("throughput", "verdict"), [(1.0, "Pass"), (0.9, "Regression"), (0.965, "Inconclusive")]
)
def test_the_verdict_stands_first_with_its_figure(throughput: float, verdict: str) -> None:
    view = gate_view(throughput)
    screen = first_screen(view)
    assert view.question == f"Is 3f2c1ab worse than v1.4.0 by 5.0 % or more in {CPU}?"
    assert re.fullmatch(rf"{verdict}: \S+ % {CPU} with the candidate\.", screen.lead)
    assert screen.sentences[0].startswith(f"{CPU} is ")
    # What an experiment says of two arms has other intervals, and may contradict the verdict.
    assert not any("beyond noise:" in sentence for sentence in screen.sentences)
    assert screen.belief.startswith("How far to believe it: 6 of at most 6 pairs were used")
    assert screen.further == []


def test_what_moved_beside_it_is_told_and_decides_nothing() -> None:
    session, _, verdict = make_gate(1.0)
    moved = OtherMetric(
        metric="throughput",
        label="Throughput",
        change="-7.0 % (-7.3 to -6.7 %)",
        better="higher",
        worse=True,
        ratio=0.93,
        low=0.927,
        high=0.933,
    )
    told = verdict.model_copy(update={"beside": [moved], "notes": ["confirm it"], "void": 1, "trials": 13})
    _, *further = verdict_sentences(session, told)
    assert further[:2] == [
        "Confirm it.",
        "Beyond noise beside it, deciding nothing: Throughput -7.0 % (-7.3 to -6.7 %) worse.",
    ]
    assert "; 1 of 13 trials was void; " in further[2]
    assert verdict_lead(verdict.model_copy(update={"looks": []})) == "Pass."


def test_the_chart_shows_the_margin_on_the_side_of_the_harm() -> None:
    chart = block_ratios(gate_view(1.0))
    assert chart is not None
    assert "margin 5.0 %" in chart.svg
    plain = block_ratios(sample.make_view(sample.two_arm_plan()))
    assert plain is not None
    assert "margin" not in plain.svg


def test_the_chart_has_the_interval_that_the_verdict_rests_on() -> None:
    view = gate_view(0.965)
    assert view.verdict is not None
    (last,) = view.verdict.looks
    chart = block_ratios(view)
    estimate = view.estimate("cpu_per_1k", "side-candidate")
    assert chart is not None
    assert estimate is not None
    # Else it would end below the margin, beside a sentence that says what lies beyond it cannot be ruled out.
    assert bounds(last) in chart.svg
    assert bounds(estimate) not in chart.svg


def test_ticks_between_whole_per_cent_are_not_rounded() -> None:
    chart = block_ratios(gate_view(0.9))
    assert chart is not None
    ticks = re.findall(r">\+([\d.]+) %</text>", chart.svg)
    steps = {round(float(high) - float(low), 6) for low, high in pairwise(ticks)}
    assert len(ticks) >= 3
    assert len(steps) == 1


def test_a_report_made_again_begins_with_the_verdict_that_lies_beside_it(tmp_path: Path) -> None:
    directory, verdict = write_gate(tmp_path, 0.9)
    write_report(directory)
    page, text = (directory.path / f"report.{suffix}" for suffix in ("html", "md"))
    assert "Regression" not in page.read_text(encoding="utf-8")  # it has not concluded
    write_record(directory.path / "gate.json", verdict)
    write_report(directory)
    for path in (page, text):
        content = path.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
        assert "Is 3f2c1ab worse than v1.4.0 by 5.0 % or more" in content
        assert "and again in a second session" in content
    assert '<p class="lead long">Regression: ' in page.read_text(encoding="utf-8")


def test_the_table_says_which_interval_the_verdict_rests_on() -> None:
    view = gate_view(0.965)
    assert view.verdict is not None
    said = f"The verdict rests on the interval of its interim analysis ({bounds(view.verdict.last)})"
    assert any(note.startswith(said) for note in headline(view).notes)
    assert not any("verdict" in note for note in headline(sample.make_view(sample.two_arm_plan())).notes)


def test_analyze_list_and_the_pages_of_all_sessions_answer_with_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, verdict = write_gate(tmp_path, 0.965)
    write_record(directory.path / "gate.json", verdict)
    path = str(directory.path)
    assert run_command(capsys, "analyze", path, "--json").document["answer"][0] == verdict.sentence
    shown = " ".join(run_command(capsys, "analyze", path).out.split())
    assert verdict.sentence in shown
    assert answer(directory.session(), directory.analysis())[0] not in shown
    (listed,) = run_command(capsys, "list", "--out", str(tmp_path), "--json").document["sessions"]
    assert listed["answer"] == read_row(directory.path).answer[0] == verdict.sentence
    side = Side(directory.session(), directory.analysis(), directory.trials())
    page = comparison_page(["one", "two"], (side, side), (verdict, None))
    assert verdict.sentence in unescape(page).replace("\N{NO-BREAK SPACE}", " ")
