# SPDX-License-Identifier: Apache-2.0
"""Negative controls: what the change cannot touch moved, so that nothing can be said of the change."""

import pytest
from builders import make_component, make_spec
from pairs import gate, pairs

from steelyard.gate.controls import CONTROLS, moved_controls, runs_one_application
from steelyard.gate.result import conclude
from steelyard.measure.registry import METRIC_INFOS
from steelyard.results.spec import Artifact

DATABASE = "cpu_per_1k_database"


def test_controls_are_metrics() -> None:
    assert {info.name for info in METRIC_INFOS} >= {*CONTROLS}


@pytest.mark.parametrize(("change", "outcome"), [(0.0, "pass"), (0.08, "regression")])
def test_a_database_that_costs_another_amount_makes_a_verdict_inconclusive(
    change: float, outcome: str
) -> None:
    session = gate()
    again = (gate(confirms=session.id), pairs(change, cpu_per_1k_database=0.0))
    calm = conclude((session, pairs(change, cpu_per_1k_database=0.0)), again if change else None)
    assert calm.outcome == outcome
    moved = conclude((session, pairs(change, cpu_per_1k_database=0.05)), again if change else None)
    assert moved.outcome == "inconclusive"
    assert "CPU of the databases per 1,000 requests moved by +5" in moved.sentence
    assert f"Without that: {outcome}: " in moved.sentence


def test_without_a_database_there_is_no_such_control() -> None:
    assert moved_controls(gate(), pairs(0.0)) == []


def test_another_build_may_ask_another_thing_of_its_database() -> None:
    session = gate()
    baseline, candidate = session.arms
    server = make_component(artifact=Artifact(form="liberty", package="app", build="other"))
    changed = candidate.model_copy(update={"spec": make_spec(candidate.name, components=[server])})
    other = session.model_copy(update={"arms": [baseline, changed]})
    assert moved_controls(session, pairs(0.0, cpu_per_1k_database=0.05)) != []
    assert moved_controls(other, pairs(0.0, cpu_per_1k_database=0.05)) == []


@pytest.mark.parametrize(
    "artifact", [Artifact(form="command"), Artifact(form="image", image="shop@sha256:1")]
)
def test_what_an_image_or_a_command_holds_is_not_known(artifact: Artifact) -> None:
    spec = make_spec(components=[make_component(artifact=artifact)])
    assert not runs_one_application(spec, spec)
