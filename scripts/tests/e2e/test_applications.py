# SPDX-License-Identifier: Apache-2.0
"""Each application up and down, in its first topology: it has its data, and answers."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from waiting import wait_until

from steelyard.paths import ROOT
from steelyard.workload.loader import load_workload, workload_names

from .driver import call, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("host")]

UP = {
    "ping": (("--heap", "128m"), "/ping"),
    "acmeair": (("--heap", "256m", "--set", "acmeair.customers=30"), "/rest/info/config/countCustomers"),
    "daytrader7": (
        ("--heap", "256m", "--set", "daytrader7.users=50", "--set", "daytrader7.quotes=100"),
        "/daytrader/consistency",
    ),
    "olio": (("--heap", "512m", "--set", "olio.scale=25", "--set", "olio.files=small"), "/olio/consistency"),
}
"""Options of `up`, and what is asked for."""
ANSWERS = {"ping": b"pong", "acmeair": b"30"}
"""What is answered; of the others that their data is consistent."""
RECORDINGS = ROOT / "scripts" / "tests" / "fixtures" / "recordings"
JVM = ("--set", "jvm_args=[-XX:TieredStopAtLevel=1]")


def test_all_applications_are_tried() -> None:
    assert UP.keys() == set(workload_names())


@contextmanager
def running(name: str) -> Iterator[str]:
    """An application that is up; its address."""
    options, _ = UP[name]
    try:  # an interrupt may come while it starts
        up = call("up", name, *options, *JVM, "--port", str(free_port()), "--json")
        assert up.returncode == 0, up.stderr
        (server,) = json.loads(up.stdout)["servers"]
        yield server["url"]
    finally:
        down = call("down")
    assert down.stdout.endswith(" is down\n")
    wait_until(lambda: not Path(f"/proc/{server['pid']}").exists(), "the end of its server")


@pytest.mark.parametrize("name", UP)
def test_an_application_is_up_with_its_data_until_it_is_taken_down(name: str) -> None:
    with running(name) as url, urlopen(f"{url}{UP[name][1]}") as answer:
        assert answer.read().strip() == ANSWERS.get(name, b"consistent")


@pytest.mark.full
@pytest.mark.parametrize("name", ["acmeair", "daytrader7"])
def test_what_a_browser_recorded_of_its_pages_is_played_again(name: str, tmp_path: Path) -> None:
    """Made by scripts/bench/record_pages.py; sessions, flights, bookings and holdings are others by now."""
    journey = tmp_path / "recorded.yaml"
    made = call("journey", "from-har", str(RECORDINGS / f"{name}.har"), "--to", str(journey))
    assert made.returncode == 0, made.stderr
    with running(name) as url:
        done = call("journey", "try", str(journey), "--url", url)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_topology_is_the_one_that_is_up() -> None:
    """The paths above are those of each workload's first topology."""
    for name, (_, path) in UP.items():
        topology = next(iter(load_workload(name).workload.topologies.values()))
        assert name == "ping" or path in {check.path for check in topology.consistency}
