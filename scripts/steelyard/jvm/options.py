# SPDX-License-Identifier: Apache-2.0
"""Neutral JVM settings to the options of OpenJ9 or HotSpot.

Sources: OpenJ9 user documentation (-Xlp, -Xgcpolicy, -Xshareclasses, -XX:[+|-]TransparentHugePage,
JITServer); the `java` command's manual for HotSpot. A setting that a JVM does not have is
refused here, when the plan is made, and not by a trial that fails.
"""

from steelyard.errors import BadInput
from steelyard.experiment.schema import JvmSettings
from steelyard.results.spec import CACHE, FOLDER, JvmIdentity
from steelyard.units import MIB

_COLLECTORS = {
    "hotspot": {
        "generational": "-XX:+UseParallelGC",
        "regional": "-XX:+UseG1GC",
        "serial": "-XX:+UseSerialGC",
    },
    "openj9": {"generational": "-Xgcpolicy:gencon", "regional": "-Xgcpolicy:balanced"},
}
_PAGES = {
    # OpenJ9 asks for transparent huge pages by default under `madvise`: `small` has to say no.
    "openj9": {
        "small": "-XX:-TransparentHugePage",
        "transparent": "-XX:+TransparentHugePage",
        "large": "-Xlp",
    },
    "hotspot": {
        "small": "-XX:-UseLargePages",
        "transparent": "-XX:+UseTransparentHugePages",
        "large": "-XX:+UseLargePages",
    },
}
# OpenJ9's option is not in its user documentation (it is in the JIT's own list of options), and untested.
_FOREGROUND = {"hotspot": "-XX:-BackgroundCompilation", "openj9": "-Xjit:disableAsyncCompilation"}
GC_LOG_NAME = {"hotspot": "gc.log", "openj9": "gc.%seq.log"}
"""Names of the GC log files in an instance's log folder."""
AOT_CACHE_SINCE = 25
"""First HotSpot release whose AOT cache is made by one run (JEP 514)."""
AOT_CACHE_NAME, ARCHIVE_NAME = "classes.aot", "classes.jsa"
CLASS_CACHE_MIB = 160
"""Size of a cold shared class cache: a Jakarta EE server fills the 80 MB that Liberty asks for by default."""


def jvm_options(
    settings: JvmSettings, heap: int | None, jvm: JvmIdentity, *, populates: bool = False
) -> list[str]:
    """Options of one server JVM; GC logs go to `${folder}/logs`, class caches to `${cache}`.

    Args:
        settings: neutral settings of the arm.
        heap: maximum heap of this JVM in bytes; None leaves it to the JVM.
        jvm: the JVM that will run.
        populates: whether this is the run that fills a cache for `class_cache: warm`.

    Raises:
        BadInput: the JVM does not have a setting.
    """
    options: list[str] = []
    if heap is not None:
        options.append(f"-Xmx{_size(heap)}")
    if settings.initial_heap == "same":
        if heap is None:
            raise BadInput("initial_heap: same needs a heap: set total_heap or heap")
        options.append(f"-Xms{_size(heap)}")
    elif settings.initial_heap != "default":
        options.append(f"-Xms{_size(settings.initial_heap)}")
    if settings.nursery is not None:
        if heap is not None and settings.nursery >= heap:
            raise BadInput(
                f"nursery ({_size(settings.nursery)}) must be smaller than the heap ({_size(heap)})"
            )
        options.append(f"-Xmn{_size(settings.nursery)}")
    options += _collector(settings, jvm)
    options += _pages(settings, jvm)
    options += class_cache_options(settings.class_cache, jvm, populates=populates)
    if settings.compile == "foreground":
        options.append(_FOREGROUND[jvm.kind])
    options += _jit(settings, jvm)
    if settings.gc_log:
        options.append(_gc_log(jvm, FOLDER))
    return options + settings.jvm_args


def _size(size: int) -> str:
    return f"{size // MIB}m" if size % MIB == 0 else f"{size // 1024}k"


def _collector(settings: JvmSettings, jvm: JvmIdentity) -> list[str]:
    options = []
    if settings.gc != "default":
        known = _COLLECTORS[jvm.kind]
        if settings.gc not in known:
            raise BadInput(
                f"gc: {settings.gc} does not exist on {jvm.vm_name}: choose {', '.join(known)} or default"
            )
        options.append(known[settings.gc])
    if settings.gc_threads != "default":
        count = settings.gc_threads
        options.append(f"-Xgcthreads{count}" if jvm.kind == "openj9" else f"-XX:ParallelGCThreads={count}")
    return options


def _pages(settings: JvmSettings, jvm: JvmIdentity) -> list[str]:
    return [] if settings.pages == "default" else [_PAGES[jvm.kind][settings.pages]]


def class_cache_options(state: str, jvm: JvmIdentity, *, populates: bool = False) -> list[str]:
    """Options that bring class data into a declared state, in the folder `${cache}`.

    None of them lets a JVM go on without a cache that it should have: a trial whose cache cannot be used must fail.

    Sources: OpenJ9 documentation (-Xshareclasses); the `java` command's manual (-XX:ArchiveClassesAtExit,
    -XX:SharedArchiveFile); JEP 514 (-XX:AOTCacheOutput, JDK 25).
    """
    if state == "default":
        return []
    if jvm.kind == "openj9":
        if state == "none":
            return ["-Xshareclasses:none"]
        read_only = ",readonly" if state == "warm" and not populates else ""
        return [f"-Xshareclasses:name=steelyard,cacheDir={CACHE}{read_only}", f"-Xscmx{CLASS_CACHE_MIB}m"]
    if state == "none":
        return ["-Xshare:off"]
    writes = state == "cold" or populates
    if jvm.feature >= AOT_CACHE_SINCE:
        file = f"{CACHE}/{AOT_CACHE_NAME}"
        return [f"-XX:AOTCacheOutput={file}"] if writes else ["-XX:AOTMode=on", f"-XX:AOTCache={file}"]
    file = f"{CACHE}/{ARCHIVE_NAME}"
    agent = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+AllowArchivingWithJavaAgent"]
    return (
        [*agent, f"-XX:ArchiveClassesAtExit={file}"]
        if writes
        else [*agent, "-Xshare:on", f"-XX:SharedArchiveFile={file}"]
    )


def not_read_back(settings: JvmSettings, jvm: JvmIdentity | None) -> list[str]:
    """Settings of an arm that nothing reads back from the running servers, one sentence each (for `plan`)."""
    found = []
    if settings.jvm_args:
        found.append("What `jvm_args` passes to the JVMs as it is cannot be read back from them.")
    if jvm is None:
        found.append("The servers' JVM does not tell what it is, so no setting of it is read back.")
    elif not settings.gc_log:
        found.append("Without a GC log, heap, collector and GC threads are not read back.")
    return found


def _jit(settings: JvmSettings, jvm: JvmIdentity) -> list[str]:
    if settings.jit == "local":
        return []
    if jvm.kind != "openj9":
        raise BadInput(
            f"jit: remote needs OpenJ9; {jvm.vm_name} has no JITServer: choose an OpenJ9 JDK with --jdk"
        )
    host, _, port = str(settings.jitserver).partition(":")
    return [
        "-XX:+UseJITServer",
        f"-XX:JITServerAddress={host}",
        *([f"-XX:JITServerPort={port}"] if port else []),
    ]


def hotspot_log_option(file: str) -> str:
    """The option that writes a GC log which `steelyard.sampling.gclog` reads: wall-clock times, one file.

    The measurement window needs the wall-clock stamps (`time`); at level info a collection is a few lines.
    """
    return f"-Xlog:gc*:file={file}:time,uptime,level,tags:filecount=0"


def _gc_log(jvm: JvmIdentity, folder: str) -> str:
    if jvm.kind == "openj9":
        return f"-Xverbosegclog:{folder}/logs/{GC_LOG_NAME['openj9']},10,100000"
    return hotspot_log_option(f"{folder}/logs/{GC_LOG_NAME['hotspot']}")
