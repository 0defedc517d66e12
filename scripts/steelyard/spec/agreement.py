# SPDX-License-Identifier: Apache-2.0
"""What was requested of a component, what tells whether it got it, and in what it differs (pure).

Sources tell facts of a running JVM by the names and in the values of the settings (`jvm/settings.py`): its own account
of its options, its GC log, the kernel's map of its memory, and what the kernel knows of its process. Every source that
tells a setting has to agree with what was requested. Which sources there are is known when the plan is made.
"""

import math
from collections.abc import Collection, Sequence

from steelyard.jvm.class_cache import CACHE_FIGURES
from steelyard.jvm.options import resolve_values
from steelyard.jvm.rows import Fact, Facts, Source
from steelyard.jvm.settings import MEASURED, SETTINGS, JvmSettings
from steelyard.results.spec import Component
from steelyard.units import format_size

RESTORED = "restored"
"""What the kernel tells of a process that came back from a checkpoint, as the fact `checkpoint`."""
_SIZES = ("heap", "initial_heap", "nursery", "memory", *CACHE_FIGURES)


def requested_settings(component: Component) -> dict[str, Fact]:
    """All that a component should have, by setting; a setting left to the JVM is not among it."""
    settings, jvm = component.jvm_settings or JvmSettings(), component.artifact.jvm
    values = resolve_values(settings, component.heap_bytes)
    wanted: dict[str, Fact] = {
        name: ("off", "on")[value] if isinstance(value, bool) else value
        for name, value in values.items()
        if SETTINGS[name].compared and value != JvmSettings.model_fields[name].default
    }
    if settings.pages in ("small", "large") and jvm is not None and jvm.kind == "openj9":
        wanted["code_pages"] = settings.pages
    if component.memory_bytes is not None:
        wanted["memory"] = component.memory_bytes
    wanted["cpus"] = ",".join(map(str, sorted(component.cpus)))
    if component.cpu_quota is not None:
        wanted["quota"] = format_quota(component.cpu_quota)
    if (processors := counted_processors(component, settings)) is not None:
        wanted["processors"] = processors
    if component.checkpoint != "none":
        wanted["checkpoint"] = RESTORED
    # What the engine has to fill in is compared by nobody: paths of its own.
    variables = {name: text for name, text in component.environment.items() if "${" not in text}
    return wanted | {f"variable {name}": text for name, text in variables.items()}


def format_quota(cpus: float) -> str:
    """A CPU quota as it is read back and compared."""
    return f"{cpus:.2f} CPUs"


def counted_processors(component: Component, settings: JvmSettings) -> int | None:
    """The CPUs that its JVM should count; None: it is not known which JVM rounds its quota.

    HotSpot rounds up (`CgroupSubsystem::active_processor_count`), OpenJ9 to the nearest, and to one at least
    (`omrsysinfo_get_number_CPUs_by_type` of Eclipse OMR).
    """
    jvm, quota = component.artifact.jvm, component.cpu_quota
    if settings.processor_count != "default":
        return settings.processor_count
    if quota is None or settings.container_support is False:
        return len(component.cpus)
    if jvm is None:
        return None
    counted = max(1, math.floor(quota + 0.5)) if jvm.kind == "openj9" else math.ceil(quota)
    return min(len(component.cpus), counted)


def sources(component: Component, *, jcmd: bool) -> list[Source]:
    """What will tell of a component while it runs.

    Args:
        component: a server.
        jcmd: whether a HotSpot JVM can be asked from this host.
    """
    jvm, settings = component.artifact.jvm, component.jvm_settings
    ours = component.info is not None and component.artifact.build is not None
    # The kernel's map of a pod's processes is read beside them, in the pod.
    there: list[Source] = ["map", "process"]
    if ours:
        there.append("info")
    if settings is not None and settings.gc_log:
        there.append("gc_log")
    if ours or (jvm is not None and jvm.kind == "hotspot" and jcmd):
        there.append("options")
    return there


def readable(component: Component, *, jcmd: bool) -> list[str]:
    """Settings that can be read back from it as it runs (see `sources`), its heap among them where that is left to the
    JVM."""
    jvm, there = component.artifact.jvm, sources(component, jcmd=jcmd)
    gc = component.jvm_settings.gc if component.jvm_settings is not None else "default"

    def is_told(name: str, value: Fact) -> bool:
        row = MEASURED.get(name)
        if row is None:
            return name != "processors" or "info" in there
        on = row.on(jvm.kind) if jvm is not None else None
        return on is not None and on.is_told(value, gc, there)

    return [
        name for name, value in {"heap": 0, **requested_settings(component)}.items() if is_told(name, value)
    ]


def not_read_back(servers: Sequence[Component], settings: JvmSettings) -> list[str]:
    """What nothing reads back from the servers of an arm, one sentence each (for `plan`)."""
    sentences = []
    if settings.jvm_args:
        sentences.append("What `jvm_args` passes to the JVMs as it is cannot be read back from them.")
    for server in servers:
        if server.artifact.jvm is None:
            sentences.append("The servers' JVM does not tell what it is, so no setting of it is read back.")
            continue
        lacking = [
            name
            for name in requested_settings(server)
            if name not in server.read_back and name != "processors"
        ]
        if lacking:
            sentences.append(f"{', '.join(lacking)}: the JVM of {server.kind} does not report it.")
        if server.info is None and server.environment:
            sentences.append(
                f"Of variables it is read back that {server.kind} got them, not what it made of them."
            )
        if server.heap_bytes is None and "heap" not in server.read_back:
            sentences.append(
                f"The heap that the JVM of {server.kind} takes cannot be read back: arms may differ in it."
            )
    return list(dict.fromkeys(sentences))


def differences(component: Component, facts_by_source: Collection[Facts]) -> list[str]:
    """One sentence for each setting of a component that a source tells otherwise, or that nothing tells although
    something should have."""
    sentences: list[str] = []
    wanted = requested_settings(component)
    for name in dict.fromkeys([*component.read_back, *wanted]):
        measured = dict.fromkeys(facts[name] for facts in facts_by_source if name in facts)
        should = format_value(name, wanted[name]) if name in wanted else None
        if not measured and name in component.read_back:
            more = f", which should be {should}" if should is not None else ""
            sentences.append(f"{component.name} does not tell its {name}{more}")
        sentences += [
            f"{component.name} has {name} {format_value(name, value)} instead of {should}"
            for value in measured
            if name in wanted and not _agrees(component, name, value, wanted[name])
        ]
    return sentences


def format_value(name: str, value: Fact) -> str:
    """A value for people."""
    return format_size(value) if name in _SIZES and isinstance(value, int) else str(value)


def _agrees(component: Component, name: str, measured: Fact, wanted: Fact) -> bool:
    row, jvm = MEASURED.get(name), component.artifact.jvm
    if row is None:
        return measured == wanted
    on = row.on(jvm.kind if jvm is not None else "hotspot")
    if on is not None and wanted in on.says:
        return measured in on.says[wanted]
    return row.agrees(measured, wanted, component.heap_bytes or 0)
