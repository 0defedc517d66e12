# SPDX-License-Identifier: Apache-2.0
"""Options that somebody types are known as settings, whichever name they have."""

import contextlib

import pytest
from builders import make_jvm

from steelyard.errors import BadInput
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.options import jvm_options
from steelyard.jvm.recognition import find_setting
from steelyard.jvm.settings import JvmSettings
from steelyard.units import MIB

LET_OTHERS_IN = {"-XX:+UnlockDiagnosticVMOptions", "-XX:+AllowArchivingWithJavaAgent"}
"""No settings: other options need them."""
LEVELS: dict[str, list[object]] = {
    "heap": ["64m"],
    "initial_heap": ["same", "32m"],
    "nursery": ["16m"],
    "gc": ["generational", "regional", "serial", "z", "shenandoah", "optavgpause", "optthruput"],
    "gc_threads": [2],
    "pages": ["small", "large", "transparent"],
    "class_cache": ["default", "none", "cold", "warm", "baked"],
    "compile": ["foreground"],
    "tiered": [True, False],
    "string_deduplication": [True, False],
    "container_support": [True, False],
    "processor_count": [2],
    "gc_log": [True],
    "jit_log": [True],
}


@pytest.mark.parametrize(
    "jvm",
    [make_jvm("hotspot", 17), make_jvm("hotspot", 25), make_jvm("openj9", 21)],
    ids=lambda jvm: f"{jvm.kind}-{jvm.feature}",
)
def test_whatever_an_arm_sets_is_known(jvm: JvmIdentity) -> None:
    assert LEVELS.keys() == JvmSettings.model_fields.keys() - {"jit", "jvm_args"}
    options = set[str]()
    for name, levels in LEVELS.items():
        for level in levels:
            with contextlib.suppress(BadInput):  # this JVM has no such level
                settings = JvmSettings.model_validate({name: level})
                options |= {*jvm_options(settings, 128 * MIB, jvm)}
    assert len(options) > 20
    assert [option for option in options - LET_OTHERS_IN if find_setting(option) is None] == []


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        ("-Xmx1g", "heap"),
        ("-XX:MaxHeapSize=1g", "heap"),
        ("-XX:InitialHeapSize=1g", "initial_heap"),
        ("-XX:MinHeapSize=1g", "initial_heap"),
        ("-XX:MaxNewSize=1g", "nursery"),
        ("-Xmnx64m", "nursery"),
        ("-XX:ParallelGCThreads=2", "gc_threads"),
        ("-Xgcthreads2", "gc_threads"),
        ("-XX:+UseConcMarkSweepGC", "gc"),
        ("-Xgcpolicy:gencon", "gc"),
        ("-XX:-UseLargePages", "pages"),
        ("-Xlp:codecache:pagesize=4k", "pages"),
        ("-XX:SharedArchiveFile=x.jsa", "class_cache"),
        ("-Xshareclasses:none", "class_cache"),
        ("-XX:-TieredCompilation", "tiered"),
        ("-XX:ActiveProcessorCount=2", "processor_count"),
        ("-Xlog:gc*:file=x", "gc_log"),
        ("-Xloggc:x", "gc_log"),
        ("-Xlog:safepoint", None),
        ("-Xmso512k", None),
        ("-Xss1m", None),
        ("-XX:+UnlockDiagnosticVMOptions", None),
        ("-XX:MaxHeapSizeOfOthers=1", None),
        ("-Dserver.port=80", None),
        ("-jar", None),
    ],
)
def test_an_option_is_known_by_any_of_its_names(option: str, setting: str | None) -> None:
    assert find_setting(option) == setting
