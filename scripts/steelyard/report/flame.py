# SPDX-License-Identifier: Apache-2.0
"""Flame graphs of an arm's profile, alone or against the baseline's: pages that need nothing else.

The width of a frame is its cost per 1,000 requests (Gregg, Communications of the ACM 59(6), 2016); against a baseline
its colour is the change, from blue (less) to orange (more).
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from steelyard.analysis.profiles import AREAS, ProfileData, area_of, calls_of, plain
from steelyard.escape import printable
from steelyard.results.figures import count, percent
from steelyard.results.profile import TITLES, UNITS

SMALLEST = 0.001
"""Part of the whole below which a frame has no row of its own: nobody can see it, and the page stays small."""
NARROW = len(AREAS)
"""Area of the frames that stand together for that."""
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined
)
SCALE = {"ns": (1e-6, "ms"), "bytes": (1 / 1024, "KiB")}
"""From a profile's unit to the one that people read."""


@dataclass
class _Node:
    """A frame below the same callers."""

    cost: float = 0.0
    baseline: float = 0.0
    area: int = 0
    children: dict[str, "_Node"] = field(default_factory=dict)

    def add(self, data: ProfileData, factor: float, *, to_baseline: bool) -> None:
        """Add the stacks of a profile, as cost per 1,000 requests."""
        for stacks in data.slices:
            for stack, cost in stacks.items():
                self._add(data, stack, cost * factor, to_baseline)

    def _add(self, data: ProfileData, stack: tuple[str, ...], cost: float, to_baseline: bool) -> None:
        node, calls = self, calls_of(data.event, stack)
        for depth in range(len(stack) + 1):
            if to_baseline:
                node.baseline += cost
            else:
                node.cost += cost
            if depth < len(stack):
                name = plain(stack[depth])
                if name not in node.children:
                    area = area_of(calls[: depth + 1]) if depth < len(calls) else area_of(calls)
                    node.children[name] = _Node(area=AREAS.index(area))
                node = node.children[name]

    def to_rows(self, least: float) -> list[list[Any]]:  # of what JSON has
        """`[name, cost, cost of the baseline, area, row of the caller]` of each frame; callers and wide ones first.

        Frames below `least` that one frame calls stand together as one. Neither this nor what writes JSON calls itself
        for each frame: Java's stacks are deeper than Python's.
        """
        rows: list[list[Any]] = []
        waiting: list[tuple[str, _Node, int]] = [("all", self, -1)]
        while waiting:
            name, node, caller = waiting.pop()
            rows.append([name, _figure(node.cost), _figure(node.baseline), node.area, caller])
            kept = [(called, child) for called, child in node.children.items() if child.widest >= least]
            narrow = [child for child in node.children.values() if child.widest < least]
            together = _Node(sum(n.cost for n in narrow), sum(n.baseline for n in narrow), NARROW)
            if narrow and together.widest >= least:
                kept.append((count(len(narrow), "narrow frame"), together))
            kept.sort(key=lambda item: item[1].widest)
            waiting += [(called, child, len(rows) - 1) for called, child in kept]
        return rows

    @property
    def widest(self) -> float:
        """The larger one of its costs."""
        return max(self.cost, self.baseline)

    def shown_depth(self, names: Sequence[str], least: float) -> int:
        """How many frames of a stack, from its outermost on, have a row of their own."""
        node = self
        for depth, name in enumerate(names):
            node = node.children[name]
            if node.widest < least:
                return depth
        return len(names)


def _figure(cost: float) -> float:
    return float(f"{cost:.6g}")


def _narrow_names(
    root: _Node, least: float, sides: Sequence[tuple[ProfileData, float]]
) -> list[list[str | float]]:
    """`[name, cost, cost of the baseline, hidden cost, hidden cost of the baseline]` of each name that stands in frames
    without a row: of all stacks that hold it, and of those that hold it in such frames alone.

    Args:
        root: of the tree.
        least: cost below which a frame has no row.
        sides: profile of the arm and of the baseline, each with the factor of its costs.
    """
    costs: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for side, (data, factor) in enumerate(sides):
        for stacks in data.slices:
            for stack, cost in stacks.items():
                names = [plain(frame) for frame in stack]
                shown = set(names[: root.shown_depth(names, least)])
                for name in set(names):
                    costs[name][side] += cost * factor
                    costs[name][side + 2] += cost * factor if name not in shown else 0.0
    return [[name, *map(_figure, own)] for name, own in costs.items() if own[2] or own[3]]


def flame_page(
    arm: str,
    data: ProfileData,
    baseline: tuple[str, ProfileData] | None,
    title: str,
    starts: int,
    per: str = "per 1,000 requests",
) -> str:
    """The page of an arm.

    Args:
        arm: its label.
        data: its profile.
        baseline: label and profile that it is compared with; None: it is the baseline, or that has none.
        title: of the session.
        starts: how many profiled trials its profile is of.
        per: what costs are that of.
    """
    scale, unit = SCALE[UNITS[data.event]]
    profiles = [data] if baseline is None else [data, baseline[1]]
    sides = [(profile, profile.per_thousand * scale) for profile in profiles]
    root = _Node(area=AREAS.index("other"))
    for profile, factor in sides:
        root.add(profile, factor, to_baseline=profile is not data)
    least = SMALLEST * root.widest
    return _ENVIRONMENT.get_template("flame.html.j2").render(
        arm=printable(arm),
        baseline=printable(baseline[0]) if baseline is not None else None,
        title=title,
        trials=count(starts, "profiled trial"),
        event=TITLES[data.event],
        unit=unit,
        per=per,
        areas=(*AREAS, "too narrow to show"),
        smallest=percent(SMALLEST),
        nodes=_to_script(root.to_rows(least)),
        narrow=_to_script(_narrow_names(root, least, sides)),
    )


def _to_script(rows: list[list[Any]]) -> str:
    """JSON for the script of a page; a name may hold anything, and nothing in it may end that script."""
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
