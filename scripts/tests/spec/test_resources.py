# SPDX-License-Identifier: Apache-2.0
"""What arms may use, by role and in all, and whether that is equal."""

from typing import Any

from builders import make_component, make_spec

from steelyard.results.spec import Component, Spec
from steelyard.spec.resources import Resources, compare_resources, resource_table, total_resources

MIB = 2**20


def arm(name: str, *components: Component) -> Spec:
    injector = make_component("injector", cpus=[9], artifact=make_component().artifact)
    return make_spec(name, components=[*components, injector])


def servers(number: int, heap: int, **changes: Any) -> list[Component]:
    return [
        make_component(number=index + 1, cpus=[0, 1], heap_bytes=heap * MIB, **changes)
        for index in range(number)
    ]


def test_all_but_the_injectors_count_and_shared_cpus_once() -> None:
    database = make_component("database", cpus=[1, 2], memory_bytes=256 * MIB)
    spec = arm("a", *servers(2, 256), database)
    assert total_resources(spec) == Resources(3, 3, 512 * MIB, None)


def test_arms_that_split_one_total_are_equal() -> None:
    specs = {"one": arm("one", *servers(1, 512)), "two": arm("two", *servers(2, 256))}
    assert compare_resources(specs) == "Equal resources: every arm has 2 CPUs, 512 MiB of heap."


def test_a_jitserver_and_a_proxy_of_one_arm_alone_are_told() -> None:
    """Of a JITServer of 2 GiB it was said that the arms had equal memory."""
    limited = {"memory_bytes": 1024 * MIB}
    plain = arm("local", *servers(1, 512, **limited))
    jitserver = make_component("compiler", cpus=[2], memory_bytes=2048 * MIB, kind="jitserver")
    specs = {"local": plain, "remote": arm("remote", *servers(1, 512, **limited), jitserver)}
    said = compare_resources(specs)
    assert said.startswith("Resources are not equal: 2 CPUs in local, 3 CPUs in remote; ")
    assert "1,024 MiB of memory limit in local, 3,072 MiB of memory limit in remote" in said
    unlimited = jitserver.model_copy(update={"memory_bytes": None, "cpus": [0, 1]})
    specs["remote"] = arm("remote", *servers(1, 512, **limited), unlimited)
    said = compare_resources(specs)
    assert "no known memory limit in remote" in said
    assert "remote has jitserver beside its servers, without a memory limit" in said


def test_limits_are_compared_beside_a_database_that_has_none() -> None:
    """No total is known there, and of servers of 1 and 2 GiB it was said that they were equal."""
    database = make_component("database", cpus=[1])
    small, large = (servers(1, 512, memory_bytes=size * MIB) for size in (1024, 2048))
    said = compare_resources(
        {"small": arm("small", *small, database), "large": arm("large", *large, database)}
    )
    assert "1,024 MiB of memory limit in small, 2,048 MiB of memory limit" in said
    said = compare_resources({"a": arm("a", *small, database), "b": arm("b", *small, database)})
    assert said.startswith("Equal resources: every arm has ")
    assert said.endswith(" 512 MiB of heap, 1,024 MiB of memory limit.")


def test_a_heap_that_a_jvm_chooses_is_equal_to_none() -> None:
    chosen = arm("chosen", make_component(cpus=[0, 1], heap_bytes=None))
    said = compare_resources({"set": arm("set", *servers(1, 512)), "chosen": chosen})
    assert said.startswith("Resources are not equal: 512 MiB of heap in set, no known heap in chosen.")


def test_the_table_has_a_column_for_each_role_that_some_arm_has() -> None:
    proxy = make_component("proxy", cpus=[3])
    specs = {"one": arm("one", *servers(1, 512)), "two": arm("two", *servers(2, 256), proxy)}
    heads, rows = resource_table(specs)
    assert heads == ["arm", "servers", "proxy", "in all"]
    assert rows == [
        ["one", "1 on 2 CPUs, heap 512 MiB", "none", "1 on 2 CPUs, heap 512 MiB"],
        ["two", "2 on 2 CPUs, heap 512 MiB", "1 on 1 CPU", "3 on 3 CPUs, heap 512 MiB"],
    ]
