# SPDX-License-Identifier: Apache-2.0
"""The settings of a server's JVM, one row each (pure).

A field of `JvmSettings` is a row: name, type, default, how each JVM has it and tells it, and what it is good for (the
text below it). From the rows are made the schema of experiment files, options and read-back (`jvm/options.py`), the
agreement of both (`spec/agreement.py`) and the table of docs/openj9.md (`jvm/reference.py`).

Sources, where a row names no other: OpenJ9 user documentation (-Xlp, -Xgcpolicy, -Xshareclasses, `MemoryMXBean` and
`MemoryPoolMXBean` of com.ibm.lang.management); the `java` command's manual for HotSpot, and its releases 17.0.15 and
25.0.3 as they ran.
"""

import shlex
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from steelyard.jvm.class_cache import hotspot_cache_options, openj9_cache_options
from steelyard.jvm.rows import (
    FOLDER,
    JIT_LOG_NAME,
    Fact,
    On,
    Setting,
    Start,
    Told,
    near,
    row,
    size_option,
    whole_number,
)
from steelyard.units import MIB, add_known
from steelyard.yamlfile import Model, Size

_OPENJ9 = {
    "generational": "gencon",
    "regional": "balanced",
    "optavgpause": "optavgpause",
    "optthruput": "optthruput",
}
_HOTSPOT = {
    "generational": "Parallel",
    "regional": "G1",
    "serial": "Serial",
    "z": "Z",
    "shenandoah": "Shenandoah",
}
"""Collectors by value of `gc`, as the JVMs call them; ZGC is `The Z Garbage Collector` in its log."""
_WITHOUT_NURSERY = ("z", "shenandoah", "optavgpause", "optthruput")
"""Collectors without a young generation whose size could be set (OpenJ9: -Xmn, GC policies)."""
_ORDINARY = "-Xlp:objectheap:pagesize={page} -Xlp:codecache:pagesize={page}"
_HOTSPOT_ALONE = "HotSpot alone has it: leave it out"


def family(policy: str) -> str:
    """The value of `gc` for a collector as a JVM calls it; of another collector its name."""
    name = policy.removeprefix("-Xgcpolicy:").replace("The Z Garbage Collector", "Z")
    return next((gc for known in (_OPENJ9, _HOTSPOT) for gc, other in known.items() if other == name), policy)


def _collector(flags: Told) -> str | None:
    return next(
        (family(name) for name in (*_HOTSPOT.values(), "Epsilon") if flags.get(f"Use{name}GC") is True), None
    )


def _logged_collector(log: Told) -> str | None:
    return family(log["policy"]) if "policy" in log else None


def _new_size(flags: Told) -> Fact | None:
    low, high = flags.get("NewSize"), flags.get("MaxNewSize")
    size = whole_number(high)
    return size if size is None or low == high else f"from {low or 'its default'} to {high} bytes"


def _nursery_pools(beans: Told) -> int | None:
    pools = beans["memoryPools"].items()
    return add_known(whole_number(size) for pool, size in pools if pool.startswith("nursery"))


def _archive(flags: Told) -> str | None:
    if flags.get("UseSharedSpaces") is False:
        return "none"
    if flags.get("SharedArchiveFile") or flags.get("AOTCache"):
        return "warm"
    return "cold" if flags.get("ArchiveClassesAtExit") or flags.get("AOTCacheOutput") else None


def _not_built(value: str, start: Start) -> str | None:
    known = start.jvm.collectors
    if value not in ("z", "shenandoah") or known is None or value in known:
        return None
    return f"gc: {value} does not exist in this build of {start.jvm.full_name}: choose another JDK or another collector"


def _outgrows(size: int | None, start: Start) -> str | None:
    if size is not None and start.gc in _WITHOUT_NURSERY:
        return f"nursery means nothing to gc: {start.gc}, which ignores -Xmn: leave nursery out"
    if size is None or start.heap is None or size < start.heap:
        return None
    return f"nursery ({size_option(size)}) must be smaller than the heap ({size_option(start.heap)})"


def _no_deduplication(value: object, start: Start) -> str | None:
    if value is not True or start.jvm.feature >= 18 or start.gc not in ("generational", "serial", "z"):
        return None
    return (
        f"string_deduplication: true means nothing to gc: {start.gc} before JDK 18: choose gc: regional or shenandoah,"
        " or a newer JDK"
    )


def _arguments(given: object) -> object:
    """Options as one text, as a shell splits it."""
    if not isinstance(given, str):
        return given
    words = shlex.split(given)
    if words and not words[0].startswith(("-", "@")):
        raise ValueError(f"{words[0]!r} is no option of a JVM: options begin with -")
    return words


def _switch(flag: str, refuses: Callable[[Any, Start], str | None] = lambda _value, _start: None) -> On:
    """A switch of HotSpot's, which `VM.flags` tells whenever it was given."""
    options = {True: f"-XX:+{flag}", False: f"-XX:-{flag}"}
    return On(options, lambda flags: {True: "on", False: "off"}.get(flags.get(flag, "")), refuses=refuses)


class JvmSettings(Model):
    """Neutral settings of a server JVM; the `jvm` layer turns them into OpenJ9 or HotSpot options."""

    heap: Size | None = row(
        None,
        openj9=On("-Xmx{size}", "MaxHeapSize", "max_heap"),
        hotspot=On("-Xmx{size}", "MaxHeapSize", "max_heap"),
        agrees=near,
    )
    """Maximum heap of each JVM. Leave it out when `total_heap` is split over the JVMs."""
    initial_heap: Size | Literal["default", "same"] = row(
        "default",
        openj9=On("-Xms{size}", "MinHeapSize", "initial_heap"),
        hotspot=On("-Xms{size}", "InitialHeapSize", "initial_heap"),
        agrees=near,
    )
    """Initial heap: `same` as the maximum, a size, or the JVM's `default`."""
    nursery: Size | None = row(
        None,
        # OpenJ9's log names it at collections only, which a short trial need not have.
        openj9=On(
            "-Xmn{size}", _nursery_pools, "nursery", sure={"gc_log": ()}, refuses=_outgrows, blind="regional"
        ),
        hotspot=On("-Xmn{size}", _new_size, refuses=_outgrows),
        agrees=near,
        note="OpenJ9's `regional` takes it as a bound of an eden that it sizes itself (36 MiB of 48)",
    )
    """Size of the young generation."""
    gc: Literal[
        "default", "generational", "regional", "serial", "z", "shenandoah", "optavgpause", "optthruput"
    ] = row(
        "default",
        openj9=On(
            {gc: f"-Xgcpolicy:{name}" for gc, name in _OPENJ9.items()},
            lambda beans: family(str(beans["GCMode"])),
            _logged_collector,
        ),
        hotspot=On(
            {gc: f"-XX:+Use{name}GC" for gc, name in _HOTSPOT.items()},
            _collector,
            _logged_collector,
            refuses=_not_built,
        ),
        note="On JDK 21 and 22 `z` has generations with `jvm_args: -XX:+ZGenerational` alone (JEP 439)",
    )
    """Collector family: `generational` is OpenJ9 gencon or HotSpot Parallel, `regional` is OpenJ9 balanced or
    HotSpot G1; `serial`, `z` (ZGC) and `shenandoah` are HotSpot's only, the latter two where the JDK was built with
    them; `optavgpause` and `optthruput`, which have no generations, are OpenJ9's only; `default` is the JVM's choice,
    which depends on its CPUs."""
    gc_threads: Annotated[int, Field(ge=1, le=4096)] | Literal["default"] = row(
        "default",
        openj9=On("-Xgcthreads{value}", "MaximumGCThreads", "gc_threads"),
        hotspot=On("-XX:ParallelGCThreads={value}", "ParallelGCThreads", "gc_threads"),
        note="Of `z` and `shenandoah` the threads of a pause; others (`ConcGCThreads`) work beside the application",
    )
    """Number of parallel GC threads."""
    pages: Literal["default", "small", "large", "transparent"] = row(
        "default",
        # Unasked, OpenJ9 takes large pages for heap and code where the host has some reserved, and else asks for
        # transparent ones under `madvise`: `small` has to say no to both.
        openj9=On(
            {
                "small": f"-XX:-TransparentHugePage {_ORDINARY}",
                "transparent": f"-XX:+TransparentHugePage {_ORDINARY}",
                "large": "-Xlp",
            },
            gc_log=lambda log: "large" if log.get("page_size", 0) >= MIB else None,
            map=True,
            sure={"gc_log": ()},
        ),
        # That HotSpot means to use large pages is no fact: it says so when none was left for the heap.
        hotspot=On(
            {
                "small": "-XX:-UseLargePages",
                "transparent": "-XX:+UseTransparentHugePages",
                "large": "-XX:+UseLargePages",
            },
            lambda flags: "small" if flags.get("UseLargePages") is False else None,
            lambda log: "small" if log.get("large_pages") == "Disabled" else None,
            map=True,
            sure={"options": (), "gc_log": ()},
        ),
        note="4k: or the ordinary page of the host, as 64k on ppc64le. Compiled code of OpenJ9 is held against it too:"
        " on no large ones, or on them. For `transparent` ZGC needs `shmem_enabled` of the kernel at `advise`",
    )
    """Page size of the heap: `large` needs reserved huge pages, `transparent` a kernel set to `madvise`."""
    class_cache: Literal["default", "none", "cold", "warm", "baked"] = row(
        "default",
        openj9=On(
            openj9_cache_options,
            map=True,
            says={"none": ("unmapped",), "cold": ("mapped",), "warm": ("mapped",), "baked": ("mapped",)},
        ),
        # HotSpot maps an archive that it uses, beside or instead of its own one, and writes one only as it ends.
        hotspot=On(
            hotspot_cache_options,
            _archive,
            map=True,
            sure={"options": ("cold",), "map": ("none", "warm")},
            says={
                "none": ("none", "unmapped"),
                "cold": ("cold", "own", "unmapped"),
                "warm": ("warm", "mapped"),
            },
        ),
        note="OpenJ9: `-Xshareclasses`, `cold` of 160 MiB, `warm` read only, `baked` that of the image;"
        " its figures (`printStats`) stand beside it. HotSpot: `-Xshare:off`, `-XX:ArchiveClassesAtExit` and"
        " `-XX:SharedArchiveFile`, from JDK 25 on `-XX:AOTCacheOutput` and `-XX:AOTCache`",
    )
    """Class data that outlives a start (OpenJ9's shared class cache; HotSpot's dynamic archive, from JDK 25 on its AOT
    cache): `none` is off, `cold` an empty one that the start has to fill, `warm` one that a populating run under
    load has filled, the same for every trial of the arm."""
    compile: Literal["background", "foreground"] = row(
        "background",
        openj9=On({"foreground": "-Xjit:disableAsyncCompilation"}),
        hotspot=On(
            {"foreground": "-XX:-BackgroundCompilation"},
            lambda flags: "foreground" if flags.get("BackgroundCompilation") is False else "background",
        ),
        note="OpenJ9's option stands in the JIT's own list of options, not in its user documentation",
    )
    """`foreground`: callers of a method wait while it is compiled. Servers with few CPUs then reach the same steady
    throughput many times sooner, because the compiler no longer competes with every waiting request."""
    tiered: bool | Literal["default"] = row(
        "default", openj9=_HOTSPOT_ALONE, hotspot=_switch("TieredCompilation")
    )
    """Whether methods are first compiled fast and later optimized (HotSpot's default); `false`: by the optimizing
    compiler alone, after more calls that are interpreted."""
    string_deduplication: bool | Literal["default"] = row(
        "default",
        openj9=_HOTSPOT_ALONE,
        hotspot=_switch("UseStringDeduplication", _no_deduplication),
        note="Before JDK 18 with `regional` and `shenandoah` alone; HotSpot 17 switches it off otherwise",
    )
    """Whether the collector lets equal strings share their characters: less heap, for some CPU."""
    container_support: bool | Literal["default"] = row(
        "default",
        openj9=On({True: "-XX:+UseContainerSupport", False: "-XX:-UseContainerSupport"}),
        hotspot=_switch("UseContainerSupport"),
        note="OpenJ9: `-XX:[+\\|-]UseContainerSupport` of its documentation",
    )
    """Whether the JVM sizes itself by the limits of its container (the default of both JVMs) or by the host."""
    processor_count: Annotated[int, Field(ge=1, le=1024)] | Literal["default"] = row(
        "default",
        # What OpenJ9 makes of it is told by the servers' own account alone.
        openj9=On("-XX:ActiveProcessorCount={value}"),
        hotspot=On("-XX:ActiveProcessorCount={value}", "ActiveProcessorCount"),
        note="`-XX:ActiveProcessorCount` of both JVMs' documentation",
    )
    """Number of CPUs that the JVM sizes itself for (threads, collector), whatever it may use; `default`: those that it
    may use, or what the quota `cpus` leaves of them (HotSpot rounds up, OpenJ9 to the nearest). With control groups of
    version 1 an OpenJ9 sees no quota of its own where it takes the host for a container: if process 1 is neither `init`
    nor `systemd`. There it has to be told."""
    gc_log: bool = row(
        True,
        openj9=On({True: f"-Xverbosegclog:{FOLDER}/logs/gc.%seq.log,10,100000", False: ""}),
        # The measurement window needs times of the clock; at level info a collection is a few lines.
        hotspot=On(
            {True: f"-Xlog:gc*:file={FOLDER}/logs/gc.log:time,uptime,level,tags:filecount=0", False: ""}
        ),
        compared=False,
        note="A trial whose log is missing is void",
    )
    """Write a GC log; GC counts and pauses come from it."""
    jit_log: bool = row(
        False,
        openj9=On(
            {
                True: "-XX:+MergeCompilerOptions -Xjit:verbose={compilePerformance},"
                f"vlog={FOLDER}/logs/{JIT_LOG_NAME}"
            }
        ),
        hotspot=On(
            {
                True: f"-Xlog:jit+compilation=debug:file={FOLDER}/logs/{JIT_LOG_NAME}"
                ":time,uptime,level,tags:filecount=0"
            }
        ),
        compared=False,
        note="A line a compilation. OpenJ9's has no times: its methods are counted since the start; with `jit: remote`"
        " it is written in any case",
    )
    """Write a log of the JIT: compilations by level, and optimized code that was given up, come from it."""
    jit: Literal["local", "remote"] = row(
        "local",
        openj9=On({"remote": ""}),
        hotspot="only OpenJ9 has a JITServer: choose an OpenJ9 JDK with --jdk",
        compared=False,
        note="Options and what shows that it compiles there: [JITServer](reference/jitserver.md)",
    )
    """`remote` compiles in a JITServer (OpenJ9 only), which is a component of the trial: settings `jitserver.*`."""
    jvm_args: Annotated[
        list[str],
        BeforeValidator(_arguments),
        WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
    ] = row(
        [],
        openj9=On(lambda given, _start: list(given)),
        hotspot=On(lambda given, _start: list(given)),
        compared=False,
        note="As they are. OpenJ9 ignores an option `-XX:...` that it does not know",
    )
    """Further options, passed as they are: a list, or one text that is split as a shell does."""


SETTINGS: Mapping[str, Setting] = {
    name: row
    for name, field in JvmSettings.model_fields.items()
    for row in field.metadata
    if isinstance(row, Setting)
}
"""The rows by name, in the order of their options."""
MEASURED: Mapping[str, Setting] = {
    **SETTINGS,
    "code_pages": Setting(
        openj9=On("", map=True),
        hotspot=On("", map=True, sure={"map": ()}),
        # OpenJ9's JIT asks for transparent ones for its code, whatever it is told.
        agrees=lambda measured, requested, _: (
            measured == requested or (requested == "small" and measured != "large")
        ),
    ),
}
"""And what else is read back."""
