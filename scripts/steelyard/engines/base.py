# SPDX-License-Identifier: Apache-2.0
"""What every engine offers to the trial: it starts, watches and ends the components that a spec names.

Engines decide nothing: which components there are, in which order they start (`results.spec.ORDER`), when they are
ready, what data is loaded and what is read from them is the session's work, by the spec, the same for all engines.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from steelyard.results.spec import Component, Spec


@dataclass(frozen=True)
class Running:
    """A component that was started."""

    component: Component
    pids: Sequence[int]
    """Its processes on this host, the main one first."""
    started: float
    """Epoch seconds at which its process began."""
    contained: bool = False
    """Whether it has a control group of its own, whose figures are worth reading."""

    @property
    def name(self) -> str:
        """As in the spec."""
        return self.component.name


class Deployment(Protocol):
    """What one trial runs. Every method may be called at any time; `stop` also twice and after an error."""

    def start(self, components: Sequence[Component]) -> None:
        """Start components, all at once, and wait for none of them. One that was stopped may be started again.

        Raises:
            ServerFailed: one cannot be started.
            PortInUse: a port was taken meanwhile.
            NoSpace: no room for its files.
        """

    def running(self) -> list[Running]:
        """What was started and not stopped, in order of start."""

    def failure(self, name: str) -> str | None:
        """One sentence when the component ended by itself (how, and its last words), was restarted or OOM-killed.

        Cheap enough to be asked several times a second. An injector that was told to end has not failed.

        Raises:
            PortInUse: it says that its port is taken.
        """

    def settle(self, names: Iterable[str]) -> None:
        """Wait until the engine's own opinion (a container's health check) is that these serve (raises
        ServerFailed)."""

    def ended(self, name: str) -> bool:
        """Whether the component has ended, whatever the reason."""

    def exit_code(self, name: str) -> int | None:
        """Exit code, negative for a signal; None while it runs."""

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[str]:
        """End components (None: all), injectors and servers before what they need: SIGTERM, SIGKILL after `grace`
        seconds.

        Returns:
            One sentence for each component that did not end by itself.
        """

    def close(self) -> None:
        """Stop everything and remove what is only of use while it runs (work areas, containers, networks). Logs
        stay."""

    def logs(self, name: str) -> Path:
        """Folder with the component's own logs (GC logs, messages.log), `console.log` among them."""

    def cache(self, kind: str) -> Path:
        """Folder that stands for `${cache}` of the components of a kind, on this host; made by `start` when it is
        not there."""


class Engine(Protocol):
    """Realises specs on this host or cluster."""

    def check(self, specs: Sequence[Spec]) -> None:
        """Refuse what cannot work here before the first trial starts, and remove what a crash left.

        Raises:
            PortInUse, MissingRequirement: ports, programs, images.
        """

    def open(self, spec: Spec, directory: Path) -> Deployment:
        """Make ready to run a spec: write `replay/` in the trial's directory, with which a person repeats the trial
        by hand (deployment, data, load), and start nothing.

        Args:
            spec: what to deploy; its injectors' settings are complete but for `output`.
            directory: the trial's directory; components get folders in `servers/`, `load/`, `logs/` and `cache/`.

        Raises:
            NoSpace: it cannot be written.
        """
