# SPDX-License-Identifier: Apache-2.0
"""A figure is a file, and so is a rule: each is added to a copy of the package by one file, and is found in the schema,
the plan, the session, the report, the reference page and the self-check's trials."""

from pathlib import Path
from typing import Any

import pytest
from added import copy_checkout, example, run_in_copy

from steelyard.paths import ROOT

ADDED = Path(__file__).with_name("measured_again.py")


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Where a copy with both files tells of them."""
    package = copy_checkout(tmp_path_factory.mktemp("copy"))
    for name, title in (("thread_count", "A figure"), ("few_threads", "A rule")):
        (package / "measure" / f"{name}.py").write_text(example(title), encoding="utf-8")
    session = package.parent / "session"
    return run_in_copy(package, ADDED, session, ROOT / "docs" / "metrics.md", "server_threads")


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
