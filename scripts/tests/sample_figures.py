# SPDX-License-Identifier: Apache-2.0
"""The figures of one sample trial, and the host it ran on: simple curves with noise, no measurement."""

import math
import random
from collections.abc import Sequence
from typing import Any

from builders import make_component, make_host, make_jvm, make_latency, make_measurement, make_spec

from steelyard.experiment.schema import Load, ProcedureName
from steelyard.results.measurement import ComponentResult, Latency, TrialMeasurement
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.units import MIB

CORES = 16
TOTAL_HEAP = 1536 * MIB
WARMUP, MEASURE = 75.0, 60.0
CAPACITY = {1: 31_000.0, 2: 57_500.0, 4: 88_000.0, 6: 91_500.0, 12: 84_500.0}
GROUPS = {"request": 0.74, "jit": 0.03, "gc": 0.05, "network": 0.12, "other": 0.06}


def phases(started: float) -> dict[str, tuple[float, float]]:
    lengths = {
        "prepare": 1,
        "start": 9,
        "ramp": 2,
        "warmup": WARMUP,
        "measure": MEASURE,
        "stop": 4,
        "collect": 1,
    }
    phases, now = {}, started
    for name, length in lengths.items():
        phases[name] = (now, now + length)
        now += length
    return phases


def trace(rate: float, jvms: int, rng: random.Random) -> list[tuple[float, float]]:
    slow = 6 + 1.5 * jvms
    return [
        (float(second), round(rate * (1 - 0.7 * math.exp(-second / slow)) * rng.gauss(1, 0.015), 1))
        for second in range(int(WARMUP + MEASURE))
    ]


def sample_spec(
    arm: str,
    jvms: int,
    procedure: ProcedureName = "steady",
    extras: Sequence[Component] = (),
    **changes: Any,
) -> Spec:
    """`jvms` servers and an injector on the same cores."""
    cores = CORES / jvms
    servers = [
        make_component(
            number=i + 1,
            artifact=Artifact(form="liberty", package="ping", build="5e1f0c", words=["ping"], jvm=JVM),
            cpus=list(range(round(i * cores), max(round((i + 1) * cores), round(i * cores) + 1))),
            cores=cores,
            heap_bytes=TOTAL_HEAP // jvms,
            port=9080 + i,
            jvm_options=[f"-Xmx{TOTAL_HEAP // jvms // MIB}m", "-XX:+UseParallelGC"],
        )
        for i in range(jvms)
    ]
    injector = make_component(
        "injector",
        artifact=Artifact(form="java", package="loadgen", words=["Injector"], jvm=JVM),
        cpus=list(range(CORES)),
    )
    fields: dict[str, Any] = {
        "workload": "ping",
        "workload_version": "2",
        "bundle": "ping",
        "procedure": procedure,
        "load": Load(users=48, measure=MEASURE),
        "components": [*extras, *servers, injector],
        "mix": {"ping": 1.0},
        "server_cores": CORES,
        "injectors_share_cores": True,
    }
    return make_spec(arm, **(fields | changes))


def latency(rate: float, rng: random.Random) -> Latency:
    base = 48_000 / rate
    return make_latency(
        requests=int(rate * MEASURE),
        mean=base,
        p50=base * 0.83,
        p90=base * 1.9,
        p99=base * 5 * rng.gauss(1, 0.05),
        p999=base * 11 * rng.gauss(1, 0.08),
        max=base * 40 * rng.gauss(1, 0.2),
    )


def components(rate: float, rss: float, jvms: int, rng: random.Random) -> list[ComponentResult]:
    cpu = CORES * 0.82 * MEASURE / jvms
    requests = rate * MEASURE / jvms
    shares = {name: share * rng.gauss(1, 0.03) for name, share in GROUPS.items()}
    return [
        ComponentResult(
            name=f"server-{i + 1}",
            role="server",
            requests=int(requests),
            errors=0,
            throughput=rate / jvms,
            rss_mean=rss / jvms,
            rss_peak=rss / jvms * 1.04,
            pss_mean=rss / jvms * 0.93,
            cpu_seconds=cpu * sum(shares.values()),
            cpu_by_group={name: cpu * share for name, share in shares.items()},
            start_seconds=(3.1 + 0.35 * jvms) * rng.gauss(1, 0.03),
            ready_message_seconds=3.0 * rng.gauss(1, 0.03),
            start_cpu_seconds=7.4 * rng.gauss(1, 0.02),
            start_rss=rss / jvms * 0.6,
            faults=2.4 * requests / 1000 * rng.gauss(1, 0.1),
            switches=610 * requests / 1000 * rng.gauss(1, 0.03),
            gc_count=int(1.9 * rate / 31_000 / jvms * MEASURE * rng.gauss(1, 0.03)),
            gc_pause_seconds=0.011 / jvms * MEASURE * rng.gauss(1, 0.04),
            gc_pause_max=0.014 * rng.gauss(1, 0.15),
        )
        for i in range(jvms)
    ]


def sample_measurement(rate: float, rss: float, disturbed: bool, steady: bool) -> TrialMeasurement:
    requests = int(rate * (WARMUP + MEASURE))
    return make_measurement(
        measure_seconds=MEASURE,
        server_requests=requests,
        injector_requests=requests - 3,
        window_server_rate=rate,
        window_injector_rate=rate * 0.9999,
        injector_cpu_share=0.41,
        injector_wait_share=0.35,
        users_in_flight=47.9,
        target_rate=None,
        mix_intended={"ping": 1.0},
        mix_achieved={"ping": 1.0},
        steal_share=0.0001,
        other_cpu_share=0.061 if disturbed else 0.002,
        sample_gap=1.02,
        clock_step_seconds=0.0002,
        steady=steady,
        steady_detail="no change point, +0.1 %/min" if steady else "still rising by 2.3 %/min at the cap",
        jit_share=0.004 if steady else 0.027,
        memory_rss=rss,
        memory_rss_peak=rss * 1.04,
        memory_pss=rss * 0.93,
    )


HOST = make_host(
    hostname="lab-7",
    cpu_model="Example CPU 3.1 GHz",
    cores=CORES,
    cpus=2 * CORES,
    memory_bytes=64 * 1024 * MIB,
    kernel="6.1.0-37-amd64",
    os="Debian GNU/Linux 12 (bookworm)",
    governor="schedutil",
    turbo="on",
    thp="madvise",
    huge_pages={"2048": 0, "1048576": 0},
)
JVM = make_jvm(
    vm_version="17.0.17+10",
    runtime_version="17.0.17+10-Debian",
    java_version="17.0.17",
    vendor="Debian",
    home="/usr/lib/jvm/java-17",
)
