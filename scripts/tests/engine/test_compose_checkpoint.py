# SPDX-License-Identifier: Apache-2.0
"""Containers that start from a checkpoint: what compose is told, and what the engine is asked, which a script plays."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm
from compose_specs import compose_spec, described_component, injector
from programs import needs_compose

from steelyard.engines.compose import checkpoints
from steelyard.engines.compose import engine as compose_engine
from steelyard.engines.compose.bundle import User, command_line, override
from steelyard.engines.compose.engine import ComposeDeployment, ComposeEngine
from steelyard.engines.compose.images import BUNDLES
from steelyard.errors import BadInput, MissingRequirement, ServerFailed
from steelyard.host.docker import Docker, native_architecture
from steelyard.processes import Children
from steelyard.results.spec import Component, Spec
from steelyard.workload.loader import load_workload

WORDS = ["/opt/wlp/bin/server", "run", "ping"]
ASKED = """#!/bin/sh
echo "$*" >> {folder}/asked
case "$1 $2" in
"image inspect")
  echo '[{{"Architecture": "{architecture}", "Config": {{"Entrypoint": {entrypoint}, "Cmd": {cmd}}}}}]' ;;
"container inspect") echo '[{{"Id": "{ended}", "Created": "2026-11-28T09:00:00Z", "HostConfig": {{"Memory": 0}},
  "State": {{"Pid": 0, "StartedAt": "2026-11-28T09:00:01Z", "ExitCode": {code}}}}}]' ;;
"logs {ended}") echo "CWWKE0963E: The server checkpoint request failed." ;;
run*) echo "{criu}" >&2; exit {without_criu} ;;
esac
"""


def server(checkpoint: str = "after_app_start", **more: Any) -> Component:
    described = load_workload("ping").workload.topology(None)[1].components["server"]
    one = described_component("server", described, **{"name": "server-1", **more})
    artifact = one.artifact.model_copy(update={"jvm": make_jvm("openj9")})
    return one.model_copy(update={"checkpoint": checkpoint, "artifact": artifact})


def spec(one: Component) -> Spec:
    return compose_spec([one, injector()], "ping", bundle="ping")


def played(folder: Path, **more: Any) -> Docker:
    """An engine that a script plays, and that notes what it was asked."""
    answers = {"entrypoint": WORDS, "cmd": None, "code": 0, "criu": "", "without_criu": 0, **more}
    answers |= {key: json.dumps(answers[key]) for key in ("entrypoint", "cmd")}
    client = folder / "docker"
    text = ASKED.format(folder=folder, ended="e" * 64, architecture=native_architecture(), **answers)
    client.write_text(text, encoding="utf-8")
    client.chmod(0o755)
    return Docker(client, "26", "2.26")


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text(encoding="utf-8").splitlines()


def merged(folder: Path, one: Component, *more: str) -> dict[str, Any]:
    """A server's service as compose reads it, with the files of a trial."""
    bundle = BUNDLES / "ping" / "compose.yaml"
    engine = ComposeEngine(Children(), played(folder), "s")
    (folder / "compose.yaml").write_text(bundle.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "trial.yaml").write_text(
        override(spec(one), engine.services(spec(one)), User(1000, 1000), "s"), encoding="utf-8"
    )
    if checkpoints.TAKES in more:
        (folder / checkpoints.TAKES).write_text(
            checkpoints.checkpoint_file([one], {one.name: WORDS}), encoding="utf-8"
        )
    files = [word for name in ("compose.yaml", "trial.yaml", *more) for word in ("-f", name)]
    command = ["docker", "compose", *files, "config", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    service: dict[str, Any] = json.loads(done.stdout)["services"]["server-1"]
    return service


@needs_compose
def test_compose_gives_it_what_criu_needs_and_keeps_what_it_wrote(tmp_path: Path) -> None:
    service = merged(tmp_path, server())
    assert service["cap_add"] == list(checkpoints.CAPABILITIES)
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == [checkpoints.UNFILTERED]
    assert service["read_only"] is True
    assert not service.get("tmpfs")
    kept = {one["target"]: one["source"] for one in service["volumes"] if one["type"] == "volume"}
    assert kept == {"/steelyard": "server-1-state", "/tmp": "server-1-tmp"}
    assert service["environment"]["CRIU_RESTORE_DISABLE_RECOVERY"] == "true"
    assert service["command"] is None


@needs_compose
def test_one_that_starts_from_nothing_is_confined_as_ever(tmp_path: Path) -> None:
    service = merged(tmp_path, server("none"))
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp:mode=1777"]
    assert "CRIU_RESTORE_DISABLE_RECOVERY" not in service["environment"]


@needs_compose
def test_what_takes_a_checkpoint_is_the_same_container_with_another_command(tmp_path: Path) -> None:
    starts, takes = (merged(tmp_path, server(), *more) for more in ((), (checkpoints.TAKES,)))
    entrypoint, command = (takes.pop(key) for key in ("entrypoint", "command"))
    assert command == ["/opt/wlp/bin/server", "checkpoint", "ping", "--at=afterAppStart"]
    assert takes == {key: value for key, value in starts.items() if key not in ("entrypoint", "command")}
    shell = [word.replace("$$", "$") for word in entrypoint]

    def code_of(script: str) -> int:
        given = {"PATH": os.environ["PATH"], "WLP_OUTPUT_DIR": str(tmp_path / "output of it")}
        done = subprocess.run([*shell, "sh", "-euc", script, "sh", "two words"], env=given, check=False)
        return done.returncode

    folder = '"$WLP_OUTPUT_DIR/ping/workarea/checkpoint/image"'
    assert code_of(f'test "$1" = "two words"; mkdir -p {folder}; touch {folder}/core-1263.img') == 0
    assert code_of("exit 74") == 74
    assert code_of(f"rm -r {folder}") != 0  # it says that it took one, and there is none


def test_the_plan_shows_that_a_checkpoint_comes_first() -> None:
    first, then = command_line(server(), "ping").split("; ")
    assert first.endswith("-f $TRIAL/replay/checkpoint.yaml up server-1")
    assert then.endswith("-f $TRIAL/replay/trial.yaml up server-1")
    assert "; " not in command_line(server("none"), "ping")


@pytest.mark.parametrize("words", [["java", "-jar", "run"], ["/bin/server", "start", "ping"], []])
def test_what_is_no_server_of_liberty_is_refused(words: Sequence[str]) -> None:
    with pytest.raises(BadInput, match="for images that start Liberty's `server run NAME`"):
        checkpoints.checkpoint_file([server()], {"server-1": words})


@pytest.mark.parametrize(
    ("service", "cmd", "words"),
    [
        ({}, None, WORDS),
        ({}, ["--more"], [*WORDS, "--more"]),
        ({"command": "acmeair-main"}, ["acmeair"], [*WORDS, "acmeair-main"]),
        ({"entrypoint": "server run", "command": ["own"]}, ["acmeair"], ["server", "run", "own"]),
        ({"entrypoint": ["server"]}, ["acmeair"], ["server"]),
    ],
)
def test_what_a_container_starts_is_told_by_its_service_then_by_its_image(
    tmp_path: Path, service: dict[str, Any], cmd: list[str] | None, words: list[str]
) -> None:
    assert checkpoints.start_words(played(tmp_path, cmd=cmd), "ping", service) == words


def test_an_image_without_a_criu_that_works_here_is_refused(tmp_path: Path) -> None:
    checkpoints.require_criu(played(tmp_path), "ping", "1001:0")
    (line,) = asked(tmp_path)
    assert "--cap-drop ALL --cap-add CHECKPOINT_RESTORE" in line
    assert line.endswith("--user 1001:0 --entrypoint criu ping check --unprivileged --feature clone3_set_tid")
    docker = played(tmp_path, criu="exec: criu: executable file not found in $PATH", without_criu=127)
    with pytest.raises(MissingRequirement, match=r"has no CRIU that works on this kernel \(.*not found"):
        checkpoints.require_criu(docker, "ping", "1001:0")


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ComposeDeployment:
    """A trial whose engine a script plays."""
    monkeypatch.setattr(compose_engine, "require_ports", lambda _ports: None)
    engine = ComposeEngine(Children(), played(tmp_path), "s")
    return engine.open(spec(server()), tmp_path / "01-a")


def test_a_container_takes_the_checkpoint_and_goes_before_the_one_that_is_measured(
    tmp_path: Path, opened: ComposeDeployment
) -> None:
    (tmp_path / "asked").unlink()
    opened.take_checkpoint(server())
    up, inspected, waited, *_, removed = asked(tmp_path)
    files = [
        tmp_path / "01-a" / "replay" / name for name in ("compose.yaml", "trial.yaml", "checkpoint.yaml")
    ]
    assert all(file.exists() for file in files)
    assert " ".join(f"-f {file}" for file in files) in up
    assert up.endswith("server-1")
    assert inspected.startswith("container inspect")
    assert waited.startswith("wait")
    assert removed == f"rm --force --volumes {up.split()[2]}-server-1-1"


def test_why_a_container_took_no_checkpoint_is_said(tmp_path: Path, opened: ComposeDeployment) -> None:
    played(tmp_path, code=74)
    with pytest.raises(ServerFailed, match=r"server-1 .*exit code 74.*CWWKE0963E"):
        opened.take_checkpoint(server())
    assert (tmp_path / "01-a" / "servers" / "server-1" / "logs" / "checkpoint.log").exists()
