# SPDX-License-Identifier: Apache-2.0
"""DayTrader7 and Olio on PostgreSQL in containers: the bundles by hand, and sessions on the compose engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.driver import end_all, start
from e2e.test_postgresql import EXPERIMENT, SETTINGS
from waiting import wait_until

from steelyard.engines.compose.bundle import SESSION_LABEL

from .bundle import (
    PATIENT,
    QUICK_COMPILER,
    TABLES,
    Bundle,
    ask_inside,
    bundle_of,
    docker,
    let_containers_in,
    summary_of,
    under_load,
)

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("turn")]


@pytest.fixture
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bundle]:
    found = bundle_of(f"{request.param}-postgresql", tmp_path)
    found.environment |= {
        "STEELYARD_TRADE_USERS": "100",
        "STEELYARD_QUOTES": "100",
        "STEELYARD_SECONDS": f"10, {PATIENT}",
        "STEELYARD_JVM_ARGS": f"{QUICK_COMPILER} -Xmx384m",
        # By the service's name alone, chance could lead all of few users to one server.
        "STEELYARD_TARGETS": ", ".join(f'"http://{found.project}-server-{n}:9080"' for n in (1, 2)),
    }
    yield found
    found.down()


@pytest.mark.parametrize(
    ("bundle", "application"),
    [("daytrader7", "daytrader"), ("olio", "olio")],
    indirect=["bundle"],
)
def test_a_database_that_stops_or_dies_keeps_what_was_written(bundle: Bundle, application: str) -> None:
    """Under two servers; each of them serves again once the database does."""
    counters = {"daytrader": "/daytrader/bench/counters"}.get(application, "/olio/bench/counters")
    under_load(bundle, "server=2", counters)
    servers = bundle.service("server")
    consistency = f"/{application}/consistency"
    assert [ask_inside(server, consistency).strip() for server in servers] == ["consistent"] * 2
    written = rows(bundle)
    assert all(written)

    for end in (("stop", "database"), ("kill", "--signal", "KILL", "database")):
        for command in (end, ("start", "database")):
            done = bundle.compose(*command)
            assert done.returncode == 0, done.stderr
        wait_until(lambda: takes_connections(bundle), lambda: bundle.compose("logs", "database").stdout)
        assert rows(bundle) == written
    for server in servers:
        wait_until(lambda server=server: is_consistent(server, consistency), "the end of old connections")  # type: ignore[misc]
    before = set(bundle.results.iterdir())
    again = bundle.compose("run", "--rm", "--no-deps", "-T", "load")
    assert again.returncode == 0, again.stdout + again.stderr
    (run,) = set(bundle.results.iterdir()) - before
    summary_of(run)
    assert [ask_inside(server, consistency).strip() for server in servers] == ["consistent"] * 2


def rows(bundle: Bundle) -> list[int]:
    """Rows of some tables, as the database itself counts them."""
    (database,) = bundle.service("database")
    name = bundle.project.split("-")[1]
    psql = ("psql", "--username=steelyard", "--no-align", "--tuples-only", "--command")
    return [int(docker("exec", database, *psql, f"SELECT count(*) FROM {table}")) for table in TABLES[name]]


def takes_connections(bundle: Bundle) -> bool:
    """Whether the database answers, as its health check asks."""
    ready = ("pg_isready", "-q", "-h", "127.0.0.1", "-U", "steelyard", "-d", "steelyard")
    return bundle.compose("exec", "-T", "database", *ready).returncode == 0


def is_consistent(server: str, path: str) -> bool:
    """Each pooled connection of before fails once."""
    try:
        return ask_inside(server, path).strip() == "consistent"
    except AssertionError:
        return False


@pytest.mark.parametrize(("workload", "users"), [("daytrader7", 4), ("olio", 8)])
def test_a_session_on_postgresql_in_containers(workload: str, users: int, tmp_path: Path) -> None:
    let_containers_in(tmp_path)
    out = tmp_path / "results"
    out.mkdir()
    experiment = tmp_path / "tiny.yaml"
    text = EXPERIMENT.format(workload=workload, settings=SETTINGS[workload], users=users)
    experiment.write_text(text, encoding="utf-8")
    asked = ("--engine", "compose", "--set", f"{workload}.database=postgresql", "--set", "jvms=1,2")
    try:
        session = start(experiment, out, *asked)
        trials = session.wait_for_undisturbed(2)
        session.interrupt()
    finally:
        end_all()
    for trial in trials:
        assert trial.measurement is not None
        assert trial.measurement.injector_errors == 0
        assert trial.metrics["cpu_per_1k_database"] > 0
        checks = {one.name: one for one in trial.checks}
        assert checks["consistency"].applies
        assert checks["settings"].applies, "the server told which database it has"
    arms = [arm.spec for arm in session.directory.session().arms]
    images = {str(one.artifact.image) for spec in arms for one in spec.components if one.role == "database"}
    assert len(images) == 1
    assert "/postgresql@sha256:" in images.pop()
    assert docker("ps", "-aq", "--filter", f"label={SESSION_LABEL}={session.directory.path.name}") == ""
