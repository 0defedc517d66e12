# SPDX-License-Identifier: Apache-2.0
"""Heaps that were left to the JVMs are what they took, and never equal by being unknown."""

import pytest
from builders import make_component, make_session, make_spec, make_trial

from steelyard.analysis.estimates import analyse
from steelyard.analysis.heaps import left_heaps
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Session, Trial
from steelyard.results.spec import Role
from steelyard.units import MIB


def make_heap_trial(arm: str, *heaps: int | None, block: int = 1) -> Trial:
    servers = [
        ComponentResult(
            name=f"server-{number}", role="server", read_back={} if heap is None else {"heap": heap * MIB}
        )
        for number, heap in enumerate(heaps, start=1)
    ]
    injector = ComponentResult(name="injector-1", role="injector")
    return make_trial(block, arm, components=[*servers, injector], metrics={"throughput": 1.0})


def make_heap_session(heap: int | None = None) -> Session:
    made = make_session([1, 2], 1)
    arms = [
        arm.model_copy(update={"spec": make_spec(arm.name, components=[make_component(heap_bytes=heap)])})
        for arm in made.arms
    ]
    return made.model_copy(update={"arms": arms})


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (
            [6028],
            [6028, 6028],
            "which could take in all 6,028 MiB in jvms-1, 11.8 GiB in jvms-2: the arms did not have equal memory",
        ),
        ([6028], [3014, 3014], "6,028 MiB in jvms-2: the arms had equal memory"),
        ([6028], [3014, None], "6,028 MiB in jvms-1; in jvms-2 it is not known"),
        ([None], [None, None], "JVMs; in jvms-1, jvms-2 it is not known: whether arms had equal memory is"),
    ],
)
def test_totals_of_what_jvms_took(first: list[int | None], second: list[int | None], says: str) -> None:
    trials = [make_heap_trial("jvms-1", *first), make_heap_trial("jvms-2", *second)]
    (note,) = [
        text for text in analyse(make_heap_session(), trials).notes if text.startswith("Heaps were left")
    ]
    assert says in note


MORE = "the arms did not have equal memory: beside its servers jvms-2 has"


@pytest.mark.parametrize(
    ("extras", "says"),
    [
        ([("compiler", 2048)], f"{MORE} compiler (limit 2,048 MiB)"),
        ([("proxy", None), ("database", None)], f"{MORE} database (no limit)"),
        ([("proxy", None)], "the arms had equal memory"),
    ],
)
def test_equal_heaps_are_no_equal_memory_beside_a_component_of_one_arm(
    extras: list[tuple[Role, int | None]], says: str
) -> None:
    """A JITServer of 2 GiB in one arm stood beside "the arms had equal memory"."""
    made = make_heap_session()
    more = [
        make_component(role, memory_bytes=None if limit is None else limit * MIB) for role, limit in extras
    ]
    proxy = make_component("proxy")
    first, second = made.arms
    own = ([*first.spec.components, proxy], [*second.spec.components, *more])
    if all(role != "proxy" for role, _ in extras):
        own[0].remove(proxy)
    arms = [
        arm.model_copy(update={"spec": arm.spec.model_copy(update={"components": components})})
        for arm, components in zip(made.arms, own, strict=True)
    ]
    chosen = {
        "jvms-1": {(1, 0): make_heap_trial("jvms-1", 64)},
        "jvms-2": {(1, 0): make_heap_trial("jvms-2", 32, 32)},
    }
    (note,) = left_heaps(made.model_copy(update={"arms": arms}), chosen)
    assert says in note


def test_heaps_that_were_set_need_no_word() -> None:
    chosen = {
        "jvms-1": {(1, 0): make_heap_trial("jvms-1", 64)},
        "jvms-2": {(1, 0): make_heap_trial("jvms-2", 64, 64)},
    }
    assert left_heaps(make_heap_session(64 * MIB), chosen) == []
    assert left_heaps(make_heap_session(), {}) == []
