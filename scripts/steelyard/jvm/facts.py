# SPDX-License-Identifier: Apache-2.0
"""What was asked of a component, and what tells whether it got it (pure).

Four sources tell facts of a running JVM, by the names and in the values of the settings (sizes: bytes): its own account
of its options (`/bench/info`, or `jcmd PID VM.flags`), its GC log, the kernel's map of its memory, and what the kernel
knows of its process. Every source that tells a setting has to agree with what was asked for. What HotSpot's options
and log say of large pages counts only where they say that there are none: they name them as in use when none was left
for the heap. Which sources there are is known when the plan is made.

Sources: HotSpot's `VM.flags` prints the final values of all options that are not as by default; OpenJ9's documentation
of `com.ibm.lang.management.MemoryMXBean` and `MemoryPoolMXBean`; OpenJ9's names of shared class caches.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from steelyard.experiment.schema import JvmSettings
from steelyard.jvm.sharedcache import CACHE_FIGURES
from steelyard.results.spec import Component
from steelyard.units import MIB, format_size

Fact = int | str
Facts = Mapping[str, Fact]
"""What one source tells."""
Source = Literal["options", "gc_log", "map", "process", "info"]

_SIZES = ("heap", "initial_heap", "nursery", "memory", *CACHE_FIGURES)
_ALIGNMENT = 2 * MIB
"""Least that collectors round sizes to."""
_G1_REGIONS = 2048
"""G1 takes the power of two from which on a heap has no more of them, and rounds sizes to one."""
JVM_SETTINGS = ("heap", "initial_heap", "nursery", "gc", "gc_threads", "pages", "class_cache", "compile")
_FAMILIES = {"generational": ("gencon", "parallel"), "regional": ("balanced", "g1"), "serial": ("serial",)}
_HOTSPOT = {"heap": "MaxHeapSize", "initial_heap": "InitialHeapSize", "gc_threads": "ParallelGCThreads"}
_OPENJ9 = {"heap": "MaxHeapSize", "initial_heap": "MinHeapSize", "gc_threads": "MaximumGCThreads"}
_OPTION = re.compile(r"-XX:(?:([+-])(\w+)|(\w+)=(.*?))(?=\s+-XX:|\s*$)")
_LOGGED = frozenset({"heap", "initial_heap", "gc", "gc_threads"})
_TELLS: dict[str, dict[Source, frozenset[str]]] = {
    "hotspot": {
        "options": _LOGGED | {"nursery", "compile", "class_cache cold"},
        "gc_log": _LOGGED,
        "map": frozenset({"pages", "class_cache none", "class_cache warm"}),
    },
    # Its log names the nursery at collections only, which a short trial need not have.
    "openj9": {
        "options": _LOGGED | {"nursery"},
        "gc_log": _LOGGED,
        "map": frozenset(
            {"pages", "code_pages", *(f"class_cache {state}" for state in ("none", "cold", "warm", "baked"))}
        ),
    },
}
"""JVM -> source -> settings that it is sure to tell; of `class_cache` by value."""
_CACHES: dict[str, dict[str, tuple[str, ...]]] = {
    # HotSpot maps an archive that it uses, beside or instead of its own one, and writes one only as it ends.
    "hotspot": {
        "none": ("none", "unmapped"),
        "cold": ("cold", "own", "unmapped"),
        "warm": ("warm", "mapped"),
    },
    "openj9": {
        "none": ("unmapped",),
        "cold": ("mapped",),
        "warm": ("mapped",),
        "baked": ("mapped",),
    },
}
"""JVM -> what was asked of `class_cache` -> what the sources may say of it."""


def asked(component: Component) -> dict[str, Fact]:
    """All that a component should have, by setting; a setting left to the JVM is not among it."""
    found: dict[str, Fact] = {}
    if component.jvm_settings is not None:
        found = component.jvm_settings.model_dump(include={*JVM_SETTINGS[1:]}, exclude_defaults=True)
    if (
        found.get("pages") in ("small", "large")
        and component.artifact.jvm
        and component.artifact.jvm.kind == "openj9"
    ):
        found["code_pages"] = found["pages"]
    if component.heap_bytes is not None:
        found["heap"] = component.heap_bytes
        if found.get("initial_heap") == "same":
            found["initial_heap"] = component.heap_bytes
    if component.memory_bytes is not None:
        found["memory"] = component.memory_bytes
    found["cpus"] = ",".join(map(str, sorted(component.cpus)))
    found["processors"] = len(component.cpus)
    # What the engine has to fill in is compared by nobody: paths of its own.
    variables = {name: text for name, text in component.environment.items() if "${" not in text}
    return found | {f"variable {name}": text for name, text in variables.items()}


def sources(component: Component, *, jcmd: bool, here: bool = True) -> list[Source]:
    """What will tell of a component while it runs.

    Args:
        component: a server.
        jcmd: whether a HotSpot JVM can be asked from this host.
        here: whether its processes are on this host, so that the kernel tells of their memory.
    """
    jvm, settings = component.artifact.jvm, component.jvm_settings
    ours = component.info is not None and component.artifact.build is not None
    found: list[Source] = ["map", "process"] if here else ["process"]
    if ours:
        found.append("info")
    if settings is not None and settings.gc_log:
        found.append("gc_log")
    if ours or (jvm is not None and jvm.kind == "hotspot" and jcmd):
        found.append("options")
    return found


def readable(component: Component, *, jcmd: bool, here: bool = True) -> list[str]:
    """Settings that can be read back from it as it runs (see `sources`), its heap among them where that is left to the
    JVM."""
    jvm, there = component.artifact.jvm, sources(component, jcmd=jcmd, here=here)
    tells = _TELLS[jvm.kind] if jvm is not None else {}
    told = {name for source in there for name in tells.get(source, ())}
    told |= {"cpus", "memory"} | ({"processors"} if "info" in there else set())
    settings = component.jvm_settings
    if jvm is not None and jvm.kind == "openj9" and settings is not None and settings.gc == "regional":
        told -= {"nursery"}  # balanced takes it as a bound of an eden that it sizes itself
    return [
        name
        for name, value in {"heap": 0, **asked(component)}.items()
        if name in told or f"{name} {value}" in told or name.startswith("variable ")
    ]


def not_read_back(servers: Sequence[Component], settings: JvmSettings) -> list[str]:
    """What nothing reads back from the servers of an arm, one sentence each (for `plan`)."""
    found = []
    if settings.jvm_args:
        found.append("What `jvm_args` passes to the JVMs as it is cannot be read back from them.")
    for one in servers:
        if one.artifact.jvm is None:
            found.append("The servers' JVM does not tell what it is, so no setting of it is read back.")
            continue
        lacking = [name for name in asked(one) if name not in one.read_back and name != "processors"]
        if lacking:
            found.append(f"{', '.join(lacking)}: what the JVM of {one.kind} made of it cannot be read back.")
        if one.info is None and one.environment:
            found.append(f"Of variables it is read back that {one.kind} got them, not what it made of them.")
        if one.heap_bytes is None and "heap" not in one.read_back:
            found.append(
                f"The heap that the JVM of {one.kind} takes cannot be read back: arms may differ in it."
            )
    return list(dict.fromkeys(found))


def differences(component: Component, told: Collection[Facts]) -> list[str]:
    """One sentence for each setting of a component that a source tells otherwise, or that nothing tells although
    something should have."""
    found: list[str] = []
    jvm, wished = component.artifact.jvm, asked(component)
    kind = jvm.kind if jvm is not None else "hotspot"
    for name in dict.fromkeys([*component.read_back, *wished]):
        known = dict.fromkeys(facts[name] for facts in told if name in facts)
        wanted = wished.get(name)
        if not known and name in component.read_back:
            should = f", which should be {shown(name, wanted)}" if wanted is not None else ""
            found.append(f"{component.name} does not tell its {name}{should}")
        if wanted is None:
            continue
        found += [
            f"{component.name} has {name} {shown(name, value)} instead of {shown(name, wanted)}"
            for value in known
            if not _agrees(name, value, wanted, kind, component.heap_bytes or 0)
        ]
    return found


def shown(name: str, value: Fact) -> str:
    """A value for people."""
    return format_size(value) if name in _SIZES and isinstance(value, int) else str(value)


def _agrees(name: str, value: Fact, wanted: Fact, kind: str, heap: int) -> bool:
    if name == "class_cache":
        return value in _CACHES[kind][str(wanted)]
    if name == "code_pages" and wanted == "small":
        # OpenJ9's JIT asks for transparent ones for its code, whatever it is told.
        return value != "large"
    if name in ("heap", "initial_heap", "nursery") and isinstance(value, int) and isinstance(wanted, int):
        return abs(value - wanted) <= max(_ALIGNMENT, wanted // 100, _g1_region(heap))
    return value == wanted


def _g1_region(heap: int) -> int:
    """Size of a region of a heap, in bytes (JDK 17's and later ones' default: 1 to 32 MiB)."""
    region = MIB
    while region * _G1_REGIONS < heap and region < 32 * MIB:
        region *= 2
    return region


def family(policy: str) -> str:
    """The value of `gc` for a collector as a JVM calls it; of another collector its name."""
    return next(
        (name for name, parts in _FAMILIES.items() if any(one in policy.lower() for one in parts)), policy
    )


def hotspot_facts(flags: str) -> dict[str, Fact]:
    """What HotSpot's `VM.flags` printed; nothing of a text that has no option in it."""
    options: dict[str, bool | str] = {
        name or valued: sign == "+" if name else value for sign, name, valued, value in _OPTION.findall(flags)
    }
    if not options:
        return {}
    found: dict[str, Fact] = {
        setting: number
        for setting, name in _HOTSPOT.items()
        if (number := _whole_number(options.get(name))) is not None
    }
    low, high = options.get("NewSize"), options.get("MaxNewSize")
    if (number := _whole_number(high)) is not None:
        found["nursery"] = number if low == high else f"from {low or 'its default'} to {high} bytes"
    for name in ("Parallel", "G1", "Serial", "Z", "Shenandoah", "Epsilon"):
        if options.get(f"Use{name}GC"):
            found["gc"] = family(name)
    # That it means to use large pages is no fact: it says so when none was left for the heap.
    if options.get("UseLargePages") is False:
        found["pages"] = "small"
    found["compile"] = "foreground" if options.get("BackgroundCompilation") is False else "background"
    for state, names in (
        ("cold", ("ArchiveClassesAtExit", "AOTCacheOutput")),
        ("warm", ("SharedArchiveFile", "AOTCache")),
    ):
        if any(options.get(name) for name in names):
            found["class_cache"] = state
    if options.get("UseSharedSpaces") is False:
        found["class_cache"] = "none"
    return found


def openj9_facts(info: Mapping[str, Any]) -> dict[str, Fact]:
    """What OpenJ9's management beans say in `/bench/info`; nothing of another JVM's."""
    memory, pools = info.get("memory") or {}, info.get("memoryPools") or {}
    if not isinstance(memory, Mapping) or not isinstance(pools, Mapping) or "GCMode" not in memory:
        return {}
    found: dict[str, Fact] = {
        setting: number
        for setting, name in _OPENJ9.items()
        if (number := _whole_number(memory.get(name))) is not None
    }
    parts = [_whole_number(size) for name, size in pools.items() if name.startswith("nursery")]
    nursery = [size for size in parts if size is not None]
    known = {"nursery": sum(nursery)} if nursery and len(nursery) == len(parts) else {}
    return found | {"gc": family(str(memory["GCMode"]))} | known


def _whole_number(value: object) -> int | None:
    """A number that a JVM tells, as a number or a text; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"[0-9]+", str(value)) else None
