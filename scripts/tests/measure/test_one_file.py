# SPDX-License-Identifier: Apache-2.0
"""A figure is a file, and so is a rule: each is added to a copy of the package by one file, and is found in the schema,
the plan, the session, the report, the reference page and the self-check's trials."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.paths import ROOT

TESTS = Path(__file__).parents[1]
ADDED = TESTS / "measure" / "added.py"
FIGURE = '''\
"""Threads of a component."""

from steelyard.measure.formulas import SERVERS, Metric, sum_of
from steelyard.measure.window import Window, component_figure
from steelyard.results.spec import Component


@component_figure("count")
def thread_count(window: Window, component: Component) -> float | None:
    """Threads, mean over the window."""
    return window.samples.processes[component.name, "threads"].mean(window.start, window.end)


METRICS = (
    Metric(
        name="server_threads",
        label="threads of the servers",
        unit="count",
        source="Threads of all processes of the servers, mean over the window.",
        pitfalls="A thread that sleeps costs little.",
        compute=sum_of("thread_count", SERVERS),
    ),
)
'''
RULE = '''\
"""Whether servers have few threads."""

from steelyard.measure.formulas import combine_known
from steelyard.measure.rule import Rule, judge_figure
from steelyard.measure.window import Window, trial_figure


@trial_figure("count", undisturbed=1)
def most_threads(window: Window) -> float | None:
    """Threads of the server that has most."""
    return combine_known((one.value("thread_count") for one in window.of("server")), max)


RULES = (
    Rule(
        name="few-threads",
        limit=2.0,
        unit="threads",
        says="no server has more than two threads",
        judge=judge_figure("most_threads", "a server had {}", "{:.0f} threads".format, "unknown threads"),
        voids=False,
    ),
)
'''


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Where a copy with both files tells of them."""
    copy = tmp_path_factory.mktemp("copy")
    measure = copy / "steelyard" / "measure"
    shutil.copytree(
        ROOT / "scripts" / "steelyard", copy / "steelyard", ignore=shutil.ignore_patterns("__pycache__")
    )
    (measure / "thread_count.py").write_text(FIGURE, encoding="utf-8")
    (measure / "few_threads.py").write_text(RULE, encoding="utf-8")
    paths = (copy, TESTS, TESTS / "measure", TESTS.parent)
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            ADDED,
            copy / "session",
            ROOT / "docs" / "metrics.md",
            "server_threads",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    places: dict[str, Any] = json.loads(done.stdout)
    return places


def test_they_are_in_the_schema_of_a_trial(added: dict[str, Any]) -> None:
    component, trial = (
        added["schema"][name]["properties"] for name in ("ComponentResult", "TrialMeasurement")
    )
    assert component["thread_count"]["description"] == "Threads, mean over the window (count)."
    assert trial["most_threads"]["type"] == ["number", "null"]


def test_an_experiment_may_ask_for_it(added: dict[str, Any]) -> None:
    assert "steady" in added["plan"]["server_threads"]


def test_each_trial_has_them(added: dict[str, Any]) -> None:
    for trial in added["session"]:
        servers = [one["thread_count"] for one in trial["components"] if one["role"] == "server"]
        assert trial["metrics"]["server_threads"] == pytest.approx(sum(servers))
        assert trial["measurement"]["most_threads"] == max(servers) > 2
        (check,) = (check for check in trial["checks"] if check["name"] == "few-threads")
        assert (check["passed"], check["voids"], check["value"]) == (False, False, max(servers))


def test_the_report_tells_of_them(added: dict[str, Any]) -> None:
    assert "threads of the servers" in added["report"]
    assert "few-threads: failed in 6 of 6 trials (only marks)" in added["report"]


def test_they_are_in_the_tables_of_the_page(added: dict[str, Any]) -> None:
    assert "| `server_threads` | count | lower |" in added["reference"]
    assert "| `few-threads` | no server has more than two threads | 2 threads | marks |" in added["reference"]


def test_a_simulated_trial_passes_the_new_rule(added: dict[str, Any]) -> None:
    (check,) = (check for check in added["simulated"] if check["name"] == "few-threads")
    assert (check["passed"], check["value"]) == (True, 1)
