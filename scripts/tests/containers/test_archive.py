# SPDX-License-Identifier: Apache-2.0
"""What strangers get of a release: the archive of bundles, without a checkout."""

import json
import re
import subprocess
import tarfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from e2e.driver import free_port
from platforms import LOCAL_REGISTRY
from stages import NODE, RECORD
from waiting import answer_of, ended, wait_until

from steelyard import __version__
from steelyard.archives import unpack
from steelyard.host.docker import Docker
from steelyard.images.catalogue import read_catalogue
from suite.bundles import main as write_bundles

from .bundle import MONGO_IMAGE, QUICK_COMPILER, Bundle
from .conftest import Pushed
from .node import Node, kustomization

pytestmark = pytest.mark.containers
OURS = re.compile(rf"{LOCAL_REGISTRY}/[\w/-]+@sha256:[0-9a-f]{{64}}")


@pytest.fixture
def archive(docker: Docker, images: Pushed, tmp_path: Path) -> Path:
    """The bundles of what was pushed, unpacked; images on OpenJ9, which is not here, have the digests of others."""
    entries = json.loads(RECORD.read_text(encoding="utf-8"))
    for name, image in read_catalogue().items():
        repository = f"{images.acmeair.rpartition('/')[0]}/{name}"
        for target, tag in zip(image.targets(name), image.tags(__version__), strict=True):
            if target not in entries:
                stands_in = entries.get(f"{name}-hotspot", entries["embedded-mongo"])
                names = [f"{repository}:{tag}", *([f"{repository}:{__version__}"] if image.flavours else [])]
                entries[target] = {**stands_in, "image.name": ",".join(names)}
    record, packed = tmp_path / "record.json", tmp_path / f"steelyard-bundles-{__version__}.tar.gz"
    record.write_text(json.dumps(entries), encoding="utf-8")
    assert write_bundles([str(record), str(packed), "https://example.test/somebody/steelyard"]) == 0
    with tarfile.open(packed) as tar:
        unpack(tar, tmp_path)
    docker.run("image", "rm", "--force", images.acmeair)
    return tmp_path / packed.name.removesuffix(".tar.gz")


@pytest.fixture
def bundle(archive: Path) -> Iterator[Bundle]:
    port = free_port()
    environment = {
        "COMPOSE_PROJECT_NAME": f"archive-{port}",
        "STEELYARD_PORTS": str(port),
        "STEELYARD_JVM_ARGS": QUICK_COMPILER,
        "STEELYARD_MONGO_IMAGE": MONGO_IMAGE,
        "STEELYARD_CUSTOMERS": "20",
    }
    found = Bundle(archive / "compose" / "acmeair-monolith", environment["COMPOSE_PROJECT_NAME"], environment)
    yield found
    found.down()


def test_from_the_archive_alone_acmeair_runs(bundle: Bundle) -> None:
    """Unpacked, `docker compose up`: no checkout, nothing built, no image here before. In the place of MongoDB the
    embedded database."""
    done = bundle.compose("--env-file", "../hotspot.env", "up", "--detach")
    assert done.returncode == 0, done.stderr
    own = [one for one in bundle.containers() if one["Config"]["Image"] != MONGO_IMAGE]
    assert own
    assert all("@sha256:" in one["Config"]["Image"] for one in own)
    address = f"http://127.0.0.1:{bundle.environment['STEELYARD_PORTS']}/rest/info/config/countCustomers"

    def failed() -> str | None:
        codes = {one["Name"]: one["State"]["ExitCode"] for one in bundle.containers()}
        return f"{codes}" if any(codes.values()) else None

    wait_until(
        lambda: answer_of(address) == b"20",
        lambda: f"20 customers: {bundle.compose('logs', '--tail', '20').stdout}",
        failed,
    )


def test_from_the_archive_alone_acmeair_runs_in_a_cluster(node: Node, archive: Path, tmp_path: Path) -> None:
    """Without OpenJ9 and MongoDB, as its README says, in the sizes of a small cluster; the kubelet pulls digests."""
    namespace = "steelyard-acmeair-monolith"
    folder = kustomization(
        tmp_path / "acmeair", ["overlays/small/acmeair-monolith"], ["hotspot", "embedded-mongo"], archive
    )
    named = set(OURS.findall(node.kubectl("kustomize", folder)))
    with served_in_node(named, tmp_path / "registry"):
        node.kubectl("apply", "--kustomize", folder)
        try:
            node.finish(namespace, "data")
            assert node.path(namespace, "server", "/rest/info/config/countCustomers").strip() == "200"
            pods = node.get("pods", "--namespace", namespace)["items"]
            assert {one["image"] for pod in pods for one in pod["spec"]["containers"]} == named
        finally:
            node.remove(folder, namespace)


@contextmanager
def served_in_node(references: Collection[str], folder: Path) -> Iterator[None]:
    """A registry with some images, where the node looks for them: in its own network, which has no other."""
    files = {"version": 0.1, "storage": {"filesystem": {"rootdirectory": str(folder / "files")}}}
    folder.mkdir()

    @contextmanager
    def serving(address: str, *inside: str) -> Iterator[None]:
        configuration = folder / f"{len(inside)}.yml"
        configuration.write_text(json.dumps(files | {"http": {"addr": address}}), encoding="utf-8")
        with (folder / f"{len(inside)}.log").open("wb") as log:
            server = subprocess.Popen(
                [*inside, "docker-registry", "serve", str(configuration)], stdout=log, stderr=log
            )
        asked = [*inside, "curl", "--silent", "--fail", "--noproxy", "*", f"http://{address}/v2/"]
        try:
            wait_until(
                lambda: not subprocess.run(asked, check=False, capture_output=True).returncode,
                "an answer of the registry",
                ended(server),
            )
            yield
        finally:
            server.terminate()
            server.wait()

    filled = f"127.0.0.1:{free_port()}"
    with serving(filled):
        for reference in references:
            to = f"docker://{reference.replace(LOCAL_REGISTRY, filled)}"
            flags = (
                "--quiet",
                "--all",
                "--preserve-digests",
                "--src-tls-verify=false",
                "--dest-tls-verify=false",
            )
            subprocess.run(["skopeo", "copy", *flags, f"docker://{reference}", to], check=True)
    with serving(LOCAL_REGISTRY, *NODE, "run"):
        yield


def test_every_image_of_ours_that_the_bundles_name_is_pulled(docker: Docker, archive: Path) -> None:
    """By its digest; of those on OpenJ9 there are none."""
    pushed = {
        f"{entry['image.name'].rpartition(':')[0].rpartition(',')[2]}@{entry['containerimage.digest']}"
        for entry in json.loads(RECORD.read_text(encoding="utf-8")).values()
    }
    files = [
        *archive.glob("compose/*/compose.yaml"),
        archive / "compose" / "hotspot.env",
        *archive.glob("k8s/**/*.yaml"),
    ]
    # A kustomization names a digest apart from the name.
    text = "".join(path.read_text(encoding="utf-8") for path in files).replace(", digest: ", "@")
    assert pushed <= set(OURS.findall(text))
    for reference in sorted(pushed):
        docker.run("pull", "--quiet", reference, timeout=None)
