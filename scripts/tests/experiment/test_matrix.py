# SPDX-License-Identifier: Apache-2.0
import pytest

from steelyard.errors import BadInput
from steelyard.experiment.loader import load_experiment
from steelyard.experiment.matrix import expand, with_quick, with_settings
from steelyard.experiment.schema import Experiment
from steelyard.paths import EXPERIMENTS
from steelyard.units import MIB


@pytest.fixture
def jvm_count() -> Experiment:
    return load_experiment(EXPERIMENTS / "jvm-count.yaml")


def test_one_factor_gives_an_arm_for_each_level(jvm_count: Experiment) -> None:
    arms = expand(jvm_count)
    assert [arm.name for arm in arms] == ["jvms-1", "jvms-2", "jvms-4", "jvms-6", "jvms-12"]
    assert [arm.deployment.jvms for arm in arms] == [1, 2, 4, 6, 12]
    assert [arm.baseline for arm in arms] == [True, False, False, False, False]


def test_two_factors_give_every_combination_and_one_baseline(jvm_count: Experiment) -> None:
    arms = expand(with_settings(jvm_count, ["jvms=1,2", "gc_threads=1,default"]))
    assert [arm.name for arm in arms] == [
        "jvms-1_gc-threads-1",
        "jvms-1_gc-threads-default",
        "jvms-2_gc-threads-1",
        "jvms-2_gc-threads-default",
    ]
    assert [arm.deployment.jvm.gc_threads for arm in arms] == [1, "default", 1, "default"]
    assert [arm.baseline for arm in arms] == [True, False, False, False]


def test_named_levels_are_groups_of_settings(jvm_count: Experiment) -> None:
    text = jvm_count.model_dump()
    text["factors"] = {"tuning": {"levels": {"plain": {}, "tuned": {"nursery": "64m", "gc_threads": 2}}}}
    text["baseline"] = {"tuning": "plain"}
    plain, tuned = expand(Experiment.model_validate(text))
    assert (plain.name, plain.deployment.jvm.nursery) == ("tuning-plain", None)
    assert (tuned.deployment.jvm.nursery, tuned.deployment.jvm.gc_threads) == (64 * MIB, 2)


def test_set_with_one_value_fixes_a_setting(jvm_count: Experiment) -> None:
    arms = expand(with_settings(jvm_count, ["users=24"]))
    assert {arm.load.users for arm in arms} == {24}
    assert len(arms) == 5


def test_quick_has_fewer_levels_and_blocks_and_a_fixed_warmup(jvm_count: Experiment) -> None:
    quick = with_quick(jvm_count)
    assert [arm.name for arm in expand(quick)] == ["jvms-1", "jvms-2"]
    assert quick.design.blocks == 3
    assert quick.deployment.jvm.compile == "foreground"
    assert quick.load.warmup.until == "fixed"
    assert quick.load.measure < jvm_count.load.measure


def test_a_baseline_that_set_leaves_out_gives_way_to_the_first_level(jvm_count: Experiment) -> None:
    changed = with_settings(jvm_count, ["jvms=4,2"])
    assert [(arm.name, arm.baseline) for arm in expand(changed)] == [("jvms-4", True), ("jvms-2", False)]
    # A session keeps the experiment as resolved and reads it again to resume.
    assert expand(Experiment.model_validate(changed.model_dump(mode="json"))) == expand(changed)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("jvm=1,2", "unknown factor 'jvm': this experiment varies jvms; settings that can be varied are"),
        ("bananas=3", "unknown factor 'bananas'"),
        ("jvms", "is not of the form factor=level"),
        ("jvms=1,x", "jvms=x: jvms: Input should be a valid integer"),
        ("jvms=0,1", "jvms=0: jvms: Input should be greater than or equal to 1"),
        ("gc=fancy", "Input should be 'default', 'generational', 'regional' or 'serial'"),
        ("jvms=4", "one arm only"),
        ("jvms=2,2", "same name"),
        ("jit=remote", "jit: remote needs jitserver"),
    ],
)
def test_a_bad_set_is_refused(jvm_count: Experiment, setting: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        expand(with_settings(jvm_count, [setting]))
    assert says in str(caught.value)
