# SPDX-License-Identifier: Apache-2.0
"""Asks a running component, and the kernel, what it really has; the GC log follows later (`spec/agreement.py`)."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from steelyard.engines.base import Running
from steelyard.host.java import native_memory, vm_flags
from steelyard.jvm.options import hotspot_facts, openj9_facts, read_facts
from steelyard.jvm.rows import MAPPINGS, Fact, Facts, JvmKind, Source
from steelyard.jvm.settings import MEASURED
from steelyard.measure import nmt
from steelyard.measure.gc_log import GcSettings
from steelyard.processes.restored import find_restored
from steelyard.results.spec import Component
from steelyard.sampling.cgroup import cpu_quota, memory_limit
from steelyard.sampling.smaps import class_cache, code_pages, heap_pages, parse_smaps, shared_mappings
from steelyard.spec.agreement import RESTORED, format_quota, sources

MAPPED = {
    name
    for name, row in MEASURED.items()
    for vm in get_args(JvmKind)
    if (support := row.on(vm)) and support.map
}
"""Settings that the kernel's map of a process shows."""
# What a server says of itself is any JSON, as each has its own keys.
ReadBack = Callable[[Running, Mapping[str, Any], Facts | None], Mapping[Source, Facts]]
"""What `observe` is; tests have another one."""


# `info`: as above.
def observe(running: Running, info: Mapping[str, Any], granted: Facts | None = None) -> dict[Source, Facts]:
    """What each source says of a component now; nothing of a source that does not answer.

    Args:
        running: the component with its processes. Of several, the largest is the server: the others started it.
        info: what it says of itself.
        granted: what its engine says, of one whose processes are not on this host.
    """
    component, jvm = running.component, running.component.artifact.jvm
    pid = max(running.pids, key=_resident, default=None)
    facts: dict[Source, Facts] = {
        "process": _process(pid, {*component.environment}) if pid is not None else granted or {}
    }
    if component.checkpoint != "none" and pid is not None:
        facts["process"] = {**facts["process"], "checkpoint": RESTORED if find_restored([pid]) else "none"}
    if "availableProcessors" in info:
        facts["info"] = {"processors": info["availableProcessors"]}
    if jvm is not None and jvm.kind == "openj9":
        facts["options"] = openj9_facts(info)
    elif jvm is not None and "options" in sources(component, jcmd=not running.contained):
        asked = vm_flags(jvm.home, pid) if pid is not None else ""
        facts["options"] = hotspot_facts(str(info.get("vmFlags") or asked))
    if pid is None:
        return facts
    return facts | map_facts(component, facts, _read(pid, "smaps"))


def ask_native_memory(running: Running) -> str | None:
    """What a JVM of this host says of its own memory; None: it keeps no account, or cannot be asked from here. Of
    several processes the largest is the server."""
    jvm, pid = running.component.artifact.jvm, max(running.pids, key=_resident, default=None)
    if jvm is None or jvm.kind != "hotspot" or pid is None or running.contained:
        return None
    return native_memory(jvm.home, pid) if nmt.keeps_account(running.component.jvm_options) else None


def map_facts(component: Component, others: Mapping[Source, Facts], smaps: str) -> dict[Source, Facts]:
    """What the kernel's map of a server's memory shows: how often a shared heap is mapped; of a JVM pages and class
    cache, where a heap is mapped.

    Args:
        component: the server.
        others: what other sources say of it, its heap among them.
        smaps: the map of its process; empty where it could not be read.
    """
    heap = others.get("options", {}).get("heap", component.heap_bytes)
    areas = parse_smaps(smaps)
    pages = heap_pages(areas, heap if isinstance(heap, int) else None)
    facts: dict[str, Fact] = {}
    if (jvm := component.artifact.jvm) is not None and pages is not None:
        shown = {"pages": pages, "class_cache": class_cache(areas), "code_pages": code_pages(areas)}
        facts = read_facts(jvm.kind, "map", shown)
    if (times := shared_mappings(areas)) is not None:
        facts[MAPPINGS] = times
    return {"map": facts} if facts else {}


def gc_log_facts(gc: GcSettings) -> Facts:
    """What a GC log says."""
    logged = {name: value for name, value in dataclasses.asdict(gc).items() if value is not None}
    return read_facts("openj9" if str(gc.policy).startswith("-Xgcpolicy") else "hotspot", "gc_log", logged)


def _process(pid: int, names: set[str]) -> dict[str, Fact]:
    """What the kernel knows of a process: CPUs, limits of memory and CPU time, variables that were asked for."""
    facts: dict[str, Fact] = {}
    try:
        facts["cpus"] = ",".join(map(str, sorted(os.sched_getaffinity(pid))))
    except OSError:
        return facts
    with suppress(ValueError):  # a limit that cannot be read is not known
        if (limit := memory_limit(pid)) is not None:
            facts["memory"] = limit
    with suppress(ValueError):
        if (quota := cpu_quota(pid)) is not None:
            facts["quota"] = format_quota(quota)
    variables = (entry.partition("=") for entry in _read(pid, "environ").split("\0"))
    return facts | {f"variable {name}": text for name, _, text in variables if name in names}


def _resident(pid: int) -> int:
    words = _read(pid, "statm").split()
    return int(words[1]) if words else 0


def _read(pid: int, name: str) -> str:
    """A file of a process below /proc; empty when it is gone or may not be read."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
