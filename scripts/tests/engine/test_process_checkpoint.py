# SPDX-License-Identifier: Apache-2.0
"""Servers that start from a checkpoint: scripts stand for Liberty's and for CRIU, with what these do that is seen."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from builders import make_component, make_jvm, make_spec
from waiting import wait_until

from steelyard.engines.process import deployment as module
from steelyard.engines.process.command import Places, command, command_line, deployment_script, environment
from steelyard.engines.process.deployment import ProcessDeployment
from steelyard.errors import ServerFailed
from steelyard.process_tree import process_tree
from steelyard.processes import Children
from steelyard.processes.restored import find_restored
from steelyard.results.spec import Artifact, Component

SERVER = """#!/bin/sh
set -eu
image=$WLP_USER_DIR/servers/ping/workarea/checkpoint/image
if [ "$1" = checkpoint ]; then
  echo "$@" > "$WLP_USER_DIR/asked"
  if [ -e "$WLP_USER_DIR/fails" ]; then echo "CWWKE0963E: The server checkpoint request failed."; exit 74; fi
  mkdir -p "$image"
  touch "$image/core-$(cat "$WLP_USER_DIR/id").img"
else
  ls "$image" > /dev/null
  "$(dirname "$0")/criu"
fi
"""
CRIU = """#!/bin/sh
trap 'echo criu > "$WLP_USER_DIR/first"; exit 1' TERM
python3 -c "
import os, signal, sys, time
def end(*_):
    with open(os.environ['WLP_USER_DIR'] + '/first', 'x') as file: file.write('server')
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
open(os.environ['WLP_USER_DIR'] + '/serves', 'w').close()
while True: time.sleep(0.05)
" &
wait
"""
FREE = 2**22 + 1
"""No id of a process: one above the largest that Linux gives (proc(5), pid_max)."""


def server(**more: Any) -> Component:
    fields: dict[str, Any] = {
        "artifact": Artifact(form="liberty", package="ping", words=["ping"], jvm=make_jvm("openj9")),
        "cpus": [min(os.sched_getaffinity(0))],
        "port": 17999,
        "heap_bytes": None,
        "counters": None,
        "checkpoint": "after_app_start",
    }
    return make_component(**(fields | more))


@pytest.fixture
def primed(tmp_path: Path) -> Path:
    """What a server's folder is copied from."""
    folder = tmp_path / "primed"
    folder.mkdir()
    (folder / "id").write_text(str(FREE), encoding="ascii")
    return folder


@pytest.fixture
def deployment(tmp_path: Path, primed: Path, children: Children) -> ProcessDeployment:
    programs = tmp_path / "package" / "wlp" / "bin"
    programs.mkdir(parents=True)
    for name, text in {"server": SERVER, "criu": CRIU}.items():
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    return ProcessDeployment(
        children, tmp_path / "trial", {"server-1": str(tmp_path / "package")}, {"server-1": primed}
    )


def test_the_checkpoint_is_taken_by_libertys_own_command() -> None:
    places = Places("/t/server-1", "/package", "/t/cache/server")
    component = server(cpus=[0])
    assert command(component, places, takes_checkpoint=True)[3:] == [
        *("/package/wlp/bin/server", "checkpoint", "ping", "--at=afterAppStart")
    ]
    assert command(component, places)[3:] == ["/package/wlp/bin/server", "run", "ping"]
    assert environment(component, places)["CRIU_RESTORE_DISABLE_RECOVERY"] == "true"
    assert "CRIU_RESTORE_DISABLE_RECOVERY" not in environment(server(checkpoint="none"), places)
    first, then = command_line(component).split("; ")
    assert first.endswith("checkpoint ping --at=afterAppStart")
    assert then.endswith("run ping")


def test_the_script_of_a_trial_takes_the_checkpoint_and_waits_for_its_ids_first(tmp_path: Path) -> None:
    spec = make_spec(components=[server()])
    script = deployment_script(spec, {"server-1": "/package"}, {})
    taken, waits, restores = (
        script.index(part) for part in ("--at=afterAppStart", "/proc/", "server run ping")
    )
    assert taken < waits < restores
    path = tmp_path / "deployment.sh"
    path.write_text(script, encoding="utf-8")
    assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0


def test_a_server_is_restored_where_its_checkpoint_was_taken_and_ends_before_criu(
    tmp_path: Path, deployment: ProcessDeployment
) -> None:
    usr = tmp_path / "trial" / "servers" / "server-1" / "usr"
    deployment.take_checkpoint(server())
    assert (usr / "asked").read_text(encoding="utf-8") == "checkpoint ping --at=afterAppStart\n"
    deployment.start([server()])
    wait_until((usr / "serves").exists, "a server")
    (running,) = deployment.started_components()
    tree = process_tree(running.pids[0], running.mark)
    assert len(find_restored(tree)) == 1
    assert find_restored(tree) != [running.pids[0]]
    assert deployment.stop() == []
    assert (usr / "first").read_text(encoding="utf-8") == "server"


def test_another_start_takes_a_checkpoint_of_its_own(tmp_path: Path, deployment: ProcessDeployment) -> None:
    usr = tmp_path / "trial" / "servers" / "server-1" / "usr"
    deployment.take_checkpoint(server())
    (usr / "first-checkpoint").touch()
    deployment.take_checkpoint(server())
    assert not (usr / "first-checkpoint").exists()


def test_why_no_checkpoint_was_taken_is_said(primed: Path, deployment: ProcessDeployment) -> None:
    (primed / "fails").touch()
    says = r"server-1 took no checkpoint: .* exit code 74 after printing: CWWKE0963E: The server"
    with pytest.raises(ServerFailed, match=says):
        deployment.take_checkpoint(server())


def test_an_id_that_is_taken_is_said_and_not_only_that_criu_failed(
    primed: Path, deployment: ProcessDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TASKS_GONE", 0.05)
    (primed / "id").write_text(str(os.getpid()), encoding="ascii")
    with pytest.raises(ServerFailed, match=rf"holds process ids of its checkpoint \({os.getpid()}\)"):
        deployment.take_checkpoint(server())
