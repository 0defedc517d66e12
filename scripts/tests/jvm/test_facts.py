# SPDX-License-Identifier: Apache-2.0
"""Settings against what tells of them. The texts are real: HotSpot 17.0.15 and 25.0.3 on a host with two CPUs."""

from pathlib import Path
from typing import Any

import pytest
from builders import make_component, make_jvm
from planned import asked as question
from planned import containers, processes, specs_of

from steelyard.jvm.class_cache import cache_figures
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.options import hotspot_facts, openj9_facts
from steelyard.jvm.rows import Fact
from steelyard.jvm.settings import JvmSettings
from steelyard.results.spec import Artifact, Component
from steelyard.spec.agreement import differences, not_read_back, readable, requested_settings
from steelyard.units import MIB

FIXTURES = Path(__file__).parents[1] / "fixtures" / "jvm"


def flags(name: str) -> dict[str, Fact]:
    return hotspot_facts((FIXTURES / f"flags-{name}.txt").read_text(encoding="utf-8"))


def server(jvm: JvmIdentity, contained: bool = False, ours: bool = True, **more: Any) -> Component:
    """A server as the plan makes it; `more` are JVM settings, and its heap as `heap_bytes`."""
    heap, settings = more.pop("heap_bytes", None), JvmSettings.model_validate(more)
    made = make_component(
        artifact=Artifact(form="liberty", jvm=jvm, build="b" if ours else None),
        cpus=[1, 0],
        heap_bytes=heap,
        jvm_settings=settings,
        counters=None,
        info="/bench/info" if ours else None,
    )
    return made.model_copy(update={"read_back": readable(made, jcmd=not contained)})


def told(component: Component, **other: Fact) -> dict[str, Fact]:
    return {"heap": 6 * 1024 * MIB, **requested_settings(component), **other}


def test_hotspot_tells_what_its_options_came_to() -> None:
    assert flags("refused-17") == {
        "heap": 256 * MIB,
        "initial_heap": 128 * MIB,
        "nursery": 64 * MIB,
        "gc": "generational",
        "gc_threads": 2,
        "pages": "small",
        "compile": "foreground",
    }
    assert flags("g1-25").items() >= {"nursery": 33 * MIB, "gc": "regional", "compile": "background"}.items()
    assert flags("transparent-17").items() >= {"gc": "serial", "compile": "background"}.items()
    assert "pages" not in flags("transparent-17")  # what it means to use
    assert flags("default-17")["heap"] == 6028 * MIB
    assert "nursery" in flags("default-17")
    assert hotspot_facts("12345:\njava.io.IOException: no such process\n") == {}


def test_hotspot_tells_its_switches_where_they_were_given() -> None:
    assert not {"tiered", "string_deduplication", "container_support"} & flags("default-17").keys()
    # JDK 17 has no string deduplication under ZGC, and says what became of the option.
    assert flags("z-17").items() >= {"gc": "z", "tiered": "off", "string_deduplication": "off"}.items()
    assert flags("z-25").items() >= {"gc": "z", "tiered": "off", "string_deduplication": "on"}.items()
    for version in (17, 25):
        told = flags(f"shenandoah-{version}")
        assert (told["gc"], told["gc_threads"], told["heap"]) == ("shenandoah", 2, 128 * MIB)
        assert (told["string_deduplication"], told["container_support"]) == ("on", "on")


@pytest.mark.parametrize(
    ("name", "state"),
    [("none-17", "none"), ("cold-17", "cold"), ("cold-25", "cold"), ("warm-25", "warm"), ("g1-25", None)],
)
def test_hotspot_tells_the_state_of_its_class_cache(name: str, state: str | None) -> None:
    assert flags(name).get("class_cache") == state
    assert isinstance(flags(name)["heap"], int)  # a path with a blank swallows nothing


def test_openj9_tells_by_its_memory_bean() -> None:
    memory = {
        "GCMode": "-Xgcpolicy:gencon",
        "MaxHeapSize": "536870912",
        "MinHeapSize": "268435456",
        "MaximumGCThreads": "2",
    }
    pools = {"nursery-allocate": 48 * MIB, "nursery-survivor": 16 * MIB, "tenured-SOA": 300 * MIB}
    assert openj9_facts({"memory": memory, "memoryPools": pools}) == {
        "heap": 512 * MIB,
        "initial_heap": 256 * MIB,
        "gc": "generational",
        "gc_threads": 2,
        "nursery": 64 * MIB,
    }
    assert openj9_facts({"memory": {"ObjectPendingFinalizationCount": "0"}}) == {}


def test_a_nursery_that_balanced_sizes_itself_is_not_read_back(openj9: JvmIdentity) -> None:
    assert "nursery" in server(openj9, nursery="48m", gc="generational").read_back
    assert "nursery" not in server(openj9, nursery="48m", gc="regional").read_back


def test_openj9_tells_the_figures_of_a_class_cache() -> None:
    printed = (FIXTURES / "printstats-21.txt").read_text(encoding="utf-8")
    assert cache_figures(printed) == {
        "class_cache_size": 167771552,
        "class_cache_free": 111149032,
        "class_cache_classes": 22222464,
        "class_cache_aot": 19567432,
    }
    assert cache_figures("JVMSHRC023E Cache does not exist") == {}


@pytest.mark.parametrize(("pages", "code"), [("small", "large"), ("large", "small")])
def test_code_of_openj9_has_the_pages_of_its_heap(openj9: JvmIdentity, pages: str, code: str) -> None:
    """It takes large ones for both unasked, or falls back for either without a word."""
    asks = server(openj9, heap_bytes=256 * MIB, pages=pages)
    assert (differences(asks, [told(asks, code_pages="transparent")]) == []) == (pages == "small")
    assert "code_pages" in asks.read_back
    assert differences(asks, [told(asks)]) == []
    (sentence,) = differences(asks, [told(asks, code_pages=code)])
    assert sentence == f"server-1 has code_pages {code} instead of {pages}"


EVERY: dict[str, Any] = {
    "heap_bytes": 256 * MIB,
    "initial_heap": "same",
    "nursery": "64m",
    "gc": "generational",
    "gc_threads": 2,
    "pages": "large",
    "class_cache": "none",
    "compile": "foreground",
    "tiered": False,
    "string_deduplication": True,
    "container_support": False,
}


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("heap", 128 * MIB, "heap 128 MiB instead of 256 MiB"),
        ("initial_heap", 8 * MIB, "initial_heap 8 MiB instead of 256 MiB"),
        ("nursery", 67 * MIB, "nursery 67 MiB instead of 64 MiB"),
        ("nursery", "from 1363144 to 160432128 bytes", "nursery from 1363144 to"),
        ("gc", "regional", "gc regional instead of generational"),
        ("gc_threads", 1, "gc_threads 1 instead of 2"),
        ("pages", "transparent", "pages transparent instead of large"),
        ("pages", "small", "pages small instead of large"),
        ("class_cache", "own", "class_cache own instead of none"),
        ("compile", "background", "compile background instead of foreground"),
        ("tiered", "on", "tiered on instead of off"),
        ("string_deduplication", "off", "string_deduplication off instead of on"),
        ("container_support", "on", "container_support on instead of off"),
        ("cpus", "0", "cpus 0 instead of 0,1"),
        ("processors", 1, "processors 1 instead of 2"),
    ],
)
def test_each_setting_that_differs_is_told_and_each_that_is_missing(
    hotspot: JvmIdentity, setting: str, value: Fact, says: str
) -> None:
    asks = server(hotspot, **EVERY)
    assert differences(asks, [told(asks)]) == []
    (sentence,) = differences(asks, [told(asks, **{setting: value})])
    assert sentence.startswith("server-1 has ")
    assert says in sentence
    without = told(asks)
    del without[setting]
    (sentence,) = differences(asks, [without])
    assert sentence.startswith(f"server-1 does not tell its {setting}, which should be ")


def test_one_source_that_differs_is_enough(hotspot: JvmIdentity) -> None:
    asks = server(hotspot, pages="large")
    assert differences(asks, [told(asks), {"pages": "large"}]) == []
    assert differences(asks, [told(asks), {"pages": "small"}]) == [
        "server-1 has pages small instead of large"
    ]


def test_sizes_may_be_rounded_as_collectors_do(hotspot: JvmIdentity) -> None:
    asks = server(hotspot, heap_bytes=64 * 1024 * MIB, nursery="1g")
    assert differences(asks, [told(asks, nursery=(1024 + 32) * MIB)]) == []
    assert differences(asks, [told(asks, nursery=(1024 + 128) * MIB)])


@pytest.mark.parametrize(("heap", "region"), [(512, 1), (4096, 2), (4097, 4), (8192, 4), (8193, 8)])
def test_g1_rounds_sizes_to_a_region(hotspot: JvmIdentity, heap: int, region: int) -> None:
    asks = server(hotspot, heap_bytes=heap * MIB, nursery="100m")
    off = max(2, region)  # other collectors round to 2 MiB
    assert differences(asks, [told(asks, nursery=(100 - off) * MIB)]) == []
    assert differences(asks, [told(asks, nursery=(100 - off - 1) * MIB)])


@pytest.mark.parametrize(
    ("state", "good", "bad"),
    [("none", "unmapped", "own"), ("cold", "cold", "warm"), ("warm", "mapped", "own")],
)
def test_class_caches_by_what_is_mapped(hotspot: JvmIdentity, state: str, good: str, bad: str) -> None:
    asks = server(hotspot, class_cache=state)
    assert differences(asks, [told(asks, class_cache=good)]) == []
    assert differences(asks, [told(asks, class_cache=bad)])


def test_a_heap_left_to_the_jvm_has_to_be_told(hotspot: JvmIdentity) -> None:
    left = server(hotspot)
    assert "heap" in left.read_back
    missing = {name: fact for name, fact in told(left).items() if name != "heap"}
    assert differences(left, [missing]) == ["server-1 does not tell its heap"]


def test_the_plan_says_what_cannot_be_read_back(hotspot: JvmIdentity, openj9: JvmIdentity) -> None:
    def says(component: Component) -> list[str]:
        assert component.jvm_settings is not None
        return not_read_back([component], component.jvm_settings)

    everything = dict(EVERY, pages="transparent", class_cache="warm")
    for ours, contained, log in [(True, True, False), (True, False, True), (False, False, False)]:
        assert says(server(hotspot, ours=ours, contained=contained, gc_log=log, **everything)) == []
    foreign = {"ours": False, "contained": True, "heap_bytes": 256 * MIB}
    (options,) = says(server(hotspot, **foreign, nursery="64m", compile="foreground", gc="serial"))
    assert options == "nursery, compile: the JVM of server does not report it."
    (blind,) = says(server(hotspot, **foreign, gc_log=False, gc="serial", gc_threads=1))
    assert blind.startswith("heap, gc, gc_threads: ")
    (cold,) = says(server(hotspot, **foreign, class_cache="cold"))
    assert cold.startswith("class_cache: ")
    (left,) = says(server(hotspot, ours=False, contained=True, gc_log=False))
    assert "arms may differ in it" in left
    # What OpenJ9's compiler was told nobody tells but its command line.
    on_openj9 = {
        name: value for name, value in EVERY.items() if name not in ("tiered", "string_deduplication")
    }
    (j9,) = says(server(openj9, **on_openj9))
    assert j9.startswith("compile, container_support: ")
    assert "jvm_args" in says(server(hotspot, jvm_args=["-Dx=1"]))[0]


def test_plans_carry_it_by_arm() -> None:
    found = question("ping", deployment={"jvm": {"compile": "foreground"}})
    assert all(one.not_read_back == [] for one in specs_of(found).values())
    assert any("Heaps that are left" in note for one in specs_of(found).values() for note in one.notes)
    planned = specs_of(found, runtime=processes(make_jvm("openj9", 21)))
    assert all("stand still" in " ".join(one.notes) for one in planned.values())
    in_background = specs_of(question("ping"), runtime=processes(make_jvm("openj9", 21)))
    assert not any("stand still" in " ".join(one.notes) for one in in_background.values())
    assert all("compile: " in " ".join(one.not_read_back) for one in planned.values())
    runtime = processes(build=None, jcmd=False)  # a user's own server on a Java runtime without tools
    assert all(
        "compile: " in " ".join(one.not_read_back) for one in specs_of(found, runtime=runtime).values()
    )
    contained = question("ping", deployment={"engine": "compose", "memory": "512m", "threads": 8})
    spec = specs_of(contained, runtime=containers("server", jvm=make_jvm("hotspot")))["jvms-1"]
    assert {"memory", "cpus", "variable EXECUTOR_THREADS", "heap"} <= set(spec.servers[0].read_back)
    assert requested_settings(spec.servers[0])["variable EXECUTOR_THREADS"] == "8"
