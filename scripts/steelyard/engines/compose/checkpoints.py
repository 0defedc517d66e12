# SPDX-License-Identifier: Apache-2.0
"""Containers whose server starts from a checkpoint of its process: what they may, what takes it, what their image has
to have.

A first container takes the checkpoint and ends. What it wrote lies in a volume, from which the container that is
measured starts. Sources: Open Liberty's documentation of InstantOn (capabilities, system calls), and the script
`checkpoint.sh` of its images, which uses up process ids first.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from steelyard.engines.compose.yaml_text import Override, to_text
from steelyard.engines.container import container_folder
from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.docker import Docker, DockerFailed
from steelyard.jvm.checkpoint import IMAGE, PHASES
from steelyard.results.spec import Component

TAKES = "checkpoint.yaml"
"""File in `replay/` on top of the others, with which the container of a server takes its checkpoint and ends."""
CAPABILITIES = ("CHECKPOINT_RESTORE", "SETPCAP", "SYS_PTRACE")
"""What IBM's images of Semeru give their `criu`; a program with capabilities that a container lacks is not started."""
UNFILTERED = "seccomp=unconfined"
"""The filter of the engine forbids system calls that CRIU needs (`clone3` for one)."""
_USED_IDS = 1000
"""Process ids that are used up before a checkpoint: each container counts from 1, and the script that restores a server
must have none of the server's."""
_TAKE = (
    f'i=0; while [ "$i" -lt {_USED_IDS} ]; do (exit 0); i=$((i + 1)); done; "$@" || exit; '
    # Else the kernel writes a hundred megabytes while the server starts.
    f'sync "$WLP_OUTPUT_DIR"/*/{IMAGE}/*'
)
"""What a shell does of the words behind it, in an image that keeps what Liberty writes below `WLP_OUTPUT_DIR`."""
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# On top of compose.yaml and trial.yaml: each of these takes the checkpoint from which it starts without this file.
"""
_ADVICE = "build it on a base that has one (docs/how-to/start-from-a-checkpoint.md)"


class Volume(NamedTuple):
    """One in which what a checkpoint was taken of stays."""

    name: str
    folder: str


def volumes_of(component: Component) -> list[Volume]:
    """Those of a server that starts from a checkpoint: its own folder and that of temporary files, in which its process
    may hold files open."""
    if component.checkpoint == "none":
        return []
    return [
        Volume(f"{component.name}-state", container_folder(component)),
        Volume(f"{component.name}-tmp", "/tmp"),
    ]


# By the schema of compose files.
def privileges(component: Component, base: Mapping[str, Any], rights: Sequence[str]) -> dict[str, Any]:
    """What its service may, and where its temporary files lie; nothing for one that starts from nothing.

    Args:
        component: what it is made for.
        base: the bundle's service.
        rights: capabilities that it has besides.
    """
    if component.checkpoint == "none":
        return {}
    # With `no-new-privileges` nobody would get the capabilities of the program `criu`.
    kept = [option for option in base.get("security_opt", ()) if not option.startswith("no-new-privileges")]
    return {
        "cap_add": [*rights, *CAPABILITIES],
        "security_opt": Override([*kept, UNFILTERED]),
        "tmpfs": Override([]),
    }


def checkpoint_file(servers: Sequence[Component], words: Mapping[str, Sequence[str]]) -> str:
    """The text of `checkpoint.yaml`.

    Args:
        servers: those that take a checkpoint.
        words: what each starts, by name: `server run NAME`.

    Raises:
        BadInput: one starts something else.
    """
    services = {server.name: _checkpoint_service(server, words[server.name]) for server in servers}
    return f"{_HEAD}{to_text({'services': services})}"


def _checkpoint_service(component: Component, words: Sequence[str]) -> dict[str, Any]:
    if len(words) < 3 or words[-3].rpartition("/")[2] != "server" or words[-2] != "run":
        raise BadInput(
            f"{component.name}: checkpoint is for images that start Liberty's `server run NAME`, and"
            f" {component.artifact.image} starts `{' '.join(words)}`: leave checkpoint out for this server"
        )
    command = [words[-3], "checkpoint", words[-1], f"--at={PHASES[component.checkpoint]}"]
    script = _TAKE.replace("$", "$$")  # which compose would read as variables
    return {"entrypoint": Override(["/bin/sh", "-c", script, "sh"]), "command": Override(command)}


# By the schema of compose files.
def start_words(docker: Docker, image: str, service: Mapping[str, Any]) -> list[str]:
    """What a service starts: its own entry point and command, else those of its image.

    Args:
        docker: the engine that has the image.
        image: its reference.
        service: as compose reads it.

    Raises:
        DockerFailed: the engine does not tell.
    """
    config = docker.inspect("image", [image])[0].get("Config") or {}
    entrypoint, command = (_words(service.get(key)) for key in ("entrypoint", "command"))
    if entrypoint is None:
        entrypoint = config.get("Entrypoint") or []
        command = command if command is not None else config.get("Cmd") or []
    return [*entrypoint, *(command or [])]


def _words(said: str | Sequence[str] | None) -> list[str] | None:
    """Compose splits a text as a shell does."""
    if said is None:
        return None
    return shlex.split(said) if isinstance(said, str) else list(said)


def require_criu(docker: Docker, image: str, user: str) -> None:
    """See that a container of an image can take a checkpoint on this kernel (raises MissingRequirement)."""
    rights = [word for name in CAPABILITIES for word in ("--cap-add", name)]
    confined = ("--rm", "--network=none", "--read-only", "--cap-drop", "ALL", *rights)
    # Not all that `criu check` looks at: it wants a /proc/sys that can be written, for kernels that have no `clone3`.
    check = ("check", "--unprivileged", "--feature", "clone3_set_tid")
    asks = ("--security-opt", UNFILTERED, "--user", user, "--entrypoint", "criu", image, *check)
    try:
        docker.run("run", *confined, *asks, merge_errors=True)
    except DockerFailed as error:
        raise MissingRequirement(
            f"the image {image} has no CRIU that works on this kernel ({error.detail}): {_ADVICE}"
        ) from error
