# SPDX-License-Identifier: Apache-2.0
"""What a running component and its GC log tell; the JVM is a real one."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import make_component
from waiting import wait_until

from steelyard.engines.base import Running
from steelyard.host.java import Jdk, find_hotspot, find_jdk, vm_flags
from steelyard.jvm.options import jvm_options
from steelyard.jvm.settings import JvmSettings
from steelyard.measure.gc_log import GcSettings, read_gc_logs
from steelyard.results.spec import Artifact, Component
from steelyard.session.readback import gc_log_facts, observe
from steelyard.spec.agreement import differences, readable, requested_settings
from steelyard.units import MIB

LOGS = Path(__file__).parents[1] / "fixtures" / "gc"
CPU = min(os.sched_getaffinity(0))
"""One CPU: CPU 0, which nobody takes offline, where this process may use it."""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "hotspot17-parallel",
            {
                "heap": 64 * MIB,
                "initial_heap": 64 * MIB,
                "gc": "generational",
                "gc_threads": 2,
                "pages": "small",
            },
        ),
        ("hotspot25-g1", {"heap": 64 * MIB, "gc": "regional", "gc_threads": 2, "pages": "small"}),
        (
            "openj9-gencon-truncated",
            {"heap": 512 * MIB, "initial_heap": 256 * MIB, "nursery": 64 * MIB, "gc": "generational"},
        ),
        ("hotspot17-z", {"heap": 96 * MIB, "initial_heap": 64 * MIB, "gc": "z", "gc_threads": 2}),
        ("hotspot25-z", {"heap": 96 * MIB, "initial_heap": 64 * MIB, "gc": "z", "gc_threads": 2}),
        ("hotspot17-shenandoah", {"heap": 96 * MIB, "gc": "shenandoah", "gc_threads": 2, "pages": "small"}),
        ("hotspot25-shenandoah", {"heap": 96 * MIB, "gc": "shenandoah", "gc_threads": 2, "pages": "small"}),
        ("openj9-large-pages", {"heap": 200 * MIB, "initial_heap": 200 * MIB, "pages": "large"}),
    ],
)
def test_gc_logs_tell_settings(name: str, told: dict[str, Any]) -> None:
    assert gc_log_facts(read_gc_logs([LOGS / f"{name}.txt"]).settings).items() >= told.items()


def test_an_empty_log_tells_nothing() -> None:
    assert gc_log_facts(GcSettings()) == {}


@pytest.fixture(scope="module")
def jdk() -> Jdk:
    return find_hotspot(find_jdk())


def own_server(jdk: Jdk, **settings: Any) -> Component:
    """A user's own server: it tells nothing of itself, and writes no GC log."""
    asks = JvmSettings.model_validate({"gc_log": False, **settings})
    made = make_component(
        counters=None,
        artifact=Artifact(form="java", jvm=jdk.identity),
        cpus=[CPU],
        heap_bytes=64 * MIB,
        jvm_settings=asks,
        jvm_options=jvm_options(asks, 64 * MIB, jdk.identity),
        environment={"POOL": "8", "FOLDER": "${folder}/x"},
    )
    return made.model_copy(update={"read_back": readable(made, jcmd=True)})


def answers(pid: int) -> bool:
    """Whether a JVM handles the signal that `jcmd` asks it by, which ends one that does not yet."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGQUIT - 1) & 1)


@pytest.fixture
def running(jdk: Jdk, request: pytest.FixtureRequest) -> Iterator[Running]:
    """The JDK's own RMI registry, on any port, with the settings of the test."""
    asks = own_server(jdk, **request.param)
    command = [str(jdk.java), *asks.jvm_options, "-m", "java.rmi/sun.rmi.registry.RegistryImpl", "0"]
    environment = {**os.environ, "POOL": "8"}
    process = subprocess.Popen(
        ["taskset", "-c", str(CPU), *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(
            lambda: answers(process.pid) and "MaxHeapSize" in vm_flags(jdk.identity.home, process.pid),
            "the JVM to answer",
            lambda: f"it ended with {process.returncode}" if process.poll() is not None else None,
        )
        yield Running(asks, [process.pid], time.time())
    finally:
        process.kill()
        process.wait()


ALL = {
    "initial_heap": "same",
    "nursery": "16m",
    "gc": "generational",
    "gc_threads": 1,
    "class_cache": "none",
    "compile": "foreground",
}


@pytest.mark.parametrize("running", [ALL], indirect=True)
def test_a_running_jvm_has_what_it_was_asked_for(running: Running) -> None:
    told = observe(running, {})
    assert set(told) == {"process", "options", "map"}
    wanted = requested_settings(running.component)
    assert {name for name in wanted if name != "processors"} <= set(running.component.read_back)
    assert differences(running.component, told.values()) == []
    # And it would be seen if it had not: each setting, and each variable.
    for name, other in {"nursery": "24m", "gc": "serial", "gc_threads": 2, "compile": "background"}.items():
        settings = running.component.jvm_settings
        assert settings is not None
        changed = JvmSettings.model_validate({**settings.model_dump(), name: other})
        if name != "compile":  # `background` is what a JVM does unasked
            assert differences(running.component.model_copy(update={"jvm_settings": changed}), told.values())
    pool = running.component.model_copy(update={"environment": {"POOL": "9"}, "cpus": [4095]})
    assert [text.partition(" instead")[0] for text in differences(pool, told.values())] == [
        f"server-1 has cpus {CPU}",
        "server-1 has variable POOL 8",
    ]


@pytest.mark.parametrize(
    "running",
    [
        {"gc": gc, "initial_heap": "32m", "gc_threads": 2, "pages": "small", **more}
        for gc in ("z", "shenandoah")
        for more in (
            {"tiered": False, "container_support": True},
            {"class_cache": "none", "container_support": False, "tiered": True},
        )
    ],
    indirect=True,
)
def test_collectors_that_work_beside_the_application_are_read_back(running: Running) -> None:
    component = running.component
    told = observe(running, {})
    assert differences(component, told.values()) == []
    assert {name for name in requested_settings(component) if name != "processors"} <= set(
        component.read_back
    )
    jvm, settings = component.artifact.jvm, component.jvm_settings
    # JEP 439: without generations three views of the heap; the only ZGC from JDK 24 on (JEP 490) has them.
    if jvm is not None and not 21 <= jvm.feature < 24 and settings is not None and settings.gc == "z":
        assert told["map"]["mappings"] == (3 if jvm.feature < 21 else 1)
    assert settings is not None
    for name, other in {"gc": "regional", "gc_threads": 1, "tiered": not settings.tiered}.items():
        changed = component.model_copy(update={"jvm_settings": settings.model_copy(update={name: other})})
        assert [text.split()[2] for text in differences(changed, told.values())] == [name]


@pytest.mark.alone
@pytest.mark.usefixtures("turn")
@pytest.mark.skipif(
    "HugePages_Total:       0" not in Path("/proc/meminfo").read_text(encoding="utf-8"),
    reason="the host has reserved huge pages, which the JVM may get",
)
@pytest.mark.parametrize("running", [{"pages": "large"}], indirect=True)
def test_large_pages_that_were_not_granted_are_a_difference_without_any_log(running: Running) -> None:
    found = differences(running.component, observe(running, {}).values())
    assert found
    assert all(
        text.startswith("server-1 has pages ") and text.endswith(" instead of large") for text in found
    )


def test_a_component_that_is_gone_tells_nothing_and_fails(jdk: Jdk) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    asks = own_server(jdk, **ALL)
    found = differences(asks, observe(Running(asks, [gone.pid], 0.0), {}).values())
    assert {text.split(" tell its ")[1].partition(",")[0] for text in found} == set(asks.read_back)
