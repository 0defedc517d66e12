# SPDX-License-Identifier: Apache-2.0
"""Command lines and the plan, from recorded output of `docker buildx bake --print`."""

from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.errors import BadInput
from steelyard.experiment.workloads import WORKLOADS
from steelyard.images import bake
from steelyard.images.building import copy_command
from steelyard.images.checkout import Sources, read_sources, workload_version
from steelyard.paths import ROOT

PRINTED = (Path(__file__).parents[1] / "fixtures" / "registry" / "bake-print.json").read_text(
    encoding="utf-8"
)
SOURCES = Sources("0.1.0", "c0ffee", 1700000000, "0123456789abcdef")


@pytest.fixture
def plan() -> dict[str, bake.Target]:
    return bake.parse_plan(PRINTED)


def test_the_plan_is_read(plan: dict[str, bake.Target]) -> None:
    assert list(plan) == ["harness", "loadgen", "ping-hotspot", "socket-proxy"]
    ping = plan["ping-hotspot"]
    assert ping.reference == "127.0.0.1:5000/steelyard/ping:0.1.0-hotspot"
    assert ping.platforms == ("linux/amd64", "linux/ppc64le")
    assert ping.args["WORKLOAD"] == "ping"


def test_the_most_specific_tag_names_an_image() -> None:
    target = '{"target": {"p": {"tags": ["r.io:5000/s/ping:0.1.0", "r.io:5000/s/ping:0.1.0-openj9"]}}}'
    found = bake.parse_plan(target)["p"]
    assert (found.repository, found.tags) == ("r.io:5000/s/ping", ("0.1.0-openj9", "0.1.0"))


def test_a_base_that_nobody_could_name_is_seen_in_the_target(plan: dict[str, bake.Target]) -> None:
    values = bake.variables("r", SOURCES, {}, Path("/b"), {"openj9": None, "tools": "busybox@sha256:1"})
    assert values["BASE_TOOLS"] == "busybox@sha256:1"
    target = replace(
        plan["ping-hotspot"], args={"BASE": values["BASE_OPENJ9"], "BASE_TOOLS": values["BASE_TOOLS"]}
    )
    assert target.unlocked == ["openj9"]
    assert plan["ping-hotspot"].unlocked == []


def test_the_build_is_named_without_the_path_of_this_machine() -> None:
    folder = ROOT / ".steelyard" / "build" / "0123"
    assert bake.variables("r", SOURCES, {}, folder, {})["BUILD"] == ".steelyard/build/0123"


def test_every_variable_that_is_set_is_declared_in_the_bake_file() -> None:
    text = (ROOT / bake.BAKE_FILE).read_text(encoding="utf-8")
    bases = dict.fromkeys(("hotspot", "openj9", "tools", "harness", "proxy"))
    versions = dict.fromkeys(WORKLOADS, "1")
    for name in bake.variables("r", SOURCES, versions, Path("/b"), bases):
        if name != "SOURCE_DATE_EPOCH":  # bake's own
            assert f'variable "{name}"' in text


def test_flavours_and_names_choose_targets(plan: dict[str, bake.Target]) -> None:
    everything = {**plan, "jitserver": replace(plan["loadgen"], name="jitserver")}
    assert bake.chosen([], "hotspot", everything, list(plan)) == list(plan)
    assert bake.chosen([], "openj9", everything, list(plan)) == ["jitserver"]
    assert bake.chosen([], "all", everything, list(plan)) == sorted(everything)
    assert bake.chosen(["loadgen"], "all", everything, list(plan)) == ["loadgen"]
    with pytest.raises(BadInput, match="unknown image 'pong': there are harness, loadgen"):
        bake.chosen(["pong"], "all", everything, [])
    with pytest.raises(BadInput, match="unknown flavour 'graal'"):
        bake.chosen([], "graal", everything, [])


def test_the_command_sets_platforms_per_target(plan: dict[str, bake.Target]) -> None:
    harness = replace(plan["harness"], platforms=("linux/amd64",))
    command = bake.bake_command([harness, plan["loadgen"]], [], ["--push"], Path("/m.json"))
    assert command[:4] == ["buildx", "bake", "-f", "images/docker-bake.hcl"]
    assert "harness.platform=linux/amd64" in command
    assert "loadgen.platform=linux/amd64,linux/ppc64le" in command
    assert command[-3:] == ["--push", "harness", "loadgen"]
    assert bake.platforms_of(harness, ["linux/ppc64le"]) == []


def test_a_push_by_digest_goes_through_an_archive_with_one_name(plan: dict[str, bake.Target]) -> None:
    output = bake.archive_output(plan["loadgen"], Path("/t/a.tar"))
    assert "loadgen.tags=127.0.0.1:5000/steelyard/loadgen:staged" in output
    command = copy_command("/usr/bin/skopeo", Path("/t/a.tar"), plan["loadgen"].repository, "sha256:1")
    assert {"--all", "--preserve-digests", "--dest-tls-verify=false"} <= set(command)
    assert command[-1] == "docker://127.0.0.1:5000/steelyard/loadgen@sha256:1"
    assert "--dest-tls-verify=false" not in copy_command(
        "skopeo", Path("/a"), "ghcr.io/steelyard/x", "sha256:1"
    )


def test_an_index_is_joined_by_digest_under_all_tags() -> None:
    command = bake.join_command("g/ping", ["0.1.0-openj9", "0.1.0"], ["sha256:1", "sha256:2"])
    assert command == [
        *("buildx", "imagetools", "create", "--tag", "g/ping:0.1.0-openj9", "--tag", "g/ping:0.1.0"),
        *("g/ping@sha256:1", "g/ping@sha256:2"),
    ]


def test_digests_are_read_from_the_metadata_of_bake() -> None:
    recorded = Path(__file__).parents[1] / "fixtures" / "registry" / "bake-metadata.json"
    digests = bake.parse_metadata(recorded.read_text(encoding="utf-8"))
    assert digests == {"tiny": "sha256:a7600de22ff585a664856379cf9c1a76383ea27f451a719f1a9b8fdf4968217b"}


def test_this_checkout_states_version_and_build() -> None:
    sources = read_sources()
    assert len(sources.fingerprint) == 16
    assert workload_version("ping") == "1.0.0"
    with pytest.raises(BadInput, match="apps/none states no workload version"):
        workload_version("none")


def test_outside_a_repository_the_revision_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text("<project/>", encoding="utf-8")
    assert read_sources(tmp_path).revision == "unknown"
