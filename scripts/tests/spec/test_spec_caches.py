# SPDX-License-Identifier: Apache-2.0
"""Variants of a spec for the runs that fill class caches and load data."""

import pytest
from builders import make_jvm
from planned import processes, specs

from steelyard.jvm.identity import JvmIdentity
from steelyard.results.spec import Spec
from steelyard.spec.plan import populating_spec, without_caches

JVMS = [make_jvm("hotspot", 17), make_jvm("hotspot", 25), make_jvm("openj9", 21)]
WRITES = ("-XX:ArchiveClassesAtExit", "-XX:AOTCacheOutput", "-Xshareclasses:name")


def start_up_spec(arm: str, jvm: JvmIdentity, *settings: str) -> Spec:
    return specs("start-up", *settings, runtime=processes(jvm))[f"class-cache-{arm}"]


NONE = {"hotspot": [], "openj9": ["-Xshareclasses:none"]}
"""Options of a JVM that must not write a cache: OpenJ9 would do so unasked."""


def cache_options(found: Spec, name: str) -> list[str]:
    options = found.component(name).jvm_options
    return [o for o in options if "hare" in o or "AOT" in o or "ArchiveClasses" in o or "Xscmx" in o]


@pytest.mark.parametrize("jvm", JVMS, ids=lambda jvm: f"{jvm.kind}-{jvm.feature}")
def test_one_jvm_of_each_kind_fills_the_cache(jvm: JvmIdentity) -> None:
    filling = populating_spec(start_up_spec("warm", jvm, "jvms=3", "total_heap=600m"))
    first = cache_options(filling, "server-1")
    assert any(option.startswith(WRITES) for option in first)
    assert not any("readonly" in option for option in first)
    assert cache_options(filling, "server-2") == cache_options(filling, "server-3") == NONE[jvm.kind]


@pytest.mark.parametrize("jvm", JVMS, ids=lambda jvm: f"{jvm.kind}-{jvm.feature}")
@pytest.mark.parametrize("arm", ["none", "cold", "warm"])
def test_the_run_that_loads_the_data_touches_no_cache(jvm: JvmIdentity, arm: str) -> None:
    measured = start_up_spec(arm, jvm)
    plain = without_caches(measured)
    assert cache_options(plain, "server-1") == NONE[jvm.kind]
    server, before = plain.component("server-1"), measured.component("server-1")
    kept = [option for option in before.jvm_options if option not in cache_options(measured, "server-1")]
    assert [option for option in server.jvm_options if option in kept] == [
        option for option in server.jvm_options if option not in NONE[jvm.kind]
    ]
    assert "-Xmx512m" in server.jvm_options
    assert plain.component("database") == measured.component("database")
    assert plain.injectors == measured.injectors
