# SPDX-License-Identifier: Apache-2.0
"""Class data that outlives a start (pure): the options of each state, and what OpenJ9 says of its cache.

Sources: OpenJ9 documentation (-Xshareclasses); the `java` command's manual (-XX:ArchiveClassesAtExit,
-XX:SharedArchiveFile); JEP 514 (-XX:AOTCacheOutput, JDK 25).
"""

import re
from collections.abc import Mapping

from steelyard.errors import BadInput
from steelyard.jvm.rows import CACHE, FOLDER, Start

CACHE_NAME = "steelyard"
"""Of OpenJ9's class caches."""
OWN_CACHE = "classes"
"""Folder of an OpenJ9 server's own class cache, beside its logs."""
CLASS_CACHE_MIB = 160
"""Size of a cold shared class cache: a Jakarta EE server fills the 80 MB that Liberty asks for by default."""
AOT_CACHE_SINCE = 25
"""First HotSpot release whose AOT cache is made by one run (JEP 514)."""
AOT_CACHE_NAME, ARCHIVE_NAME = "classes.aot", "classes.jsa"
_OPENJ9 = {
    "none": ["-Xshareclasses:none"],
    # Said, so that it is neither a cache of the host nor one that an image brought: an own one, empty at the start, as
    # Liberty's script makes.
    "default": [f"-Xshareclasses:name={CACHE_NAME},nonfatal,cacheDir={FOLDER}/{OWN_CACHE}", "-Xscmx80m"],
    # Of an image that was built with one (images/README.md); without it the JVM does not start.
    "baked": [f"-Xshareclasses:name={CACHE_NAME},cacheDir=/opt/steelyard/scc,readonly"],
    # One that no measured start finds, for a start before it that needs some cache.
    "apart": [f"-Xshareclasses:name={CACHE_NAME},nonfatal,cacheDir={FOLDER}/{OWN_CACHE}/apart", "-Xscmx80m"],
}

CACHE_FIGURES: Mapping[str, str] = {
    "class_cache_size": "cache size",
    "class_cache_free": "free bytes",
    "class_cache_classes": "ROMClass bytes",
    "class_cache_aot": "AOT bytes",
}
"""Figures in bytes, beside a server's settings, and as OpenJ9 calls them (`-Xshareclasses:...,printStats`)."""
_LINE = re.compile(r"^(.+?) += ([0-9]+)$", re.MULTILINE)


def openj9_cache_options(state: str, start: Start) -> list[str]:
    """Options that bring OpenJ9's class data into a state, in the folder `${cache}`.

    None of those of a declared state lets a JVM go on without the cache that it should have: such a trial must fail.
    """
    if state in _OPENJ9:
        return _OPENJ9[state]
    read_only = ",readonly" if state == "warm" and not start.populates else ""
    return [f"-Xshareclasses:name={CACHE_NAME},cacheDir={CACHE}{read_only}", f"-Xscmx{CLASS_CACHE_MIB}m"]


def hotspot_cache_options(state: str, start: Start) -> list[str]:
    """The same of HotSpot's (raises BadInput: it has no such state)."""
    if state == "baked":
        raise BadInput(
            f"class_cache: baked does not exist on {start.jvm.vm_name}: choose none, cold, warm or default"
        )
    if state in ("default", "none"):
        return ["-Xshare:off"] if state == "none" else []
    writes = state == "cold" or start.populates
    if start.jvm.feature >= AOT_CACHE_SINCE:
        file = f"{CACHE}/{AOT_CACHE_NAME}"
        return [f"-XX:AOTCacheOutput={file}"] if writes else ["-XX:AOTMode=on", f"-XX:AOTCache={file}"]
    file = f"{CACHE}/{ARCHIVE_NAME}"
    agent = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+AllowArchivingWithJavaAgent"]
    use = [f"-XX:ArchiveClassesAtExit={file}"] if writes else ["-Xshare:on", f"-XX:SharedArchiveFile={file}"]
    return [*agent, *use]


def cache_figures(printed: str) -> dict[str, int | str]:
    """The figures of OpenJ9's cache; none of a text that has no statistics in it."""
    sizes = dict(_LINE.findall(printed[: printed.rfind("\n") + 1]))  # a last line may have been cut off
    return {name: int(sizes[label]) for name, label in CACHE_FIGURES.items() if label in sizes}
