# SPDX-License-Identifier: Apache-2.0
"""One compose project: the containers, network and volumes of a trial, made and removed together.

A container that runs is watched through its main process rather than by asking the engine again and again.
"""

import contextlib
import hashlib
import os
import re
import select
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from steelyard.clock import Deadline
from steelyard.engines.compose.images import database_settings
from steelyard.engines.container import NOT_TOLD, exit_code_of
from steelyard.errors import MissingRequirement, PortInUse, ServerFailed
from steelyard.host.docker import Docker, DockerFailed
from steelyard.processes.children import Children, describe_exit, own_words
from steelyard.processes.client import keep_output
from steelyard.processes.listening import Listener, namespace_listeners
from steelyard.processes.reasons import read_log
from steelyard.units import MIB

UP_LIMIT = 300.0
DOWN_LIMIT = 120.0
ENGINE_BACK = 60.0
"""Seconds that a restarted container engine has to answer again."""
NOTICE_LIMIT = 5.0
"""Seconds that the engine may take to notice the end of a container."""
_RESOLVER = "127.0.0.11"
"""Docker's own resolver of names, in the network of each container (\"Embedded DNS server\")."""
_PORT_TAKEN = re.compile(r"(?:port is already allocated|address already in use)")


def removal_of(project: str) -> list[str]:
    """Arguments of docker that remove containers, volumes and network of a project; they need no file of the trial."""
    return ["compose", "-p", project, "down", "-v", "--remove-orphans", "-t", "0"]


class Project:
    """`docker compose` with the files of one trial."""

    def __init__(self, docker: Docker, directory: Path, children: Children, bundle: str) -> None:
        """`children` knows what ends when the harness is killed; `bundle` is whose files these are."""
        self._docker, self._bundle = docker, bundle
        self._owner = children.owner
        self._replay = directory / "replay"
        mark = hashlib.sha256(str(directory).encode()).hexdigest()[:8]
        self.name = f"steelyard-{mark}-{re.sub(r'[^a-z0-9-]+', '-', directory.name.lower())}"

    # The engine's own descriptions, whose schema is Docker's.
    def up(
        self, services: Sequence[str], overrides: Sequence[str], instead_of: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """Create and start services, and nothing that they depend on.

        Args:
            services: which.
            overrides: the files in `replay/` that say how, on top of compose.yaml.
            instead_of: their earlier containers, which are removed with what they wrote to volumes.

        Returns:
            What the engine says of the container of each, in order.

        Raises:
            PortInUse: a port was taken.
            MissingRequirement: an image is gone, the engine is, or what Db2 needs is not set.
            ServerFailed: the engine says no; its own words are passed on.
        """
        files = [word for name in ("compose.yaml", *overrides) for word in ("-f", str(self._replay / name))]
        up = ("up", "--detach", "--no-deps", "--pull", "never", *services)
        # The override says the rest: other variables of the bundle are for people.
        inherited = {name: text for name, text in os.environ.items() if not name.startswith("STEELYARD_")}
        inherited |= database_settings(self._bundle)
        # Killed with the harness: it would go on starting what the guard's `down` has not found yet.
        environment = {**inherited, **self._owner, "TRIAL": str(self._replay.parent), "MEASURED": "true"}
        try:
            if instead_of:
                self._docker.run("rm", "--force", "--volumes", *instead_of, defer_interrupts=True)
            command = ("compose", "-p", self.name, *files, "--progress", "quiet", *up)
            self._docker.run(*command, timeout=UP_LIMIT, env=environment, defer_interrupts=True)
            return self._docker.inspect("container", list(map(self._container, services)))
        except DockerFailed as error:
            failure = _up_error(error)
            if (ended := _EXITED.search(error.said)) is not None and isinstance(failure, ServerFailed):
                failure = ServerFailed(f"{failure}{self._words_of(ended[1])}")
            raise failure from error

    def complete(self, service: str, overrides: Sequence[str], console: Path | None = None) -> None:
        """Start a service that prepares something, and wait for its end; what it prints goes to `console`, else to the
        trial's `logs/`.

        Raises:
            MissingRequirement: its image is gone, or the engine is.
            ServerFailed: it failed; its own words are passed on.
        """
        (described,) = self.up([service], overrides)
        log = console or self._replay.parent / "logs" / f"{service}.log"
        container = RunningContainer(self._docker, service, described, log)
        try:
            self._docker.run("wait", container.id, timeout=UP_LIMIT, defer_interrupts=True)
            if container.exit_code() != 0:
                raise ServerFailed(container.describe_end())
        except DockerFailed as error:
            raise _up_error(error) from error
        finally:
            container.close()

    def forget(self, service: str) -> None:
        """Remove the container of a service that has ended; volumes with a name stay (raises ServerFailed)."""
        try:
            self._docker.run("rm", "--force", "--volumes", self._container(service), defer_interrupts=True)
        except DockerFailed as error:
            raise _up_error(error) from error

    def _container(self, service: str) -> str:
        return f"{self.name}-{service}-1"

    def _words_of(self, container: str) -> str:
        """What a container that ended while it was started said, as the end of a sentence."""
        try:
            printed = self._docker.run("logs", container, merge_errors=True)
        except DockerFailed:
            return ""
        return own_words(printed, keep_output(container, printed))

    def remove(self) -> None:
        """Remove containers, volumes and network; an engine that is restarting is waited for.

        Raises:
            DockerFailed: the engine does not answer.
        """
        deadline = Deadline(ENGINE_BACK)
        while True:
            try:
                self._docker.run(*removal_of(self.name), timeout=DOWN_LIMIT)
            except DockerFailed:
                if deadline.is_over:
                    raise
                deadline.sleep(1.0)
            else:
                return


_EXITED = re.compile(r"\bcontainer (\S+) (?:has )?exited \(\d+\)")


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
    return ServerFailed(f"the containers could not be started: {error.detail}")


def is_process_of(pid: int, container: str) -> bool:
    """Whether a process of this host runs in the container with this id.

    Engines name it in the path of the control group (`docker-ID.scope`, `libpod-ID.scope`), and in those of the files
    that they mount below /etc, where containers have no control group of their own; every user may read both.
    """
    for file in ("cgroup", "mountinfo"):
        with contextlib.suppress(OSError):
            if container in Path(f"/proc/{pid}/{file}").read_text(encoding="utf-8", errors="replace"):
                return True
    return False


class RunningContainer:
    """A container that was started."""

    # `described` is Docker's own JSON.
    def __init__(self, docker: Docker, service: str, described: Mapping[str, Any], console: Path) -> None:
        """Watch it.

        Raises:
            DockerFailed: the engine does not tell of it.
            MissingRequirement: it runs, and not on this host.
        """
        self.stop_requested = False
        self.mark = ""
        self.name = service
        try:
            state = described["State"]
            self.id = str(described["Id"])
            self.pid = int(state["Pid"])
            self.started = datetime.fromisoformat(state["StartedAt"]).timestamp()
            self.creation: float | None = datetime.fromisoformat(described["Created"]).timestamp()
            self._memory_limit = int(described["HostConfig"]["Memory"])
            self._hosts_network = described["HostConfig"].get("NetworkMode") == "host"
        except (KeyError, TypeError, ValueError) as error:
            raise DockerFailed(
                "docker container inspect", f"it does not tell of {service} ({error!r})"
            ) from error
        self.console = console
        self._docker = docker
        self._ended: dict[str, Any] | None = None
        self._file: int | None = None
        self._console_kept = False
        if self.pid > 0:
            # A file that becomes readable when the process ends: looking at it costs nothing, asking the engine does.
            with contextlib.suppress(ProcessLookupError):
                self._file = os.pidfd_open(self.pid)
            if (self._file is None or not self._has_ended()) and not is_process_of(self.pid, self.id):
                self._require_ended()

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        if not self._has_ended():
            return None
        return _exit_code(self._state())

    def listeners(self) -> list[Listener]:
        """Where its processes listen, inside; nothing of what has ended or uses the host's network."""
        if self._hosts_network or self._has_ended():
            return []
        return [listener for listener in namespace_listeners(self.pid) if listener.address != _RESOLVER]

    @property
    def out_of_memory(self) -> bool:
        """Whether it has ended because it reached its memory limit."""
        return self._has_ended() and bool(self._state().get("OOMKilled"))

    def describe_end(self) -> str:
        """One sentence: its name, how it ended, its last words."""
        state = self._state()
        if "unknown" in state:
            return f"{self.name} ended, and the container engine does not tell how ({state['unknown']})"
        if self.out_of_memory:
            return (
                f"{self.name} was killed because memory ran out (its limit is {self._memory_limit // MIB} MiB): raise"
                " `memory`, or lower the heap"
            )
        self.keep_console()
        printed = read_log(self.console) or str(state.get("Error") or "")
        code = _exit_code(state)
        return describe_exit(self.name, None if code == NOT_TOLD else code, printed, self.console)

    def keep_console(self) -> None:
        """Write its whole output to `console`; without one when the engine does not answer."""
        if self._console_kept:
            return
        with contextlib.suppress(DockerFailed, OSError):
            printed = self._docker.run("logs", self.id, merge_errors=True)
            self.console.parent.mkdir(parents=True, exist_ok=True)
            self.console.write_text(printed, encoding="utf-8")
            self._console_kept = self._has_ended()

    def close(self) -> None:
        """Give the watching file back, when the container has ended. How it ended is kept."""
        if self._file is not None:
            self.exit_code()
        self._release()

    def _release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _require_ended(self) -> None:
        """Of a container whose process is not here: the number may be another's, which is left alone."""
        self._release()
        deadline = Deadline(NOTICE_LIMIT)
        while self._docker.inspect("container", [self.id])[0]["State"].get("Running"):
            if deadline.is_over:
                raise MissingRequirement(
                    f"the engine's containers are not among this host's processes ({self.name} is none): Docker"
                    " Desktop, another host, or this is itself a container. Run the harness on the engine's host, or"
                    " its container with `--pid host` (docs/how-to/containers.md)"
                )
            deadline.sleep(0.2)

    def _has_ended(self) -> bool:
        if self._ended is not None or self._file is None:
            return True
        watcher = select.poll()
        watcher.register(self._file, select.POLLIN)
        return bool(watcher.poll(0))

    def _state(self) -> dict[str, Any]:
        """The engine's account of its end; asked once."""
        if self._ended is None or "unknown" in self._ended:
            try:
                # `wait` returns when the engine has noticed the end as well.
                self._docker.run("wait", self.id, timeout=10.0)
                self._ended = dict(self._docker.inspect("container", [self.id])[0]["State"])
            except DockerFailed as error:
                self._ended = {"unknown": error.said}
        return self._ended


def _exit_code(state: dict[str, Any]) -> int:
    """Exit code, negative for a signal; NOT_TOLD when the engine does not tell."""
    code = state.get("ExitCode")
    return exit_code_of(code if isinstance(code, int) else None)
