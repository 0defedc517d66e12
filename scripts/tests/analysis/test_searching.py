# SPDX-License-Identifier: Apache-2.0
"""What a trial says to its search, which trial comes next, and the spec of a trial with a value."""

from typing import Any

import numpy as np
import pytest
from builders import make_component, make_failure, make_latency, make_places
from searches import MEASUREMENT, RAISE, Server, check, figures, question, run, search_spec, search_trial

from steelyard.analysis.searching import (
    OVERLOAD,
    UPSET,
    limits_of,
    limits_text,
    next_search_trial,
    refuse_unknown,
    step_of,
)
from steelyard.errors import BadInput
from steelyard.experiment.schema import Load, Search
from steelyard.measure.cpu import cpu_share
from steelyard.measure.registry import RULES
from steelyard.results.measurement import ComponentResult, CycleResult, Latency, TrialMeasurement
from steelyard.spec.search import range_of, with_value
from steelyard.workload.schema import Limits

SURVIVE = {"lower": "memory", "while": "survives"}
HOLD = {"hold": "cpu", "at": 0.4}


@pytest.mark.parametrize(
    ("changes", "outcome", "says"),
    [
        ({}, "passed", "errors 0 %, at most 0.1 % allowed; p99 100 ms, at most 200 ms allowed."),
        ({"metrics": figures(200.0)}, "passed", "p99 200 ms"),
        ({"metrics": figures(201.0)}, "failed", "p99 201 ms, at most 200 ms allowed."),
        (
            {"metrics": figures(100.0, errors=0.002)},
            "failed",
            "errors 0.2 %, at most 0.1 % allowed.",
        ),
        # Too few requests for a p99: unknown, unless a lower quantile shows it by itself.
        (
            {"metrics": figures(None)},
            "void",
            "p99 was not measured: it needs 1,000 good answers",
        ),
        ({"metrics": figures(None, p90=350.0)}, "failed", "p90 alone was 350 ms"),
        ({"metrics": {}}, "void", "errors was not measured."),
        # What the load itself causes is a failure, what the host or the harness causes is unknown.
        ({"checks": [check("restarts", "A server died.")]}, "failed", "A server died."),
        ({"checks": [check("late-arrivals", "3 % were late.")]}, "failed", "3 % were late."),
        ({"checks": [check("errors", "2 % failed.", 0.02)]}, "failed", "2 % failed."),
        ({"checks": [check("restarts"), check("injector-cpu", "It used 95 %.")]}, "void", "It used 95 %."),
        ({"checks": [check("other-cpu", "Others.")], "metrics": figures(900.0)}, "void", "Others."),
        ({"checks": [check("operation-mix", "Mix.")]}, "void", "Mix."),
        # The servers' own count of errors was not measured: no reason to call the load too much.
        ({"checks": [check("errors", "Unknown.", None)]}, "void", "Unknown."),
        # A server that is killed because it takes long to stop has served all of its load.
        ({"checks": [check("not-stopped", voids=False)]}, "passed", "p99 100 ms"),
        (
            {
                "measurement": None,
                "failure": make_failure("A server died.", "restarts"),
                "metrics": {},
                "checks": [check("restarts", "A server died.", None)],
                "phases": {"start": (0.0, 1.0), "ramp": (1.0, 2.0)},
            },
            "failed",
            "A server died.",
        ),
        ({"checks": [check("operation-mix")], "metrics": figures(900.0)}, "failed", "p99 900 ms"),
        (
            {"measurement": None, "failure": make_failure("It did not start."), "metrics": {}},
            "void",
            "It did not start.",
        ),
    ],
)
def test_what_a_trial_of_a_raised_load_says(changes: dict[str, Any], outcome: str, says: str) -> None:
    step = step_of(question(RAISE), search_trial(**changes))
    assert step.outcome == outcome
    assert says in step.why


def test_the_ledger_has_the_checks_that_a_search_reads() -> None:
    assert {rule.name for rule in RULES if rule.voids} >= OVERLOAD | UPSET


def test_errors_are_allowed_as_far_as_the_limit_says() -> None:
    loose = question({"raise": "users", "within": {"errors": "5%"}})
    assert step_of(loose, search_trial(checks=[check("errors", value=0.02)])).outcome == "passed"
    assert step_of(loose, search_trial(checks=[check("errors", value=0.06)])).outcome == "failed"


def test_without_limits_of_its_own_the_workloads_hold() -> None:
    own = question({"raise": "users"})
    assert step_of(own, search_trial(metrics=figures(1999.0))).outcome == "passed"
    assert step_of(own, search_trial(metrics=figures(2001.0))).outcome == "failed"


PER_OPERATION = {
    "raise": "users",
    "within": {"operations": {"home": {"p90": "1s"}, "rare": {"p90": "2s"}}, "cycle_time": "2%"},
}
WITHIN = MEASUREMENT.model_copy(update={"cycles": {"home": CycleResult(count=90, drawn=5.0, actual=5.09)}})
BEYOND = MEASUREMENT.model_copy(update={"cycles": {"home": CycleResult(count=90, drawn=5.0, actual=5.11)}})


def answers(p90: float | None, requests: int = 90, errors: int = 0) -> Latency:
    return make_latency(requests=requests, errors=errors, p90=p90)


@pytest.mark.parametrize(
    ("latency", "measurement", "outcome", "says"),
    [
        ({"home": answers(1000.0)}, WITHIN, "passed", "p90 of home 1 s, at most 1 s allowed"),
        ({"home": answers(1001.0)}, WITHIN, "failed", "p90 of home"),
        ({"home": answers(9.0)}, BEYOND, "failed", "cycle time of home off 2.2 %, at most 2 % allowed."),
        # One that was asked for and has no figure is unknown; one that was not is a matter of the mix.
        (
            {"home": answers(9.0), "rare": answers(None, 0, 3)},
            WITHIN,
            "void",
            "p90 of rare was not measured.",
        ),
        ({"home": answers(9.0)}, MEASUREMENT, "void", "cycle time off was not measured."),
    ],
)
def test_operations_and_cycle_times_have_limits_of_their_own(
    latency: dict[str, Latency], measurement: TrialMeasurement, outcome: str, says: str
) -> None:
    step = step_of(question(PER_OPERATION), search_trial(latency=latency, measurement=measurement))
    assert step.outcome == outcome
    assert says in step.why


def test_limits_of_operations_that_nobody_sends_are_refused() -> None:
    limits = Limits.model_validate({"operations": {"hallo": {"p90": "1s"}}})
    with pytest.raises(
        BadInput, match=r"'hallo' \(did you mean 'hello'\?\), which is not among those of app"
    ):
        refuse_unknown(limits, [search_spec()])
    assert limits_text(limits) == "p90 of hallo at most 1 s"


def test_a_raised_load_needs_a_limit() -> None:
    with pytest.raises(BadInput, match=r"give search\.within"):
        limits_of(Search.model_validate({"raise": "users"}), Limits())
    assert limits_of(Search.model_validate(SURVIVE), Limits(p99=1.0)) == Limits()


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"survived": True}, "passed"),
        ({"survived": False, "failure": make_failure("Killed for want of memory.", "restarts")}, "failed"),
        ({"survived": False, "measurement": None, "checks": [check("settings")]}, "failed"),
        ({"survived": None}, "void"),
        ({"survived": True, "checks": [check("settings")]}, "void"),
        # As the ledger has it: what does not answer voids nothing here, and has not survived.
        ({"survived": True, "checks": [check("errors", voids=False)]}, "failed"),
        ({"survived": True, "checks": [check("stalled", voids=False)]}, "failed"),
        ({"survived": True, "checks": [check("late-arrivals", voids=False)]}, "failed"),
        ({"survived": True, "checks": [check("response-times", voids=False)]}, "passed"),
        ({"survived": True, "checks": [check("errors", value=None)]}, "void"),
        ({"survived": None, "checks": [check("survival", value=None)]}, "void"),
    ],
)
def test_what_a_trial_under_a_memory_limit_says(changes: dict[str, Any], outcome: str) -> None:
    asked = question(SURVIVE, engine="compose", procedure="survive")
    assert step_of(asked, search_trial(**changes)).outcome == outcome


def test_survival_and_limits_together() -> None:
    both = question({**SURVIVE, "within": {"p99": "200ms"}}, engine="compose")
    assert step_of(both, search_trial(survived=True)).outcome == "passed"
    assert step_of(both, search_trial(survived=True, metrics=figures(300.0))).outcome == "failed"


def test_the_share_is_of_the_servers_and_all_their_cpus() -> None:
    step = step_of(question(HOLD), search_trial())
    assert step.outcome == "measured"
    assert step.share == pytest.approx(16 / 40)
    unknown = [ComponentResult(name="server-1", role="server"), *search_trial().components[1:]]
    assert cpu_share(search_trial(components=unknown), search_spec()) is None
    assert step_of(question(HOLD), search_trial(components=unknown)).outcome == "void"


@pytest.mark.parametrize("name", ["errors", "late-arrivals", "arrival-rate", "restarts", "counts", "steal"])
def test_a_void_trial_neither_steers_a_held_share_nor_is_measured(name: str) -> None:
    step = step_of(question(HOLD), search_trial(checks=[check(name, "Half of the requests failed.", 0.5)]))
    assert (step.outcome, step.why) == ("void", "Half of the requests failed.")


def test_arms_take_turns_inside_a_block_and_blocks_follow_each_other() -> None:
    asked, places = question({**RAISE, "start": 100}, ("a", "b")), make_places(("a", "b"), 2)
    trials = run(asked, places, Server({"a": 320.0, "b": 40.0}, np.random.default_rng(1)).outcome)
    assert [trial.arm for trial in trials[:6]] == ["a", "b"] * 3
    assert [trial.block for trial in trials] == sorted(trial.block for trial in trials)
    assert [trial.order for trial in trials] == list(range(len(trials)))
    keys = [(trial.block, trial.arm, trial.attempt) for trial in trials]
    assert len(set(keys)) == len(keys)
    assert max(trial.attempt for trial in trials) < asked.search.trials


def test_a_resumed_session_goes_on_as_an_uninterrupted_one() -> None:
    asked, places = question({**RAISE, "start": 100}, ("a", "b")), make_places(("a", "b"), 2)

    def server() -> Server:
        return Server({"a": 320.0, "b": 350.0}, np.random.default_rng(1))

    uninterrupted = run(asked, places, server().outcome)
    for cut in range(len(uninterrupted)):
        assert run(asked, places, server().outcome, uninterrupted[:cut]) == uninterrupted


def test_plots_of_a_block_do_not_mix() -> None:
    asked = question({**RAISE, "start": 100}, ("a", "b"))
    places = [
        trial.model_copy(update={"plot": plot})
        for plot, trial in enumerate(make_places(("a", "b"), 1), start=1)
    ]
    trials = run(asked, places, Server({"a": 320.0, "b": 40.0}, np.random.default_rng(1)).outcome)
    arms = [trial.arm for trial in trials]
    assert arms == sorted(arms)


def test_a_search_that_only_meets_void_trials_leaves_the_others_alone() -> None:
    asked, places = question({**RAISE, "start": 100}, ("a", "b")), make_places(("a", "b"), 1)
    server = Server({"a": 320.0, "b": 40.0}, np.random.default_rng(1))
    trials = run(
        asked,
        places,
        lambda place: (
            search_trial(place, checks=[check("steal")]) if place.arm == "a" else server.outcome(place)
        ),
    )
    assert sum(trial.arm == "a" for trial in trials) == 3
    assert sum(trial.arm == "b" for trial in trials) > 5
    assert next_search_trial(asked, places, trials) is None


def test_each_injector_is_told_the_users_of_all() -> None:
    before = search_spec(load=Load(users=100, injectors=3))
    after = with_value(before, Search.model_validate(RAISE), 320.0)
    assert after.load.users == 320
    assert [trial.settings["users"] for trial in after.injectors] == [320] * 3
    assert all(trial.settings["seen"] for trial in after.injectors)
    assert after.servers == before.servers
    assert before.load.users == 100


def test_each_injector_is_told_the_rate_of_all() -> None:
    before = search_spec(load=Load(model="open", rate=100, injectors=2))
    for written in ({"raise": "rate"}, HOLD):
        after = with_value(before, Search.model_validate(written), 300.0)
        assert after.load.rate == 300.0
        assert [trial.settings["rate"] for trial in after.injectors] == [300.0, 300.0]


def test_memory_is_the_limit_of_each_server() -> None:
    before = search_spec(engine="compose")
    after = with_value(before, Search.model_validate(SURVIVE), 300.0 * 2**20)
    assert [trial.memory_bytes for trial in after.servers] == [300 * 2**20] * 2
    assert after.injectors == before.injectors
    assert after.load == before.load


def test_where_a_search_begins() -> None:
    three = search_spec(load=Load(users=100, injectors=3))
    assert range_of(Search.model_validate(RAISE), three) == ("users", 100.0, 3.0, 300_000.0)
    rate = search_spec(load=Load(model="open", rate=100, injectors=2))
    assert range_of(Search.model_validate({"raise": "rate"}), rate) == ("rate", 100.0, 0.1, 2_000_000.0)
    asked = Search.model_validate({**SURVIVE, "start": "256m", "minimum": "64m", "maximum": "1g"})
    assert range_of(asked, search_spec(engine="compose")) == ("memory", 2.0**28, 2.0**26, 2.0**30)
    assert range_of(Search.model_validate(SURVIVE), search_spec(engine="compose")).start == 2.0**29


@pytest.mark.parametrize(
    ("written", "engine", "bounds"),
    [
        ({**SURVIVE, "start": "90m", "minimum": "70000000", "maximum": "100000001"}, "compose", (67, 95)),
        ({**RAISE, "minimum": 2.5, "maximum": 300.7}, "process", (3, 300)),
    ],
)
def test_the_bounds_of_a_search_are_values_that_can_be_set(
    written: dict[str, Any], engine: Any, bounds: tuple[int, int]
) -> None:
    where = range_of(Search.model_validate(written), search_spec(engine=engine))
    unit = 2.0**20 if where.varies == "memory" else 1.0
    assert where.maximum is not None
    assert (where.minimum / unit, where.maximum / unit) == bounds


@pytest.mark.parametrize(
    ("written", "arm", "says"),
    [
        ({"raise": "rate"}, search_spec(), "needs a load of that model"),
        (SURVIVE, search_spec(), "engine: compose"),
        (
            SURVIVE,
            search_spec(engine="compose", components=[make_component(heap_bytes=None)]),
            "where does the search",
        ),
        ({**RAISE, "maximum": 50}, search_spec(), "outside of what it may try"),
        (
            {**RAISE, "maximum": 100_001},
            search_spec(),
            "search.maximum is 100,001 and the injectors take 100,000 users",
        ),
        ({**RAISE, "start": 200_000}, search_spec(), "search.start is 200,000 .* add injectors"),
        (
            {"hold": "cpu", "at": 0.4, "maximum": 1e7},
            search_spec(load=Load(model="open", rate=100, injectors=2)),
            "10,000,000 and the injectors take 2,000,000 arrivals/s",
        ),
    ],
)
def test_refuses_a_search_that_the_arm_has_not(written: dict[str, Any], arm: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        range_of(Search.model_validate(written), arm)
