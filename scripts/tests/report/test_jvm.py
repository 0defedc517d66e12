# SPDX-License-Identifier: Apache-2.0
"""The report's table of what the JVM did: figures by arm, with what a JVM does not tell as a dash."""

import re

import sample

from steelyard.analysis.estimates import analyse
from steelyard.measure.record import metrics_of
from steelyard.report.jvm import jvm_table
from steelyard.report.pages import to_html
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.schema import Trial


def view_of(**told: float) -> View:
    """A session whose servers tell these figures, those of its second arm no waits for locks."""
    plan = sample.two_arm_plan()
    session = sample.session_of(plan)
    specs = {arm.name: arm.spec for arm in session.arms}

    def tell(trial: Trial) -> Trial:
        own = {
            name: value for name, value in told.items() if trial.arm == "pages-small" or name != "lock_waits"
        }
        parts = [part.model_copy(update=own) if part.role == "server" else part for part in trial.components]
        again = trial.model_copy(update={"components": parts})
        return again.model_copy(update={"metrics": trial.metrics | metrics_of(again, specs[trial.arm])})

    trials = [tell(trial) for trial in sample.trials_of(plan, session)]
    return View(session, analyse(session, trials), trials)


def test_a_row_is_a_figure_and_a_column_an_arm() -> None:
    view = view_of(lock_waits=3e4, safepoint_seconds=0.6, cpu_wait_seconds=3.0, threads_asleep=41.0)
    table = jvm_table(view)
    assert table is not None
    assert [column.label for column in table.columns] == [
        "figure",
        "page size = small",
        "page size = transparent",
    ]
    rows = {row[0].notes: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["threads_asleep",] == ["41.0 threads"] * 2
    small, transparent = rows["lock_waits_per_1k",]
    assert small.endswith(" 1/1k req")
    assert transparent == figures.DASH
    assert ("safepoint_share",) in rows
    # What no arm tells has no row.
    assert ("native_memory",) not in rows


def test_the_report_has_it_inside_the_trials() -> None:
    page = to_html(view_of(lock_waits=3e4))
    assert re.search(
        r'id="inside".*<h3>What the JVM did</h3>.*lock_waits_per_1k.*id="power"', page, re.DOTALL
    )
    assert jvm_table(view_of()) is None
