# SPDX-License-Identifier: Apache-2.0
"""What every engine offers to the trial runner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from steelyard.load.injector import InjectorPlan, Launcher
from steelyard.results.schema import TopologyRecord


@dataclass(frozen=True)
class ServerPackage:
    """A built application: an unpacked Liberty with its servers, never written to by a trial."""

    workload: str
    home: Path
    """The unpacked `wlp`."""
    fingerprint: str
    """What `/bench/info` must report as its build."""


@dataclass(frozen=True)
class RunningServer:
    """A server JVM that has answered."""

    name: str
    pid: int
    """Process id of the JVM on this host."""
    url: str
    """Where this host reaches it; injectors may have another way to it (`Engine.targets`)."""
    start_seconds: float
    """Process start to first successful response."""
    ready_message_seconds: float | None
    """Process start to the server's own ready message."""
    info: Mapping[str, Any]
    """Its `/bench/info`."""
    contained: bool = False
    """Whether it has a control group of its own, whose figures are worth reading."""


@dataclass(frozen=True)
class RunningBacking:
    """A database or proxy that serves."""

    name: str
    kind: Literal["database", "proxy"]
    pids: Sequence[int]
    """Its processes on this host."""


class Deployment(Launcher, Protocol):
    """What one trial runs, up and ready, with its data loaded; it starts and ends the injectors as well."""

    @property
    def servers(self) -> Sequence[RunningServer]:
        """The servers in the order of the topology."""

    @property
    def backing(self) -> Sequence[RunningBacking]:
        """Databases and proxy, in the order of the topology."""

    def problems(self) -> list[str]:
        """What died, was restarted or OOM-killed since it was ready, databases and proxy included, one sentence each.

        Cheap enough to be asked several times a second.
        """

    def stop(self) -> list[str]:
        """Stop everything, gracefully first; returns what did not end by itself. Safe to repeat."""

    def gc_logs(self, server: str) -> list[Path]:
        """GC log files of a server, oldest first; to be read after `stop`."""


class Engine(Protocol):
    """Realises topologies on this host or cluster, with one application and one injector package."""

    @property
    def fingerprint(self) -> str:
        """What `/bench/info` of every server must report as its build."""

    def check(self, topologies: Sequence[TopologyRecord]) -> None:
        """Refuse what cannot work here before the first trial starts (ports, tools, limits)."""

    def targets(self, topology: TopologyRecord) -> list[str]:
        """URLs that lead into the application as the injectors here reach them: its proxy, else its servers."""

    def deploy(
        self, topology: TopologyRecord, injectors: Sequence[InjectorPlan], directory: Path
    ) -> Deployment:
        """Start what a trial deploys, wait until each server has answered, and load the data.

        Args:
            topology: what to deploy.
            injectors: the load that will follow, so that `replay/` holds the whole trial.
            directory: the trial's directory; `replay/`, `servers/` are written there.

        Raises:
            ServerFailed: a server died or was not ready in time; everything is stopped again.
            PortInUse: a port was taken meanwhile.
        """
