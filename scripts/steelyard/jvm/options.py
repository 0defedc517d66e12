# SPDX-License-Identifier: Apache-2.0
"""What a server's JVM is given and what it tells, from the rows of `jvm/settings.py` (pure)."""

import re
from typing import Any

from steelyard.errors import BadInput
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.rows import Fact, JvmKind, Source, Start, Told
from steelyard.jvm.settings import MEASURED, SETTINGS, JvmSettings

_OPTION = re.compile(r"-XX:(?:([+-])(\w+)|(\w+)=(.*?))(?=\s+-XX:|\s*$)")


# The types of the values are those of the fields of `JvmSettings`.
def resolve_values(settings: JvmSettings, heap: int | None) -> dict[str, Any]:
    """Values by setting, with the maximum heap of the JVM (bytes; None: left to it)."""
    values = {name: getattr(settings, name) for name in SETTINGS} | {"heap": heap}
    if values["initial_heap"] == "same" and heap is not None:
        values["initial_heap"] = heap
    return values


def jvm_options(
    settings: JvmSettings, heap: int | None, jvm: JvmIdentity, *, populates: bool = False
) -> list[str]:
    """Options of one server JVM; GC logs go to `${folder}/logs`, class caches to `${cache}`.

    Args:
        settings: neutral settings of the arm.
        heap: maximum heap in bytes; None leaves it to the JVM.
        jvm: the JVM that will run.
        populates: whether this is the run that fills a cache for `class_cache: warm`.

    Raises:
        BadInput: the JVM does not have a setting.
    """
    start, values = Start(jvm, heap, settings.gc, populates), resolve_values(settings, heap)
    if values["initial_heap"] == "same":
        raise BadInput("initial_heap: same needs a heap: set total_heap or heap")
    return [
        option
        for name, row in SETTINGS.items()
        for option in row.options(name, values[name], JvmSettings.model_fields[name].default, start)
    ]


def default_gc_threads(jvm: JvmIdentity, gc: str, cpus: int) -> int | None:
    """Parallel GC threads that a JVM takes by itself; None for `z` and `shenandoah`, which count in ways of their own.

    OpenJ9: one for each CPU, 64 at most (its documentation of `-Xgcthreads`). HotSpot: the same up to 8 CPUs, and five
    for each eight beyond (`WorkerPolicy::parallel_worker_threads`); `serial` has one.
    """
    if jvm.kind == "openj9":
        return min(cpus, 64)
    if gc == "serial":
        return 1
    return None if gc in ("z", "shenandoah") else min(cpus, 8) + max(0, cpus - 8) * 5 // 8


def read_facts(jvm_kind: JvmKind, source: Source, facts: Told) -> dict[str, Fact]:
    """What a source tells of the settings; nothing where it tells nothing at all."""
    rows = ((name, on) for name, row in MEASURED.items() if facts and (on := row.on(jvm_kind)) is not None)
    return {name: fact for name, on in rows if (fact := on.fact(name, source, facts)) is not None}


def hotspot_facts(flags: str) -> dict[str, Fact]:
    """What HotSpot's `VM.flags` printed: the final values of all options that are not as by default, and of all that
    were given; nothing of a text that has no option in it."""
    options = _OPTION.findall(flags)
    return read_facts(
        "hotspot",
        "options",
        {name or valued: sign == "+" if name else text for sign, name, valued, text in options},
    )


def openj9_facts(info: Told) -> dict[str, Fact]:
    """What OpenJ9's management beans say in `/bench/info`; nothing of another JVM's."""
    memory, pools = info.get("memory") or {}, info.get("memoryPools") or {}
    if not isinstance(memory, dict) or not isinstance(pools, dict) or "GCMode" not in memory:
        return {}
    return read_facts("openj9", "options", {**memory, "memoryPools": pools})
