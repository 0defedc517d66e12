# SPDX-License-Identifier: Apache-2.0
"""The container engine, asked through its ordinary client."""

import contextlib
import json
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.system import System
from steelyard.processes import defer_signals
from steelyard.processes.client import ClientFailed, first_error, run_client

MINIMUM_API = (1, 41)
"""Docker Engine 20.10, and podman's docker-compatible socket, whose own version numbers say nothing here."""
MINIMUM_COMPOSE = (2, 24)
"""From here on an override can take back what the base says (`!reset`, `!override`)."""
ANSWER_LIMIT = 60.0
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The kernel's names where images have another."""
INSTALL = (
    "install Docker Engine 20.10 or newer with the Compose plugin 2.24 or newer (docs/how-to/containers.md)"
)
_DELEGATED = "sys/fs/cgroup/user.slice/user-{uid}.slice/user@{uid}.service/cgroup.controllers"
"""What systemd passes on to a user. An engine's own word (`CPUSet` of `docker info`) is no help: Podman's is `false`
under control groups version 2, root's as well."""
_NO_CPU_SETS = (
    "the container engine runs without root and cannot bind containers to CPUs, for it was not given the controller"
    " `cpuset`: let systemd pass it on (docs/how-to/podman.md), or use the engine of root"
)
_ENGINE_OF_ANOTHER = (
    "the container engine runs without root, and its containers could not write what belongs to root: run the harness"
    " as the engine's user, or use the engine of root (DOCKER_HOST names the one in use)"
)


class DockerFailed(ClientFailed):
    """A docker command failed."""


@dataclass(frozen=True)
class Docker:
    """A container engine on this host that was asked, and its client."""

    client: Path
    engine_version: str
    compose_version: str
    is_rootless: bool = False
    """Whether it runs as an ordinary user, who is root inside of its containers; their other users are nobody here."""

    def run(
        self,
        *arguments: str,
        timeout: float | None = ANSWER_LIMIT,
        env: Mapping[str, str] | None = None,
        merge_errors: bool = False,
        defer_interrupts: bool = False,
    ) -> str:
        """Run `docker ARGUMENTS` and return its standard output, with `merge_errors` its standard error as well.

        It runs in a session of its own, so that a Ctrl-C of the terminal does not cut it short. With `defer_interrupts`
        an interrupt waits until the command has ended: what is cleaned up then holds all that it made.

        Raises:
            DockerFailed: it ended with an error, or not within `timeout` seconds (None: no limit).
        """
        with defer_signals() if defer_interrupts else contextlib.nullcontext():
            return run_client(
                [str(self.client), *arguments],
                partial(DockerFailed, f"docker {' '.join(arguments[:2])}"),
                error_line,
                timeout=timeout,
                env=env,
                merge_errors=merge_errors,
            ).decode(errors="replace")

    # What docker prints of an object: a form of its own, of which each caller reads a few keys.
    def inspect(self, object_type: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """`docker KIND inspect NAMES`, parsed (see `run` for errors)."""
        printed = self.run(object_type, "inspect", *names)
        try:
            objects: list[dict[str, Any]] = json.loads(printed)
        except ValueError as error:
            raise DockerFailed(
                f"docker {object_type} inspect", f"it printed no JSON ({error})", printed
            ) from error
        if (
            not isinstance(objects, list)
            or len(objects) < len(names)
            or not all(isinstance(entry, dict) for entry in objects)
        ):
            raise DockerFailed(
                f"docker {object_type} inspect", f"it does not tell of {', '.join(names)}", printed
            )
        return objects


def native_architecture() -> str:
    """The architecture of this host, as images name it."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def find_docker(
    environment: Mapping[str, str] = os.environ, *, measures: bool = True, system: System | None = None
) -> Docker:
    """The container engine of this host, checked for what bundles and trials need.

    Args:
        environment: of the client.
        measures: whether it runs what is measured, on this kernel; images are made by one in a virtual machine as well.
        system: this host, unless files are recorded.

    Raises:
        MissingRequirement: no client, no engine that answers, no permission, or something is too old.
        BadInput: the client is set to an engine on another host.
    """
    client = shutil.which("docker", path=environment.get("PATH", os.defpath))
    if client is None:
        raise MissingRequirement(f"docker was not found: {INSTALL}, or use --engine process")
    host = environment.get("DOCKER_HOST", "")
    if host and not host.startswith("unix://"):
        raise BadInput(
            f"DOCKER_HOST names an engine on another host ({host}), and the harness reads /proc of the servers:"
            " run it on that host"
        )
    docker = Docker(Path(client), "unknown", "unknown")
    try:
        versions = json.loads(docker.run("version", "--format", "{{json .}}", env=environment))
    except DockerFailed as error:
        raise MissingRequirement(_why_no_answer(error.said)) from error
    except ValueError as error:
        raise MissingRequirement(f"{client} does not tell its version: {INSTALL}") from error
    server = (versions.get("Server") if isinstance(versions, dict) else None) or {}
    engine = str(server.get("Version", "unknown"))
    kernel = server.get("KernelVersion")
    if measures and kernel and _full_release(str(kernel)) != _full_release(os.uname().release):
        raise BadInput(
            f"the container engine runs on another kernel ({kernel}) than this host's: on another host, or in a virtual"
            " machine as Docker Desktop's, and the harness reads /proc of the servers: choose the engine of this host"
            " (`docker context use default`)"
        )
    _require("the API of the container engine", str(server.get("ApiVersion", "unknown")), MINIMUM_API)
    try:
        compose = docker.run("compose", "version", "--short", env=environment).strip()
    except DockerFailed as error:
        raise MissingRequirement(f"docker has no compose plugin ({error.said}): {INSTALL}") from error
    _require("docker compose", compose, MINIMUM_COMPOSE)
    # An engine that does not tell of itself is taken for one of root.
    options = ""
    with contextlib.suppress(DockerFailed):
        options = docker.run("info", "--format", "{{json .SecurityOptions}}", env=environment)
    is_rootless = "name=rootless" in options
    if measures and is_rootless:
        _check_user(os.getuid(), system or System())
    return Docker(Path(client), engine, compose, is_rootless)


def _check_user(uid: int, system: System) -> None:
    """Raise what keeps a user from measuring with an engine without root."""
    if uid == 0:
        raise BadInput(_ENGINE_OF_ANOTHER)
    passed_on = system.text(_DELEGATED.format(uid=uid))
    if passed_on is not None and "cpuset" not in passed_on.split():
        raise MissingRequirement(_NO_CPU_SETS)


def error_line(printed: str) -> str:
    """The first line of an error, without the prefixes of the client and the engine."""
    lines = [line for line in printed.splitlines() if not line.startswith(("See 'docker", "Run 'docker"))]
    said = first_error("\n".join(lines))
    return re.sub(r"^(docker: |Error response from daemon: |ERROR: |Error: )+", "", said)


def _why_no_answer(said: str) -> str:
    if "permission denied" in said.lower():
        return (
            "this user may not use the container engine's socket: add the user to the group docker, which is as much"
            " as giving it root on this host, or run with sudo, or use --engine process"
        )
    return (
        f"the container engine does not answer ({said}): start it, for example with `systemctl start docker`"
    )


def _full_release(release: str) -> str:
    """A kernel's release as Docker tells it, which has three numbers: 6.8-rc1 is 6.8.0-rc1."""
    return re.sub(r"^(\d+\.\d+)(?!\.?\d)", r"\1.0", release)


def _require(tool: str, version: str, minimum: tuple[int, int]) -> None:
    parts = re.match(r"v?([0-9]+)\.([0-9]+)", version)
    needed = ".".join(map(str, minimum))
    if parts is None:
        raise MissingRequirement(
            f"{tool} does not tell its version ({version!r}): {needed} or newer is needed"
        )
    if (int(parts[1]), int(parts[2])) < minimum:
        raise MissingRequirement(f"{tool} is version {version} and {needed} or newer is needed: {INSTALL}")
