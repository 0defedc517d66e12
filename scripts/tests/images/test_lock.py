# SPDX-License-Identifier: Apache-2.0
"""The lock file, and bases as registries and make-bases.sh tell of them."""

import json
from pathlib import Path

import pytest
from recorded import FIXTURES, client

from steelyard.errors import BadInput, MissingRequirement
from steelyard.images.lock import LOCK, Base, Lock, ask, find_bases, read_lock, write_lock

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
UNLOCKED = Lock(
    {
        "tools": Base(reference=TOOLS, platforms={"linux/ppc64le": None, "linux/amd64": None}),
        "proxy": Base(reference=PROXY, platforms={"linux/amd64": None}),
    }
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "lock").mkdir()
    path = tmp_path / "lock" / "lock.json"
    path.write_text(UNLOCKED.text(), encoding="utf-8")
    return path


def test_the_lock_file_of_the_repository_is_sound_and_in_its_own_format() -> None:
    lock = read_lock()
    assert {"hotspot", "openj9", "tools", "harness", "proxy"} <= set(lock.root)
    assert LOCK.read_text(encoding="utf-8") == lock.text()


def test_locking_fills_in_what_the_registries_told_and_keeps_the_platforms(
    tmp_path: Path, path: Path
) -> None:
    lock = write_lock(client(tmp_path, {"imagetools inspect": TOLD}), path)
    assert lock == read_lock(path)
    assert lock.missing() == []
    assert lock.root["tools"].pinned == f"{TOOLS}@{A}"
    assert list(lock.root["tools"].platforms.items()) == [("linux/ppc64le", C), ("linux/amd64", B)]
    assert list(json.loads(path.read_text(encoding="utf-8"))) == ["proxy", "tools"]


def test_what_has_no_digest_is_named() -> None:
    assert UNLOCKED.missing() == [
        *("proxy", "proxy linux/amd64", "tools", "tools linux/ppc64le", "tools linux/amd64")
    ]


def test_nothing_is_written_when_one_registry_does_not_answer(tmp_path: Path, path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(MissingRequirement, match=r"does not give .*haproxy:3 \(dial tcp: no such host\)"):
        write_lock(client(tmp_path, {"busybox": TOLD}), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["lock.json"]


def test_all_platforms_are_noted_where_none_is_named(tmp_path: Path) -> None:
    base = ask(client(tmp_path, {TOOLS: TOLD}), TOOLS)
    assert base.platforms == {"linux/amd64": B, "linux/ppc64le": C}


def test_an_index_as_a_registry_recorded_it_is_read(tmp_path: Path) -> None:
    recorded = json.loads((FIXTURES / "index.json").read_text(encoding="utf-8"))
    base = ask(client(tmp_path, {TOOLS: json.dumps({**recorded, "digest": A})}), TOOLS)
    assert set(base.platforms) == {"linux/amd64", "linux/ppc64le"}


def test_a_base_that_lacks_a_platform_or_has_only_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"busybox:musl is not published for linux/s390x"):
        ask(client(tmp_path, {TOOLS: TOLD}), TOOLS, {"linux/amd64": None, "linux/s390x": None})
    with pytest.raises(BadInput, match="is an image of one platform"):
        ask(client(tmp_path, {TOOLS: json.dumps({"digest": A})}), TOOLS)


def test_bases_made_here_are_those_that_were_noted(tmp_path: Path) -> None:
    docker = client(tmp_path, {"127.0.0.1:5000/bases/tools:debian": TOLD})
    with pytest.raises(MissingRequirement, match="no bases were made on this machine"):
        find_bases(docker, "local", tmp_path)
    (tmp_path / "tools.pushed").write_text("127.0.0.1:5000/bases/tools:debian key\n", encoding="utf-8")
    assert find_bases(docker, "local", tmp_path).root["tools"].index == A
    with pytest.raises(BadInput, match="unknown bases 'other'"):
        find_bases(docker, "other", tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is damaged"),
        ('{"tools": {"reference": "x", "index": "sha256:12", "platforms": {}}}', "tools.index"),
        ('{"tools": {"reference": "x", "platforms": {}, "digest": null}}', "tools.digest"),
    ],
)
def test_a_damaged_lock_file_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "lock.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        read_lock(path)
