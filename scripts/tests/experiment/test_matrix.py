# SPDX-License-Identifier: Apache-2.0
"""Arms, `--set`, `--quick`, and settings by name."""

from typing import Any

import pytest
from hostile import calls
from planned import HOST, arms, asked, question

from steelyard.errors import BadInput
from steelyard.experiment.loader import experiment_files
from steelyard.experiment.matrix import expand, fixed_arm, with_host_levels, with_quick, with_settings
from steelyard.experiment.schema import Experiment
from steelyard.experiment.settings import Settings
from steelyard.paths import EXPERIMENTS
from steelyard.units import MIB
from steelyard.workload.loader import load_workload


def test_one_factor_gives_an_arm_for_each_level() -> None:
    found = arms("jvm-count")
    assert list(found) == ["jvms-1", "jvms-2", "jvms-4", "jvms-6", "jvms-12"]
    assert [arm.deployment.jvms for arm in found.values()] == [1, 2, 4, 6, 12]
    assert [arm.baseline for arm in found.values()] == [True, False, False, False, False]


def test_two_factors_give_every_combination_and_one_baseline() -> None:
    found = arms("jvm-count", "jvms=1,2", "gc_threads=1,default")
    assert list(found) == [
        "jvms-1_gc-threads-1",
        "jvms-1_gc-threads-default",
        "jvms-2_gc-threads-1",
        "jvms-2_gc-threads-default",
    ]
    assert [arm.deployment.jvm.gc_threads for arm in found.values()] == [1, "default", 1, "default"]
    assert [arm.baseline for arm in found.values()] == [True, False, False, False]


def test_named_levels_are_groups_of_settings_of_any_section() -> None:
    tuned = {"nursery": "64m", "gc_threads": 2, "users": 4, "acmeair.customers": 9, "thp": "never"}
    found = asked("acmeair", factors={"tuning": {"levels": {"plain": {}, "tuned": tuned}}})
    plain, arm = expand(found.experiment, found.settings)
    assert (plain.name, plain.baseline, plain.deployment.jvm.nursery) == ("tuning-plain", True, None)
    assert (arm.deployment.jvm.nursery, arm.deployment.jvm.gc_threads) == (64 * MIB, 2)
    assert (arm.load.users, arm.settings, arm.host) == (4, {"customers": 9}, {"thp": "never"})


def test_settings_of_the_workload_and_the_host_can_be_fixed_and_varied() -> None:
    found = arms("acmeair-topology", "acmeair.customers=7", "thp=never,always")
    assert {arm.settings["customers"] for arm in found.values()} == {7}
    assert {arm.settings["visits_per_login"] for arm in found.values()} == {5}
    assert [arm.host["thp"] for arm in found.values()] == ["never", "always"] * 2


def test_levels_of_the_host_are_those_on_which_it_is_planned() -> None:
    found = asked(
        "acmeair", factors={"smt": {"levels": "host"}, "jvms": {"levels": [1, 2]}}, baseline={"smt": 4}
    )
    power = with_host_levels(found.experiment, {"smt": [1, 2, 4]}.__getitem__)
    settings = Settings(found.workload.workload, {**HOST, "smt": str})
    assert [arm.name for arm in expand(power, settings) if arm.baseline] == ["smt-4_jvms-1"]
    assert [arm.host["smt"] for arm in expand(power, settings)] == [1, 1, 2, 2, 4, 4]
    with pytest.raises(BadInput, match="baseline smt: 4 is not a level of this host, which has off, on"):
        with_host_levels(found.experiment, {"smt": ["off", "on"]}.__getitem__)


def test_users_for_each_jvm_are_as_many_as_there_are_jvms() -> None:
    factors = {"jvms": {"levels": [1, 3]}, "users_per_jvm": {"levels": [5, 20]}}
    found = asked("ping", factors=factors, load={"users_per_jvm": 5})
    users = {arm.name: arm.load.users for arm in expand(found.experiment, found.settings)}
    assert users == {
        "jvms-1_users-per-jvm-5": 5,
        "jvms-1_users-per-jvm-20": 20,
        "jvms-3_users-per-jvm-5": 15,
        "jvms-3_users-per-jvm-20": 60,
    }
    with pytest.raises(ValueError, match="give either users or users_per_jvm, not both"):
        asked("ping", load={"users_per_jvm": 5, "users": 5})


def test_a_rate_is_a_share_of_a_capacity() -> None:
    load = {"model": "open", "users": None, "capacity": 3000, "share": 0.5}
    found = asked("ping", factors={"share": {"levels": [0.1, 0.5]}}, load=load)
    changed = with_settings(found.experiment, found.settings, ["capacity=500"])
    for experiment, rates in ((found.experiment, [300, 1500]), (changed, [50, 250])):
        arms = expand(experiment, found.settings)
        assert [arm.load.rate for arm in arms] == rates
        assert {(arm.load.share, arm.load.capacity) for arm in arms} == {(None, None)}
    for wrong, says in (
        ({"capacity": None}, "a load by share needs capacity"),
        ({"share": None, "rate": 5}, "capacity means nothing without share"),
        ({"rate": 5}, "give either rate or share"),
        ({"model": "closed", "users": 5}, "a closed model needs users and has no rate"),
    ):
        with pytest.raises(ValueError, match=says):
            asked("ping", load=load | wrong)


def test_a_key_of_the_search_can_be_set() -> None:
    search = {"hold": "cpu", "at": 0.4}
    found = asked("ping", search=search)
    changed = with_settings(found.experiment, found.settings, ["search.at=0.7", "search.trials=5"])
    assert changed.search is not None
    assert (changed.search.at, changed.search.trials) == (0.7, 5)
    for wrong, says in (
        ("search.at=7", "less than 1"),
        ("search.at=0.4,0.7", "one value for all arms"),
        ("search.where=1", "unknown key 'where'"),
        ("search.start=nan", "start is a number with an end, not 'nan'"),
    ):
        with pytest.raises(BadInput, match=says):
            with_settings(found.experiment, found.settings, [wrong])
    plain = asked("ping")
    with pytest.raises(BadInput, match="the experiment has no search"):
        with_settings(plain.experiment, plain.settings, ["search.at=0.7"])


def test_set_with_one_value_fixes_a_setting() -> None:
    found = arms("jvm-count", "users=24")
    assert {arm.load.users for arm in found.values()} == {24}
    assert len(found) == 5


def test_quick_has_fewer_levels_and_blocks_and_does_not_wait_until_steady() -> None:
    whole = question("jvm-count").experiment
    found = question("jvm-count", quick=True)
    quick = found.experiment
    assert [arm.name for arm in expand(quick, found.settings)] == ["jvms-1", "jvms-2"]
    assert quick.design.blocks == 5
    assert quick.deployment.jvm.compile == "foreground"
    assert quick.load.warmup.until == "compiled"
    assert quick.load.measure < whole.load.measure


@pytest.mark.parametrize("name", experiment_files(EXPERIMENTS))
def test_no_quick_form_asks_for_latency_where_requests_wait_for_the_compiler(name: str) -> None:
    quick = question(name, quick=True).experiment
    assert not quick.metrics.primary.startswith("latency") or quick.deployment.jvm.compile == "background"


def test_the_warm_up_of_quick_can_be_set_and_varied() -> None:
    for found in (arms("jvm-count", "warmup=45s", quick=True), arms("jvm-count", "warmup=45s")):
        warmup = next(iter(found.values())).load.warmup
        assert (warmup.until, warmup.at_least) == ("fixed", 45.0)
    varied = arms("jvm-count", "jvms=1", "warmup=10s,1m", quick=True)
    assert [arm.load.warmup.at_least for arm in varied.values()] == [10.0, 60.0]
    with pytest.raises(BadInput, match="warmup=long: 'long' is not a duration"):
        arms("jvm-count", "warmup=long")


def test_a_baseline_that_set_leaves_out_gives_way_to_the_first_level() -> None:
    found = question("jvm-count", "jvms=4,2")
    expanded = expand(found.experiment, found.settings)
    assert [(arm.name, arm.baseline) for arm in expanded] == [("jvms-4", True), ("jvms-2", False)]
    # A session keeps the experiment as resolved and reads it again to resume.
    again = Experiment.model_validate(found.experiment.model_dump(mode="json", by_alias=True))
    assert expand(again, found.settings) == expanded


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ("jvm_args=-Xss1m", [["-Xss1m"]]),
        ("jvm_args=-Xss1m -Dx=y", [["-Xss1m", "-Dx=y"]]),
        ("jvm_args=[-Xss1m, '-Dx=a b']", [["-Xss1m", "-Dx=a b"]]),
        ('jvm_args="",-Xss1m', [[], ["-Xss1m"]]),
        (
            "jvm_args='-Xlog:gc,safepoint', \"-Xlog:gc -Dx='a b'\"",
            [["-Xlog:gc,safepoint"], ["-Xlog:gc", "-Dx=a b"]],
        ),
    ],
)
def test_further_options_are_settings_and_levels_as_any_other(given: str, arguments: list[list[str]]) -> None:
    found = arms("jvm-count", "jvms=1" if len(arguments) > 1 else "jvms=1,2", given)
    told = [arm.deployment.jvm.jvm_args for arm in found.values()]
    assert told == (arguments if len(arguments) > 1 else arguments * 2)


def test_a_day_is_a_text_as_it_was_written() -> None:
    assert {
        arm.settings["today"] for arm in arms("acmeair-topology", "acmeair.today=2026-06-16").values()
    } == {"2026-06-16"}


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("jvm=1,2", "'jvm' is not a setting (did you mean 'jvms'?): `./steelyard explain` lists them"),
        ("bananas=3", "'bananas' is not a setting"),
        ("customers=3", "'customers' is not a setting"),
        ("acmeair.customers=3", "'acmeair.customers' is not a setting of the workload ping, which has none"),
        ("jvms", "is not of the form factor=level"),
        ("jvms=", "is not of the form factor=level"),
        ("=1", "'=1' is not of the form"),
        ("jvms=1,x", "jvms=x: must be a whole number"),
        ("jvms=0,1", "jvms=0: must be at least 1"),
        ("jvms=1,257", "jvms=257: must be at most 256"),
        (
            "gc=fancy",
            "must be 'default', 'generational', 'regional', 'serial', 'z', 'shenandoah', 'optavgpause'",
        ),
        ("jvm_args=-Xlog:gc,safepoint", "jvm_args=safepoint: 'safepoint' is no option of a JVM"),
        ("jvms=4", "one arm only"),
        ("jvms=2,2", "have the same settings"),
        (
            "jitserver.core=1",
            "'jitserver.core' is not a setting of the JITServer (did you mean 'jitserver.cores'?)",
        ),
        (
            "jitserver.cores=0",
            "jitserver.cores=0: must be at least 1",
        ),
        (
            "jitserver.memory=1g",
            "jitserver.memory=1g: memory is the limit of a container: set engine: compose",
        ),
        ("through=service", "through=service: through: service is for engine: kubernetes"),
        ("total_memory=1g", "total_memory=1g: memory is the limit of a container: set engine: compose"),
        ("jvms=[", "'[' is not a value that YAML can read"),
        ("jvms=null", "'null' is not one value"),
        ("jvms=1,", "'' is not one value"),
        ("users=1,.nan", "'.nan' is not a value that YAML can read"),
        ("jvms={a: 1}", "'{a: 1}' is not one value"),
        ("gc=2024-13-45", "gc=2024-13-45: must be 'default'"),
        ("gc=2024-12-05", "must be 'default'"),
        ("jvms==", "jvms==: must be a whole number"),
        ("gc=!!bool maybe", "is not a value that YAML can read"),
        ("gc=!!python/name:os.system", "is not a value that YAML can read"),
        ("gc=\x07", "is not a value that YAML can read"),
        (f"users={'9' * 5000}", "is not a value that YAML can read"),
        (f"gc={'[' * 5000}", "is not a value that YAML can read"),
        ("thp=sometimes", "thp=sometimes: 'sometimes' is no mode"),
        ("huge_pages=1.5", "is no number of pages"),
        ("measure=0", "measure"),
        ("engine=podman", "engine=podman: must be 'process', 'compose' or 'kubernetes'"),
    ],
)
def test_a_bad_set_is_refused_in_one_sentence(setting: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        arms("jvm-count", setting)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ({"jvms": {"levels": [1, 1]}}, "the arms jvms-1 and jvms-1 have the same settings"),
        ({"jvms": {"levels": [1, True]}}, "jvms"),
        ({"gc_log": {"levels": [True, 1]}}, "have the same settings|not exactly one baseline"),
        ({"users": {"levels": [1, 1.0]}}, "the arms users-1 and users-1.0 have the same settings|baseline"),
        (
            {"t": {"levels": {"a": {"jvms": 2}, "b": {"jvms": 2}}}},
            "the arms t-a and t-b have the same settings",
        ),
        (
            {"t": {"levels": {"a b": {"jvms": 1}, "a-b": {"jvms": 2}}}},
            "the arms t-a-b and t-a-b have the same",
        ),
        ({"jvms": {"levels": [1]}}, "one arm only"),
    ],
)
def test_equal_arms_are_refused(factors: dict[str, Any], says: str) -> None:
    found = asked("ping", factors=factors)
    with pytest.raises(BadInput, match=says):
        expand(found.experiment, found.settings)


def test_thirty_levels_of_four_factors_are_refused_at_once() -> None:
    levels = list(range(1, 31))
    names = ("jvms", "users", "gc_threads", "injectors")
    found = asked("ping", factors={name: {"levels": levels} for name in names})
    with pytest.raises(BadInput, match="the factors give 810000 arms, more than 100"):
        expand(found.experiment, found.settings)
    assert calls(lambda: expand(found.experiment, found.settings)) < 100_000


@pytest.mark.parametrize(
    ("quick", "says"),
    [
        ({"levels": {"gc": ["serial"]}, "settings": {"bananas": 1}}, "'bananas' is not a setting"),
        ({"levels": {"bananas": [1, 2]}}, "'bananas' is not a setting"),
    ],
)
def test_odd_quick_sections_are_refused(quick: dict[str, Any], says: str) -> None:
    found = asked("ping", quick=quick)
    with pytest.raises(BadInput, match=says):
        expand(with_quick(found.experiment, found.settings), found.settings)


def test_a_level_that_a_factor_of_groups_does_not_have_is_refused() -> None:
    found = asked("ping", factors={"t": {"levels": {"a": {"jvms": 1}, "b": {"jvms": 2}}}})
    with pytest.raises(BadInput, match="factor t has no level 'c': there are a, b"):
        with_settings(found.experiment, found.settings, ["t=a,c"])


def test_the_settings_of_a_workload_carry_its_name() -> None:
    acmeair = Settings(load_workload("acmeair").workload, HOST)
    assert acmeair.section("acmeair.customers") == "workload"
    assert acmeair.section("thp") == "host"
    assert acmeair.section("users") == "load"
    assert acmeair.section("heap") == "jvm"
    assert acmeair.section("total_heap") == "deployment"
    acmeair.check("acmeair.indexes", "secondary")
    for name, value, says in (
        ("acmeair.indexes", "many", "it is one of none, secondary, not 'many'"),
        ("acmeair.customers", 0, "it is at least 1, not 0"),
        ("acmeair.customers", 1_000_001, "it is at most 1000000, not 1000001"),
        ("acmeair.customers", True, "it takes a whole number"),
        ("huge_pages", "many", "huge_pages=many"),
        ("jvm", {}, "'jvm' is not a setting"),
    ):
        with pytest.raises(BadInput) as caught:
            acmeair.check(name, value)
        assert says in str(caught.value)


def test_up_takes_fixed_settings() -> None:
    settings = Settings(load_workload("acmeair").workload, HOST)
    arm = fixed_arm("acmeair", settings, ["acmeair.customers=9", "jvms=2", "total_heap=1g"])
    assert (arm.settings, arm.deployment.jvms, arm.deployment.total_heap) == ({"customers": 9}, 2, 1024 * MIB)
    for bad in ("jvms", "jvms=many", "=", "a=["):
        with pytest.raises(BadInput):
            fixed_arm("acmeair", settings, [bad])
