# SPDX-License-Identifier: Apache-2.0
"""The report of a gate: its first screen holds the margin that was asked, the verdict, and what that rests on."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
import sample
from sample_gate import gate_view, make_gate, write_gate

from steelyard.report import write_report
from steelyard.report.first_screen import first_screen
from steelyard.report.ratios import block_ratios
from steelyard.report.verdict import verdict_lead, verdict_sentences
from steelyard.results.figures import bounds
from steelyard.results.gate import OtherMetric
from steelyard.results.store import write_record

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
