# SPDX-License-Identifier: Apache-2.0
"""What `plan` says that a session will be able to detect: from an earlier session, or by published spreads."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import make_trial
from kept_sessions import write_session
from one_host import facts_at_first
from planned import session_of_plan

from steelyard.analysis.estimates import analyse
from steelyard.analysis.paired import detectable_effect, paired_test
from steelyard.cli import options
from steelyard.experiment.schema import Metrics
from steelyard.gate.power import (
    PUBLISHED,
    DetectableChange,
    describe,
    earlier_sessions,
    knows_spread,
    pilot_obstacle,
    predict_detectable,
    with_overrun,
)
from steelyard.results.analysis import Analysis
from steelyard.results.schema import RecordedWorkload
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.plan import RunRequest, SessionPlan, make_plan
from steelyard.session.schedule import expected_seconds

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
    schedule = [place for place in plan.schedule if place.block <= blocks]
    session = session_of_plan(plan, id=name, steelyard_version="0", schedule=schedule)
    session = session.model_copy(update=changes)
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
            "memory (RSS) of the servers, CPU of the servers per 1,000 requests, CPU of the servers: unknown: no"
            " earlier session on this host tells it (`plan --pilot` runs one)"
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


def switching(plan: SessionPlan, arm: str) -> SessionPlan:
    """The same, where an arm wants another state of the host."""
    own = plan.specs[arm].model_copy(update={"host_states": {"smt": "off"}})
    return replace(plan, specs={**plan.specs, arm: own})


def test_what_switches_of_the_host_bring_is_in_no_session_without_them(
    plan: SessionPlan, tmp_path: Path
) -> None:
    """By pairs that vary by 0.7 % alone 1.4 % were said where switches that vary by 1 % made it 2.5 %."""
    switched = switching(plan, "jvms-4")
    earlier(tmp_path, plan, 6, 0.007)
    sources = {one.arm: one.source for one in predicted(switched, tmp_path) if one.metric == "throughput"}
    assert "from one (6 blocks)" in sources["jvms-2"]
    assert sources["jvms-4"].startswith("by published spreads (")
    assert sources["jvms-4"].endswith(", to which switches of the host add")
    assert not knows_spread(switched, earlier_sessions(switched, tmp_path))
    earlier(tmp_path, switched, 6, 0.02, "two")
    sources = {one.arm: one.source for one in predicted(switched, tmp_path) if one.metric == "throughput"}
    assert "from two (6 blocks)" in sources["jvms-4"]
    assert knows_spread(switched, earlier_sessions(switched, tmp_path))


def of_metric(plan: SessionPlan, primary: str, **changes: Any) -> SessionPlan:
    update = {"metrics": Metrics(primary=primary, report=["memory_rss"]), **changes}
    return replace(plan, experiment=plan.experiment.model_copy(update=update))


def arriving(plan: SessionPlan) -> SessionPlan:
    """The same by arrivals at a constant rate."""
    load = plan.experiment.load.model_copy(update={"model": "open", "users": None, "rate": 100.0})
    return replace(plan, experiment=plan.experiment.model_copy(update={"load": load}))


def test_there_is_no_pilot_where_equal_arms_would_not_tell_it(plan: SessionPlan) -> None:
    """Of survival each call ran one, and for what the load decides it spoke of a gate."""
    for made, reason in (
        (of_metric(plan, "survived", procedure="survive"), "whether trials survive has no spread"),
        (arriving(plan), "throughput is decided by the arrivals and not by the servers"),
        (switching(plan, "jvms-4"), "its arms want different host states, and equal arms switch none"),
        (planned(name="capacity"), "a search has no pairs"),
        (replace(plan, arms=plan.arms[:1]), "it has one arm, and compares nothing"),
    ):
        assert pilot_obstacle(made) == reason
    assert "neither good nor bad" in (pilot_obstacle(of_metric(plan, "service_calls_per_1k")) or "")
    assert pilot_obstacle(plan) is None
    # Nor is one offered there.
    told = switching(of_metric(plan, "memory_rss"), "jvms-4")
    assert describe(told, predict_detectable(told, []))[0].endswith(
        "no earlier session on this host tells it"
    )


def test_throughput_of_arrivals_at_a_constant_rate_is_nothing_to_detect(
    plan: SessionPlan, tmp_path: Path
) -> None:
    given = arriving(plan)
    found = predicted(given, tmp_path)
    assert {one.metric for one in found} == {"memory_rss", "cpu_per_1k", "server_cpu_share"}
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


def test_a_session_is_expected_to_take_what_trials_took_here_before(
    plan: SessionPlan, tmp_path: Path
) -> None:
    earlier(tmp_path, plan, 6, 0.01, name="without-trials")
    known = earlier_sessions(plan, tmp_path)
    assert with_overrun(plan, known) is plan

    took = {arm: expected_seconds(spec) + 12.5 for arm, spec in plan.specs.items()}
    session = session_of_plan(plan, id="one")
    trials = [
        make_trial(
            place.block,
            place.arm,
            measurement=None,
            started=100.0,
            phases={"start": (100.0, 105.0), "collect": (105.0, 100.0 + took[place.arm])},
        )
        for place in plan.schedule
    ]
    write_session(tmp_path, session, trials).keep(analyse(session, trials))
    timed = with_overrun(plan, earlier_sessions(plan, tmp_path))
    assert timed.expected_seconds() == pytest.approx([sum(took[place.arm] for place in plan.schedule)] * 2)
    assert options.expected_time(timed).endswith(", as trials took here before")
    assert " to " in options.expected_time(plan)
