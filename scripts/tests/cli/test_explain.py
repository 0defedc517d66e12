# SPDX-License-Identifier: Apache-2.0
"""`explain`: whatever has a name in a report or in a file can be asked for, and says something."""

import json

import pytest
from typer.testing import CliRunner

from steelyard.cli.app import app
from steelyard.cli.explain import explanations
from steelyard.errors import BadInput, Exit
from steelyard.experiment.settings import Settings
from steelyard.host.states import STATES
from steelyard.measure.registry import METRICS, RULES
from steelyard.workload.loader import load_workload, workload_names


def explained(*words: str) -> str:
    result = CliRunner().invoke(app, ["explain", *words])
    if result.exception is not None:
        raise result.exception
    return result.output


def test_every_name_is_explained_once_for_each_thing_that_it_names() -> None:
    known = [(each.name, each.topic) for each in explanations()]
    assert len(known) == len(set(known))
    wanted = {metric.name for metric in METRICS} | {rule.name for rule in RULES} | STATES.keys()
    wanted |= {str(int(code)) for code in Exit}
    for name in workload_names():
        wanted |= Settings(load_workload(name).workload, {}).sections.keys()
    assert {name for name, _ in known} == wanted


def test_each_says_what_it_is() -> None:
    silent = [each.name for each in explanations() if not next(iter(each.lines.values()))]
    assert not silent


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("throughput", ["metric", "req/s, higher is better", "misleads:"]),
        ("sample-gaps", ["check", "makes the trial void", "2.5 s"]),
        ("sample_gaps", ["sample-gaps  (check)"]),
        ("gc", ["setting of the JVM", "-XX:+UseG1GC", "-Xgcpolicy:gencon"]),
        ("acmeair.customers", ["setting of acmeair", "at least: 1", "at most: 1000000"]),
        ("thp", ["state of the host", "always, madvise or never"]),
        ("9", ["exit code", "no valid pair"]),
        ("warmup", ["steady", "compiled"]),
    ],
)
def test_a_name_gives_what_its_definition_says(name: str, said: list[str]) -> None:
    text = explained(name)
    assert [part for part in said if part not in text] == []


def test_what_has_two_meanings_gives_both() -> None:
    assert explained("restarts").count("restarts  (") == 2


def test_without_a_name_all_are_listed() -> None:
    text = explained()
    assert [each.name for each in explanations() if each.name not in text] == []


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"nothing is called 'thruput' \(did you mean 'throughput'"):
        explained("thruput")


def test_json_has_the_same_lines() -> None:
    (only,) = json.loads(explained("steal", "--json"))
    assert only["topic"] == "check"
    assert only["lines"]["limit"] in explained("steal")
