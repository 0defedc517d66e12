# SPDX-License-Identifier: Apache-2.0
"""A server directory that a server has started in once, from which every trial's servers are copied.

Liberty resolves its features on the first start in a directory and keeps the result in its `workarea`. Starting
from such a copy takes a quarter less CPU (apps/README.md) and is what an installed server does at every start but
its first; published Liberty images are primed in the same way. Nothing that is measured under load changes.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

from steelyard.engines.base import ServerPackage
from steelyard.engines.process.command import inherited_environment, server_command, server_environment
from steelyard.engines.readiness import wait_until_answered
from steelyard.errors import ServerFailed
from steelyard.processes import Children
from steelyard.results.schema import InstanceRecord, JvmIdentity
from steelyard.results.store import no_space

START_TIMEOUT = 180.0


def primed_folder(package: ServerPackage, server: str, jvm: JvmIdentity, children: Children) -> Path:
    """The primed `usr` folder of one of a package's servers for a JVM; made on first use, which starts it for a moment.

    Raises:
        ServerFailed: the server does not start.
        NoSpace: no room for the copy.
    """
    name = f"usr-{server}-{jvm.kind}-{jvm.runtime_version}-{jvm.architecture}".replace("/", "_")
    primed = package.home.parent / name
    if primed.exists():
        return primed
    try:
        with tempfile.TemporaryDirectory(dir=package.home.parent, prefix=".priming-") as temporary:
            folder = Path(temporary)
            shutil.copytree(package.home / "usr", folder / "usr", ignore=_others(server))
            (folder / "logs").mkdir()
            _start_once(package, server, jvm, folder, children)
            (folder / "usr").rename(primed)
    except OSError as error:
        if primed.exists():  # another command was quicker
            return primed
        raise no_space(primed, error) from error
    return primed


def _others(server: str) -> Callable[[str, list[str]], list[str]]:
    """Leaves the package's other servers out of a copy of `usr`."""
    return lambda folder, names: [name for name in names if Path(folder).name == "servers" and name != server]


def _start_once(
    package: ServerPackage, server: str, jvm: JvmIdentity, folder: Path, children: Children
) -> None:
    instance = InstanceRecord(
        name="priming",
        server=server,
        cpus=sorted(os.sched_getaffinity(0)),
        cpus_shared_with=1,
        cores=1.0,
        heap_bytes=None,
        port=_free_port(),
        jvm_options=[],
    )
    child = children.spawn(
        "the first server",
        server_command(instance, package),
        console=folder / "logs" / "console.log",
        cwd=folder,
        env={**inherited_environment(), **server_environment(instance, jvm, folder)},
    )

    def check(_late: Collection[str]) -> None:
        if child.exit_code() is not None:
            raise ServerFailed(child.how_it_ended())

    try:
        wait_until_answered(
            {child.name: instance.port},
            {child.name: child.started},
            check,
            START_TIMEOUT,
            f"is {jvm.home} sound?",
            path="/health/live",  # there is no database yet that it could be ready with
        )
    finally:
        children.stop([child], grace=20.0)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
