# SPDX-License-Identifier: Apache-2.0
"""Starts from a checkpoint of a server's process: Liberty's InstantOn, with CRIU and OpenJ9 (pure).

Source: Open Liberty's documentation, "Faster startup for containerized applications with Open Liberty InstantOn", and
its script `server` (26.0.0.3), which knows both phases and takes the variables below.
"""

from collections.abc import Mapping
from typing import Literal

from steelyard.errors import BadInput
from steelyard.jvm.identity import JvmIdentity

Checkpoint = Literal["none", "before_app_start", "after_app_start"]
PHASES: Mapping[Checkpoint, str] = {
    "before_app_start": "beforeAppStart",
    "after_app_start": "afterAppStart",
}
"""As Liberty calls them."""
IMAGE = "workarea/checkpoint/image"
"""Folder below a server's output that holds its checkpoint."""
VARIABLES: Mapping[str, str] = {
    # A server that cannot be restored would start from nothing, and nobody would see it.
    "CRIU_RESTORE_DISABLE_RECOVERY": "true",
    # Liberty moves the log of this name away before it restores: it must not be the one that the engine writes.
    "LOG_FILE": "server.log",
}
"""Variables of a server that starts from a checkpoint."""


def refuse_checkpoint(jvm: JvmIdentity | None, form: str, engine: str, where: str) -> None:
    """See that a server can start from a checkpoint (raises BadInput): `form` is that of its artifact. What an image
    runs is looked at by the engine (`engines/compose/checkpoints.py`)."""
    if engine == "kubernetes":
        raise BadInput(
            f"{where}: checkpoint is for --engine process and compose: pods are not restored yet; leave it out, or"
            " choose one of those"
        )
    if form not in ("liberty", "image"):
        raise BadInput(
            f"{where}: checkpoint is for Open Liberty, whose `server checkpoint` takes it: leave it out for this server"
        )
    if jvm is None or jvm.kind != "openj9":
        name = jvm.vm_name if jvm is not None else "a JVM that is not known"
        raise BadInput(
            f"{where}: checkpoint does not exist on {name}: choose an OpenJ9 with --jdk PATH, in containers with"
            " --set jdk=openj9, or leave it out"
        )
