# SPDX-License-Identifier: Apache-2.0
"""Two trials at once: a duet (Bulej et al., "Duet benchmarking", ICPE 2020).

    the specs of both sides, each on its half of the cores -> one spec of all components -> one run, its procedure
    what was sampled -> each side's own samples, under its own names -> two trials, as if each had run alone

What disturbs the host meanwhile meets both sides, and cancels in their ratio; in turns (turns.py) also what disturbs
its CPUs one by one. A side that is void voids the other: it was measured beside something that was not as it should be.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from steelyard.engines.base import Deployment
from steelyard.engines.both import MARK, CombinedDeployment, side_of, with_side, without_side
from steelyard.errors import BadInput, MissingRequirement
from steelyard.measure.columns import KEYS
from steelyard.measure.ledger import PARTNER, is_void, voiding_checks
from steelyard.regular import read_text
from steelyard.results.schema import Check
from steelyard.results.spec import Spec
from steelyard.results.store import report_no_space
from steelyard.session.counting import counts_path
from steelyard.session.trial_run import TrialRun
from steelyard.session.turns import Turns
from steelyard.spec.split import Core
from steelyard.workload.schema import Consistency, DataRequest

Step = TypeVar("Step", DataRequest, Consistency)

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


def check_duet(specs: Mapping[str, Spec]) -> None:
    """Refuse sides that cannot run at once (raises BadInput)."""
    if len(specs) != 2:
        raise BadInput(f"a duet has two arms, and this experiment {len(specs)}: leave --duet out")
    first, second = specs.values()
    jvms = [server.jvm_settings for spec in specs.values() for server in spec.servers]
    for why, applies in (
        (f"procedure {first.procedure} has no common measurement", first.procedure != "steady"),
        ("in a cluster the scheduler says what runs where", first.remote),
        ("the arms have different loads", first.load != second.load),
        (
            "an open load goes on while a side is frozen",
            first.in_turns and first.load.model == "open",
        ),
        (
            "how many servers are best on a host is asked of a whole one",
            len(first.servers) != len(second.servers),
        ),
        ("the arms want settings of the whole host", bool(first.host_states or second.host_states)),
        (
            "the pool of large pages is prepared for one side",
            any(jvm is not None and jvm.pages == "large" for jvm in jvms),
        ),
    ):
        if applies:
            option = "in-turns" if first.in_turns else "duet"
            raise BadInput(f"both sides of a duet run at once, and {why}: leave --{option} out")


def merge_sides(sides: Mapping[str, Spec]) -> Spec:
    """One spec with the components of both sides; it is what runs, and nothing is reported of it."""
    first, *_ = sides.values()

    def in_side(side: str, steps: Iterable[Step]) -> list[Step]:
        return [step.model_copy(update={"component": f"{side}{MARK}{step.component}"}) for step in steps]

    return first.model_copy(
        update={
            "arm": " and ".join(sides),
            "components": [
                # In the order in which they start, injectors last.
                with_side(side, component)
                for components in ("without_injectors", "injectors")
                for side, spec in sides.items()
                for component in getattr(spec, components)
            ],
            "entry": [f"{side}{MARK}{name}" for side, spec in sides.items() for name in spec.entry],
            "data": [step for side, spec in sides.items() for step in in_side(side, spec.data)],
            "consistency": [
                check.model_copy(update={"about": f"{side}{MARK}{check.about}"})
                for side, spec in sides.items()
                for check in in_side(side, spec.consistency)
            ],
            "server_cores": first.server_cores
            if first.in_turns
            else sum(spec.server_cores for spec in sides.values()),
            "duet": False,  # no third one runs beside them
        }
    )


@dataclass
class CombinedRun(TrialRun):
    """The run of two sides, whose deployment is `Both`."""

    sides: Mapping[str, Spec] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Of the trial of each side."""
    _turns: Turns | None = None

    @contextmanager
    def under_load(self) -> Iterator[None]:
        """In turns where the sides want it."""
        if any(spec.in_turns for spec in self.sides.values()):
            with Turns([*self.sides], self.deployment.started_components()) as self._turns:
                yield
        else:
            yield

    def check_alive(self) -> None:
        """As of one side; raise MissingRequirement where no side can be frozen as well: no other trial could do it."""
        super().check_alive()
        if self._turns is not None and self._turns.failure is not None:
            raise MissingRequirement(self._turns.failure)

    @property
    def deployments(self) -> Sequence[tuple[Spec, Deployment[Any]]]:
        """Those of both sides."""
        assert isinstance(self.deployment, CombinedDeployment)
        return [(spec, self.deployment.sides[side]) for side, spec in self.sides.items()]

    @cached_property
    def trials(self) -> Sequence[TrialRun]:
        """Each side as if it had run alone. Once everything has stopped: then its samples are cut out."""
        return [
            self._side(side, deployment)
            for side, (_, deployment) in zip(self.sides, self.deployments, strict=True)
        ]

    def _side(self, side: str, deployment: Deployment[Any]) -> TrialRun:
        extract_samples(self.folder / "samples", side, self.folders[side] / "samples")
        run = TrialRun(
            self.sides[side],
            self.folders[side],
            deployment,
            self.context,
            self.log_phase,
            self.phases,
            ramp_end=self.ramp_end,
            window=self.window,
            throttled=self.throttled,
            network_path=self.network_path,
            steady=self.steady,
            steady_detail=self.steady_detail,
            failures=[
                failure for failure in self.failures if side_of(failure.component, self.sides) in (None, side)
            ],
            killed={
                name.partition(MARK)[2]: time for name, time in self.killed.items() if self._is_of(side, name)
            },
        )
        run.wall_ahead = self.wall_ahead
        for name, started in self.deployed.started.items():
            if self._is_of(side, name):
                component = without_side(started.component)
                copy_counts((self.folder, name), (self.folders[side], component.name))
                run.deployed.started[component.name] = replace(
                    started, running=replace(started.running, component=component)
                )
        return run

    def _is_of(self, side: str, name: str) -> bool:
        return side_of(name, self.sides) == side


def extract_samples(samples: Path, side: str, folder: Path) -> None:
    """Write what was sampled of one side under its own names, and what was sampled of the host and of the harness."""
    with report_no_space(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for path in (path for path in samples.glob("*.csv") if path.stem in KEYS):  # not what perf counted
        head, *rows = read_text(path).splitlines(keepends=True)
        if "process" in KEYS[path.stem]:
            rows = [own for row in rows if (own := _own_row(row, side)) is not None]
        with report_no_space(folder):
            (folder / path.name).write_text("".join([head, *rows]), encoding="utf-8")


def copy_counts(both: tuple[Path, str], own: tuple[Path, str]) -> None:
    """Give a side what perf counted of a component of it; nothing where nothing was counted.

    Args:
        both: folder and name of what ran at once.
        own: folder and name as the side's own trial has them.
    """
    source, target = (counts_path(folder, name) for folder, name in (both, own))
    if source.exists():
        with report_no_space(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _own_row(row: str, side: str) -> str | None:
    """A row under the side's own name; None: it is the other side's."""
    epoch, _, rest = row.partition(",")
    process, comma, figures = rest.partition(",")
    owner, mark, name = process.partition(MARK)
    if not mark:
        return row
    return f"{epoch},{name}{comma}{figures}" if owner == side else None


def judge_together(checks: Mapping[str, Sequence[Check]]) -> dict[str, list[Check]]:
    """The checks of both sides; beside a side that is void the other one fails too."""
    void = [side for side, own in checks.items() if is_void(own)]
    judged = {side: list(own) for side, own in checks.items()}
    for side in judged.keys() - void if void else ():
        (other,) = void
        why = voiding_checks(checks[other])[0].detail
        sentence = f"{other}, which was measured at the same time, is void: {why}"
        judged[side].append(
            Check(name=PARTNER, passed=False, voids=True, value=None, limit=None, unit="", detail=sentence)
        )
    return judged
