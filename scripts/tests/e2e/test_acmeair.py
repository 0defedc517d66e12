# SPDX-License-Identifier: Apache-2.0
"""Sessions on the real AcmeAir servers: databases, proxy, data and journeys."""

import json
import shutil
from pathlib import Path
from urllib.request import urlopen

import pytest

from .driver import call, free_port, processes_that_mention, start
from .noise import void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: tiny-acmeair
title: A small session on AcmeAir
question: Does the harness work with databases and a proxy?
workload: acmeair
factors:
  topology: {levels: [monolith, microservices]}
settings: {acmeair.customers: 40, acmeair.visits_per_login: 2}
deployment:
  total_heap: 1g
  jvm: {gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1"]}
load:
  users: 8
  ramp: 500ms
  warmup: {until: fixed, at_least: 3s}
  measure: 6s
design: {blocks: 6, repeats: 0}
"""


@pytest.fixture(autouse=True)
def _proxy(nginx: None) -> None:
    """Looked for once it may have been unpacked."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")


def test_both_topologies_in_a_session_that_goes_on_after_a_database_died(experiment: Path, out: Path) -> None:
    session = start(experiment, out, "--seed", "1", "--set", "request_timeout=2m")
    trials = session.wait_for_undisturbed(2)
    (killed,) = session.kill_in_a_trial("backing", "ramp")
    assert session.interrupt() == 130
    directory = session.directory
    assert killed.state == "void"
    assert "database ended with signal 9" in str(killed.failure)
    assert {trial.arm.removeprefix("topology-") for trial in trials} == {"monolith", "microservices"}
    assert not void_for_other_reasons_than_noise(one for one in directory.trials() if one != killed)
    for trial in trials:
        assert trial.measurement is not None
        assert {ratio.name for ratio in trial.measurement.ratios if ratio.value is not None} == {
            "outbound flights found per query",
            "return flights found per query",
            "overtaken updates per update",
            "bookings per list",
        }
        assert trial.measurement.injector_errors == 0
        assert set(trial.measurement.mix_achieved) >= {"login", "query-flight", "book-flight"}
        assert trial.metrics["cpu_per_1k_system"] > trial.metrics["cpu_per_1k"]
        assert trial.metrics["cpu_per_1k_database"] > 0
        services = trial.arm == "topology-microservices"
        assert ("cpu_per_1k_proxy" in trial.metrics) == services
        assert (trial.metrics.get("service_calls_per_1k", 0) > 0) == services
    reported = call("report", str(directory.path))
    assert reported.returncode == 0, reported.stderr
    for name in ("report.html", "report.md"):
        text = (directory.path / name).read_text(encoding="utf-8")
        assert "microservices" in text
        assert "embedded" in text, "the report has to say that the database was not MongoDB"
    assert not processes_that_mention(str(out))


def test_the_application_alone_is_up_with_its_data(out: Path) -> None:
    port = free_port()
    up = call(
        *("up", "acmeair", "--topology", "microservices", "--port", str(port)),
        *("--set", "acmeair.customers=30", "--set", "acmeair.today=2026-07-01", "--json"),
    )
    assert up.returncode == 0, up.stderr
    try:
        told = json.loads(up.stdout)
        assert told["proxy"] == f"http://127.0.0.1:{port}"
        assert len(told["servers"]) == 5
        with urlopen(f"{told['proxy']}/customer/config/countCustomers") as answer:
            assert answer.read() == b"30"
        with urlopen(f"{told['proxy']}/acmeair/") as answer:
            assert b"<html" in answer.read()
        flights = next(server["url"] for server in told["servers"] if server["name"] == "flight-1")
        with urlopen(f"{flights}/bench/info") as answer:
            assert json.load(answer)["settings"]["today"] == "2026-07-01"
        with urlopen(f"{told['proxy']}/acmeair/today") as answer:
            assert answer.read() == b"2026-07-01"
    finally:
        assert call("down").stdout == "acmeair is down\n"
