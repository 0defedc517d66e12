# SPDX-License-Identifier: Apache-2.0
"""The harness by `docker run` alone: the line that a page shows, against the bundle that does the same by compose."""

import re
import shlex
from itertools import pairwise
from typing import Any

import pytest
import yaml

from steelyard.paths import ROOT

BUNDLE = ROOT / "compose" / "jvm-count" / "compose.yaml"
PAGE = ROOT / "docs" / "how-to" / "containers.md"


@pytest.fixture(scope="module")
def harness() -> dict[str, Any]:
    service: dict[str, Any] = yaml.safe_load(BUNDLE.read_text(encoding="utf-8"))["services"]["harness"]
    return service


def typed_lines() -> list[list[str]]:
    text = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
    return [shlex.split(words) for words in re.findall(r"docker run (.*harness:.*)", text)]


def image_of(harness: dict[str, Any]) -> str:
    """What the bundle runs where no variable says otherwise."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(harness["image"]))


def values(words: list[str], option: str) -> list[str]:
    return [after for word, after in pairwise(words) if word == option]


def test_it_lists_plans_and_runs_the_bundle_s_image(harness: dict[str, Any]) -> None:
    lines = typed_lines()
    image = image_of(harness)
    assert [words[words.index(image) + 1] for words in lines] == ["list", "plan", "run"]


def test_what_asks_the_engine_has_its_socket(harness: dict[str, Any]) -> None:
    """A plan as well: it looks for the images. The socket belongs to root."""
    address = harness["environment"]["DOCKER_HOST"]
    asking = [words for words in typed_lines() if "compose" in values(words, "--engine")]
    assert len(asking) == 2
    for words in asking:
        assert values(words, "--user") == ["0:0"]
        assert values(words, "--env") == [f"DOCKER_HOST={address}"]
        assert f"/var/run/docker.sock:{address.removeprefix('unix://')}:ro" in values(words, "--volume")


def test_the_session_has_the_options_of_the_bundle(harness: dict[str, Any]) -> None:
    words = typed_lines()[-1]
    assert values(words, "--user") == [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", harness["user"])]
    assert values(words, "--pid") == [harness["pid"]]
    assert values(words, "--network") == [harness["network_mode"]]
    assert values(words, "--cgroupns") == [harness["cgroup"]]
    assert ("--read-only" in words) == harness["read_only"]
    assert values(words, "--cap-drop") == harness["cap_drop"]
    assert values(words, "--cap-add") == harness["cap_add"]
    assert values(words, "--security-opt") == harness["security_opt"]
    assert values(words, "--tmpfs") == harness["tmpfs"]
    assert values(words, "--stop-signal") == [harness["stop_signal"]]
    assert f"{values(words, '--stop-timeout')[0]}s" == harness["stop_grace_period"]
    assert values(words, "--env") == [f"DOCKER_HOST={harness['environment']['DOCKER_HOST']}"]


def test_the_session_sees_what_the_bundle_s_sees(harness: dict[str, Any]) -> None:
    """The engine's own socket where the bundle has the proxy's; the results under one path inside and outside."""
    words = typed_lines()[-1]
    mounts = dict(volume.split(":", 1) for volume in values(words, "--volume"))
    socket = harness["environment"]["DOCKER_HOST"].removeprefix("unix://")
    assert mounts.pop("/var/run/docker.sock") == f"{socket}:ro"
    (results,) = values(words, "--out")
    assert mounts.pop(results) == results
    assert [f"{host}:{inside}" for host, inside in mounts.items()] == harness["volumes"][1:2]
    assert " ".join(words[words.index(image_of(harness)) + 1 :]).startswith("run jvm-count --engine compose")
