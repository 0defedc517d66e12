# SPDX-License-Identifier: Apache-2.0
import os
import platform
import re
from typing import Any

import pytest
from builders import make_jvm

from steelyard.errors import BadInput
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.options import jvm_options
from steelyard.jvm.settings import JvmSettings, family
from steelyard.paths import ROOT
from steelyard.units import MIB

OWN_CACHE = ["-Xshareclasses:name=steelyard,nonfatal,cacheDir=${folder}/classes", "-Xscmx80m"]
"""What OpenJ9 is told when nothing is asked of its class cache."""

ORDINARY = ["-Xlp:objectheap:pagesize=4k", "-Xlp:codecache:pagesize=4k"]


def options(jvm: JvmIdentity, heap: int | None = None, **settings: Any) -> list[str]:
    found = jvm_options(JvmSettings.model_validate({"gc_log": False, **settings}), heap, jvm)
    return [option for option in found if option not in OWN_CACHE]


POWER9_STUDY = {"nursery": "1792m", "gc_threads": 8, "pages": "large"}


@pytest.mark.parametrize(
    ("architecture", "size"), [("aarch64", "16k"), ("amd64", "4k"), ("ppc64le", "64k")], ids=str
)
def test_small_pages_are_those_of_the_kernel(
    openj9: JvmIdentity, monkeypatch: pytest.MonkeyPatch, architecture: str, size: str
) -> None:
    """Kernels of arm64 have pages of 4, 16 or 64 KiB; of another architecture's the common size is taken."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 16384}.__getitem__)
    jvm = openj9.model_copy(update={"architecture": architecture})
    assert f"-Xlp:objectheap:pagesize={size}" in options(jvm, pages="small")


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
        ({"pages": "small"}, ["-XX:-TransparentHugePage", *ORDINARY], ["-XX:-UseLargePages"]),
        ({"pages": "transparent"}, ["-XX:+TransparentHugePage", *ORDINARY], ["-XX:+UseTransparentHugePages"]),
        ({"class_cache": "none"}, ["-Xshareclasses:none"], ["-Xshare:off"]),
        ({"compile": "foreground"}, ["-Xjit:disableAsyncCompilation"], ["-XX:-BackgroundCompilation"]),
        ({"initial_heap": "512m"}, ["-Xms512m"], ["-Xms512m"]),
        ({"container_support": False}, ["-XX:-UseContainerSupport"], ["-XX:-UseContainerSupport"]),
        ({"container_support": True}, ["-XX:+UseContainerSupport"], ["-XX:+UseContainerSupport"]),
        ({"jvm_args": ["-Dx=1"]}, ["-Dx=1"], ["-Dx=1"]),
        ({"jvm_args": "-Dx='a b' -Xss1m"}, ["-Dx=a b", "-Xss1m"], ["-Dx=a b", "-Xss1m"]),
        ({"jvm_args": ""}, [], []),
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


@pytest.mark.parametrize("policy", ["optavgpause", "optthruput"])
def test_collectors_that_openj9_alone_has(openj9: JvmIdentity, policy: str) -> None:
    assert options(openj9, gc=policy) == [f"-Xgcpolicy:{policy}"]
    assert family(f"-Xgcpolicy:{policy}") == policy


AGENT = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+AllowArchivingWithJavaAgent"]
CACHES = {
    # state, whether this run fills a cache -> options of each family
    ("default", False): ([], [], OWN_CACHE),
    ("none", False): (["-Xshare:off"], ["-Xshare:off"], ["-Xshareclasses:none"]),
    ("cold", False): (
        [*AGENT, "-XX:ArchiveClassesAtExit=${cache}/classes.jsa"],
        ["-XX:AOTCacheOutput=${cache}/classes.aot"],
        ["-Xshareclasses:name=steelyard,cacheDir=${cache}", "-Xscmx160m"],
    ),
    ("warm", True): (
        [*AGENT, "-XX:ArchiveClassesAtExit=${cache}/classes.jsa"],
        ["-XX:AOTCacheOutput=${cache}/classes.aot"],
        ["-Xshareclasses:name=steelyard,cacheDir=${cache}", "-Xscmx160m"],
    ),
    ("warm", False): (
        [*AGENT, "-Xshare:on", "-XX:SharedArchiveFile=${cache}/classes.jsa"],
        ["-XX:AOTMode=on", "-XX:AOTCache=${cache}/classes.aot"],
        ["-Xshareclasses:name=steelyard,cacheDir=${cache},readonly", "-Xscmx160m"],
    ),
}


@pytest.mark.parametrize(("state", "populates"), CACHES)
@pytest.mark.parametrize("family", [0, 1, 2])
def test_class_caches_of_each_family(state: str, populates: bool, family: int) -> None:
    jvm = (make_jvm("hotspot", 17), make_jvm("hotspot", 25), make_jvm("openj9", 21))[family]
    settings = JvmSettings.model_validate({"gc_log": False, "class_cache": state})
    assert jvm_options(settings, None, jvm, populates=populates) == CACHES[state, populates][family]


def test_a_cache_that_comes_in_the_image_is_read_where_it_is_made(
    openj9: JvmIdentity, hotspot: JvmIdentity
) -> None:
    made = (ROOT / "images" / "server" / "Containerfile").read_text(encoding="utf-8")
    (folder,) = set(re.findall(r"cacheDir=([^, ]+),nonfatal", made))
    assert options(openj9, class_cache="baked") == [
        f"-Xshareclasses:name=steelyard,cacheDir={folder},readonly"
    ]
    with pytest.raises(BadInput, match=r"class_cache: baked does not exist on OpenJDK .*: choose none, cold"):
        options(hotspot, class_cache="baked")


def test_the_aot_cache_begins_with_jdk_25() -> None:
    assert "-XX:ArchiveClassesAtExit=${cache}/classes.jsa" in options(
        make_jvm("hotspot", 24), class_cache="cold"
    )
    assert options(make_jvm("hotspot", 26), class_cache="cold") == ["-XX:AOTCacheOutput=${cache}/classes.aot"]


@pytest.mark.parametrize(
    ("setting", "option"),
    [
        ({"gc": "z"}, "-XX:+UseZGC"),
        ({"gc": "shenandoah"}, "-XX:+UseShenandoahGC"),
        ({"tiered": False}, "-XX:-TieredCompilation"),
        ({"tiered": True}, "-XX:+TieredCompilation"),
        ({"string_deduplication": True}, "-XX:+UseStringDeduplication"),
        ({"string_deduplication": False}, "-XX:-UseStringDeduplication"),
    ],
)
def test_what_hotspot_alone_has_is_refused_on_openj9(
    openj9: JvmIdentity, hotspot: JvmIdentity, setting: dict[str, Any], option: str
) -> None:
    assert options(hotspot, **setting) == [option]
    (name, value), *_ = setting.items()
    with pytest.raises(BadInput) as caught:
        options(openj9, **setting)
    assert str(caught.value).startswith(f"{name}: {str(value).lower()} does not exist on Eclipse OpenJ9 VM: ")


@pytest.mark.parametrize(
    ("jvm", "settings", "says"),
    [
        (make_jvm(), {"initial_heap": "same"}, "initial_heap: same needs a heap"),
        (
            make_jvm("openj9"),
            {"gc": "serial"},
            (
                "gc: serial does not exist on Eclipse OpenJ9 VM: choose generational, regional, optavgpause,"
                " optthruput or default"
            ),
        ),
        (
            make_jvm(),
            {"gc": "optthruput"},
            (
                "gc: optthruput does not exist on OpenJDK 64-Bit Server VM: choose generational, regional, serial, z,"
                " shenandoah or default"
            ),
        ),
        (
            make_jvm("openj9"),
            {"gc": "optavgpause", "nursery": "64m"},
            "nursery means nothing to gc: optavgpause",
        ),
        (
            make_jvm(collectors=("z",)),
            {"gc": "shenandoah"},
            "gc: shenandoah does not exist in this build of OpenJDK 64-Bit Server VM 17.0.1+6: choose another JDK",
        ),
        (make_jvm(), {"gc": "z", "nursery": "64m"}, "nursery means nothing to gc: z, which ignores -Xmn"),
        (make_jvm(), {"gc": "shenandoah", "nursery": "64m"}, "nursery means nothing to gc: shenandoah"),
        (
            make_jvm(),
            {"gc": "generational", "string_deduplication": True},
            "string_deduplication: true means nothing to gc: generational before JDK 18",
        ),
        (make_jvm(), {"gc": "z", "string_deduplication": True}, "means nothing to gc: z before JDK 18"),
    ],
)
def test_what_a_jvm_does_not_have_is_refused(jvm: JvmIdentity, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        options(jvm, **settings)
    assert says in str(caught.value)


def test_what_another_build_or_release_has_is_not_refused() -> None:
    assert options(make_jvm(collectors=("z",)), gc="z", gc_threads=2) == [
        "-XX:+UseZGC",
        "-XX:ParallelGCThreads=2",
    ]
    assert options(make_jvm(collectors=None), gc="shenandoah") == ["-XX:+UseShenandoahGC"]
    assert options(make_jvm(feature=18), gc="z", string_deduplication=True)
    assert options(make_jvm(), gc="shenandoah", string_deduplication=True)
    assert options(make_jvm(), gc="generational", string_deduplication=False)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("default", "'default' is no option of a JVM"),
        ("Main -Xss1m", "options begin with -"),
        ("-D'x", "quot"),
    ],
)
def test_a_text_that_is_no_options_is_refused(given: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        JvmSettings.model_validate({"jvm_args": given})


def test_a_nursery_must_fit_into_the_heap(hotspot: JvmIdentity) -> None:
    with pytest.raises(BadInput, match="nursery"):
        options(hotspot, 128 * MIB, nursery="128m")


def test_gc_logs_go_to_the_folder_of_the_component(openj9: JvmIdentity, hotspot: JvmIdentity) -> None:
    settings = JvmSettings(jvm_args=["-Dlast=1"])
    assert jvm_options(settings, None, openj9) == [
        *OWN_CACHE,
        "-Xverbosegclog:${folder}/logs/gc.%seq.log,10,100000",
        "-Dlast=1",
    ]
    assert jvm_options(settings, None, hotspot) == [
        "-Xlog:gc*:file=${folder}/logs/gc.log:time,uptime,level,tags:filecount=0",
        "-Dlast=1",
    ]
