# SPDX-License-Identifier: Apache-2.0
"""The `images` commands where something is missing: one sentence, and an exit code of its own."""

import os
from pathlib import Path

import pytest
from commands import Run
from recorded import client

from steelyard.cli.images import find_targets
from steelyard.images.lock import find_unlocked, read_bases, read_others

CLIENT = """#!/bin/sh
echo '{said}' >&2
exit 1
"""


@pytest.mark.parametrize("command", ["build", "verify"])
def test_without_docker_a_sentence_says_what_to_install(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, said = steelyard("images", command)
    assert code == 3
    assert said.startswith("steelyard: docker was not found: install Docker Engine")
    assert "--engine" not in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("client_says", "says"),
    [
        (
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
            "add the user to the group docker",
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "does not answer",
        ),
    ],
)
def test_an_engine_that_says_no_is_one_sentence(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, client_says: str, says: str
) -> None:
    client = tmp_path / "docker"
    client.write_text(CLIENT.format(said=client_says), encoding="utf-8")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    code, _, said = steelyard("images", "build")
    assert code == 3
    assert says in said
    assert len(said.strip().splitlines()) == 1


def test_the_check_of_the_lock_names_what_is_missing_and_asks_nobody(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = find_unlocked(read_bases() | read_others())
    code, said, _ = steelyard("images", "lock", "--check")
    assert code == (12 if missing else 0)
    assert [line.split()[2] for line in said.splitlines() if line.startswith("not")] == missing


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "cannot be read"), ("[1]", "is no record"), ('{"ping": {}}', "without a digest")],
)
def test_records_that_are_not_there_or_none_are_refused(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, says: str
) -> None:
    client(
        tmp_path,
        {
            "compose version": "2.26.1",
            "version": '{"Server": {"ApiVersion": "1.45"}}',
            "--print": '{"target": {}}',
        },
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    record = tmp_path / "record.json"
    if text is not None:
        record.write_text(text, encoding="utf-8")
    code, _, said = steelyard("images", "verify", "--record", str(record))
    assert code == 4
    assert says in said


def test_a_flavour_that_is_none_is_refused(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client(tmp_path, {"compose version": "2.26.1", "version": '{"Server": {"ApiVersion": "1.45"}}'})
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    code, _, said = steelyard("images", "build", "--flavour", "graal")
    assert code == 4
    assert "there are all, hotspot, openj9" in said


def test_an_unknown_image_is_named_before_anything_is_made(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Making the bases takes minutes, and bake knows its targets only once there are bases."""
    client(tmp_path, {"compose version": "2.26.1", "version": '{"Server": {"ApiVersion": "1.45"}}'})
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    code, _, said = steelyard("images", "build", "pong")
    assert code == 4
    assert said.startswith("steelyard: unknown image 'pong' (did you mean 'ping'?): there are ping, ")


@pytest.mark.parametrize(
    ("wanted", "flavour", "targets"),
    [
        (["ping"], "hotspot", ["ping-hotspot"]),
        (["ping", "loadgen"], "all", ["ping-hotspot", "ping-openj9", "loadgen"]),
        (["ping-openj9"], "hotspot", ["ping-openj9"]),
        (["servers", "companions"], "hotspot", ["servers", "companions"]),
        (None, "openj9", ["openj9"]),
    ],
)
def test_an_image_stands_for_its_targets(wanted: list[str] | None, flavour: str, targets: list[str]) -> None:
    assert find_targets(wanted, flavour) == targets
