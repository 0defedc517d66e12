# SPDX-License-Identifier: Apache-2.0
"""`compare` and `tune` as they are typed: two directories side by side, pairs that are refused, one page for a host."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sample import Plan, write
from typer.testing import CliRunner

from steelyard.analysis.across import IntervalEstimate, Side
from steelyard.cli.app import app
from steelyard.errors import BadInput, SteelyardError
from steelyard.host.states import STATES
from steelyard.report.comparing import _ratio_cell, no_cause, side_by_side
from steelyard.results.store import SessionDirectory

PLAN = Plan(factors={"jvms": {"label": "JVMs", "levels": [1, 4]}})


def invoke(*words: str | Path) -> tuple[str, SteelyardError | None]:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert isinstance(done.exception, SteelyardError | SystemExit | None), done.exception
    return done.output, done.exception if isinstance(done.exception, SteelyardError) else None


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("first"), PLAN).path


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("second"), replace(PLAN, seed=7)).path


def test_two_sessions_side_by_side(first: Path, second: Path) -> None:
    printed, refused = invoke("compare", first, second, "--price", "100,50", "--cores", "4,8")
    assert refused is None
    for text in (
        "Effects side by side",
        "JVMs = 4",
        "Throughput for what a host has",
        "per unit of price",
        "Both sessions are of one host",
        "4 cores as given",
    ):
        assert text in printed
    document = json.loads(invoke("compare", first, second, "--json")[0])
    effect = next(effect for effect in document["effects"] if effect["metric"] == "throughput")
    assert effect["apart"]["value"] == pytest.approx(effect["second"]["ratio"] / effect["first"]["ratio"])
    assert effect["apart"]["low"] < 1 < effect["apart"]["high"]  # the same hosts, but for chance
    assert document["sessions"][0]["yields"]["jvms-1"].keys() == {"throughput", "core", "GiB"}


def test_columns_name_what_differs_hosts_or_sessions_of_one(first: Path, second: Path) -> None:
    sides = [
        Side(kept.session(), kept.analysis(), kept.trials())
        for kept in map(SessionDirectory, (first, second))
    ]

    def heads(other: str | None) -> tuple[str, str]:
        host = sides[1].session.host.model_copy(update={"hostname": other})
        session = sides[1].session.model_copy(update={"host": host})
        moved = replace(sides[1], session=session)
        effects_table, *_ = side_by_side(sides[0], moved)
        return effects_table.columns[3].label, no_cause(sides[0], moved)

    own = sides[0].session.host.hostname
    assert own
    assert heads(own) == ("second session", no_cause(*sides))
    assert heads("another")[0] == "second host"
    assert heads("another")[1].startswith("Two hosts differ in everything")


@pytest.mark.parametrize(
    ("ratio", "texts"),
    [
        ((1.004, 1.0003, 1.0077), ("1.0040", "1.0003 to 1.0077")),
        ((1.004, 0.9997, 1.0083), ("1.004", "1.000 to 1.008")),
        ((0.0004, 0.0003, 0.0005), ("0.00040", "0.00030 to 0.00050")),
    ],
)
def test_an_interval_without_1_does_not_seem_to_reach_it(
    ratio: tuple[float, float, float], texts: tuple[str, str]
) -> None:
    cell = _ratio_cell(IntervalEstimate(*ratio, 12))
    assert (cell.text, *cell.notes) == texts
    assert (cell.bold is None) is (ratio[1] < 1 < ratio[2])


def test_builds_that_nothing_tells_are_not_taken_for_one(first: Path, second: Path) -> None:
    def side(path: Path, **artifact: str | None) -> Side:
        kept = SessionDirectory(path)
        session = kept.session()
        arms = [
            arm.model_copy(
                update={
                    "spec": arm.spec.with_changes(
                        "server",
                        lambda component: {"artifact": component.artifact.model_copy(update=artifact)},
                    )
                }
            )
            for arm in session.arms
        ]
        return Side(session.model_copy(update={"arms": arms}), kept.analysis(), kept.trials())

    known, unknown = {"build": "1a2b"}, {"build": None}
    said = "The build of server is unknown"
    assert said not in str(side_by_side(side(first, **known), side(second, **known)))
    assert said in str(side_by_side(side(first, **unknown), side(second, **unknown)))


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(PLAN, name="another"), "the experiment: jvm-count and another"),
        (replace(PLAN, quick=True), "quick: false and true"),
        (replace(PLAN, primary="memory_rss"), "the primary metric: throughput and memory_rss"),
        (replace(PLAN, mix={"ping": 0.5, "pong": 0.5}), "jvms-1"),
        (replace(PLAN, procedure="start-up"), "jvms-1"),
    ],
)
def test_what_may_not_stand_side_by_side(tmp_path: Path, first: Path, other: Plan, why: str) -> None:
    printed, refused = invoke("compare", first, write(tmp_path, other).path)
    assert isinstance(refused, BadInput)
    assert why in str(refused)
    assert printed == ""


@pytest.mark.parametrize("pair", ["1", "1,2,3", "a,b", "0,1", "-1,2", "nan,1", "inf,1"])
def test_prices_are_two_numbers(first: Path, second: Path, pair: str) -> None:
    _, refused = invoke("compare", first, second, f"--price={pair}")
    assert isinstance(refused, BadInput)
    assert "give a number above zero for either host" in str(refused)


def test_the_checklist_of_this_host_fits_one_page() -> None:
    printed, refused = invoke("tune")
    assert refused is None
    assert len(printed.splitlines()) < 80
    rows = json.loads(invoke("tune", "--json")[0])
    assert [row["topic"] for row in rows][:2] == ["thp", "smt"]
    assert all(row["now"] for row in rows)
    assert all(bool(row["sets"]) == bool(row["undoes"]) for row in rows)


def test_host_states_are_shown_with_what_they_take() -> None:
    rows = json.loads(invoke("host", "show", "--json")[0])
    assert [row["state"] for row in rows] == list(STATES)
    assert all(row["now"] or row["says"] for row in rows)
    for words, why in (
        (["thp"], "not of the form"),
        (["nothing=1"], "no host state"),
        (["thp=x"], "no mode of"),
    ):
        _, refused = invoke("host", "set", *words)
        assert why in str(refused)
