# SPDX-License-Identifier: Apache-2.0
"""The bases: what the Containerfiles say, and what registries and make-bases.sh tell of them."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from recorded import FIXTURES, client

from steelyard.errors import BadInput, MissingRequirement
from steelyard.images import lock as locking
from steelyard.images.lock import (
    OTHERS,
    Base,
    ask,
    bases_here,
    container_files,
    find_bases,
    find_unlocked,
    lock,
    read_bases,
    read_others,
)
from steelyard.paths import ROOT

A, B, C = (f"sha256:{digit * 64}" for digit in "abc")
TOOLS, PROXY = "docker.io/library/busybox:musl", "docker.io/library/haproxy:3"
TOLD = json.dumps(
    {
        "digest": A,
        "manifests": [
            {"digest": B, "platform": {"os": "linux", "architecture": "amd64"}},
            {"digest": C, "platform": {"os": "linux", "architecture": "ppc64le"}},
            {"digest": C, "platform": {"os": "linux", "architecture": "arm64"}},
            {"digest": A, "platform": {"os": "unknown", "architecture": "unknown"}},
        ],
    }
)
FILES = {
    "images/server": f"ARG BASE_TOOLS=tools\nFROM {TOOLS} AS tools\nFROM ${{BASE_TOOLS}} AS box\nFROM scratch AS a\n",
    "images/proxy": f"FROM {TOOLS} AS tools\nFROM {PROXY}@{B} AS proxy\n",
    "scripts/bench/planted": f"FROM {TOOLS} AS tools\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "Containerfile").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_containerfiles_name_every_base_once() -> None:
    """Each argument's default is the stage of a line that the update robot reads; other bases there are none."""
    bases = read_bases()
    assert {"maven", "hotspot", "openj9", "tools", "proxy"} <= set(bases)
    for path in container_files():
        if path.parent.name == OTHERS:
            continue
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"^FROM docker\.io/\S+ AS (\w+)$", text, re.MULTILINE)
        arguments = re.findall(r"^ARG BASE_(\w+)=(\w+)$", text, re.MULTILINE)
        assert [(name.upper(), name) for name in named] == arguments, path
        stages = [*named, *re.findall(r"^FROM .* AS ([\w-]+)$", text, re.MULTILINE), "scratch"]
        for taken in re.findall(r"^FROM (?:--\S+ )?(\S+)", text, re.MULTILINE):
            assert taken.startswith(("docker.io/", "${BASE_")) or re.sub(r"\$\{\w+\}$", "", taken) in {
                stage[: len(re.sub(r"\$\{\w+\}$", "", taken))] for stage in stages
            }, f"{path}: {taken}"


def test_images_of_others_are_those_that_bundles_and_workloads_name() -> None:
    """Whatever is pulled as it is published is seen by the update robot, and locked for a release."""
    named = {
        reference
        for pattern in ("compose/*/compose.yaml", "k8s/**/*.yaml", "apps/*/*.yaml")
        for path in ROOT.glob(pattern)
        for reference in re.findall(
            r"\b((?:docker|icr)\.io/[\w./-]+:[\w.-]+)", path.read_text(encoding="utf-8")
        )
    }
    others = read_others()
    assert named == {other.reference for name, other in others.items() if name != "scanner"}
    assert not set(others) & set(read_bases())
    left_alone = versions_left_alone()
    for reference in named:
        assert left_alone[name_of(reference)] == {"major", "minor", "patch"}, (
            "a robot's new version would disagree with the bundles"
        )


def name_of(reference: str) -> str:
    """An image's name without registry, path and tag."""
    return reference.rpartition("/")[2].partition(":")[0]


def versions_left_alone() -> dict[str, set[str]]:
    """By image the kinds of new versions that the update robot does not take."""
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    (docker,) = (one for one in updates if one["package-ecosystem"] == "docker")
    return {
        one["dependency-name"].removeprefix("*"): {
            kind.removeprefix("version-update:semver-") for kind in one["update-types"]
        }
        for one in docker["ignore"]
    }


def test_an_update_of_a_base_keeps_its_release_of_java() -> None:
    left_alone = versions_left_alone()
    images = {name_of(base.reference) for base in read_bases().values()}
    images |= {name_of(other.reference) for other in read_others().values()}
    assert set(left_alone) <= images
    jvms = {name: kinds for name, kinds in left_alone.items() if re.search("temurin|semeru|openjdk", name)}
    assert set(jvms) == {name for name in images if re.search("temurin|semeru|openjdk", name)}
    assert all("major" in kinds for kinds in jvms.values())
    # A tag of Maven's names the JDK beside Maven's own version; HAProxy has a long-term release in each even minor.
    assert (left_alone["maven"], left_alone["haproxy"]) == ({"major", "minor", "patch"}, {"major", "minor"})


def test_the_images_of_a_bundle_share_one_run_of_maven() -> None:
    stages = [
        text.partition("FROM ${BASE_MAVEN} AS built\n")[2].partition("\nFROM ")[0]
        for text in (path.read_text(encoding="utf-8") for path in ROOT.glob("images/*/Containerfile"))
        if "ARG BASE_MAVEN" in text
    ]
    assert len(stages) >= 3
    assert "mvn " in stages[0]
    assert len(set(stages)) == 1


def test_the_update_robot_sees_every_base() -> None:
    """Every file of the checkout with a base in a registry: the robot looks into its folder, and `images lock` too."""
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    (docker,) = (one for one in updates if one["package-ecosystem"] == "docker")
    command = ["git", "ls-files", "-z", "--", "*Containerfile", "*Dockerfile"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    with_base = [path for path in files if re.search(r"^FROM \w\S*/", path.read_text("utf-8"), re.MULTILINE)]
    assert container_files() == sorted(with_base)
    seen = {folder for pattern in docker["directories"] for folder in ROOT.glob(pattern.removeprefix("/"))}
    assert {path.parent for path in with_base} <= seen


def test_locking_writes_what_the_registries_told_into_every_file(tmp_path: Path, root: Path) -> None:
    assert find_unlocked(read_bases(root)) == ["tools"]
    told = lock(client(tmp_path, {"imagetools inspect": TOLD}), root)
    assert told == read_bases(root) == {"tools": Base(TOOLS, A), "proxy": Base(PROXY, A)}
    assert find_unlocked(told) == []
    locked = FILES["images/server"].replace(TOOLS, f"{TOOLS}@{A}")
    assert (root / "images" / "server" / "Containerfile").read_text(encoding="utf-8") == locked


def test_images_of_others_are_locked_for_the_platforms_that_they_have(tmp_path: Path, root: Path) -> None:
    mongo = "docker.io/library/mongo:8.0"
    path = root / "images" / OTHERS / "Containerfile"
    path.parent.mkdir()
    path.write_text(f"FROM {mongo} AS mongo\n", encoding="utf-8")
    assert "mongo" not in read_bases(root)
    told = json.loads(TOLD)
    told["manifests"] = told["manifests"][:1]
    lock(client(tmp_path, {mongo: json.dumps(told), "imagetools inspect": TOLD}), root)
    assert path.read_text(encoding="utf-8") == f"FROM {mongo}@{A} AS mongo\n"
    assert read_others(root) == {"mongo": Base(mongo, A)}


def test_nothing_is_written_when_one_registry_does_not_answer(tmp_path: Path, root: Path) -> None:
    with pytest.raises(MissingRequirement, match=r"does not give .*haproxy:3 \(dial tcp: no such host\)"):
        lock(client(tmp_path, {"busybox": TOLD}), root)
    assert {name: (root / name / "Containerfile").read_text(encoding="utf-8") for name in FILES} == FILES


def test_one_name_for_two_bases_is_refused(root: Path) -> None:
    path = root / "images" / "server" / "Containerfile"
    path.write_text(FILES["images/server"].replace(TOOLS, f"{TOOLS}@{C}"), encoding="utf-8")
    with pytest.raises(BadInput, match="take one of them for both"):
        read_bases(root)


def test_an_index_as_a_registry_recorded_it_is_read(tmp_path: Path) -> None:
    recorded = json.loads((FIXTURES / "index.json").read_text(encoding="utf-8"))
    docker = client(tmp_path, {TOOLS: json.dumps({**recorded, "digest": A})})
    assert ask(docker, TOOLS, ["linux/amd64", "linux/ppc64le"]) == Base(TOOLS, A)


def test_a_base_that_lacks_a_platform_or_has_only_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"busybox:musl is not published for linux/s390x"):
        ask(client(tmp_path, {TOOLS: TOLD}), TOOLS, ["linux/amd64", "linux/s390x"])
    single = client(tmp_path, {TOOLS: json.dumps({"digest": A})})
    with pytest.raises(BadInput, match="is an image of one platform"):
        ask(single, TOOLS, ["linux/amd64"])
    assert ask(single, TOOLS) == Base(TOOLS, A)  # made here, for this host alone


def test_bases_made_here_are_those_that_were_noted(tmp_path: Path) -> None:
    docker = client(tmp_path, {"127.0.0.1:5000/bases/tools:debian": TOLD})
    with pytest.raises(MissingRequirement, match="no bases were made on this machine"):
        find_bases(docker, "local", tmp_path)
    (tmp_path / "tools.pushed").write_text("127.0.0.1:5000/bases/tools:debian key\n", encoding="utf-8")
    assert find_bases(docker, "local", tmp_path)["tools"].digest == A
    # What was pushed to a registry that began anew since is not there, and need not be.
    (tmp_path / "nginx.pushed").write_text("127.0.0.1:5000/bases/nginx:debian key\n", encoding="utf-8")
    assert list(find_bases(docker, "local", tmp_path)) == ["tools"]
    (tmp_path / "tools.pushed").unlink()
    with pytest.raises(MissingRequirement, match=r"does not give 127\.0\.0\.1:5000/bases/nginx:debian"):
        find_bases(docker, "local", tmp_path)
    with pytest.raises(BadInput, match="unknown bases 'other'"):
        find_bases(docker, "other", tmp_path)


def test_a_build_takes_published_bases_or_makes_its_own(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "ROOT", root)
    monkeypatch.setattr(locking, "read_bases", lambda: read_bases(root))
    said: list[str] = []
    there = client(tmp_path, {TOOLS: TOLD})
    assert bases_here(there, "linux/amd64", said.append) == ("published", read_bases(root))
    assert said == ["bases by their tags, as no digest is locked (tools): good for all but a release"]

    (root / "images" / "local").mkdir()
    asked = root / "asked"
    for name, code in (("setup-engine.sh", 0), ("make-bases.sh", 4)):
        script = root / "images" / "local" / name
        script.write_text(f'#!/bin/sh\necho "$0 $*" >>{asked}\nexit {code}\n', encoding="utf-8")
        script.chmod(0o755)
    with pytest.raises(MissingRequirement, match="no base can be had: it says why above"):
        bases_here(client(tmp_path, {}), "linux/amd64", said.append)
    assert said[1].startswith(f"the registry does not give {TOOLS}")
    assert [line.rpartition("/")[2] for line in asked.read_text(encoding="utf-8").splitlines()[:1]] == [
        "setup-engine.sh start"
    ]
    assert "make-bases.sh -p linux/amd64" in asked.read_text(encoding="utf-8")
