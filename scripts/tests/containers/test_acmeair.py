# SPDX-License-Identifier: Apache-2.0
"""AcmeAir in containers: both bundles with data under load, and trials of both topologies."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.driver import end_all, start, void_for_other_reasons_than_noise
from e2e.test_acmeair import EXPERIMENT
from waiting import answer_of, wait_until

from steelyard.engines.compose.bundle import SESSION_LABEL

from .bundle import (
    MONGO_IMAGE,
    NGINX_IMAGE,
    PATIENT,
    QUICK_COMPILER,
    REGISTRY,
    VERSION,
    Bundle,
    bundle_of,
    docker,
    let_containers_in,
    under_load,
)

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("turn")]


@pytest.fixture
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bundle]:
    found = bundle_of(request.param, tmp_path)
    found.environment |= {"STEELYARD_CUSTOMERS": "40", "STEELYARD_TODAY": "2026-12-30"}
    # Cold JVMs on a shared machine: what is tested is the bundle and not the time limit. A user's first login may take
    # seconds, and what is looked for comes after it.
    found.environment |= {"STEELYARD_CALL_TIMEOUT": "10000", "STEELYARD_SECONDS": f"10, {PATIENT}"}
    found.environment["STEELYARD_JVM_ARGS"] = QUICK_COMPILER
    yield found
    found.down()


@pytest.mark.parametrize("bundle", ["acmeair-monolith"], indirect=True)
def test_two_monoliths_share_a_database_and_the_load(bundle: Bundle) -> None:
    # By the service's name alone, chance could lead all of few users to one server.
    bundle.environment["STEELYARD_TARGETS"] = ", ".join(
        f'"http://{bundle.project}-server-{n}:9080"' for n in (1, 2)
    )
    summary = under_load(bundle, "server=2")
    assert {"login", "logout", "query-flight", "list-bookings"} <= set(summary["operations"])
    # Both read what one of them loaded. The flights are those of the day that was asked for, across New Year.
    assert summary["outcomes"]["outbound-found"] > 0


@pytest.mark.parametrize("bundle", ["acmeair-microservices"], indirect=True)
def test_services_behind_the_proxy_with_two_of_one_kind(bundle: Bundle) -> None:
    summary = under_load(bundle, "flight=2")
    assert {"login", "query-flight", "book-flight", "list-bookings"} <= set(summary["operations"])
    assert summary["outcomes"]["outbound-found"] > 0


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("STEELYARD_REGISTRY", REGISTRY)
    monkeypatch.setenv("STEELYARD_FLAVOUR", "hotspot")
    monkeypatch.setenv("STEELYARD_MONGO_IMAGE", MONGO_IMAGE)
    monkeypatch.setenv("STEELYARD_NGINX_IMAGE", NGINX_IMAGE)
    let_containers_in(tmp_path)
    path = tmp_path / "tiny.yaml"
    path.write_text(
        EXPERIMENT.replace("deployment:\n", "deployment:\n  engine: compose\n").replace(
            "load:\n",
            "load:\n  request_timeout: 600s\n",  # a stall of the machine must not become an error
        ),
        encoding="utf-8",
    )
    yield path
    end_all()


def test_trials_of_both_topologies_and_a_database_that_dies(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    out.mkdir()
    began = time.time()
    session = start(experiment, out)
    session.wait_for_phase("warmup", began)
    directory = session.directory
    ours = ("--filter", f"label={SESSION_LABEL}={directory.path.name}")
    names = docker("ps", *ours, "--format", "{{.Names}}").split()
    docker("kill", next(name for name in names if name.endswith("database-1")))
    trials = directory.trials
    specs = {arm.name: arm.spec for arm in directory.session().arms}
    for number in (2, 3, 4):  # one at a time: each has a patience of its own
        session.wait_until(lambda number=number: len(trials()) >= number, f"trial {number}")  # type: ignore[misc]
        if {specs[trial.arm].topology for trial in trials()[1:]} == {"monolith", "microservices"}:
            break
    assert session.interrupt() == 130
    first, *others = trials()
    assert {specs[trial.arm].topology for trial in others} == {"monolith", "microservices"}
    assert first.state == "void"
    assert "database ended with signal 9" in str(first.failure)
    assert not void_for_other_reasons_than_noise(others)
    for trial in others:
        assert trial.measurement is not None
        assert trial.measurement.injector_errors == 0
        assert trial.metrics["cpu_per_1k_database"] > 0
        services = specs[trial.arm].topology == "microservices"
        assert ("cpu_per_1k_proxy" in trial.metrics) == services
        assert (trial.metrics.get("service_calls_per_1k", 0) > 0) == services
    components = [one for spec in specs.values() for one in spec.components]
    assert {one.role for one in components} == {"server", "database", "proxy", "injector"}
    assert all("@sha256:" in str(one.artifact.image) for one in components)
    assert all(any("embedded" in text for text in spec.embedded) for spec in specs.values())
    assert docker("ps", "-aq", *ours) == ""


def test_a_server_of_the_image_lives_without_a_database() -> None:
    """As any user, read-only and without rights."""
    server = "acmeair-customer"
    reference = f"{REGISTRY}/acmeair:{VERSION}-hotspot"
    confined = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
    publish = ("--user=12345:0", "--publish=127.0.0.1::9080")
    name = docker("run", "--detach", *confined, *publish, reference, server).strip()
    try:
        port = docker("port", name, "9080/tcp").split()[0].rpartition(":")[2]
        # Empty, the answer is one all the same.
        wait_until(
            lambda: answer_of(f"http://127.0.0.1:{port}/health/live") is not None,
            lambda: f"an answer: {docker('logs', name)}",
        )
        assert server in docker("top", name)
    finally:
        docker("rm", "--force", "--volumes", name)
