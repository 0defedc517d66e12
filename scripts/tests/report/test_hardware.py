# SPDX-License-Identifier: Apache-2.0
"""The report's table of what the hardware did: counters by kind of component and arm."""

import re
from dataclasses import replace

import pytest
import sample
import sample_procedures

from steelyard.analysis.estimates import analyse
from steelyard.report.hardware import hardware_table
from steelyard.report.pages import to_html
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.schema import Trial

COUNTED = {"instructions": "instructions", "llc_misses": "LLC-load-misses"}


def counted_view(plan: sample.Plan, counters: dict[str, str]) -> View:
    """A session that counts 2e9 instructions of each server and 1e9 of each JITServer; of the last cache nothing."""
    session = sample.session_of(plan).model_copy(update={"counters": counters})

    def count(trial: Trial) -> Trial:
        amounts = {"server": 2e9, "compiler": 1e9}
        parts = [
            part.model_copy(update={"instructions": amounts.get(part.role)}) for part in trial.components
        ]
        return trial.model_copy(update={"components": parts})

    trials = [count(trial) for trial in sample.trials_of(plan, session)]
    return View(session, analyse(session, trials), trials)


def test_a_row_is_a_counter_and_a_column_a_kind_of_component_of_an_arm() -> None:
    view = counted_view(sample.two_arm_plan(), COUNTED)
    table = hardware_table(view)
    assert table is not None
    (kind,) = {server.kind for spec in view.specs.values() for server in spec.servers}
    labels = [f"{kind}, page size = {size}" for size in ("small", "transparent")]
    assert [column.label for column in table.columns] == ["counter", *labels]
    # What was counted in no trial has no row.
    (row,) = table.rows
    assert row[0].text == "instructions"
    requests = [
        trial.metrics["throughput"] * 1e-3 * (trial.phases["measure"][1] - trial.phases["measure"][0])
        for trial in view.trials
        if trial.arm == "pages-small"
    ]
    mean = sum(2e9 / each for each in requests) / len(requests)
    assert float(row[1].text.replace(",", "")) == pytest.approx(mean, rel=0.01)


def test_servers_and_their_jitserver_have_columns_of_their_own() -> None:
    view = counted_view(replace(sample_procedures.jitserver_plan(), procedure="steady", shape=None), COUNTED)
    table = hardware_table(view)
    assert table is not None
    labels = [column.label for column in table.columns[1:]]
    # The arm that compiles in its servers has no JITServer and no column of one.
    assert [label for label in labels if label.startswith("jitserver")] == [
        "jitserver, compiler = remote",
        "jitserver, compiler = heuristics",
    ]
    # The sample's trials have no JITServer's counts.
    assert [cell.text for cell in table.rows[0]][-2:] == [figures.DASH] * 2


def test_a_session_that_counts_nothing_has_no_such_table() -> None:
    view = counted_view(sample.two_arm_plan(), {})
    assert hardware_table(view) is None
    assert "What the hardware did" not in to_html(view)


def test_the_report_has_the_table_below_the_arms() -> None:
    page = to_html(counted_view(sample.two_arm_plan(), COUNTED))
    assert re.search(r'id="arms".*<h3>What the hardware did</h3>.*id="charts"', page, re.DOTALL)
