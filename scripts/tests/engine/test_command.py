# SPDX-License-Identifier: Apache-2.0
import shlex
import subprocess
from pathlib import Path

import pytest

from steelyard.engines.base import ServerPackage
from steelyard.engines.process.command import (
    inherited_environment,
    replay_script,
    server_command,
    server_environment,
)
from steelyard.results.schema import InstanceRecord, JvmIdentity

SERVER = InstanceRecord(
    name="server-1",
    server="ping",
    cpus=[0, 2],
    cpus_shared_with=1,
    cores=1,
    heap_bytes=None,
    port=9081,
    jvm_options=["-Xmx64m", "-Dwords=two words", "-Xlog:gc:file=${INSTANCE}/logs/gc.log"],
)


def test_a_server_has_folders_a_port_and_cpus_of_its_own(hotspot: JvmIdentity) -> None:
    environment = server_environment(SERVER, hotspot, Path("/t/server-1"))
    assert environment["WLP_USER_DIR"] == "/t/server-1/usr"
    assert environment["HTTP_PORT"] == "9081"
    assert environment["JVM_ARGS"] == "-Xmx64m '-Dwords=two words' -Xlog:gc:file=/t/server-1/logs/gc.log"
    command = server_command(SERVER, ServerPackage("ping", Path("/wlp"), "f"))
    assert command == ["taskset", "-c", "0,2", "/wlp/bin/server", "run", "ping"]


def test_variables_that_would_change_a_server_are_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_TOOL_OPTIONS", "OPENJ9_JAVA_OPTIONS", "WLP_USER_DIR", "LOG_DIR"):
        monkeypatch.setenv(name, "meddling")
    monkeypatch.setenv("HARMLESS", "1")
    environment = inherited_environment()
    assert environment["HARMLESS"] == "1"
    assert "meddling" not in environment.values()


def test_the_replay_starts_the_same_command_in_its_own_folder(hotspot: JvmIdentity, tmp_path: Path) -> None:
    """Run the script for real, with a `server` that writes down how it was called."""
    home, primed, replay = tmp_path / "wlp", tmp_path / "primed", tmp_path / "replay"
    (home / "bin").mkdir(parents=True)
    (primed / "servers" / "ping").mkdir(parents=True)
    replay.mkdir()
    server = home / "bin" / "server"
    server.write_text(
        '#!/bin/sh\necho "$*|$HTTP_PORT|$JVM_ARGS|$WLP_USER_DIR" > "$LOG_DIR/called"\n', encoding="utf-8"
    )
    server.chmod(0o755)
    instance = SERVER.model_copy(update={"cpus": [0]})
    script = replay / "servers.sh"
    script.write_text(
        replay_script([instance], ServerPackage("ping", home, "f"), hotspot, {"ping": primed}),
        encoding="utf-8",
    )
    subprocess.run(["sh", str(script)], check=True, timeout=30)
    folder = replay / "server-1"
    called = (folder / "logs" / "called").read_text(encoding="utf-8").strip().split("|")
    assert [called[0], called[1], called[3]] == ["run ping", "9081", str(folder / "usr")]
    assert shlex.split(called[2]) == ["-Xmx64m", "-Dwords=two words", f"-Xlog:gc:file={folder}/logs/gc.log"]
    assert (folder / "usr" / "servers" / "ping").is_dir()
