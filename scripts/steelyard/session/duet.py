# SPDX-License-Identifier: Apache-2.0
"""Two trials at once: a duet (Bulej et al., "Duet benchmarking", ICPE 2020).

    the specs of both sides, each on its half of the cores -> one spec of all components -> one flight, its procedure
    what was sampled -> each side's own samples, under its own names -> two trials, as if each had run alone

What disturbs the host meanwhile meets both sides, and cancels in their ratio. A side that is void voids the other: it
was measured beside something that was not as it should be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from steelyard.engines.base import Deployment
from steelyard.engines.both import MARK, CombinedDeployment, side_of, with_side, without_side
from steelyard.errors import BadInput
from steelyard.measure.columns import KEYS
from steelyard.measure.ledger import PARTNER, is_void
from steelyard.regular import read_text
from steelyard.results.schema import Check
from steelyard.results.spec import Spec
from steelyard.session.flight import Flight
from steelyard.spec.split import Core

DUET = "duet"
"""In the place of the arm, in the name of the folder with what was sampled of both."""


def halves(cores: Sequence[Core]) -> tuple[list[Core], list[Core]]:
    """The cores of each side, neighbours together: two sockets or caches are not shared. An odd one is left out.

    Raises:
        BadInput: there are fewer than two.
    """
    half = len(cores) // 2
    if not half:
        raise BadInput(
            "a duet needs two cores, one for each side, and this host offers one: leave --duet out"
        )
    return list(cores[:half]), list(cores[half : 2 * half])


def refuse_impossible(specs: Mapping[str, Spec]) -> None:
    """Refuse sides that cannot run at once (raises BadInput)."""
    if len(specs) != 2:
        raise BadInput(f"a duet has two arms, and this experiment {len(specs)}: leave --duet out")
    first, second = specs.values()
    pages = [one.jvm_settings.pages for spec in specs.values() for one in spec.servers if one.jvm_settings]
    for why, wrong in (
        (f"procedure {first.procedure} has no common measurement", first.procedure != "steady"),
        ("in a cluster the scheduler says what runs where", first.remote),
        ("the arms have different loads", first.load != second.load),
        (
            "how many servers are best on a host is asked of a whole one",
            len(first.servers) != len(second.servers),
        ),
        ("the arms want settings of the whole host", bool(first.host_states or second.host_states)),
        ("the pool of large pages is prepared for one side", "large" in pages),
    ):
        if wrong:
            raise BadInput(f"both sides of a duet run at once, and {why}: leave --duet out")


def merged(sides: Mapping[str, Spec]) -> Spec:
    """One spec with the components of both sides; it is what runs, and nothing is reported of it."""
    first = next(iter(sides.values()))

    def named(side: str, one: Any) -> Any:
        return one.model_copy(update={"component": f"{side}{MARK}{one.component}"})

    return first.model_copy(
        update={
            "arm": " and ".join(sides),
            "components": [
                # In the order in which they start, injectors last.
                with_side(side, one)
                for injects in (False, True)
                for side, spec in sides.items()
                for one in spec.components
                if (one.role == "injector") == injects
            ],
            "entry": [f"{side}{MARK}{name}" for side, spec in sides.items() for name in spec.entry],
            "data": [named(side, one) for side, spec in sides.items() for one in spec.data],
            "consistency": [
                named(side, one).model_copy(update={"about": f"{side}{MARK}{one.about}"})
                for side, spec in sides.items()
                for one in spec.consistency
            ],
            "server_cores": sum(spec.server_cores for spec in sides.values()),
        }
    )


@dataclass
class Duet(Flight):
    """The flight of two sides, whose deployment is `Both`."""

    sides: Mapping[str, Spec] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Of the trial of each side."""

    @property
    def deployments(self) -> Sequence[tuple[Spec, Deployment[Any]]]:
        """Those of both sides."""
        assert isinstance(self.deployment, CombinedDeployment)
        return [(spec, self.deployment.sides[side]) for side, spec in self.sides.items()]

    @cached_property
    def parts(self) -> Sequence[Flight]:
        """Each side as if it had flown alone. Once everything has stopped: then its samples are cut out."""
        found = []
        for (side, spec), (_, deployment) in zip(self.sides.items(), self.deployments, strict=True):
            cut_out(self.folder / "samples", side, self.folders[side] / "samples")
            started = {
                without_side(one.component).name: replace(
                    one, running=replace(one.running, component=without_side(one.component))
                )
                for name, one in self.deployed.started.items()
                if name.startswith(f"{side}{MARK}")
            }
            own = [one for one in self.failures if side_of(one.component, self.sides) in (None, side)]
            part = self.part(spec, self.folders[side], deployment, started, own)
            part.killed = {
                name.partition(MARK)[2]: at
                for name, at in self.killed.items()
                if name.startswith(f"{side}{MARK}")
            }
            found.append(part)
        return found


def cut_out(samples: Path, side: str, to: Path) -> None:
    """Write what was sampled of one side under its own names, and what was sampled of the host and of the harness."""
    to.mkdir(parents=True, exist_ok=True)
    for path in samples.glob("*.csv"):
        head, *rows = read_text(path).splitlines(keepends=True)
        if "process" in KEYS[path.stem]:
            rows = [own for row in rows if (own := _own(row, side)) is not None]
        (to / path.name).write_text("".join([head, *rows]), encoding="utf-8")


def _own(row: str, side: str) -> str | None:
    """A row under the side's own name; None: it is the other side's."""
    epoch, _, rest = row.partition(",")
    process, comma, figures = rest.partition(",")
    owner, mark, name = process.partition(MARK)
    if not mark:
        return row
    return f"{epoch},{name}{comma}{figures}" if owner == side else None


def judged_together(checks: Mapping[str, Sequence[Check]]) -> dict[str, list[Check]]:
    """The checks of both sides; beside a side that is void the other one fails too."""
    void = [side for side, own in checks.items() if is_void(own)]
    found = {side: list(own) for side, own in checks.items()}
    for side in found.keys() - void if void else ():
        (other,) = void
        why = next(check.detail for check in checks[other] if check.voids and check.failed)
        sentence = f"{other}, which was measured at the same time, is void: {why}"
        found[side].append(
            Check(name=PARTNER, passed=False, voids=True, value=None, limit=None, unit="", detail=sentence)
        )
    return found
