# SPDX-License-Identifier: Apache-2.0
"""A certificate is made of what a gate will weigh, and says what it does not hold for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm
from hostile import KnownResolver
from kept_sessions import write_session
from planned import processes
from sample_gate import make_gate

from steelyard.errors import BadInput
from steelyard.experiment.schema import DeploymentSettings
from steelyard.gate.certificate import Certificate, Noise
from steelyard.gate.conditions import Conditions
from steelyard.gate.plan import (
    conditions_here,
    create_confirmation,
    make_terms,
    plan_certification,
    plan_gate,
)
from steelyard.measure.registry import BY_CLOCK
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import GateTerms
from steelyard.session.plan import RunRequest, SessionPlan
from steelyard.spec.layout import Runtime

REQUEST = RunRequest("gate", blocks=6, seed=3)


class RuntimeResolver(KnownResolver):
    """Those of a host with two families of JVMs."""

    def runtime(self, deployment: DeploymentSettings, *settings: Any) -> Runtime:
        if deployment.engine == "process" and deployment.jdk == "openj9-21":
            return processes(make_jvm("openj9", 21))
        return super().runtime(deployment, *settings)


@pytest.fixture(autouse=True)
def _runtimes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.session.plan.RuntimeResolver", RuntimeResolver)


def gate(baseline: str, candidate: str, **more: Any) -> SessionPlan:
    return plan_gate(REQUEST, {"baseline": baseline, "candidate": candidate}, None, **more)


@pytest.mark.parametrize(
    ("baseline", "candidate", "other"),
    [
        ("image=example/shop:1", "image=example/shop:2", {"engine", "jvm", "settings"}),
        ("example/shop:1", "example/shop:2", {"engine", "jvm", "settings"}),
        ("jdk=openj9-21", "checkout", {"jvm", "settings"}),
        ("jvms=2", "jvms=2,gc_threads=1", {"deployment", "settings"}),
        ("checkout", "threads=7", set()),
        ("build=HEAD", "checkout", set()),
        ("OTHER.yaml", "checkout", {"deployment", "settings"}),
    ],
)
def test_a_certificate_of_a_baseline_holds_for_the_gate_of_it(
    baseline: str, candidate: str, other: set[str], tmp_path: Path
) -> None:
    if baseline == "OTHER.yaml":
        text = (EXPERIMENTS / "gate.yaml").read_text(encoding="utf-8")
        assert "jvms: 1" in text
        baseline = str(tmp_path / "other.yaml")
        Path(baseline).write_text(text.replace("jvms: 1", "jvms: 2"), encoding="utf-8")
    certified = conditions_here(plan_certification(REQUEST, baseline), None)
    assert certified == conditions_here(gate(baseline, candidate), None)
    plain = conditions_here(plan_certification(REQUEST), None)
    differ = {name for name in Conditions.model_fields if getattr(plain, name) != getattr(certified, name)}
    assert differ == other, "what a certificate of the experiment's own baseline would have missed"


def test_both_arms_of_a_certificate_are_the_baseline() -> None:
    plan = plan_certification(REQUEST, "jdk=openj9-21")
    one, other = (spec.model_copy(update={"arm": ""}) for spec in plan.specs.values())
    assert one == other
    assert [spec.servers[0].artifact.jvm.kind for spec in plan.specs.values()] == ["openj9", "openj9"]  # type: ignore[union-attr]
    assert plan.experiment.design.blocks == 6


def test_a_candidate_on_another_jvm_is_no_matter_of_the_certificate() -> None:
    same, other = gate("checkout", "threads=7"), gate("checkout", "jdk=openj9-21")
    assert terms(same).notes == []
    found = terms(other)
    assert found.abstains == []
    (note,) = found.notes
    assert (
        "of the baseline's JVM (hotspot 17); the candidate runs another (openj9 21), whose noise is not"
        in note
    )


def terms(plan: SessionPlan) -> GateTerms:
    """The terms of a gate whose certificate holds."""
    sides = {"baseline": "checkout", "candidate": "another"}
    return make_terms(plan, [6], sides, 0.03, None, certificate(conditions_here(plan, None)))


def test_a_certificate_without_a_floor_for_so_few_pairs_allows_no_margin() -> None:
    plan = gate("checkout", "threads=7")
    made = certificate(conditions_here(plan, None))
    (noise,) = made.noise
    few = made.model_copy(update={"noise": [noise.model_copy(update={"floors": {10: 0.015}})]})
    sides = {"baseline": "checkout", "candidate": "threads=7"}
    terms = make_terms(plan, [6], sides, 0.03, None, few)
    assert terms.floor is None
    assert "says nothing of gates of 6 pairs" in terms.abstains[0]


def test_the_session_that_confirms_has_no_profiles(tmp_path: Path) -> None:
    session, trials, _ = make_gate(0.9)
    profiled = session.model_copy(update={"profilers": ["cpu"], "counters": {"cycles": "cycles"}})
    first = write_session(tmp_path, profiled, trials)
    second = create_confirmation(first).session()
    assert (second.profilers, second.counters) == ([], {"cycles": "cycles"})


def certificate(conditions: Conditions) -> Certificate:
    noise = Noise(
        metric="cpu_per_1k",
        pairs=10,
        pair_sd=0.005,
        start_sd=0.0035,
        floor=0.01,
        floors={6: 0.02, 10: 0.015, 20: 0.01},
        mean=1.0,
        p=0.5,
        drift=0.0,
        drifts=False,
        groups=None,
    )
    return Certificate(
        steelyard_version="1",
        session="s",
        made=0.0,
        expires=1.0,
        conditions=conditions,
        told="a host",
        blocks=10,
        pair_seconds=60.0,
        noise=[noise],
    )


def test_sides_in_turns_have_all_cores_each_and_the_time_that_they_have_alone() -> None:
    alone = plan_certification(REQUEST)
    turns = plan_certification(REQUEST, duet="in-turns")
    mine, theirs = turns.specs["side-one"], turns.second["side-other"]
    assert mine.server_cpus == theirs.server_cpus == alone.specs["side-one"].server_cpus
    assert not set(mine.ports) & set(theirs.ports)
    assert mine.usable_cpus == alone.specs["side-one"].usable_cpus / 2
    loads = alone.experiment.load, turns.experiment.load
    assert loads[1].measure == 2 * loads[0].measure
    assert (loads[1].warmup.at_least, loads[1].warmup.at_most) == (
        2 * loads[0].warmup.at_least,
        2 * loads[0].warmup.at_most,
    )
    assert any("in turns of 0.25 s" in note for note in turns.notes)
    named = {conditions_here(plan, None).deployment for plan in (alone, turns)}
    assert len(named | {conditions_here(plan_certification(REQUEST, duet=True), None).deployment}) == 3


def test_a_gate_in_turns_cannot_decide_by_what_the_clock_tells() -> None:
    sides = {"baseline": "checkout", "candidate": "threads=7"}
    with pytest.raises(BadInput, match=r"latency_p99 is measured by the clock, .* leave --in-turns out"):
        plan_gate(REQUEST, sides, "latency_p99", duet="in-turns")
    plan = plan_gate(REQUEST, sides, None, duet="in-turns")
    assert not BY_CLOCK & {plan.experiment.metrics.primary, *plan.experiment.metrics.report}
    assert "latency_p99" in BY_CLOCK


def test_an_open_load_has_no_turns() -> None:
    with pytest.raises(BadInput, match="an open load goes on while a side is frozen: leave --in-turns out"):
        plan_certification(replace(REQUEST, experiment="load-levels"), duet="in-turns")
