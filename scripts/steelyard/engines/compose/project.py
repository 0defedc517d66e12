# SPDX-License-Identifier: Apache-2.0
"""One compose project: the containers, network and volumes of a trial, made and removed together."""

import hashlib
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import MissingRequirement, PortInUse, ServerFailed
from steelyard.host.docker import Docker, DockerFailed

UP_LIMIT = 300.0
DOWN_LIMIT = 120.0
ENGINE_BACK = 60.0
"""Seconds that a restarted container engine has to answer again."""
_PORT_TAKEN = re.compile(r"(?:port is already allocated|address already in use)")


def removal_of(project: str) -> list[str]:
    """Arguments of docker that remove containers, volumes and network of a project."""
    return ["compose", "-p", project, "down", "-v", "--remove-orphans", "-t", "0"]


class Project:
    """`docker compose` with the files of one trial."""

    def __init__(self, docker: Docker, directory: Path) -> None:
        self._docker = docker
        self._replay = directory / "replay"
        mark = hashlib.sha256(str(directory).encode()).hexdigest()[:8]
        self.name = f"steelyard-{mark}-{re.sub(r'[^a-z0-9-]+', '-', directory.name.lower())}"

    @property
    def removal(self) -> list[str]:
        """The command that removes everything of the project; needs no file of the trial."""
        return [str(self._docker.client), *removal_of(self.name)]

    def up(self, services: Sequence[str], override: str, instead_of: Sequence[str]) -> list[dict[str, Any]]:
        """Create and start services, and nothing that they depend on.

        Args:
            services: which.
            override: the file in `replay/` that says how, on top of compose.yaml.
            instead_of: their earlier containers, which are removed with what they wrote to volumes.

        Returns:
            What the engine says of the container of each, in order.

        Raises:
            PortInUse: a port was taken.
            MissingRequirement: an image is gone, or the engine is.
            ServerFailed: the engine says no; its own words are passed on.
        """
        files = [word for name in ("compose.yaml", override) for word in ("-f", str(self._replay / name))]
        up = ("up", "--detach", "--no-deps", "--pull", "never", *services)
        # The override says everything: variables of the bundle are for people.
        inherited = {name: text for name, text in os.environ.items() if not name.startswith("STEELYARD_")}
        told = {**inherited, "TRIAL": str(self._replay.parent), "AWAIT_START": "true"}
        try:
            if instead_of:
                self._docker.run("rm", "--force", "--volumes", *instead_of, whole=True)
            command = ("compose", "-p", self.name, *files, "--progress", "quiet", *up)
            self._docker.run(*command, timeout=UP_LIMIT, env=told, whole=True)
            return self._docker.inspect("container", [f"{self.name}-{service}-1" for service in services])
        except DockerFailed as error:
            raise _up_error(error) from error

    def remove(self) -> None:
        """Remove containers, volumes and network; an engine that is restarting is waited for.

        Raises:
            DockerFailed: the engine does not answer.
        """
        deadline = time.monotonic() + ENGINE_BACK
        while True:
            try:
                self._docker.run(*removal_of(self.name), timeout=DOWN_LIMIT)
            except DockerFailed:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1.0)
            else:
                return


def _up_error(error: DockerFailed) -> Exception:
    if _PORT_TAKEN.search(error.said):
        port = re.search(r"127\.0\.0\.1:(\d+)", error.said)
        return PortInUse(
            f"port {port[1] if port else ''} was taken meanwhile ({error.said}): stop what holds it, or choose other"
            " ports with --port"
        )
    if "No such image" in error.said:
        return MissingRequirement(f"{error.said}: the image was removed; build or pull it again, then resume")
    if "Cannot connect to the Docker daemon" in error.said or "EOF" in error.said:
        return ServerFailed(f"the container engine went away ({error.said})")
    return ServerFailed(f"the containers could not be started: {error.said}")
