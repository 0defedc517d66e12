# SPDX-License-Identifier: Apache-2.0
"""Figures of memory and CPU say whose they are: servers, JITServer and sum; what an arm does not have is none."""

import re

import pytest
import sample
import sample_procedures

from steelyard.analysis.estimates import analyse
from steelyard.report import tables
from steelyard.report.pages import to_html, to_markdown
from steelyard.report.table import TableCell
from steelyard.report.view import View
from steelyard.results import figures


@pytest.fixture(scope="module")
def view() -> View:
    return sample.make_view(sample_procedures.jitserver_plan())


def test_a_sum_names_its_parts_in_label_table_and_sentence(view: View) -> None:
    """270 against 202 MiB "after the start" was server and JITServer, and did not say so."""
    (column,) = [column for column in tables.headline(view).columns if "memory" in column.label]
    assert column.label == "memory (RSS) of servers and JITServer after the start"
    table = tables.by_role(view)
    assert table is not None
    assert [column.label for column in table.columns[1:4]] == ["servers", "JITServer", "sum"]
    heading = [row[0].text for row in table.rows].index(column.label)
    local, remote = (
        [float(c.text) if c.text != "none" else None for c in row[1:4]]
        for row in table.rows[heading + 1 :][:2]
    )
    assert local[1] is None
    assert local[0] == local[2] == pytest.approx(202, abs=3)
    assert remote == [pytest.approx(155, abs=3), pytest.approx(115, abs=3), pytest.approx(270, abs=5)]
    assert view.analysis.estimates["start_rss"]["jit-remote"].ratio == pytest.approx(1.34, abs=0.04)


def test_the_sentence_tells_the_parts_too() -> None:
    plan = sample_procedures.jitserver_plan()
    plan.report = ("start_rss",)
    sentence = sample.make_view(plan).answer[1]
    assert re.match(
        r"Memory \(RSS\) of servers and JITServer after the start: \d+ MiB with compiler = local; \d+ MiB \(servers \d+"
        r" MiB, JITServer \d+ MiB\) with compiler = remote, \+\d+ %",
        sentence,
    )


def test_what_an_arm_does_not_have_is_none_and_not_missing(view: View) -> None:
    table = tables.headline(view)
    place = next(i for i, c in enumerate(table.columns) if c.label == "start-up CPU of the JITServer")
    assert table.rows[0][place] == TableCell("none")
    assert table.rows[1][place].notes == ("the baseline has none",)
    for page in (to_html(view), to_markdown(view)):
        assert "not in every trial" not in page
        assert "no comparison" not in page
    rows = [[cell.text for cell in row] for row in tables.estimates(view).rows]
    assert ["local (baseline)", "\N{EN DASH}", "none", *["\N{EN DASH}"] * 10] in rows


def test_a_component_that_was_not_measured_is_not_none() -> None:
    session, trials, _ = sample.make(sample_procedures.jitserver_plan())
    gone = {"start_cpu", "start_cpu_compiler"}
    lost = [
        trial.model_copy(
            update={
                "metrics": {name: value for name, value in trial.metrics.items() if name not in gone},
                "components": [
                    part.model_copy(update={"start_cpu_seconds": None}) if part.role == "compiler" else part
                    for part in trial.components
                ],
            }
        )
        for trial in trials
    ]
    view = View(session, analyse(session, lost), lost)
    assert view.why_no_mean("start_cpu_compiler", "jit-remote") == "not in every trial"
    assert view.why_no_mean("start_cpu_compiler", "jit-local") == "none"


def test_a_session_that_kept_the_sums_alone_has_their_parts_too() -> None:
    session, trials, analysis = sample.make(sample_procedures.jitserver_plan())
    kept = ("start_rss", "start_cpu", "start_cpu_compiler", "first_answers_time")
    old = [
        trial.model_copy(
            update={"metrics": {name: trial.metrics[name] for name in kept if name in trial.metrics}}
        )
        for trial in trials
    ]
    analysis_again = analyse(session, old)
    for name in ("start_rss_servers", "start_rss_compiler", "start_cpu_servers"):
        assert analysis_again.summaries[name] == analysis.summaries[name]


def test_without_a_jitserver_a_figure_is_the_servers_and_has_no_parts() -> None:
    view = sample.make_view(sample.study_plan())
    assert tables.by_role(view) is None
    labels = [info.label for info in view.analysis.metrics]
    assert "memory (RSS) of the servers" in labels
    assert not [label for label in labels if "alone" in label or "JITServer" in label]


def test_bold_is_by_one_rule(view: View) -> None:
    """In every table: the changes whose interval leaves out 0, and nothing else."""
    for view_of in (view, sample.make_view(sample.study_plan())):
        for table in (tables.headline(view_of), tables.estimates(view_of), tables.by_role(view_of)):
            for row in table.rows if table is not None else ():
                for place, cell in enumerate(row):
                    lines = (cell.text, *cell.notes)
                    if cell.bold is not None:
                        assert re.match(r"[+\N{MINUS SIGN}]\d|\N{MULTIPLICATION SIGN} ", lines[cell.bold]), (
                            cell
                        )
                    bounds = (
                        lines[2] if len(lines) > 2 else row[place + 1].text if place + 1 < len(row) else ""
                    )
                    ends = re.fullmatch(r"(\S+) to (\S+) %", bounds)
                    if ends and re.match(r"[+\N{MINUS SIGN}]\d[\d.]* %", lines[1 if len(lines) > 2 else 0]):
                        low, high = (float(end.replace("\N{MINUS SIGN}", "-")) for end in ends.groups())
                        assert (cell.bold is not None) == (not low <= 0 <= high), (cell, bounds)


def test_one_arm_has_one_mean() -> None:
    """Sentence and table said 294,468 and 289,187 of one arm: a repeated comparison leaves an arm more trials."""
    view = sample.make_view(sample.study_plan())
    text = " ".join(view.answer)
    for metric in view.headline[:2]:
        for arm in view.arms:
            mean = figures.with_unit(metric, view.analysis.summaries[metric.name][arm.name].mean)
            for mean_told in re.findall(
                rf"([\d,.]+ \S+) with {re.escape(view.arm_label(arm.name))}[;,]", text
            ):
                assert mean_told in {
                    figures.with_unit(m, view.analysis.summaries[m.name][arm.name].mean)
                    for m in view.headline
                }
    assert "means are over all valid trials" in view.answer[-1]
    assert mean
