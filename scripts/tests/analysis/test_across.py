# SPDX-License-Identifier: Apache-2.0
"""Two sessions from two hosts: which may not be set side by side, and what is said of those that may."""

import math
from typing import Any

import numpy as np
import pytest
from builders import make_component, make_experiment, make_host, make_jvm, make_session, make_spec, make_trial

from steelyard.analysis.across import AUTHORITY, Side, differences, effects, welch, yields
from steelyard.analysis.estimates import analyse
from steelyard.report.comparing import side_by_side
from steelyard.results.schema import RecordedWorkload, Session, Trial
from steelyard.results.spec import Artifact, Spec

MIB = 1024 * 1024
POWER = make_host(hostname="power", architecture="ppc64le", cores=8, cpus=64)


def of_host(rates: dict[str, list[float]], cores: int = 4, **changes: Any) -> tuple[Session, list[Trial]]:
    """A session of two arms, and its trials: throughput by arm and block, 512 MiB in each."""
    made = make_session([1, 2], len(next(iter(rates.values()))), metrics={"report": ["memory_rss"]})
    made = made.model_copy(update={"created": sum(map(sum, rates.values()))})
    arms = [
        arm.model_copy(update={"spec": arm.spec.model_copy(update={"server_cores": cores})})
        for arm in made.arms
    ]
    trials = [
        make_trial(block, arm, metrics={"throughput": rate, "memory_rss": 512.0 * MIB})
        for arm, values in rates.items()
        for block, rate in enumerate(values, start=1)
    ]
    return made.model_copy(update={"arms": arms, **changes}), trials


def side(
    rates: dict[str, list[float]], cores: int = 4, given: dict[str, float] | None = None, **changes: Any
) -> Side:
    made, trials = of_host(rates, cores, **changes)
    return Side(made, analyse(made, trials), trials, given or {})


FIRST = {"jvms-1": [100.0, 102.0, 98.0, 101.0], "jvms-2": [150.0, 156.0, 148.0, 151.0]}
SECOND = {"jvms-1": [300.0, 303.0, 297.0, 302.0], "jvms-2": [330.0, 335.0, 324.0, 333.0]}


def changed(**changes: Any) -> Session:
    """A later session."""
    return of_host(FIRST, created=7.0, **changes)[0]


def respecify(change: dict[str, Any]) -> Session:
    made = changed()
    arms = [arm.model_copy(update={"spec": arm.spec.model_copy(update=change)}) for arm in made.arms]
    return made.model_copy(update={"arms": arms})


def jvm(version: str) -> Spec:
    artifact = Artifact(form="liberty", package="app", build="f", jvm=make_jvm(java_version=version))
    return make_spec(components=[make_component(artifact=artifact)])


def test_hosts_and_what_belongs_to_them_may_differ() -> None:
    other = changed(host=POWER, versions={"python": "3.13", "numpy": "3"}, seed=9, id="another")
    assert differences(changed(versions={"python": "3.11"}), other) == []
    home = make_jvm(home="/elsewhere", architecture="ppc64le", runtime_version="17+1-vendor")
    moved = make_component(artifact=Artifact(form="liberty", package="app", build="f", jvm=home), cpus=[4, 5])
    assert differences(of_host(FIRST)[0], respecify({"components": [moved], "server_cores": 8})) == []
    more = changed(arms=[*changed().arms, changed().arms[1].model_copy(update={"name": "jvms-4"})])
    assert differences(of_host(FIRST)[0], more) == []


def test_one_session_twice_is_refused() -> None:
    assert differences(changed(), changed()) == ["they are one session"]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (changed(workload=RecordedWorkload(name="app", version="2")), "the workload: version: 1 and 2"),
        (changed(quick=True), "quick: false and true"),
        (changed(versions={"gatling": "3.0"}), "the versions: gatling: null and 3.0"),
        (changed(steelyard_version="9"), "the version of Steelyard: 0.0.7 and 9"),
        (changed(experiment=make_experiment(name="x")), "the experiment: asked and x"),
        (
            changed(experiment=make_experiment(load={"users": 9})),
            "the load: users: 8 and 9",
        ),
        (
            changed(experiment=make_experiment(procedure="ramp-up")),
            "the procedure: steady and ramp-up",
        ),
        (respecify({"settings": {"app.rows": 5}}), "jvms-1: workload's settings: app.rows: null and 5"),
        (respecify({"engine": "compose"}), "jvms-1: engine: process and compose"),
        (
            respecify({"components": jvm("26").components}),
            "jvms-1: runs: server: JVM: hotspot 17.0.1 and hotspot 26",
        ),
        (make_session([1, 8], 4), "the primary metric"),
        (make_session([4, 8], 4, metrics={"report": ["memory_rss"]}), "the baseline: jvms-1 and jvms-4"),
        (changed(experiment=make_experiment(search={"raise": "users"})), "the search"),
    ],
)
def test_sessions_that_ask_two_questions_are_refused(other: Session, says: str) -> None:
    if says == "the primary metric":
        experiment = make_experiment(metrics={"primary": "memory_rss"})
        other = other.model_copy(update={"experiment": experiment})
    assert any(line.startswith(says) for line in differences(changed(), other)), differences(changed(), other)
    assert differences(other, changed())


def test_effects_stand_side_by_side_with_how_far_they_are_apart() -> None:
    by_arm = {
        (effect.metric, effect.arm): effect for effect in effects(side(FIRST), side(SECOND, 8, host=POWER))
    }
    effect = by_arm["throughput", "jvms-2"]
    assert effect.first is not None
    assert effect.second is not None
    assert effect.first.ratio == pytest.approx(1.5, rel=0.02)
    assert effect.second.ratio == pytest.approx(1.1, rel=0.02)
    assert effect.apart is not None
    assert effect.apart.low is not None
    assert effect.apart.value == pytest.approx(effect.second.ratio / effect.first.ratio)
    assert effect.apart.low < effect.apart.value < (effect.apart.high or 0) < 1
    memory = by_arm["memory_rss", "jvms-2"].apart
    assert memory is not None
    assert (memory.value, memory.low) == (1.0, None)  # no spread at all shows nothing


def test_void_trials_weigh_in_how_far_apart_effects_are() -> None:
    """Slow starts of the second host's arm are void, and repeated: the distance holds what they make of it, and there
    is none where they change what that host finds."""

    def with_voids(slow: float) -> Side:
        made, trials = of_host(SECOND)
        void = [
            trial.model_copy(
                update={"state": "void", "metrics": {"throughput": trial.metrics["throughput"] * slow}}
            )
            for trial in trials
            if trial.arm == "jvms-2" and trial.block in (1, 3)
        ]
        again = [trial.model_copy(update={"attempt": 1}) for trial in trials if trial.block in (1, 3)]
        kept = [trial for trial in trials if not (trial.arm == "jvms-2" and trial.block in (1, 3))]
        trials = [*kept, *void, *again]
        return Side(made, analyse(made, trials), trials)

    plain = effects(side(FIRST), side(SECOND))[0].apart
    wider = effects(side(FIRST), with_voids(0.99))[0].apart
    assert plain is not None
    assert wider is not None
    assert wider.low is not None
    assert plain.low is not None
    assert wider.value == pytest.approx(plain.value)
    assert wider.low < plain.low
    assert effects(side(FIRST), with_voids(0.7))[0].apart is None


def test_throughput_for_what_a_host_has() -> None:
    by_arm = yields(side(SECOND, 8, {"price": 100.0, "watts": 50.0}))
    mean = math.exp(np.mean(np.log(SECOND["jvms-1"])))
    assert {name: interval.value for name, interval in by_arm["jvms-1"].items()} == pytest.approx(
        {"throughput": mean, "core": mean / 8, "GiB": mean * 2, "price": mean / 100, "watt": mean / 50}
    )
    assert yields(side(SECOND, 8, {"cores": 16.0}))["jvms-1"]["core"].value == pytest.approx(mean / 16)
    interval = by_arm["jvms-2"]["core"]
    assert interval.low is not None
    assert interval.low < interval.value < (interval.high or 0)


def test_welchs_interval_covers_what_it_should() -> None:
    rng = np.random.default_rng(20261122)
    hits = 0
    for _ in range(2000):
        first, second = rng.normal(0.0, 0.01, 6), rng.normal(0.05, 0.04, 4)
        interval = welch(list(first), list(second))
        assert interval is not None
        assert interval.low is not None
        assert interval.high is not None
        hits += interval.low <= math.exp(0.05) <= interval.high
    assert 0.93 < hits / 2000 < 0.97
    assert welch([0.1], [0.2, 0.3]) is None


def test_too_few_switches_of_either_host_give_no_distance() -> None:
    states = [{"smt": 4}, {"smt": 8}]
    few = {arm: values[:2] for arm, values in FIRST.items()}

    def switched(rates: dict[str, list[float]]) -> Side:
        made, trials = of_host(rates)
        arms = [
            arm.model_copy(update={"spec": arm.spec.model_copy(update={"host_states": wanted})})
            for arm, wanted in zip(made.arms, states, strict=True)
        ]
        made = made.model_copy(update={"arms": arms})
        return Side(made, analyse(made, trials), trials)

    assert effects(switched(FIRST), switched(SECOND))[0].apart is not None
    assert effects(switched(FIRST), switched(few))[0].apart is None


def test_tables_say_what_was_given_and_what_was_left_out() -> None:
    side_of_first = side(FIRST, given={"price": 10.0})
    made, trials = of_host(SECOND, 8, host=POWER)
    both = Side(made, analyse(made, trials), trials, {"price": 20.0, "cores": 4.0})
    first, second = side_by_side(side_of_first, both)
    assert [column.label for column in second.columns] == [
        *("arm", "host", "req/s", "per core", "per GiB", "per unit of price")
    ]
    assert "4 cores that the servers had and 4 cores as given by the user" in second.notes[0]
    assert second.notes[1] == "As given by the user, and not measured: price."
    assert [cell.bold for cell in first.rows[0][2:]] == [0, 0, 0], "the figure itself, in every column"
    memory = first.rows[1]
    assert [cell.bold for cell in memory[2:]] == [None, None, None]


def test_distances_of_effects_are_simultaneous_and_bold_is_by_the_interval() -> None:
    """Of five arms one differs by itself at 5 %, and not as one of five."""
    rng = np.random.default_rng(8)
    levels, blocks = [1, 2, 3, 4, 5, 6], 6

    def host(shift: float) -> Side:
        made = make_session(levels, blocks)
        rates = {f"jvms-{n}": np.exp(rng.normal(0.0, 0.01, blocks)) for n in levels}
        rates["jvms-2"] = np.exp(np.array([0.9, -0.6, 1.1, -1.2, 0.3, -0.5]) / 100 + shift)
        rates["jvms-1"] = np.ones(blocks)
        trials = [
            make_trial(block, arm, metrics={"throughput": float(rate)})
            for arm, values in rates.items()
            for block, rate in enumerate(values, start=1)
        ]
        return Side(made, analyse(made, trials), trials)

    first_host, second_host = host(0.0), host(0.0125)
    effect = {(effect.metric, effect.arm): effect for effect in effects(first_host, second_host)}[
        "throughput", "jvms-2"
    ]
    assert effect.apart is not None
    assert effect.first is not None
    assert effect.second is not None
    alone = welch(*([math.log(ratio) for ratio in side.ratios] for side in (effect.first, effect.second)))
    assert alone is not None
    assert alone.low is not None
    assert effect.apart.low is not None
    assert effect.apart.low < 1 < alone.low
    row = side_by_side(first_host, second_host)[0].rows[0]
    assert row[4].bold is None


def test_two_clusters_are_what_is_compared() -> None:
    first, second = (
        make_session([1, 2], 2).model_copy(
            update={"versions": {AUTHORITY: authority}, "host": make_host(hostname=authority)}
        )
        for authority in ("first", "second")
    )
    assert differences(first, second) == []
