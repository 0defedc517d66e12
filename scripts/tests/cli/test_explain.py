# SPDX-License-Identifier: Apache-2.0
"""`explain`: whatever has a name in a report or in a file can be asked for, and says something."""

import json
import re

import pytest
from typer.testing import CliRunner

from steelyard.cli.app import app
from steelyard.cli.explain import explanations
from steelyard.errors import BadInput, Exit
from steelyard.experiment.settings import Settings
from steelyard.host.states import STATES
from steelyard.measure.ledger import PARTNER
from steelyard.measure.registry import METRICS, RULES
from steelyard.paths import ROOT
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
    wanted |= {str(int(code)) for code in Exit} | {PARTNER}
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


def test_no_explanation_needs_the_page_that_it_stands_on() -> None:
    for each in explanations():
        for text in each.lines.values():
            assert "](" not in text, each
            assert "\\|" not in text, each
            assert text.count("`") % 2 == 0, each
            assert not re.search(r"\babove\b(?! (?:\d|it\b))", text), each
        assert not re.fullmatch(r"[\d.]+ ?", each.lines.get("limit", "")), each


@pytest.mark.parametrize(("name", "default"), [("ramp", "2 s"), ("measure", "60 s"), ("think_time", "0 s")])
def test_the_default_of_a_duration_has_its_unit(name: str, default: str) -> None:
    assert f"default: {default}\n" in explained(name)


def test_a_bare_backquote_is_no_part_of_a_place() -> None:
    assert "`" not in explained("smt")


def test_every_check_of_the_page_of_void_trials_is_explained() -> None:
    page = (ROOT / "docs" / "how-to" / "void-trials.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z][a-z-]*)`", page, re.MULTILINE) + re.findall(
        r"the check `([a-z-]+)`", page
    )
    assert len(named) > 20
    assert set(named) <= {each.name for each in explanations()}


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
