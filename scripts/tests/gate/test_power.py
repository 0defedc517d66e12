# SPDX-License-Identifier: Apache-2.0
"""What `plan` says that a session will be able to detect: from an earlier session, or by published spreads."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import make_arms, make_session, make_trial
from one_host import facts_at_first

from steelyard.analysis.estimates import analyse
from steelyard.analysis.paired import detectable_effect, paired_test
from steelyard.experiment.schema import Metrics
from steelyard.gate.power import (
    PUBLISHED,
    DetectableChange,
    describe,
    earlier_sessions,
    knows_spread,
    predict_detectable,
)
from steelyard.results.analysis import Analysis
from steelyard.results.schema import RecordedWorkload
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.plan import RunRequest, SessionPlan, make_plan

LEVELS = "jvms=1,2,4"


def planned(*settings: str, name: str = "jvm-count", blocks: int | None = None) -> SessionPlan:
    return make_plan(RunRequest(name, settings=settings, seed=5, blocks=blocks))


@pytest.fixture(scope="module")
def plan() -> SessionPlan:
    return planned(LEVELS)


def earlier(
    folder: Path, plan: SessionPlan, blocks: int, sd: float, name: str = "one", **changes: Any
) -> Analysis:
    """A session of this plan that lies in the folder: its throughput differs from trial to trial by sd."""
    rng = np.random.default_rng(blocks)
    (baseline,) = (arm.name for arm in plan.arms if arm.baseline)
    session = make_session(
        id=name,
        steelyard_version="0",
        workload=plan.workload.workload.model_dump(mode="json"),
        workload_path="w.yaml",
        experiment=plan.experiment.model_dump(mode="json", by_alias=True),
        arms=make_arms(plan.specs, {arm.name: arm.levels for arm in plan.arms}, baseline),
        schedule=[place for place in plan.schedule if place.block <= blocks],
        host=facts_at_first(),
        injectors_share_cores=True,
    ).model_copy(update=changes)
    trials = [
        make_trial(
            place.block,
            place.arm,
            order=place.order,
            measurement=None,
            metrics={"throughput": math.exp(float(rng.normal(7.0, sd)))},
        )
        for place in session.schedule
    ]
    found = analyse(session, trials)
    write_record(folder / name / "session.json", session)
    return SessionDirectory(folder / name).keep(found)


def predicted(plan: SessionPlan, results: Path) -> list[DetectableChange]:
    return predict_detectable(plan, earlier_sessions(plan, results))


def test_without_an_earlier_session_published_spreads_stand_in_and_say_so(
    plan: SessionPlan, tmp_path: Path
) -> None:
    found = predicted(plan, tmp_path)
    first = found[0]
    assert (first.metric, first.arm) == ("throughput", "jvms-2")
    low, high, whose = PUBLISHED["throughput"]
    assert first.low == detectable_effect(6, math.sqrt(2) * low, comparisons=2)
    assert first.high == detectable_effect(6, math.sqrt(2) * high, comparisons=2)
    assert f"published spreads ({whose})" in first.source
    unknown = [one for one in found if one.metric == "memory_rss"]
    assert [(one.arm, one.low, one.high) for one in unknown] == [
        ("jvms-2", None, None),
        ("jvms-4", None, None),
    ]
    lines = describe(plan, found)
    assert lines[0].startswith(
        "throughput, every arm: a change of 1.7 to 23 %, by published spreads (a quiet lab"
    )
    assert [line for line in lines if "unknown" in line] == [
        (
            "memory (RSS) of the servers, CPU of the servers per 1,000 requests: unknown: no earlier session on this"
            " host (`plan --pilot` runs one)"
        )
    ]


def test_published_spreads_are_those_of_the_method() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "gate.md").read_text(encoding="utf-8")
    rows = {f"{100 * sd:.2g} %" for low, high, _ in PUBLISHED.values() for sd in (low, high)}
    assert all(f"| {row} |" in page for row in rows)


def test_an_earlier_session_tells_each_comparison_with_its_own_uncertainty(
    plan: SessionPlan, tmp_path: Path
) -> None:
    analysis = earlier(tmp_path, plan, 5, 0.02)
    found = {(one.metric, one.arm): one for one in predicted(plan, tmp_path)}
    for arm in ("jvms-2", "jvms-4"):
        core = paired_test([math.log(ratio) for ratio in analysis.estimates["throughput"][arm].ratios])
        assert core is not None
        one = found["throughput", arm]
        assert one.low == pytest.approx(detectable_effect(6, core.sd, comparisons=2))
        assert one.high == pytest.approx(detectable_effect(6, core.sd, 2, estimated_from=5))
        assert "from one (5 blocks)" in one.source
    assert found["memory_rss", "jvms-2"].low is None


@pytest.mark.parametrize(("blocks", "known"), [(0, False), (2, False), (3, True)])
def test_a_pilot_is_what_three_blocks_here_make_needless(
    plan: SessionPlan, tmp_path: Path, blocks: int, known: bool
) -> None:
    if blocks:
        earlier(tmp_path, plan, blocks, 0.02)
    assert knows_spread(plan, earlier_sessions(plan, tmp_path)) is known


def test_what_it_says_before_is_what_the_report_says_after(plan: SessionPlan, tmp_path: Path) -> None:
    after = earlier(tmp_path, plan, 6, 0.02).estimates["throughput"]["jvms-4"]
    before = next(one for one in predicted(plan, tmp_path) if one.arm == "jvms-4")
    assert (before.low, before.high) == pytest.approx((after.detectable, after.detectable_high))


def test_arms_that_the_earlier_session_did_not_have_get_its_spread_over_all(
    plan: SessionPlan, tmp_path: Path
) -> None:
    analysis = earlier(tmp_path, plan, 6, 0.02)
    ratios = [one.ratios for one in analysis.estimates["throughput"].values()]
    variances = [np.var(np.log(of), ddof=1) for of in ratios]
    (found,) = (one for one in predicted(planned("jvms=1,8"), tmp_path) if one.metric == "throughput")
    assert found.low == pytest.approx(detectable_effect(6, math.sqrt(float(np.mean(variances)))))


@pytest.mark.parametrize(
    ("blocks", "changes"),
    [
        (2, {}),
        (6, {"host": facts_at_first().model_copy(update={"cpu_model": "another"})}),
        (6, {"workload": RecordedWorkload(name="ping", version="another")}),
        (6, {"workload": RecordedWorkload(name="another", version="1")}),
    ],
    ids=["too few blocks", "another host", "another version", "another workload"],
)
def test_what_tells_nothing_of_this_session_is_not_used(
    plan: SessionPlan, tmp_path: Path, blocks: int, changes: dict[str, Any]
) -> None:
    earlier(tmp_path, plan, blocks, 0.02, **changes)
    assert "published" in predicted(plan, tmp_path)[0].source


@pytest.mark.parametrize(("share", "used"), [(0.995, True), (1.005, True), (0.97, False)])
def test_a_kernel_that_leaves_a_little_less_memory_is_no_other_host(
    plan: SessionPlan, tmp_path: Path, share: float, used: bool
) -> None:
    host = facts_at_first()
    host = host.model_copy(update={"memory_bytes": round(share * host.memory_bytes)})
    earlier(tmp_path, plan, 4, 0.02, host=host)
    assert ("from one (4 blocks)" in predicted(plan, tmp_path)[0].source) is used


def test_a_processor_that_another_suite_takes_meanwhile_makes_no_other_host(
    plan: SessionPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As its tests of host states do for a moment."""
    earlier(tmp_path, plan, 4, 0.02)
    monkeypatch.setattr("steelyard.host.facts.read_cpus", lambda *_: [0])
    assert "from one (4 blocks)" in predicted(plan, tmp_path)[0].source


def test_damaged_and_mixed_up_sessions_are_passed_over(plan: SessionPlan, tmp_path: Path) -> None:
    earlier(tmp_path, plan, 6, 0.02, "damaged")
    (tmp_path / "damaged" / "session.json").write_text("{", encoding="utf-8")
    foreign = earlier(tmp_path, plan, 6, 0.02, "mixed")
    write_record(tmp_path / "mixed" / "analysis.json", foreign.model_copy(update={"session_id": "another"}))
    assert "published" in predicted(plan, tmp_path)[0].source


def test_the_most_alike_session_is_used(plan: SessionPlan, tmp_path: Path) -> None:
    """The same experiment and windows before more blocks; other windows are named."""
    short = planned(LEVELS, "measure=20s", blocks=8)
    earlier(tmp_path, short, 8, 0.03, "short")
    assert "from short (8 blocks of 20 s, not 1 min)" in predicted(plan, tmp_path)[0].source
    earlier(tmp_path, plan, 4, 0.02, "long")
    assert "from long (4 blocks)" in predicted(plan, tmp_path)[0].source


def test_throughput_of_arrivals_at_a_constant_rate_is_nothing_to_detect(
    plan: SessionPlan, tmp_path: Path
) -> None:
    load = plan.experiment.load.model_copy(update={"model": "open", "users": None, "rate": 100.0})
    given = replace(plan, experiment=plan.experiment.model_copy(update={"load": load}))
    found = predicted(given, tmp_path)
    assert {one.metric for one in found} == {"memory_rss", "cpu_per_1k"}
    assert "throughput: nothing, as the arrivals decide it and not the servers" in describe(given, found)


def test_survival_says_what_would_be_left_open_at_best(plan: SessionPlan, tmp_path: Path) -> None:
    changes = {"procedure": "survive", "metrics": Metrics(primary="survived", report=[])}
    survive = replace(plan, experiment=plan.experiment.model_copy(update=changes))
    found = predicted(survive, tmp_path)
    assert found == []
    assert describe(survive, found) == [
        "trials survived: if all 6 of an arm live, 54 % of all such trials is not ruled out"
    ]


def test_searches_have_no_ratio_to_foresee(tmp_path: Path) -> None:
    assert predicted(make_plan(RunRequest("capacity", seed=1)), tmp_path) == []
