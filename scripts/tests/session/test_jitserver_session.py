# SPDX-License-Identifier: Apache-2.0
"""Sessions with a JITServer on the fake engine: who compiled, whose CPU it was, and what happens when it dies."""

from typing import Any

import pytest
from fake_engine import COMPILER_CORES, SERVER_CORES
from planned import asked
from sessions import WINDOW, Bench, failed

from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory

CONNECTED = "#JITServer: t=   512 Connected to a server (serverUID=7963459829269949269)\n"
COMPILED = (
    "+ (AOT warm) a/B.c()V @ 00007F225EC00588-00007F225EC00A35 OrdinaryMethod - Q_SZ=20 remote deserialized\n"
    "+ (cold) a/B.d()V @ 00007F225EC00588-00007F225EC00A35 OrdinaryMethod - Q_SZ=20 bcsz=3\n"
)
LOST = "#JITServer: t= 30123 Lost connection to the server (serverUID=7963459829269949269). Next attempt in 1000 ms.\n"


def make_jitserver_session(
    bench: Bench, log: str, measure: int = 5, procedure: str = "steady", **remote: Any
) -> SessionDirectory:
    """A session of an arm without a JITServer and one with, whose servers log this."""
    bench.world.jit_log = log
    levels = {"local": {"jit": "local"}, "remote": {"jit": "remote", **remote}}
    question = asked(
        "ping",
        factors={"how": {"levels": levels}},
        load={"users": 8, **WINDOW, "measure": measure},
        deployment={"jvm": {"gc_log": False}},
        design={"repeats": 0},
        procedure=procedure,
        metrics={"primary": "throughput"},
    )
    return bench.session(question, blocks=2, feature=21, kind="openj9")


def remote_of(trials: list[Trial]) -> Trial:
    return next(one for one in trials if one.arm == "how-remote")


def test_what_a_jitserver_uses_counts_and_is_told_apart(bench: Bench) -> None:
    trials = bench.run(make_jitserver_session(bench, CONNECTED + COMPILED))
    assert [failed(one) for one in trials] == [[]] * 4
    one = remote_of(trials)
    local = next(trial for trial in trials if trial.arm == "how-local")
    per_1k = one.metrics["cpu_per_1k"]
    assert per_1k == pytest.approx(
        local.metrics["cpu_per_1k"] * (1 + COMPILER_CORES / SERVER_CORES), rel=0.01
    )
    assert one.metrics["cpu_per_1k_compiler"] == pytest.approx(per_1k * COMPILER_CORES / 0.7, rel=0.01)
    assert one.metrics["cpu_per_1k_jit_servers"] == 0
    assert one.metrics["cpu_per_1k_jit"] == pytest.approx(one.metrics["cpu_per_1k_compiler"], rel=0.01)
    assert one.metrics["cpu_per_1k_request"] == pytest.approx(local.metrics["cpu_per_1k_request"], rel=0.01)
    assert one.metrics["memory_rss"] == 2 * local.metrics["memory_rss"]
    assert one.metrics["compiled_remotely"] == 0.5
    assert "compiled_remotely" not in local.metrics
    # The JITServer compiles at full work to the end: the servers' own quiet JIT threads do not make that steady.
    assert one.measurement is not None
    cpus = len(bench.world.deployments[-1].spec.weighed_cpus)
    assert one.measurement.jit_share == pytest.approx(COMPILER_CORES / cpus, rel=0.01)
    assert "jit-busy" in {check.name for check in one.checks if check.has_failed}
    assert "jit-busy" not in {check.name for check in local.checks if check.has_failed}
    assert one.metrics["server_cpu_share"] == pytest.approx((SERVER_CORES + COMPILER_CORES) / cpus, rel=0.01)
    check = next(check for check in local.checks if check.name == "remote-compilation")
    assert (check.applies, check.detail) == (False, "Servers compile by themselves.")


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("", "server did not come to be connected to its JITServer"),
        (CONNECTED, "server compiled 0 methods by itself and none in its JITServer"),
        (CONNECTED + COMPILED + LOST, "server lost its connection to the JITServer"),
    ],
)
def test_a_server_that_compiled_by_itself_voids_the_trial(bench: Bench, log: str, says: str) -> None:
    one = remote_of(bench.run(make_jitserver_session(bench, log)))
    (sentence,) = failed(one)
    assert sentence.startswith("remote-compilation: ")
    assert says.removeprefix("server ") in sentence


def test_a_jitserver_that_dies_voids_the_trial(bench: Bench) -> None:
    bench.world.deaths["01-how-remote"] = ("jitserver", 3.0)
    trials = bench.run(make_jitserver_session(bench, CONNECTED + COMPILED))
    void = next(one for one in trials if one.arm == "how-remote" and one.block == 1)
    assert failed(void) == ["restarts: jitserver ended with exit code 137"]


def test_one_that_is_killed_on_purpose_is_no_failure_and_uses_nothing_afterwards(bench: Bench) -> None:
    kept = remote_of(bench.run(make_jitserver_session(bench, CONNECTED + COMPILED, measure=20)))
    directory = make_jitserver_session(
        bench, CONNECTED + COMPILED + LOST, measure=20, **{"jitserver.killed_after": 10}
    )
    killed = remote_of(bench.run(directory))
    assert failed(killed) == []
    whole, half = (
        next(one for one in trial.components if one.name == "jitserver") for trial in (kept, killed)
    )
    assert (whole.cpu_seconds, half.cpu_seconds) == (
        pytest.approx(20 * COMPILER_CORES),
        pytest.approx(10 * COMPILER_CORES, abs=1.1 * COMPILER_CORES),
    )
    assert half.rss_mean == pytest.approx(0.5 * (whole.rss_mean or 0), rel=0.1)
    assert killed.metrics["throughput"] == pytest.approx(kept.metrics["throughput"])


def test_one_with_a_warm_cache_serves_a_start_before_the_measured_one(bench: Bench) -> None:
    directory = make_jitserver_session(
        bench, CONNECTED + COMPILED, procedure="ramp-up", **{"jitserver.aot_cache": "warm"}
    )
    assert failed(remote_of(bench.run(directory))) == []
    remote = next(one for one in bench.world.deployments if one.directory.name == "01-how-remote")
    starts = [names for names in remote.starts if names != ["injector-1"]]
    assert starts == [["jitserver"], ["server-1"], ["server-1"]]
    assert remote.stops[0] == "server-1"
    stored = CONNECTED + COMPILED.replace("deserialized", "deserialized aotStored")
    directory = make_jitserver_session(bench, stored, procedure="ramp-up", **{"jitserver.aot_cache": "warm"})
    (says,) = failed(remote_of(bench.run(directory)))
    assert "took none of the code that its JITServer had kept" in says
