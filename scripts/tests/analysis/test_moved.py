# SPDX-License-Identifier: Apache-2.0
"""Which figures are said to have moved together with an effect, on sessions that were made up."""

import math

import numpy as np
from builders import make_component, make_session, make_spec, make_trial

from steelyard.analysis.estimates import analyse
from steelyard.analysis.moved import MovedTogether, find_moved, moved_sentence
from steelyard.measure.registry import METRICS
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Session, Trial

EVIDENCE = [metric.name for metric in METRICS if metric.evidence]
PLANTED = "faults_per_1k"


def made_up(
    seed: int, blocks: int = 10, effect: float = -0.1, planted: float = 0.0, **changes: dict[str, float]
) -> tuple[Session, list[Trial]]:
    """Two arms, one with less throughput; of its figures one goes along with that in each block, times `planted`; the
    others are noise of their own."""
    rng = np.random.default_rng(seed)
    trials = []
    for block in range(1, blocks + 1):
        moves = effect + rng.normal(0, 0.02)
        for arm in ("jvms-1", "jvms-2"):
            logs = {name: rng.normal(0, 0.05) for name in EVIDENCE}
            logs["throughput"] = rng.normal(0, 0.002)
            logs[PLANTED] *= 0.2 if planted else 1.0
            if arm == "jvms-2":
                logs["throughput"] += moves
                logs[PLANTED] += planted * moves
                logs |= {name: logs[name] + shift for name, shift in changes.get("shifted", {}).items()}
            metrics = {name: 100 * math.exp(log) for name, log in logs.items()}
            trials.append(make_trial(block, arm, metrics=metrics))
    return make_session([1, 2], blocks, metrics={"report": ["throughput"]}), trials


def moved_in(session: Session, trials: list[Trial]) -> MovedTogether:
    (moved,) = find_moved(session, analyse(session, trials), trials)
    return moved


def test_what_was_planted_is_named_first() -> None:
    for seed in range(20):
        session, trials = made_up(seed, planted=-3.0, shifted={"switches_per_1k": 0.4})
        moved = moved_in(session, trials)
        first, *_ = moved.figures
        assert first.metric == PLANTED
        assert first.share > 0.9
        assert first.ratio is not None
        assert first.per_second is None or first.per_second < first.ratio
        assert "switches_per_1k" in {figure.metric for figure in moved.figures}


def test_figures_that_have_nothing_to_do_with_it_are_seldom_named() -> None:
    """At most 5 % of lists name one: 12 and more of 120 would have a chance of 2 %, and the seeds are fixed."""
    named = [bool(moved_in(*made_up(seed)).figures) for seed in range(120)]
    assert sum(named) < 12


def test_without_an_effect_nothing_is_named() -> None:
    session, trials = made_up(3, effect=0.0, planted=-3.0)
    assert find_moved(session, analyse(session, trials), trials) == []


def test_the_sentence_says_that_they_find_moved_and_no_more() -> None:
    session, trials = made_up(1, planted=-3.0)
    sentence = moved_sentence(session, moved_in(session, trials))
    assert sentence.startswith("Moved together with throughput of JVMs = 2 (\N{MINUS SIGN}")
    assert "page faults of the servers per 1,000 requests +3" in sentence
    assert "because" not in sentence
    session, trials = made_up(1)
    tested = len(EVIDENCE)
    assert moved_sentence(session, moved_in(session, trials)).endswith(
        f"none of {tested} figures beyond noise."
    )


def test_a_figure_with_zeros_is_compared_by_its_differences() -> None:
    session, trials = made_up(1)
    rare = [
        trial.model_copy(
            update={
                "metrics": trial.metrics
                | {"gc_per_second": 2.0 + trial.block % 2 if trial.arm == "jvms-2" else 0.0}
            }
        )
        for trial in trials
    ]
    (figure,) = moved_in(session, rare).figures
    assert (figure.metric, figure.ratio, figure.baseline, figure.arm) == ("gc_per_second", None, 0.0, 2.5)
    assert "collections 0.000 to 2.500 1/s" in moved_sentence(session, moved_in(session, rare))


def test_a_figure_that_a_block_lacks_is_not_looked_at() -> None:
    session, trials = made_up(1, planted=-3.0)
    lacking = trials[3].model_copy(
        update={"metrics": {name: value for name, value in trials[3].metrics.items() if name != PLANTED}}
    )
    moved = moved_in(session, [*trials[:3], lacking, *trials[4:]])
    assert PLANTED not in {figure.metric for figure in moved.figures}
    assert moved.tested == len(EVIDENCE) - 1


def test_each_kind_of_component_has_its_own() -> None:
    session, trials = made_up(2)
    kinds = {"auth-1": "auth", "auth-2": "auth", "booking": "booking"}
    parts = [make_component(name=name, kind=kind) for name, kind in kinds.items()]
    arms = [
        arm.model_copy(update={"spec": make_spec(arm.name, components=parts, load=arm.spec.load)})
        for arm in session.arms
    ]
    rng = np.random.default_rng(1)

    def with_parts(trial: Trial) -> Trial:
        more = 1.5 if trial.arm == "jvms-2" else 1.0
        faults = {"auth-1": 100.0, "auth-2": 100.0 * more, "booking": 500.0}
        results = [
            ComponentResult(name=name, role="server", faults=value * math.exp(rng.normal(0, 0.01)))
            for name, value in faults.items()
        ]
        return trial.model_copy(update={"components": results})

    moved = moved_in(session.model_copy(update={"arms": arms}), [with_parts(trial) for trial in trials])
    (figure,) = moved.figures
    assert figure.label == "page faults of auth per 1,000 requests"
    assert figure.ratio is not None
    assert 1.2 < figure.ratio < 1.3
    assert figure.per_second is not None
    assert figure.per_second < figure.ratio
