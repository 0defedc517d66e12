# SPDX-License-Identifier: Apache-2.0
"""What is said of a container engine that cannot be used."""

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.docker import Docker, error_line, find_docker
from steelyard.host.system import System

GOOD = '{"Client":{"Version":"28.2.2"},"Server":{"Version":"26.1.5+dfsg1","ApiVersion":"1.45"}}'
PODMAN = GOOD.replace("26.1.5+dfsg1", "5.4.2").replace("1.45", "1.41")

# Podman 5.4.2's answers on Debian 13, to root and to an ordinary user.
OF_ROOT = """echo '["name=apparmor","name=seccomp,profile=default"]'"""
ROOTLESS = """echo '["name=apparmor","name=seccomp,profile=default","name=rootless"]'"""


def client(folder: Path, version: str, compose: str = "echo 2.26.1-4", info: str = OF_ROOT) -> dict[str, str]:
    """An environment whose `docker` answers like this (shell commands)."""
    path = folder / "docker"
    path.write_text(
        f"#!/bin/sh\ncase $1 in version) {version};; compose) {compose};; info) {info};; esac\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def test_a_usable_engine(tmp_path: Path) -> None:
    found = find_docker(client(tmp_path, f"echo '{GOOD}'"))
    assert (found.engine_version, found.compose_version) == ("26.1.5+dfsg1", "2.26.1-4")
    assert find_docker(client(tmp_path, f"echo '{PODMAN}'")).engine_version == "5.4.2"


def test_an_engine_without_root_is_told_from_one_of_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under control groups version 2 Podman says `CPUSet=false` of both, also where it binds containers to CPUs."""
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    of_root = client(tmp_path, f"echo '{PODMAN}'", info=OF_ROOT)
    assert not find_docker(of_root).is_rootless
    assert not find_docker(client(tmp_path, f"echo '{PODMAN}'", info="echo denied >&2; exit 1")).is_rootless
    rootless = client(tmp_path, f"echo '{PODMAN}'", info=ROOTLESS)
    controllers = tmp_path / "sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers"
    controllers.parent.mkdir(parents=True)
    controllers.write_text("cpuset cpu io memory pids\n")
    assert find_docker(rootless, system=System(tmp_path)).is_rootless
    controllers.write_text("cpu memory pids\n")
    with pytest.raises(
        MissingRequirement, match=r"not given the controller `cpuset`: let systemd pass it on"
    ):
        find_docker(rootless, system=System(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    with pytest.raises(BadInput, match="run the harness as the engine's user"):
        find_docker(rootless)
    assert find_docker(rootless, measures=False).is_rootless


def test_no_client(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match=r"docker was not found: install .* or use --engine process"):
        find_docker({"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
            "may not use the container engine.s socket: add the user to the group docker",
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "the container engine does not answer .*: start it",
        ),
    ],
)
def test_no_answer(tmp_path: Path, said: str, sentence: str) -> None:
    with pytest.raises(MissingRequirement, match=sentence):
        find_docker(client(tmp_path, f"echo '{said}' >&2; exit 1"))


@pytest.mark.parametrize(
    ("version", "compose", "sentence"),
    [
        (
            GOOD.replace("1.45", "1.40"),
            "echo 2.26.1",
            "API of the container engine is version 1.40 and 1.41 or newer",
        ),
        (GOOD, "echo 2.3.3", "docker compose is version 2.3.3 and 2.24 or newer is needed"),
        (GOOD, "echo 'docker: compose is not a docker command' >&2; exit 1", "docker has no compose plugin"),
        (GOOD, "echo dev", "docker compose does not tell its version"),
    ],
)
def test_too_old(tmp_path: Path, version: str, compose: str, sentence: str) -> None:
    with pytest.raises(MissingRequirement, match=sentence):
        find_docker(client(tmp_path, f"echo '{version}'", compose))


def test_an_engine_elsewhere_is_refused(tmp_path: Path) -> None:
    environment = {**client(tmp_path, f"echo '{GOOD}'"), "DOCKER_HOST": "tcp://lab:2375"}
    with pytest.raises(BadInput, match=r"another host .*tcp://lab:2375"):
        find_docker(environment)


@pytest.mark.parametrize(
    ("here", "told", "is_here"),
    [
        ("6.1.0-18-amd64", "6.1.0-18-amd64", True),
        ("6.8-rc1", "6.8.0-rc1", True),
        ("6.1.0-18-amd64", "", True),
        ("6.1.0-18-amd64", "6.12.54-linuxkit", False),
    ],
)
def test_an_engine_of_another_kernel_is_not_of_this_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, told: str, is_here: bool
) -> None:
    """By a context of ssh, or as that of Docker Desktop in its virtual machine: neither is seen in DOCKER_HOST."""
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release=here))
    version = GOOD.replace('"Server":{', f'"Server":{{"KernelVersion":"{told}",')
    environment = client(tmp_path, f"echo '{version}'")
    assert find_docker(environment, measures=False).compose_version
    if is_here:
        assert find_docker(environment).compose_version
    else:
        with pytest.raises(
            BadInput, match=r"another kernel \(6\.12\.54-linuxkit\) .*docker context use default"
        ):
            find_docker(environment)


def test_the_error_line_is_without_prefixes() -> None:
    printed = "docker: Error response from daemon: No such image: a:1\nSee 'docker run --help'.\n"
    assert error_line(printed) == "No such image: a:1"
    assert error_line("") == ""


def test_an_interrupt_waits_for_a_whole_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docker"
    path.write_text(f"#!/bin/sh\nsleep 0.5\n: > {tmp_path}/made\n", encoding="utf-8")
    path.chmod(0o755)

    class InterruptedPopen(subprocess.Popen[str]):
        """The user interrupts when the command has begun, and nobody knows of it yet."""

        def __init__(self, *arguments: object, **more: object) -> None:
            super().__init__(*arguments, **more)  # type: ignore[call-overload]
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", InterruptedPopen)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Docker(path, "", "").run("up", defer_interrupts=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "made").exists()
