# SPDX-License-Identifier: Apache-2.0
"""A server directory that a server has started in once, from which every trial's servers are copied.

Liberty resolves its features on the first start in a directory and keeps the result in its `workarea`. Starting
from such a copy takes a quarter less CPU (apps/README.md) and is what an installed server does at every start but
its first; published Liberty images are primed in the same way. Nothing that is measured under load changes.
"""

import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from steelyard.engines.process.command import Places, command, environment, inherited_environment
from steelyard.engines.readiness import POLL_INTERVAL, answers
from steelyard.errors import ServerFailed
from steelyard.processes import Children
from steelyard.results.spec import Component
from steelyard.results.store import no_space

START_TIMEOUT = 180.0


def primed_folder(component: Component, package: Path, children: Children) -> Path:
    """The primed `usr` folder of a Liberty server for its JVM; made on first use, which starts it for a moment.

    Raises:
        ServerFailed: the server does not start.
        NoSpace: no room for the copy.
    """
    server, jvm = component.artifact.words[0], component.artifact.jvm
    assert jvm is not None
    name = f"usr-{server}-{jvm.kind}-{jvm.runtime_version}-{jvm.architecture}".replace("/", "_")
    primed = package / name
    if primed.exists():
        return primed
    try:
        with tempfile.TemporaryDirectory(dir=package, prefix=".priming-") as temporary:
            folder = Path(temporary)
            shutil.copytree(package / "wlp" / "usr", folder / "usr", ignore=_others(server))
            (folder / "logs").mkdir()
            _start_once(component, package, folder, children)
            (folder / "usr").rename(primed)
    except OSError as error:
        if primed.exists():  # another command was quicker
            return primed
        raise no_space(primed, error) from error
    return primed


def _others(server: str) -> Callable[[str, list[str]], list[str]]:
    """Leaves the package's other servers out of a copy of `usr`."""
    return lambda folder, names: [name for name in names if Path(folder).name == "servers" and name != server]


def _start_once(component: Component, package: Path, folder: Path, children: Children) -> None:
    # Without the arm's options: they would write GC logs and class caches, and change nothing of what is kept.
    plain = component.model_copy(
        update={"name": "the first server", "jvm_options": [], "environment": {}, "port": _free_port()}
    )
    places = Places(str(folder), str(package), str(folder / "cache"))
    child = children.spawn(
        plain.name,
        command(plain, places),
        console=folder / "logs" / "console.log",
        cwd=folder,
        env={**inherited_environment(), **environment(plain, places)},
    )
    # There is no database yet that it could be ready with.
    live = plain.model_copy(
        update={"ready": plain.ready.model_copy(update={"path": plain.ready.live or plain.ready.path})}
    )
    deadline = time.monotonic() + START_TIMEOUT
    try:
        while not answers(live):
            if child.exit_code() is not None:
                raise ServerFailed(child.how_it_ended())
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"{component.artifact.words[0]} did not answer within {START_TIMEOUT:.0f} s: is its JDK sound?"
                )
            time.sleep(POLL_INTERVAL)
    finally:
        children.stop([child], grace=20.0)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
