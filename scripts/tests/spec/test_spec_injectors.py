# SPDX-License-Identifier: Apache-2.0
"""What injectors are told: their part of the load, the procedure's model, where to send it."""

from typing import Any

import pytest
from builders import make_jvm
from planned import asked, containers, processes, specs, specs_of

from steelyard.errors import BadInput
from steelyard.experiment.schema import Search
from steelyard.paths import ROOT
from steelyard.results.spec import Spec
from steelyard.spec import injectors
from steelyard.spec.injectors import ARCHIVE, LATEST, drain_limit, injector_options
from steelyard.spec.search import range_of, with_value


def first(workload: str = "ping", **keys: Any) -> Spec:
    return next(iter(specs_of(asked(workload, **keys)).values()))


def told(spec: Spec, *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(one.settings.get(key) for key in keys) for one in spec.injectors]


def test_each_injector_is_told_the_users_of_all() -> None:
    spec = first(load={"users": 7, "injectors": 3, "think_time": "1500ms", "request_timeout": "5s"})
    assert told(spec, "users", "injector", "injectors", "model") == [(7, n, 3, "closed") for n in range(3)]
    settings = spec.injectors[0].settings
    assert (settings["thinkTimeMillis"], settings["requestTimeoutMillis"]) == (1500, 5000)
    assert settings["awaitStart"] is True
    assert not {"output", "seed"} & settings.keys()


def test_an_injector_ends_within_the_longest_wait_for_an_answer() -> None:
    spec = first(load={"users": 1, "request_timeout": "1m"})
    assert drain_limit(spec) == 65.0
    assert drain_limit(first("acmeair")) == 35.0, "its journey is no data"
    (step,) = spec.injectors[0].settings["journey"]["visits"]["ping"]["steps"]
    exchanges = [{"expect": "x", "within": 90.0}, {"send": "y", "expect": "x"}]
    step |= {"websocket": {"path": "/", "exchanges": exchanges}}
    for key in {*step} - {"operation", "websocket"}:
        del step[key]
    assert drain_limit(spec) == 155.0, "to open it, and for the message"


def test_each_injector_is_told_the_rate_of_all() -> None:
    spec = first(load={"model": "open", "rate": 100, "injectors": 4, "arrivals": "exponential"})
    assert told(spec, "rate", "arrivals", "users") == [(100.0, "exponential", None)] * 4


@pytest.mark.parametrize(
    ("warmup", "seconds"),
    [({"until": "steady", "at_least": 30, "at_most": 90}, 90), ({"until": "fixed", "at_least": 10}, 10)],
)
def test_the_plan_of_the_injector_is_a_cap(warmup: dict[str, Any], seconds: float) -> None:
    spec = first(load={"users": 1, "ramp": 3, "warmup": warmup, "measure": 20})
    assert told(spec, "rampSeconds", "warmupSeconds", "measureSeconds") == [(3, seconds, 20 + LATEST)]


def test_one_probe_asks_in_a_start_up_trial() -> None:
    spec = first(procedure="start-up", load={"users": 8, "injectors": 4, "think_time": 2})
    assert told(spec, "model", "rampSeconds", "warmupSeconds", "thinkTimeMillis") == [("probe", 0, 0, 0)]
    assert spec.injectors[0].settings["injectors"] == 1


def test_a_ramp_up_has_neither_ramp_nor_warm_up() -> None:
    spec = first(procedure="ramp-up", load={"users": 8, "ramp": 5})
    assert told(spec, "rampSeconds", "warmupSeconds") == [(0, 0)]


def test_a_journey_goes_to_the_injector_as_it_is_written() -> None:
    journey = first().injectors[0].settings["journey"]
    (step,) = journey["visits"]["ping"]["steps"]
    assert (step["operation"], step["path"], step["check"]["matches"]) == ("ping", "/ping", r"\Apong\n\z")
    assert "scenario" not in first().injectors[0].settings


def test_a_mix_chooses_visits_of_a_journey_and_nothing_else() -> None:
    spec = first(load={"users": 1, "mix": {"ping": 100}})
    assert spec.injectors[0].settings["mix"] == {"ping": 100}
    with pytest.raises(BadInput, match="mix: there is no visit 'pong': there are ping"):
        first(load={"users": 1, "mix": {"pong": 100}})
    with pytest.raises(BadInput, match="mix means nothing to this workload"):
        first("acmeair", load={"users": 1, "mix": {"login": 100}})


def test_each_user_needs_a_row_of_its_own() -> None:
    cart = str(ROOT / "docs" / "examples" / "plans" / "cart.yaml")
    assert first(cart, load={"users": 40})
    with pytest.raises(BadInput, match="feeder users has 40 rows for 41 users: give it as many"):
        first(cart, load={"users": 41})
    assert first(cart, load={"users": 41}, procedure="start-up"), "one user alone"
    spec = first(cart, load={"users": 10})
    assert range_of(Search.model_validate({"raise": "users"}), spec).maximum == 40.0
    with pytest.raises(
        BadInput, match=r"search\.maximum is 41 and the injectors take 40 users .* give feeder users more"
    ):
        range_of(Search.model_validate({"raise": "users", "maximum": 41}), spec)


def test_an_open_load_begins_with_as_many_users_as_need_rows_of_their_own() -> None:
    """A trial would end at the arrival that takes the first user without one."""
    cart = str(ROOT / "docs" / "examples" / "plans" / "cart.yaml")
    assert first(cart, load={"model": "open", "rate": 1})
    with pytest.raises(
        BadInput, match=r"40 rows for 64 users with which an open model begins \(more come where"
    ):
        first(cart, load={"model": "open", "rate": 1, "injectors": 2})
    with pytest.raises(BadInput, match="40 rows for 42 users"):  # three for each of fourteen servers
        first(cart, load={"model": "open", "rate": 1}, factors={"jvms": {"levels": [14, 15]}})


def test_a_journey_that_no_variable_holds_is_refused_in_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(injectors, "MOST_IN_VARIABLE", 100)
    assert first()
    with pytest.raises(BadInput, match="give it fewer rows, or run it with --engine process"):
        specs("jvm-count", "engine=compose", runtime=containers("server", jvm=make_jvm("openj9")))


def test_injectors_run_on_their_own_jvm_with_their_own_options() -> None:
    spec = specs(
        "jvm-count", runtime=processes(make_jvm("openj9", 21), injector_jvm=make_jvm("hotspot", 25))
    )["jvms-1"]
    (one,) = spec.injectors
    assert one.artifact.jvm == make_jvm("hotspot", 25)
    assert (one.artifact.package, one.artifact.build) == ("loadgen", "t0")
    assert one.jvm_options == injector_options(make_jvm("hotspot", 25))
    newer = set(injector_options(make_jvm("hotspot", 25))) - set(injector_options(make_jvm("hotspot", 17)))
    assert {option for option in newer if not option.startswith(ARCHIVE)} == {
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
    }
    assert not any(option.startswith(ARCHIVE) for option in injector_options(make_jvm("openj9", 21)))


def test_in_containers_servers_are_reached_by_name() -> None:
    spec = specs("jvm-count", "engine=compose", runtime=containers("server", jvm=make_jvm("openj9")))[
        "jvms-2"
    ]
    assert spec.injectors[0].settings["targets"] == ["http://server-1:9080", "http://server-2:9080"]
    assert spec.injectors[0].jvm_options == []


def test_a_searched_value_is_told_like_any_other() -> None:
    spec = first(load={"users": 7, "injectors": 3})
    search = Search.model_validate({"raise": "users"})
    tried = with_value(spec, search, 10.0)
    assert tried.load.users == 10
    assert told(tried, "users") == [(10,)] * 3
    assert with_value(spec, search, 7.0) == spec
