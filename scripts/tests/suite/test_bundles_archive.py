# SPDX-License-Identifier: Apache-2.0
"""The archive of a release's bundles: every image by the digest of the record, nothing to build, the same bytes."""

import hashlib
import json
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml
from k8s.rendering import KUBECTL, containers, pods, render
from programs import needs_compose

from steelyard import __version__
from steelyard.archives import unpack
from steelyard.images.catalogue import read_catalogue
from steelyard.paths import ROOT
from suite.bundles import Digests, main, pin_kubernetes, pin_others

REGISTRY = "ghcr.io/somebody/steelyard"
SOURCE = "https://example.test/somebody/steelyard"
IMAGES = read_catalogue()
NAME = f"steelyard-bundles-{__version__}"
BUNDLES = ("ping", "acmeair-monolith", "acmeair-microservices", "olio-derby", "experiments/jvm-count")


def settings_in(path: Path) -> dict[str, str]:
    """Variables of an --env-file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def digest_of(image: str, tag: str) -> str:
    return f"sha256:{hashlib.sha256(f'{image}:{tag}'.encode()).hexdigest()}"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entries = {}
    for name, image in IMAGES.items():
        for target, tag in zip(image.targets(name), image.tags(__version__), strict=True):
            names = [f"{REGISTRY}/{name}:{tag}"]
            names += [f"{REGISTRY}/{name}:{__version__}"] if tag.endswith("-openj9") else []
            entries[target] = {"image.name": ",".join(names), "containerimage.digest": digest_of(name, tag)}
    path = tmp_path_factory.mktemp("record") / "record.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def archive(record: Path) -> Path:
    path = record.with_name(f"{NAME}.tar.gz")
    assert main([str(record), str(path), SOURCE]) == 0
    return path


@pytest.fixture(scope="module")
def unpacked(archive: Path) -> Path:
    with tarfile.open(archive) as packed:
        unpack(packed, archive.parent)
    return archive.parent / NAME


def test_the_same_record_gives_the_same_bytes(record: Path, archive: Path) -> None:
    with tarfile.open(archive) as packed:
        for member in packed:
            assert (member.uid, member.mode) == (0, 0o644)
    same = archive.read_bytes()
    assert main([str(record), str(archive), SOURCE]) == 0
    assert archive.read_bytes() == same


def test_every_image_of_ours_is_a_digest_of_the_record_and_nothing_is_built(unpacked: Path) -> None:
    known = {
        f"{REGISTRY}/{name}@{digest_of(name, tag)}"
        for name, image in IMAGES.items()
        for tag in image.tags(__version__)
    }
    seen = set()
    for path in (*unpacked.glob("compose/*/compose.yaml"), *unpacked.glob("k8s/**/*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert "localhost/steelyard" not in text
        found = set(re.findall(rf"{REGISTRY}/[\w-]+@sha256:[0-9a-f]{{64}}", text))
        assert found <= known
        seen |= found
        if path.name == "compose.yaml":
            services = yaml.safe_load(text)["services"]
            assert not [name for name, service in services.items() if "build" in service]
    settings = settings_in(unpacked / "compose" / "hotspot.env")
    # The harness of an experiment names images itself.
    assert settings.pop("STEELYARD_FLAVOUR") == "hotspot"
    assert known == seen | set(settings.values())
    mongo = f"{REGISTRY}/embedded-mongo@{digest_of('embedded-mongo', __version__)}"
    assert settings_in(unpacked / "compose" / "ppc64le.env") == settings | {
        "STEELYARD_FLAVOUR": "hotspot",
        "STEELYARD_MONGO_IMAGE": mongo,
    }


def test_every_sentence_of_the_archive_holds_without_a_checkout(unpacked: Path) -> None:
    documents = set()
    for path in filter(Path.is_file, unpacked.rglob("*")):
        text = path.read_text(encoding="utf-8")
        documents |= set(re.findall(rf"{SOURCE}/blob/v{re.escape(__version__)}/([\w/.-]+\w)", text))
        text = text.replace(f"{SOURCE}/blob/v{__version__}/", "")
        for said in ("--build", "compose build", "./steelyard", "none is published", "localhost/steelyard"):
            assert said not in text, path
        for link in re.findall(r"\]\(([^)#]+)", text) if path.suffix == ".md" else []:
            assert link.startswith("https://"), (path, link)
        for outside in re.findall(r"(?<![\w/.$])(?:\.\./)+[\w/.-]*", text) if path.suffix == ".yaml" else []:
            assert (path.parent / outside).resolve().is_relative_to(unpacked.resolve()), (path, outside)
    assert "docs/reference/compose-bundles.md" in documents
    assert not [name for name in documents if not (ROOT / name).is_file()]
    assert {path.name for path in unpacked.iterdir() if path.is_file()} == {"README.md", "LICENSE", "NOTICES"}
    experiment = (unpacked / "compose" / "jvm-count" / "compose.yaml").read_text(encoding="utf-8")
    assert "\n#   docker compose up --exit-code-from harness\n" in experiment


def test_a_candidate_keeps_its_whole_version(tmp_path: Path) -> None:
    version = f"{__version__}-rc.1"
    entries = {
        f"{name}:{tag}": {
            "image.name": f"{REGISTRY}/{name}:{tag}",
            "containerimage.digest": digest_of(name, tag),
        }
        for name, image in IMAGES.items()
        for tag in (*image.tags(version), *image.tags(__version__))
    }
    record, archive = tmp_path / "record.json", tmp_path / f"steelyard-bundles-{version}.tar.gz"
    record.write_text(json.dumps(entries), encoding="utf-8")
    assert main([str(record), str(archive), SOURCE]) == 0
    with tarfile.open(archive) as packed:
        unpack(packed, tmp_path)
    read_me = (tmp_path / f"steelyard-bundles-{version}" / "README.md").read_text(encoding="utf-8")
    assert read_me.startswith(f"# Steelyard {version}: bundles\n")
    assert f"{SOURCE}/blob/v{version}/docs/README.md" in read_me


@needs_compose
@pytest.mark.parametrize(
    ("options", "flavour"),
    [
        ((), "openj9"),
        (("--env-file", "../hotspot.env"), "hotspot"),
        (("--env-file", "../ppc64le.env"), "hotspot"),
    ],
)
def test_compose_reads_it_in_both_flavours(unpacked: Path, options: tuple[str, ...], flavour: str) -> None:
    command = ["docker", "compose", *options, "--profile", "load", "config", "--format", "json"]
    done = subprocess.run(
        command, cwd=unpacked / "compose" / "acmeair-monolith", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    services = json.loads(done.stdout)["services"]
    wanted = digest_of("acmeair", f"{__version__}-{flavour}")
    assert services["server"]["image"] == services["data"]["image"] == f"{REGISTRY}/acmeair@{wanted}"
    assert services["load"]["image"] == f"{REGISTRY}/loadgen@{digest_of('loadgen', __version__)}"


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH")
def test_kustomize_reads_it(unpacked: Path) -> None:
    for name in BUNDLES:
        for _, pod in pods(render(unpacked / "k8s" / name)):
            for container in containers(pod):
                assert container["image"].startswith((f"{REGISTRY}/", "docker.io/")), container["image"]
                assert "@sha256:" in container["image"] or container["image"].startswith("docker.io/")
    mine = unpacked / "mine"
    mine.mkdir()
    (mine / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../k8s/acmeair-monolith]\n"
        "components: [../k8s/components/hotspot, ../k8s/components/embedded-mongo]\n",
        encoding="utf-8",
    )
    found = {container["image"] for _, pod in pods(render(mine)) for container in containers(pod)}
    assert found == {
        f"{REGISTRY}/acmeair@{digest_of('acmeair', f'{__version__}-hotspot')}",
        *(f"{REGISTRY}/{name}@{digest_of(name, __version__)}" for name in ("embedded-mongo", "harness")),
    }


def test_what_was_not_published_is_said(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = json.loads(record.read_text(encoding="utf-8"))
    entries.pop("loadgen")
    (tmp_path / "record.json").write_text(json.dumps(entries), encoding="utf-8")
    archive = str(tmp_path / f"{NAME}.tar.gz")
    assert main([str(tmp_path / "record.json"), archive, SOURCE]) == 2
    assert f"the record does not have loadgen:{__version__}" in capsys.readouterr().err
    assert main([str(tmp_path / "record.json"), str(tmp_path / "b-1.tar.gz"), SOURCE]) == 2
    assert "the archive is called steelyard-bundles-VERSION.tar.gz" in capsys.readouterr().err
    with pytest.raises(ValueError, match="of 0 registries"):
        pin_kubernetes("", Digests({}))


def test_databases_and_proxies_are_named_by_the_digests_that_are_locked(tmp_path: Path) -> None:
    mongo, digest = "docker.io/library/mongo:8.0", f"sha256:{'a' * 64}"
    locked = {mongo: digest}
    text = f"image: ${{STEELYARD_MONGO_IMAGE:-{mongo}}}\nother: {mongo}.1\n"
    assert pin_others(text, locked) == text.replace(f"{mongo}}}", f"{mongo}@{digest}}}")
    assert pin_others(pin_others(text, locked), locked) == pin_others(text, locked)
    if KUBECTL is None:
        return
    # A person's own image takes the place of one by digest as it does of one by tag.
    pod = {"containers": [{"name": "a", "image": f"{mongo}@{digest}"}]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a"},
        "spec": {"template": {"spec": pod}},
    }
    (tmp_path / "job.yaml").write_text(json.dumps(job), encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [job.yaml]\nimages: [{name: docker.io/library/mongo, newName: lab/mongo, newTag: '7'}]\n",
        encoding="utf-8",
    )
    ((_, found),) = pods(render(tmp_path))
    assert [container["image"] for container in containers(found)] == ["lab/mongo:7"]
