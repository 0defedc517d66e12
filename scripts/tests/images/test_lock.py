# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from steelyard.errors import BadInput, MissingRequirement
from steelyard.images import registry
from steelyard.images.bases import ask_for_lock, base_references, find_bases, require_locked
from steelyard.images.lock import LOCK, Base, Lock, lock_text, locked, read_lock, write_lock
from steelyard.images.manifests import Index, Manifest

A, B, C = (f"sha256:{digit * 64}" for digit in "abc")


def unlocked() -> Lock:
    return Lock(
        {
            "tools": Base(
                reference="docker.io/library/busybox:musl",
                platforms={"linux/ppc64le": None, "linux/amd64": None},
            ),
            "proxy": Base(reference="docker.io/library/haproxy:3", platforms={"linux/amd64": None}),
        }
    )


def test_the_lock_file_of_the_repository_is_sound_and_in_its_own_format() -> None:
    lock = read_lock()
    assert {"hotspot", "openj9", "tools", "harness", "proxy"} <= set(lock.root)
    assert LOCK.read_text(encoding="utf-8") == lock_text(lock)


def test_locking_fills_in_what_the_registries_told_and_keeps_the_platforms() -> None:
    told = Index(A, {"linux/amd64": B, "linux/ppc64le": C, "linux/s390x": A})
    lock = locked(unlocked(), {"tools": told, "proxy": told})
    assert lock.missing() == []
    assert lock.root["tools"].pinned == f"docker.io/library/busybox:musl@{A}"
    assert list(lock.root["tools"].platforms.items()) == [("linux/ppc64le", C), ("linux/amd64", B)]
    assert list(json.loads(lock_text(lock))) == ["proxy", "tools"]
    assert lock_text(lock) == lock_text(Lock.model_validate_json(lock_text(lock)))


def test_what_has_no_digest_is_named() -> None:
    assert unlocked().missing() == [
        *("proxy", "proxy linux/amd64", "tools", "tools linux/ppc64le", "tools linux/amd64")
    ]


def test_a_base_that_lacks_a_platform_is_refused() -> None:
    told = Index(A, {"linux/amd64": B})
    with pytest.raises(BadInput, match=r"busybox:musl is not published for linux/ppc64le"):
        locked(unlocked(), {"tools": told, "proxy": told})


def test_nothing_is_written_when_one_registry_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer(reference: str) -> Index:
        if "busybox" in reference:
            return Index(A, {"linux/amd64": B, "linux/ppc64le": C})
        raise registry.explained(reference, "dial tcp: no such host")

    monkeypatch.setattr(registry, "ask", answer)
    path = tmp_path / "lock.json"
    write_lock(unlocked(), path)
    before = path.read_bytes()
    with pytest.raises(MissingRequirement, match=r"haproxy:3 cannot be reached \(dial tcp: no such host\)"):
        write_lock(ask_for_lock(read_lock(path)), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["lock.json"]


def test_a_base_of_a_single_platform_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ask", lambda _: Manifest(A, B, ()))
    with pytest.raises(BadInput, match="is an image of one platform"):
        ask_for_lock(unlocked())


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


def test_a_target_on_a_base_without_a_digest_is_refused_with_what_to_do() -> None:
    with pytest.raises(
        BadInput, match=r"no digest of the base openj9, which jitserver needs: run `./steelyard images lock`"
    ):
        require_locked({"loadgen": [], "jitserver": ["openj9"]}, "lock")
    with pytest.raises(BadInput, match="cannot be made from packages"):
        require_locked({"jitserver": ["openj9"]}, "local")
    require_locked({"loadgen": []}, "lock")


def test_bases_made_here_are_taken_by_the_digest_that_their_registry_tells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tools.pushed").write_text("127.0.0.1:5000/bases/tools:debian 1f2e\n", encoding="utf-8")
    monkeypatch.setattr(registry, "ask", lambda _: Index(A, {"linux/amd64": B}))
    found = find_bases("local", tmp_path)
    assert base_references(found, ["openj9", "tools"]) == {
        "openj9": None,
        "tools": f"127.0.0.1:5000/bases/tools:debian@{A}",
    }


def test_no_bases_made_here_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="no bases were made on this machine"):
        find_bases("local", tmp_path)
    with pytest.raises(BadInput, match="unknown bases 'remote'"):
        find_bases("remote", tmp_path)
