# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

from steelyard.errors import BadInput
from steelyard.experiment.schema import JvmSettings
from steelyard.jvm.options import jvm_options
from steelyard.results.schema import JvmIdentity
from steelyard.units import MIB


def options(jvm: JvmIdentity, heap: int | None = None, **settings: Any) -> list[str]:
    return jvm_options(JvmSettings.model_validate({"gc_log": False, **settings}), heap, jvm, "/trial")


POWER9_STUDY = {"nursery": "1792m", "gc_threads": 8, "pages": "large"}


def test_settings_of_the_power9_study_on_openj9(openj9: JvmIdentity) -> None:
    assert options(openj9, 2048 * MIB, **POWER9_STUDY) == ["-Xmx2048m", "-Xmn1792m", "-Xgcthreads8", "-Xlp"]


def test_the_same_settings_on_hotspot(hotspot: JvmIdentity) -> None:
    assert options(hotspot, 2048 * MIB, **POWER9_STUDY) == [
        "-Xmx2048m",
        "-Xmn1792m",
        "-XX:ParallelGCThreads=8",
        "-XX:+UseLargePages",
    ]


@pytest.mark.parametrize(
    ("setting", "on_openj9", "on_hotspot"),
    [
        ({"gc": "generational"}, ["-Xgcpolicy:gencon"], ["-XX:+UseParallelGC"]),
        ({"gc": "regional"}, ["-Xgcpolicy:balanced"], ["-XX:+UseG1GC"]),
        ({"pages": "small"}, ["-XX:-TransparentHugePage"], ["-XX:-UseLargePages"]),
        ({"pages": "transparent"}, ["-XX:+TransparentHugePage"], ["-XX:+UseTransparentHugePages"]),
        ({"class_cache": "none"}, ["-Xshareclasses:none"], ["-Xshare:off"]),
        ({"compile": "foreground"}, ["-Xjit:disableAsyncCompilation"], ["-XX:-BackgroundCompilation"]),
        ({"initial_heap": "512m"}, ["-Xms512m"], ["-Xms512m"]),
        ({"jvm_args": ["-Dx=1"]}, ["-Dx=1"], ["-Dx=1"]),
        ({}, [], []),
    ],
)
def test_neutral_settings_have_an_option_on_each_jvm(
    openj9: JvmIdentity,
    hotspot: JvmIdentity,
    setting: dict[str, Any],
    on_openj9: list[str],
    on_hotspot: list[str],
) -> None:
    assert options(openj9, **setting) == on_openj9
    assert options(hotspot, **setting) == on_hotspot


def test_a_cold_class_cache_and_a_remote_jit_on_openj9(openj9: JvmIdentity) -> None:
    assert options(openj9, class_cache="cold", jit="remote", jitserver="jit:38400") == [
        "-Xshareclasses:name=steelyard,cacheDir=/trial/classcache",
        "-Xscmx160m",
        "-XX:+UseJITServer",
        "-XX:JITServerAddress=jit",
        "-XX:JITServerPort=38400",
    ]


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"jit": "remote", "jitserver": "jit"}, "OpenJDK 64-Bit Server VM has no JITServer"),
        ({"class_cache": "cold"}, "class_cache: cold needs OpenJ9"),
        ({"initial_heap": "same"}, "initial_heap: same needs a heap"),
    ],
)
def test_what_hotspot_does_not_have_is_refused(
    hotspot: JvmIdentity, setting: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput) as caught:
        options(hotspot, **setting)
    assert says in str(caught.value)


def test_what_openj9_does_not_have_is_refused(openj9: JvmIdentity) -> None:
    with pytest.raises(BadInput, match="gc: serial does not exist on Eclipse OpenJ9 VM: choose generational"):
        options(openj9, gc="serial")


def test_a_nursery_must_fit_into_the_heap(hotspot: JvmIdentity) -> None:
    with pytest.raises(BadInput, match="nursery"):
        options(hotspot, 128 * MIB, nursery="128m")


def test_gc_logs_go_to_the_folder_of_the_instance(openj9: JvmIdentity, hotspot: JvmIdentity) -> None:
    assert jvm_options(JvmSettings(), None, openj9, "/i") == ["-Xverbosegclog:/i/logs/gc.%seq.log,10,100000"]
    assert jvm_options(JvmSettings(), None, hotspot, "/i") == [
        "-Xlog:gc*:file=/i/logs/gc.log:time,uptime,level,tags:filecount=0"
    ]
