# SPDX-License-Identifier: Apache-2.0
"""Where the images are, and a count of what the engine holds before and after every test."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from e2e.driver import end_all
from platforms import BASES, PLATFORMS, narrowed
from stages import NODE, NODE_STATE, Beside, fail_with_log, why_no_node
from waiting import wait_until

from steelyard import __version__
from steelyard.host.docker import Docker, find_docker
from steelyard.images.bake import Bakery, Plan
from steelyard.images.catalogue import read_catalogue
from steelyard.images.lock import find_bases
from steelyard.images.verify import FINGERPRINT
from suite import REPORTS

from .node import Node, Traces

IMAGES = {
    name.replace("-", "_"): f"{name}:{image.tags(__version__)[0]}"
    for name, image in read_catalogue().items()
    if image.base != "openj9"
}
"""All that need no OpenJ9, by their fields of `Pushed`."""


@pytest.fixture(scope="package", autouse=True)
def _made_here(images_pushed: str) -> Iterator[None]:
    """Every test runs what was pushed for all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEELYARD_REGISTRY", images_pushed)
        patch.setenv("STEELYARD_FLAVOUR", "hotspot")
        patch.setenv("STEELYARD_MONGO_IMAGE", f"{images_pushed}/embedded-mongo:{__version__}")
        patch.setenv("STEELYARD_NGINX_IMAGE", f"{BASES}/nginx:debian")
        patch.setenv("STEELYARD_POSTGRESQL_IMAGE", f"{BASES}/postgresql:17-debian")
        yield


@pytest.fixture(scope="session")
def docker(engine: None) -> Docker:
    """The engine; where one can be set up and does not answer, these tests fail."""
    return find_docker()


@pytest.fixture(scope="session")
def registry(images_pushed: str) -> str:
    """Registry and path that the suite pushes to."""
    return images_pushed


@dataclass(frozen=True)
class Pushed:
    """What is in the registry, by the short names of IMAGES."""

    ping: str
    acmeair: str
    daytrader7: str
    olio: str
    olio_geocoder: str
    embedded_mongo: str
    loadgen: str
    socket_proxy: str
    harness: str


@pytest.fixture(scope="session")
def images(registry: str) -> Pushed:
    """References of the images."""
    return Pushed(**{field: f"{registry}/{name}" for field, name in IMAGES.items()})


@pytest.fixture(scope="session")
def node(beside: Beside, images: Pushed) -> Iterator[Node]:
    """A Kubernetes node with the images, under the names that the bundles have for them; it leaves nothing."""
    reason = why_no_node()
    if reason is not None:
        pytest.skip(reason)
    beside.finish("node")
    log = REPORTS / "node.log"
    with log.open("a", encoding="utf-8") as output:
        started = subprocess.run([*NODE, "start"], stdout=output, stderr=output, check=False)
    if started.returncode != 0:
        fail_with_log("the Kubernetes node does not start", log)
    node = Node()
    for reference in (images.ping, images.acmeair, images.embedded_mongo, images.loadgen, images.harness):
        node.load(reference, f"localhost/steelyard/{reference.rpartition('/')[2]}")
    yield node
    traces = Traces.of_running(NODE_STATE)
    assert {"control groups", "processes", "files"} <= set(traces.left())
    subprocess.run([*NODE, "stop"], check=True)
    assert traces.left() == {}


@pytest.fixture
def namespace(node: Node, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A namespace of the restricted level, for a session, which is empty again at the end."""
    name = f"trials-{os.getpid()}"
    monkeypatch.setenv("STEELYARD_REGISTRY", "localhost/steelyard")
    node.kubectl("create", "namespace", name)
    node.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    try:
        yield name
    finally:
        end_all()
        left = node.held(name)
        node.kubectl("delete", "namespace", name, "--wait=false")
        assert not left


@pytest.fixture(scope="session")
def plan(docker: Docker, registry: str) -> Plan:
    """What the bake file makes without OpenJ9, for the platforms that the bases have."""
    return narrowed(Bakery(docker, registry, find_bases(docker, "local"), PLATFORMS).plan(["hotspot"]))


@pytest.fixture(autouse=True)
def leaves_nothing(docker: Docker) -> Iterator[None]:
    """Containers, networks and volumes are the same after a test as before it."""
    before = held(docker)
    yield

    def left() -> dict[str, list[str]]:
        return _added(before, held(docker))

    # The engine may take a while to forget what was removed.
    wait_until(lambda: not left(), lambda: f"the end of what was left behind: {left()}")


def held(docker: Docker) -> dict[str, set[str]]:
    """What is ours or nobody's; the engine may be somebody's who starts containers of their own meanwhile."""
    return {
        # Containers inherit the labels of their image.
        "containers": set(
            docker.run("ps", "-a", "--filter", f"label={FINGERPRINT}", "--format", "{{.Names}}").split()
        ),
        "networks": set(
            docker.run("network", "ls", "--filter", "name=steelyard", "--format", "{{.Name}}").split()
        ),
        "volumes": set(docker.run("volume", "ls", "--quiet", "--filter", "dangling=true").split()),
    }


def _added(before: dict[str, set[str]], after: dict[str, set[str]]) -> dict[str, list[str]]:
    added = {kind: sorted(after[kind] - before[kind]) for kind in before}
    return {kind: names for kind, names in added.items() if names}


@pytest.fixture
def run_container(docker: Docker) -> Iterator[Callable[..., str]]:
    """Starts containers of ours and removes them, with their volumes, after the test; gives their names."""
    network = f"steelyard-test-{os.getpid()}"
    docker.run("network", "create", network)
    started: list[str] = []

    def run(*arguments: str) -> str:
        name = f"{network}-{len(started)}"
        started.append(name)
        docker.run("run", "--detach", "--name", name, "--network", network, *arguments, timeout=None)
        return name

    yield run
    for name in started:
        docker.run("rm", "--force", "--volumes", name)
    docker.run("network", "rm", network)


def published_port(docker: Docker, container: str) -> int:
    """Port of this host that leads to a server's port 9080."""
    return int(docker.run("port", container, "9080/tcp").split()[0].rpartition(":")[2])
