# SPDX-License-Identifier: Apache-2.0
"""Which images an arm needs and how they are pinned; a script stands for the engine's client."""

import json
import re
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard import __version__
from steelyard.engines.compose.images import DockerImages
from steelyard.engines.images import by_digest, find_images, image_reference
from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.docker import Docker, native_architecture
from steelyard.workload.loader import load_workload
from steelyard.workload.schema import ContainerDescription

JVM = Path(__file__).parents[1] / "fixtures" / "jvm" / "hotspot.txt"
HERE = {"STEELYARD_REGISTRY": "lab:5000/s", "STEELYARD_FLAVOUR": "hotspot"}
OURS = ContainerDescription(repository="shop")
THEIRS = ContainerDescription(image="docker.io/example/shop:3", variable="SHOP_IMAGE")


DIGESTS = ("mongo@sha256:12", "nginx@sha256:34", "lab:5000/s/acmeair@sha256:56")


def engine(
    folder: Path,
    missing: str = "nothing is missing",
    architecture: str | None = None,
    digests: Sequence[str] = DIGESTS,
    holds: tuple[str, str] | None = None,
    says: str = "no such thing",
) -> Docker:
    """An engine that has every image, as engines name them, but the one that is missing."""
    labels = {"dev.steelyard.database": "embedded", "dev.steelyard.fingerprint": "1cae40b1811c1a56"}
    if holds is not None:
        labels |= dict(zip(("dev.steelyard.workload", "dev.steelyard.workload.version"), holds, strict=True))
    answer = {
        "Architecture": architecture or native_architecture(),
        "RepoDigests": list(digests),
        "Config": {"Labels": labels},
    }
    client = folder / "docker"
    client.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"{missing}"*) echo "{says}" >&2; exit 1;; esac\n'
        f"case $1 in image) echo '{json.dumps([answer])}';; run) cat {JVM};; esac\n",
        encoding="utf-8",
    )
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    return Docker(client, "26", "2.26")


def acmeair(topology: str) -> tuple[dict[str, ContainerDescription], frozenset[str]]:
    """How each kind of component lives in a container, and the kinds that are weighed."""
    described = load_workload("acmeair").workload.topology(topology)[1]
    places = {kind: one.container for kind, one in described.components.items() if one.container is not None}
    return places, frozenset(described.kinds("server"))


@pytest.mark.parametrize(
    ("container", "jdk", "build", "reference"),
    [
        (OURS, None, None, f"lab:5000/s/shop:{__version__}-hotspot"),
        (OURS, "openj9", None, f"lab:5000/s/shop:{__version__}-openj9"),
        (OURS, None, "0.2.0", "lab:5000/s/shop:0.2.0-hotspot"),
        (OURS, "openj9", "0.2.0", "lab:5000/s/shop:0.2.0-openj9"),
        (OURS, "lab:5000/other:7", None, "lab:5000/other:7"),
        (ContainerDescription(repository="shop", flavoured=False), None, "2", "lab:5000/s/shop:2"),
        (THEIRS, None, None, "docker.io/example/shop:3"),
        (THEIRS, None, "4", "docker.io/example/shop:4"),
        (ContainerDescription(image="lab:5000/shop@sha256:12"), None, "4", "lab:5000/shop:4"),
        (THEIRS, "docker.io/example/shop:3-semeru", None, "docker.io/example/shop:3-semeru"),
    ],
)
def test_an_arm_names_its_image(
    container: ContainerDescription, jdk: str | None, build: str | None, reference: str
) -> None:
    assert image_reference(container, jdk, build, HERE) == reference


def test_a_variable_names_another_image() -> None:
    assert image_reference(THEIRS, environment={"SHOP_IMAGE": "local/shop:dev"}) == "local/shop:dev"
    assert image_reference(OURS, environment={}) == f"localhost/steelyard/shop:{__version__}-openj9"


@pytest.mark.parametrize(
    ("container", "jdk", "build", "sentence"),
    [
        (THEIRS, "hotspot", None, "not the project's and has no flavours"),
        (ContainerDescription(repository="shop", flavoured=False), "hotspot", None, "shop has no flavours"),
        (OURS, "/usr/lib/jvm/17", None, "is a folder"),
        (OURS, "other:7", "2", r"leave build \(2\) out"),
    ],
)
def test_what_no_image_can_be_is_refused(
    container: ContainerDescription, jdk: str, build: str | None, sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        image_reference(container, jdk, build, HERE)


def test_every_component_is_pinned_and_asked_what_it_is(tmp_path: Path) -> None:
    found = find_images(DockerImages(engine(tmp_path)), *acmeair("microservices"), environment=HERE)
    services = ("auth", "customer", "flight", "booking", "main")
    databases = ("customer-database", "flight-database", "booking-database")
    assert found.images == {
        **dict.fromkeys(services, "lab:5000/s/acmeair@sha256:56"),
        **dict.fromkeys(databases, "docker.io/library/mongo@sha256:12"),
        "proxy": "docker.io/library/nginx@sha256:34",
        "injector": f"lab:5000/s/loadgen:{__version__}",
    }
    assert found.embedded >= set(databases)
    assert found.build == "1cae40b1811c1a56"
    assert found.server_jvm is not None
    assert found.server_jvm.kind == found.injector_jvm.kind == "hotspot"


def test_the_arm_varies_the_servers_alone(tmp_path: Path) -> None:
    docker = engine(tmp_path, digests=[])
    found = find_images(DockerImages(docker), *acmeair("monolith"), "openj9", "2", HERE)
    assert found.images == {
        "server": "lab:5000/s/acmeair:2-openj9",
        "database": "docker.io/library/mongo:8.0",
        "injector": f"lab:5000/s/loadgen:{__version__}",
    }


def test_an_image_of_another_version_of_the_workload_is_refused(tmp_path: Path) -> None:
    mine = load_workload("acmeair").workload
    places, servers = acmeair("monolith")
    for other in (("acmeair", "0.9.0"), ("olio", mine.version)):
        docker = engine(tmp_path, holds=other)
        told = f"holds {' '.join(other)}, and this experiment is on acmeair {mine.version}: give an image"
        with pytest.raises(BadInput, match=re.escape(told)):
            find_images(DockerImages(docker), places, servers, environment=HERE, workload=mine)
        # A workload of somebody's own may load any image.
        somebodys = {**places, "server": THEIRS}
        find_images(DockerImages(docker), somebodys, servers, environment=HERE, workload=mine)
    docker = engine(tmp_path, holds=(mine.name, mine.version))
    assert find_images(DockerImages(docker), places, servers, environment=HERE, workload=mine).images


def test_an_image_of_other_origin_need_not_tell_its_jvm(tmp_path: Path) -> None:
    """The project's own must: a build that went wrong is noticed before anything is measured."""
    docker = engine(tmp_path, missing="--entrypoint=java lab:5000/other")
    found = find_images(DockerImages(docker), *acmeair("monolith"), jdk="lab:5000/other:1", environment=HERE)
    assert found.images["server"] == "lab:5000/other:1"
    assert found.server_jvm is None
    docker = engine(tmp_path, missing="--entrypoint=java lab:5000/s/acmeair")
    with pytest.raises(MissingRequirement, match=rf"acmeair:{__version__}-hotspot does not tell its JVM"):
        find_images(DockerImages(docker), *acmeair("monolith"), environment=HERE)


def test_a_server_that_is_no_jvm_is_not_asked(tmp_path: Path) -> None:
    docker = engine(tmp_path, missing="--entrypoint=java lab:5000/go")
    wanted = {"server": ContainerDescription(image="lab:5000/go:1", jvm_options=None)}
    assert find_images(DockerImages(docker), wanted, {"server"}, environment=HERE).server_jvm is None


def test_servers_of_one_topology_share_a_jvm(tmp_path: Path) -> None:
    docker = engine(tmp_path, missing="--entrypoint=java lab:5000/other")
    wanted = {"shop": OURS, "cart": ContainerDescription(image="lab:5000/other:1")}
    with pytest.raises(BadInput, match=r"different JVMs \(shop on 17.*, cart on an unknown one\)"):
        find_images(DockerImages(docker), wanted, {"shop", "cart"}, environment=HERE)


def test_a_compiler_is_of_the_build_of_its_servers(tmp_path: Path) -> None:
    jitserver = ContainerDescription(repository="jitserver", flavoured=False)
    found = find_images(
        DockerImages(engine(tmp_path)),
        {"server": OURS, "jitserver": jitserver},
        {"server"},
        environment=HERE,
        compilers={"jitserver"},
    )
    assert found.images["jitserver"].startswith(f"lab:5000/s/jitserver:{__version__}")
    docker = engine(tmp_path, missing="--entrypoint=java lab:5000/other")
    wanted = {"server": ContainerDescription(image="lab:5000/other:1"), "jitserver": jitserver}
    with pytest.raises(BadInput, match=r"different JVMs \(server on an unknown one, jitserver on 17.*\)"):
        find_images(DockerImages(docker), wanted, {"server"}, environment=HERE, compilers={"jitserver"})


@pytest.mark.parametrize(
    ("reference", "known", "pinned"),
    [
        ("example/shop:1", "docker.io/example/shop@sha256:12", "example/shop@sha256:12"),
        ("docker.io/example/shop:1", "example/shop@sha256:12", "docker.io/example/shop@sha256:12"),
        ("mongo:8", "docker.io/library/mongo@sha256:12", "mongo@sha256:12"),
        ("docker.io/mongo:8", "mongo@sha256:12", "docker.io/mongo@sha256:12"),
        ("lab:5000/shop:1", "lab:5000/shop@sha256:12", "lab:5000/shop@sha256:12"),
        ("localhost/shop:1", "localhost/shop@sha256:12", "localhost/shop@sha256:12"),
        # Others' registries and repositories of the same end.
        ("example/shop:1", "quay.io/example/shop@sha256:12", None),
        ("library/shop:1", "docker.io/example/shop@sha256:12", None),
        ("localhost/shop:1", "docker.io/localhost/shop@sha256:12", None),
        ("example/shop:1", "sha256:12", None),
    ],
)
def test_the_default_registry_may_be_left_out(reference: str, known: str, pinned: str | None) -> None:
    """Nodes name it (containerd's `imageID`), docker does not."""
    assert by_digest(reference, [known]) == (pinned or reference)


def test_a_digest_that_somebody_gave_is_kept(tmp_path: Path) -> None:
    named = {**HERE, "STEELYARD_MONGO_IMAGE": "lab:5000/mongo:8@sha256:78"}
    found = find_images(DockerImages(engine(tmp_path)), *acmeair("monolith"), environment=named)
    assert found.images["database"] == "lab:5000/mongo:8@sha256:78"


@pytest.mark.parametrize(
    ("missing", "advice"),
    [
        ("docker.io/library/mongo:8.0", "STEELYARD_MONGO_IMAGE"),
        ("docker.io/library/nginx:1.28", "STEELYARD_NGINX_IMAGE"),
        (f"lab:5000/s/acmeair:{__version__}-hotspot", r"\./steelyard images build"),
        (f"lab:5000/s/loadgen:{__version__}", r"\./steelyard images build"),
    ],
)
def test_what_cannot_be_had_is_named_with_advice(tmp_path: Path, missing: str, advice: str) -> None:
    docker = engine(tmp_path, missing=missing)
    with pytest.raises(MissingRequirement, match=rf"{missing} .*no such thing.*{advice}"):
        find_images(DockerImages(docker), *acmeair("microservices"), environment=HERE)


def test_an_image_that_is_not_published_for_this_platform_is_one_line(tmp_path: Path) -> None:
    """As Db2 on arm64."""
    missing = "docker.io/library/mongo:8.0"
    docker = engine(
        tmp_path, missing=missing, says="no matching manifest for linux/arm64/v8 in the manifest list"
    )
    with pytest.raises(MissingRequirement) as refused:
        find_images(DockerImages(docker), *acmeair("monolith"), environment=HERE)
    assert f"{missing} is not published for linux/{native_architecture()}: take a topology" in str(
        refused.value
    )
    assert "\n" not in str(refused.value)


def test_an_image_for_another_architecture_is_refused(tmp_path: Path) -> None:
    docker = engine(tmp_path, architecture="s390x")
    with pytest.raises(MissingRequirement, match=r"is for s390x and the host is .*docker pull --platform"):
        find_images(DockerImages(docker), *acmeair("monolith"), environment=HERE)
