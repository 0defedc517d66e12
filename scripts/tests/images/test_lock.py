# SPDX-License-Identifier: Apache-2.0
"""The bases: what the Containerfiles say, and what registries and make-bases.sh tell of them."""

import json
import re
from pathlib import Path

import pytest
import yaml
from recorded import FIXTURES, client

from steelyard.errors import BadInput, MissingRequirement
from steelyard.images.lock import IMAGES, Base, ask, find_bases, lock, read_bases, unlocked
from steelyard.paths import ROOT

A, B, C = (f"sha256:{digit * 64}" for digit in "abc")
TOOLS, PROXY = "docker.io/library/busybox:musl", "docker.io/library/haproxy:3"
TOLD = json.dumps(
    {
        "digest": A,
        "manifests": [
            {"digest": B, "platform": {"os": "linux", "architecture": "amd64"}},
            {"digest": C, "platform": {"os": "linux", "architecture": "ppc64le"}},
            {"digest": A, "platform": {"os": "unknown", "architecture": "unknown"}},
        ],
    }
)
FILES = {
    "server": f"ARG BASE_TOOLS=tools\nFROM {TOOLS} AS tools\nFROM ${{BASE_TOOLS}} AS busybox\nFROM scratch AS package\n",
    "proxy": f"FROM {TOOLS} AS tools\nFROM {PROXY}@{B} AS proxy\n",
}


@pytest.fixture
def images(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "images" / name).mkdir(parents=True)
        (tmp_path / "images" / name / "Containerfile").write_text(text, encoding="utf-8")
    return tmp_path / "images"


def test_the_containerfiles_name_every_base_once() -> None:
    """Each argument's default is the stage of a line that the update robot reads; other bases there are none."""
    bases = read_bases()
    assert {"maven", "hotspot", "openj9", "tools", "proxy"} <= set(bases)
    for path in IMAGES.glob("*/Containerfile"):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"^FROM docker\.io/\S+ AS (\w+)$", text, re.MULTILINE)
        arguments = re.findall(r"^ARG BASE_(\w+)=(\w+)$", text, re.MULTILINE)
        assert [(name.upper(), name) for name in named] == arguments, path
        stages = [*named, *re.findall(r"^FROM .* AS ([\w-]+)$", text, re.MULTILINE), "scratch"]
        for taken in re.findall(r"^FROM (?:--\S+ )?(\S+)", text, re.MULTILINE):
            assert taken.startswith(("docker.io/", "${BASE_")) or re.sub(r"\$\{\w+\}$", "", taken) in {
                stage[: len(re.sub(r"\$\{\w+\}$", "", taken))] for stage in stages
            }, f"{path}: {taken}"


def test_the_images_of_a_bundle_share_one_run_of_maven() -> None:
    stages = {
        re.search(r"^FROM \$\{BASE_MAVEN\} AS built\n(.*?)\n\n", path.read_text(encoding="utf-8"), re.M | re.S)
        for path in IMAGES.glob("*/Containerfile")
    }
    assert len({found[1] for found in stages if found is not None}) == 1
    assert len([found for found in stages if found is not None]) == 3


def test_the_update_robot_sees_every_base() -> None:
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    seen = {one["package-ecosystem"]: one.get("directories") for one in updates}
    assert seen["docker"] == ["/images/*"]
    assert seen["docker-compose"] == ["/compose/*"]


def test_locking_writes_what_the_registries_told_into_every_file(tmp_path: Path, images: Path) -> None:
    assert unlocked(read_bases(images)) == ["tools"]
    told = lock(client(tmp_path, {"imagetools inspect": TOLD}), images)
    assert told == read_bases(images) == {"tools": Base(TOOLS, A), "proxy": Base(PROXY, A)}
    assert unlocked(told) == []
    assert (images / "server" / "Containerfile").read_text(encoding="utf-8") == FILES["server"].replace(
        TOOLS, f"{TOOLS}@{A}"
    )


def test_nothing_is_written_when_one_registry_does_not_answer(tmp_path: Path, images: Path) -> None:
    with pytest.raises(MissingRequirement, match=r"does not give .*haproxy:3 \(dial tcp: no such host\)"):
        lock(client(tmp_path, {"busybox": TOLD}), images)
    assert {path.parent.name: path.read_text(encoding="utf-8") for path in images.glob("*/*")} == FILES


def test_one_name_for_two_bases_is_refused(images: Path) -> None:
    path = images / "server" / "Containerfile"
    path.write_text(FILES["server"].replace(TOOLS, f"{TOOLS}@{C}"), encoding="utf-8")
    with pytest.raises(BadInput, match="take one of them for both"):
        read_bases(images)


def test_an_index_as_a_registry_recorded_it_is_read(tmp_path: Path) -> None:
    recorded = json.loads((FIXTURES / "index.json").read_text(encoding="utf-8"))
    docker = client(tmp_path, {TOOLS: json.dumps({**recorded, "digest": A})})
    assert ask(docker, TOOLS, ["linux/amd64", "linux/ppc64le"]) == Base(TOOLS, A)


def test_a_base_that_lacks_a_platform_or_has_only_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"busybox:musl is not published for linux/s390x"):
        ask(client(tmp_path, {TOOLS: TOLD}), TOOLS, ["linux/amd64", "linux/s390x"])
    with pytest.raises(BadInput, match="is an image of one platform"):
        ask(client(tmp_path, {TOOLS: json.dumps({"digest": A})}), TOOLS)


def test_bases_made_here_are_those_that_were_noted(tmp_path: Path) -> None:
    docker = client(tmp_path, {"127.0.0.1:5000/bases/tools:debian": TOLD})
    with pytest.raises(MissingRequirement, match="no bases were made on this machine"):
        find_bases(docker, "local", tmp_path)
    (tmp_path / "tools.pushed").write_text("127.0.0.1:5000/bases/tools:debian key\n", encoding="utf-8")
    assert find_bases(docker, "local", tmp_path)["tools"].digest == A
    with pytest.raises(BadInput, match="unknown bases 'other'"):
        find_bases(docker, "other", tmp_path)
