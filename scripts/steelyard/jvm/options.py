# SPDX-License-Identifier: Apache-2.0
"""Neutral JVM settings to the options of OpenJ9 or HotSpot.

Sources: OpenJ9 user documentation (-Xlp, -Xgcpolicy, -Xshareclasses, -XX:[+|-]TransparentHugePage); the `java`
command's manual for HotSpot. A setting that a JVM does not have is refused here, when the plan is made, and not by a
trial that fails. Those of a JITServer are in `jvm/jitserver.py`.
"""

from steelyard.errors import BadInput
from steelyard.experiment.schema import JvmSettings
from steelyard.results.spec import CACHE, FOLDER, JvmIdentity
from steelyard.units import MIB

_ORDINARY = "-Xlp:objectheap:pagesize={page} -Xlp:codecache:pagesize={page}"
_OPTIONS: dict[str, dict[str, dict[str, str]]] = {
    "hotspot": {
        "gc": {
            "generational": "-XX:+UseParallelGC",
            "regional": "-XX:+UseG1GC",
            "serial": "-XX:+UseSerialGC",
        },
        "pages": {
            "small": "-XX:-UseLargePages",
            "transparent": "-XX:+UseTransparentHugePages",
            "large": "-XX:+UseLargePages",
        },
        "compile": {"foreground": "-XX:-BackgroundCompilation"},
    },
    "openj9": {
        "gc": {"generational": "-Xgcpolicy:gencon", "regional": "-Xgcpolicy:balanced"},
        # Unasked, OpenJ9 takes large pages for heap and code where the host has some reserved, and else asks for
        # transparent ones under `madvise`: `small` has to say no to both.
        "pages": {
            "small": f"-XX:-TransparentHugePage {_ORDINARY}",
            "transparent": f"-XX:+TransparentHugePage {_ORDINARY}",
            "large": "-Xlp",
        },
        # Not in its user documentation: it is in the JIT's own list of options.
        "compile": {"foreground": "-Xjit:disableAsyncCompilation"},
    },
}
"""JVM -> setting -> value -> options; `default` and `background` are what a JVM does without any."""
_GC_THREADS = {"hotspot": "-XX:ParallelGCThreads=", "openj9": "-Xgcthreads"}
GC_LOG_NAME = {"hotspot": "gc.log", "openj9": "gc.%seq.log"}
"""Names of the GC log files in an instance's log folder."""
AOT_CACHE_SINCE = 25
"""First HotSpot release whose AOT cache is made by one run (JEP 514)."""
AOT_CACHE_NAME, ARCHIVE_NAME = "classes.aot", "classes.jsa"
CACHE_NAME = "steelyard"
"""Of OpenJ9's class caches."""
OWN_CACHE = "classes"
"""Folder of an OpenJ9 server's own class cache, beside its logs."""
_OPENJ9_CACHES = {
    "none": ["-Xshareclasses:none"],
    # Said, so that it is neither a cache of the host nor one that an image brought: an own one, empty at the start, as
    # Liberty's script makes.
    "default": [f"-Xshareclasses:name={CACHE_NAME},nonfatal,cacheDir={FOLDER}/{OWN_CACHE}", "-Xscmx80m"],
    # One that no measured start finds, for a start before it that needs some cache.
    # Of an image that was built with one (images/README.md); without it the JVM does not start.
    "baked": [f"-Xshareclasses:name={CACHE_NAME},cacheDir=/opt/steelyard/scc,readonly"],
    "apart": [f"-Xshareclasses:name={CACHE_NAME},nonfatal,cacheDir={FOLDER}/{OWN_CACHE}/apart", "-Xscmx80m"],
}
CLASS_CACHE_MIB = 160
"""Size of a cold shared class cache: a Jakarta EE server fills the 80 MB that Liberty asks for by default."""


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
    options = [] if heap is None else [f"-Xmx{_size(heap)}"]
    initial = heap if settings.initial_heap == "same" else settings.initial_heap
    if initial is None:
        raise BadInput("initial_heap: same needs a heap: set total_heap or heap")
    if isinstance(initial, int):
        options.append(f"-Xms{_size(initial)}")
    if settings.nursery is not None:
        if heap is not None and settings.nursery >= heap:
            raise BadInput(
                f"nursery ({_size(settings.nursery)}) must be smaller than the heap ({_size(heap)})"
            )
        options.append(f"-Xmn{_size(settings.nursery)}")
    options += _option("gc", settings.gc, jvm)
    if settings.gc_threads != "default":
        options.append(f"{_GC_THREADS[jvm.kind]}{settings.gc_threads}")
    options += _option("pages", settings.pages, jvm)
    options += class_cache_options(settings.class_cache, jvm, populates=populates)
    options += _option("compile", settings.compile, jvm)
    if settings.gc_log:
        file = f"{FOLDER}/logs/{GC_LOG_NAME[jvm.kind]}"
        kept = f"-Xverbosegclog:{file},10,100000"
        options.append(kept if jvm.kind == "openj9" else hotspot_log_option(file))
    return options + settings.jvm_args


def _size(size: int) -> str:
    return f"{size // MIB}m" if size % MIB == 0 else f"{size // 1024}k"


def _option(setting: str, value: str, jvm: JvmIdentity) -> list[str]:
    known = _OPTIONS[jvm.kind][setting]
    if value in ("default", "background"):
        return []
    if value not in known:
        raise BadInput(
            f"{setting}: {value} does not exist on {jvm.vm_name}: choose {', '.join(known)} or default"
        )
    page = "64k" if jvm.architecture.startswith("ppc") else "4k"
    return known[value].format(page=page).split()


def class_cache_options(state: str, jvm: JvmIdentity, *, populates: bool = False) -> list[str]:
    """Options that bring class data into a declared state, in the folder `${cache}`.

    None of those of a declared state lets a JVM go on without the cache that it should have: such a trial must fail.

    Sources: OpenJ9 documentation (-Xshareclasses); the `java` command's manual (-XX:ArchiveClassesAtExit,
    -XX:SharedArchiveFile); JEP 514 (-XX:AOTCacheOutput, JDK 25).
    """
    if jvm.kind == "openj9" and state in _OPENJ9_CACHES:
        return _OPENJ9_CACHES[state]
    if jvm.kind == "openj9":
        read_only = ",readonly" if state == "warm" and not populates else ""
        return [f"-Xshareclasses:name={CACHE_NAME},cacheDir={CACHE}{read_only}", f"-Xscmx{CLASS_CACHE_MIB}m"]
    if state == "default":
        return []
    if state == "none":
        return ["-Xshare:off"]
    if state == "baked":
        raise BadInput(
            f"class_cache: baked does not exist on {jvm.vm_name}: choose none, cold, warm or default"
        )
    writes = state == "cold" or populates
    if jvm.feature >= AOT_CACHE_SINCE:
        file = f"{CACHE}/{AOT_CACHE_NAME}"
        return [f"-XX:AOTCacheOutput={file}"] if writes else ["-XX:AOTMode=on", f"-XX:AOTCache={file}"]
    file = f"{CACHE}/{ARCHIVE_NAME}"
    agent = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+AllowArchivingWithJavaAgent"]
    use = [f"-XX:ArchiveClassesAtExit={file}"] if writes else ["-Xshare:on", f"-XX:SharedArchiveFile={file}"]
    return [*agent, *use]


def hotspot_log_option(file: str) -> str:
    """The option that writes a GC log which `steelyard.measure.gc_log` reads: wall-clock times, one file.

    The measurement window needs the wall-clock stamps (`time`); at level info a collection is a few lines.
    """
    return f"-Xlog:gc*:file={file}:time,uptime,level,tags:filecount=0"
