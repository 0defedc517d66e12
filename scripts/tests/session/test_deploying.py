# SPDX-License-Identifier: Apache-2.0
"""How components come up, on the fake engine: order, waiting, strangers, data."""

import math
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from builders import make_component
from fake_engine import FakeDeployment, FakeEngine, World
from fake_site import READY_AFTER
from planned import asked, specs, specs_of

from steelyard.engines.base import Running
from steelyard.errors import PortInUse, ProgramGone, ServerFailed
from steelyard.results.spec import Spec
from steelyard.sampling.procfs import ProcFile
from steelyard.session import deploying
from steelyard.session.deploying import Deployed
from steelyard.spec.agreement import differences
from steelyard.workload.schema import Consistency


@pytest.fixture
def services() -> Spec:
    return specs("acmeair-topology")["topology-microservices"]


def opened(world: World, spec: Spec, folder: Path) -> tuple[Deployed, FakeDeployment]:
    (folder / "replay").mkdir()
    deployment = FakeEngine(world).open(spec, folder)
    return Deployed(spec, deployment, clock=world.clock), deployment


def test_each_role_waits_for_those_before(world: World, services: Spec, tmp_path: Path) -> None:
    deployed, deployment = opened(world, services, tmp_path)
    deployed.start()
    assert deployment.starts == [
        ["customer-database", "flight-database", "booking-database"],
        ["auth-1", "customer-1", "flight-1", "booking-1", "main-1"],
        ["proxy"],
    ]
    starts = {name: started.running.started for name, started in deployed.started.items()}
    assert starts["proxy"] >= starts["auth-1"] + READY_AFTER  # the servers had answered by then
    assert deployed.started["main-1"].start_seconds >= READY_AFTER
    assert deployed.started["auth-1"].cpu_seconds
    assert deployed.started["auth-1"].rss
    deployed.describe()
    assert deployed.started["auth-1"].info["pid"] == os.getpid()
    assert deployed.started["proxy"].info == {}


def test_what_a_component_says_of_itself_is_asked_again_when_its_answer_does_not_come(
    world: World, services: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has answered before: a machine that stands still for 20 s must not void its trial."""
    deployed, deployment = opened(world, services, tmp_path)
    deployed.start(("server",))
    answers, ask = [None, None], deployment.ask
    monkeypatch.setattr(deployment, "ask", lambda *all_of_it: answers.pop() if answers else ask(*all_of_it))
    deployed.describe()
    assert {deployed.started[one.name].info["pid"] for one in services.servers} == {os.getpid()}
    monkeypatch.setattr(deployment, "ask", lambda *_: None)
    deployed.describe()
    assert deployed.started["main-1"].info == {}


def test_components_of_a_role_are_asked_side_by_side(
    world: World, services: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked in turn, one that hangs would delay what is noted of the others: here each answers once all are asked."""
    deployed, _ = opened(world, services, tmp_path)
    deployed.start(("database",))
    together = threading.Barrier(len(services.servers))
    monkeypatch.setattr(FakeDeployment, "serves", lambda *_: together.wait() >= 0)
    deployed.start(("server",))
    assert {one.name for one in services.servers} <= deployed.started.keys()


def test_roles_can_be_brought_up_and_taken_down_apart(world: World, services: Spec, tmp_path: Path) -> None:
    deployed, deployment = opened(world, services, tmp_path)
    deployed.start(("database",))
    assert len(deployment.starts) == 1
    deployed.start(("server", "proxy"))
    first = deployed.started["auth-1"].running.started
    assert deployed.stop(("server", "proxy")) == []
    assert set(deployed.started) == {"customer-database", "flight-database", "booking-database"}
    deployed.start(("server", "proxy"))
    assert deployed.started["auth-1"].running.started > first


def test_a_server_that_dies_while_it_is_waited_for_is_named(
    world: World, services: Spec, tmp_path: Path
) -> None:
    world.deaths = {tmp_path.name: ("flight-1", 0.0)}
    deployed, _ = opened(world, services, tmp_path)
    with pytest.raises(ServerFailed, match="flight-1 ended with exit code 1"):
        deployed.start()
    assert "proxy" not in deployed.started


def test_nobody_is_waited_for_once_one_has_died(world: World, services: Spec, tmp_path: Path) -> None:
    """Here the others never answer, and their limit is never reached."""
    world.deaths = {tmp_path.name: ("flight-1", 0.0)}
    patient = services.with_changes(
        "server", lambda one: {"ready": one.ready.model_copy(update={"within": 1e9})}
    )
    deployed, _ = opened(world, patient, tmp_path)
    deployed.start(("database",))
    world.ready_after = math.inf
    with pytest.raises(ServerFailed, match="flight-1 ended with exit code 1"):
        deployed.start(("server",))


def test_a_server_that_never_answers_is_given_up(world: World, services: Spec, tmp_path: Path) -> None:
    world.ready_after = math.inf
    short = services.with_changes(
        "server", lambda one: {"ready": one.ready.model_copy(update={"within": 1.0})}
    )
    deployed, _ = opened(world, short, tmp_path)
    with pytest.raises(ServerFailed, match=r"-1 did not answer within 1 s: see .*servers/"):
        deployed.start()


def test_a_server_that_never_answers_for_want_of_its_files_ends_the_session(
    world: World, services: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise ProgramGone("/build was removed")

    world.ready_after = math.inf
    short = services.with_changes(
        "server", lambda one: {"ready": one.ready.model_copy(update={"within": 1.0})}
    )
    deployed, deployment = opened(world, short, tmp_path)
    monkeypatch.setattr(deployment, "require_programs", gone)
    with pytest.raises(ProgramGone):
        deployed.start()


def test_a_stranger_on_the_port_is_not_weighed(world: World, services: Spec, tmp_path: Path) -> None:
    world.info = {"pid": 1}
    deployed, _ = opened(world, services, tmp_path)
    with pytest.raises(PortInUse, match="is answered by process 1, not by auth-1: stop that process"):
        deployed.start()


ANSWERS: dict[str, tuple[int, str]] = {
    "/customer/loader/load?numCustomers=200": (200, "loaded"),
    "/flight/loader/load": (200, "loaded"),
    "/booking/loader/load": (200, "loaded"),
}


def test_data_is_loaded_in_order_and_a_refusal_is_passed_on(
    world: World, services: Spec, tmp_path: Path
) -> None:
    world.answers = {**ANSWERS, "/flight/loader/load": (503, "no airports\nat Loader:7")}
    deployed, deployment = opened(world, services, tmp_path)
    deployed.start()
    with pytest.raises(
        ServerFailed,
        match=r"^flight-1 could not load its data \(/flight/loader/load\): status 503, it said: no airports$",
    ):
        deployed.load_data()
    assert deployment.sites["customer-1"].own_requests == 1
    assert deployment.sites["booking-1"].own_requests == 0
    deployment.stop(["flight-1"])
    with pytest.raises(ServerFailed, match=r"flight-1 could not load its data \(.*\): no answer"):
        deployed.load_data()


def test_a_load_that_ends_too_early_has_failed_whatever_its_status(
    world: World, services: Spec, tmp_path: Path
) -> None:
    loads = [step.model_copy(update={"contains": "loaded"}) for step in services.data]
    world.answers = {**ANSWERS, "/flight/loader/load": (200, "FLIGHT: 300 rows\nno memory\n")}
    deployed, deployment = opened(world, services.model_copy(update={"data": loads}), tmp_path)
    deployed.start()
    with pytest.raises(
        ServerFailed, match=r"^flight-1 did not load all of its data \(.*\): at last it said: no memory$"
    ):
        deployed.load_data()
    assert deployment.sites["booking-1"].own_requests == 0


def test_a_loader_is_heard_while_it_loads(world: World, services: Spec, tmp_path: Path) -> None:
    """Lines of text without their marks; not the page that follows."""
    page = "<html><body>\nCreating 400 Quotes<BR>\nSmith &amp; Co<BR>\n<h1>Done</h1>\n\n"
    world.answers = {**ANSWERS, "/flight/loader/load": (200, page)}
    deployed, _ = opened(world, services, tmp_path)
    heard: list[str] = []
    deployed.progress = heard.append
    deployed.start()
    deployed.load_data()
    at = heard.index("flight-1 loads its data")
    assert heard[at + 1 : at + 4] == ["Creating 400 Quotes", "Smith & Co", "booking-1 loads its data"]


@pytest.mark.parametrize(
    ("check", "answer", "says"),
    [
        ({"equals": "200"}, (200, " 200\n"), None),
        ({"equals": "200"}, (200, "199"), "the count: it is 199, expected 200"),
        ({"matches": r"\d+"}, (200, "17"), None),
        ({"matches": r"\d+"}, (200, "17 or so"), "the count: '17 or so' does not match"),
        ({"equals": "200"}, (500, "200"), "the count: main-1 gave status 500 to /count"),
    ],
)
def test_the_data_is_checked(
    world: World,
    services: Spec,
    tmp_path: Path,
    check: dict[str, Any],
    answer: tuple[int, str],
    says: str | None,
) -> None:
    world.answers = {"/count": answer}
    checked = services.model_copy(
        update={"consistency": [Consistency(component="main-1", path="/count", about="the count", **check)]}
    )
    deployed, deployment = opened(world, checked, tmp_path)
    deployed.start()
    found = deployed.inconsistencies()
    assert ([one.detail.startswith(says) for one in found] == [True]) if says else (found == [])
    deployment.stop(["main-1"])
    assert list(map(str, deployed.inconsistencies())) == ["the count: main-1 gave no answer to /count"]


def test_what_has_ended_is_told(world: World, services: Spec, tmp_path: Path) -> None:
    deployed, deployment = opened(world, services, tmp_path)
    deployed.start()
    assert deployed.failures() == []
    deployment.codes["booking-1"] = 137
    (failure,) = deployed.failures()
    assert (failure.component, failure.cause) == ("booking-1", "restarts")
    assert failure.detail == "booking-1 ended with exit code 137"


def test_memory_after_the_start_counts_the_pages_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `memory_rss` does: they are in no resident set, and a heap of large pages would seem to cost nothing."""
    read = ProcFile.read

    def with_large_pages(file: ProcFile, size: int = 1024) -> bytes | None:
        content = read(file, size)
        if content is None or b"\nVmRSS:" not in content:
            return content
        return re.sub(rb"\nHugetlbPages:[^\n]*", b"", content).replace(
            b"\nVmRSS:", b"\nHugetlbPages:\t 4096 kB\nVmRSS:"
        )

    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            running = Running(make_component(), [process.pid], 0.0)
            _, small = deploying._usage(running)
            monkeypatch.setattr(ProcFile, "read", with_large_pages)
            _, large = deploying._usage(running)
        finally:
            process.kill()
    assert small is not None
    assert large is not None
    assert large - small >= 4096 * 1024


SMALL = "7f0000000000-7f0004000000 rw-p 00000000 00:00 0 \n" + "".join(
    f"{field}: {size} kB\n"
    for field, size in {
        "Size": 65536,
        "KernelPageSize": 4,
        "Rss": 65536,
        "AnonHugePages": 0,
        "Shared_Hugetlb": 0,
        "Private_Hugetlb": 0,
    }.items()
)


@pytest.mark.parametrize(
    ("smaps", "says"),
    [(SMALL, "server-1 has pages small instead of large"), ("", "does not tell its pages")],
)
def test_pages_of_a_pods_heap_are_read_back_by_the_kernel_of_its_node(
    world: World, tmp_path: Path, smaps: str, says: str
) -> None:
    """Else large pages that silently were not to be had would be compared with small ones as if they were large."""
    found = asked("ping", factors={"jvms": {"levels": [1, 2]}}, deployment={"jvm": {"pages": "large"}})
    spec = specs_of(found)["jvms-1"]
    deployed, deployment = opened(world, spec, tmp_path)
    deployed.read_back = lambda *_: {}
    deployed.start()
    pods: Any = deployment
    pods.remote = True
    pods.began = lambda _name: None
    pods.memory_map = lambda _name: smaps
    deployed.describe()
    (server,) = [one for one in deployed.started.values() if one.component.role == "server"]
    differs = [text for text in differences(server.component, server.facts.values()) if "pages" in text]
    assert any(says in text for text in differs), differs
    if not smaps:
        assert "map" not in server.facts
