# SPDX-License-Identifier: Apache-2.0
"""Two deployments as one: what a duet runs at once (session/duet.py).

Its components bear the side in their names, `candidate/server-1`; each deployment knows its own by plain ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from steelyard.engines.base import Deployment, Running
from steelyard.errors import ServerFailed
from steelyard.processes.listening import Listener
from steelyard.results.failure import Failure
from steelyard.results.spec import Component

MARK = "/"
"""Between a side and a name."""


def with_side(side: str, component: Component) -> Component:
    """A component under the name that it has beside the other side's."""
    return component.model_copy(update={"name": f"{side}{MARK}{component.name}"})


def side_of(component: str | None, sides: Iterable[str]) -> str | None:
    """The side that a component is on; None: it is on none of these."""
    side, mark, _ = (component or "").partition(MARK)
    return side if mark and side in sides else None


def without_side(component: Component) -> Component:
    """The same under its own name."""
    return component.model_copy(update={"name": component.name.partition(MARK)[2]})


class CombinedDeployment(Deployment[Any]):
    """The deployments of two sides on this host; what a side knows better than `Deployment` itself, it is asked for."""

    def __init__(self, sides: Mapping[str, Deployment[Any]], directory: Path) -> None:
        super().__init__(directory)
        self.sides = sides
        self.contained = all(side.contained for side in sides.values())
        self.asked_before_start = all(side.asked_before_start for side in sides.values())

    def listens_elsewhere(self, component: Component) -> list[Listener]:
        """As its side sees."""
        side, _ = self._of(component.name)
        return side.listens_elsewhere(without_side(component))

    def expected_address(self, component: Component) -> tuple[int, str]:
        """As its side says."""
        side, _ = self._of(component.name)
        return side.expected_address(without_side(component))

    def start(self, components: Sequence[Component]) -> None:
        """Start those of one side, and those of the other (errors as `Deployment.start`)."""
        for name, side in self.sides.items():
            if own := [without_side(each) for each in components if side_of(each.name, [name])]:
                try:
                    side.start(own)
                except ServerFailed as failure:
                    component = f"{name}{MARK}{failure.component or ''}"
                    raise ServerFailed(f"{name}{MARK}{failure}", component) from failure

    def take_checkpoint(self, component: Component) -> None:
        """On its side."""
        side, _ = self._of(component.name)
        side.take_checkpoint(without_side(component))

    def started_components(self) -> list[Running]:
        """What runs on either side."""
        return [
            replace(running, component=with_side(name, running.component))
            for name, side in self.sides.items()
            for running in side.started_components()
        ]

    def overhead(self) -> list[int]:
        """Of both: the daemons of a container engine are the same."""
        return sorted({pid for side in self.sides.values() for pid in side.overhead()})

    def failure(self, name: str) -> str | None:
        """As its side says; a sentence begins with the name of what it is about."""
        side, own = self._of(name)
        text = side.failure(own)
        return f"{name.partition(MARK)[0]}{MARK}{text}" if text is not None else None

    def out_of_memory(self) -> bool:
        """On either side."""
        return any(side.out_of_memory() for side in self.sides.values())

    def require_programs(self) -> None:
        """Of both."""
        for side in self.sides.values():
            side.require_programs()

    def exit_code(self, name: str) -> int | None:
        """As its side says."""
        side, own = self._of(name)
        return side.exit_code(own)

    def kill(self, name: str) -> None:
        """On its side."""
        side, own = self._of(name)
        side.kill(own)

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:
        """One side after the other (see `Deployment.stop`)."""
        chosen = None if names is None else set(names)
        problems = []
        for name, side in self.sides.items():
            before = f"{name}{MARK}"
            own = [each.removeprefix(before) for each in chosen or () if each.startswith(before)]
            problems += [
                Failure(
                    component=f"{before}{problem.component or ''}",
                    cause=problem.cause,
                    detail=f"{before}{problem.detail}",
                )
                for problem in side.stop(None if chosen is None else own, grace)
            ]
        return problems

    def close(self) -> None:
        """Both, whatever comes of the first."""
        first, second = self.sides.values()
        try:
            first.close()
        finally:
            second.close()

    def logs(self, name: str) -> Path:
        """In the folder of its side's trial."""
        side, own = self._of(name)
        return side.logs(own)

    def _of(self, name: str) -> tuple[Deployment[Any], str]:
        side, _, own = name.partition(MARK)
        return self.sides[side], own

    def _end(self, units: Sequence[Any], grace: float) -> None:
        raise NotImplementedError("each side ends its own")
