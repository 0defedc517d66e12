# SPDX-License-Identifier: Apache-2.0
"""Flame graphs of an arm's profile, alone or against the baseline's: pages that need nothing else.

The width of a frame is its cost per 1,000 requests (Gregg, Communications of the ACM 59(6), 2016); against a baseline
its colour is the change, from blue (less) to orange (more).
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from steelyard.analysis.profiles import AREAS, ProfileData, area_of, calls_of, plain
from steelyard.escape import printable
from steelyard.results.figures import count
from steelyard.results.profile import TITLES, UNITS

SMALLEST = 0.001
"""Part of the whole below which a frame is left out: nobody can see it, and the page stays small."""
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

    def to_json(self, name: str, least: float) -> list[Any]:  # of what JSON has
        """`[name, cost, cost of the baseline, area, children]`; the widest child first, the narrowest left out."""
        children = sorted(self.children.items(), key=lambda item: -max(item[1].cost, item[1].baseline))
        kept = [
            child.to_json(called, least)
            for called, child in children
            if max(child.cost, child.baseline) >= least
        ]
        return [name, round(self.cost, 4), round(self.baseline, 4), self.area, kept]


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
    root = _Node(area=AREAS.index("other"))
    root.add(data, data.per_thousand * scale, to_baseline=False)
    if baseline is not None:
        root.add(baseline[1], baseline[1].per_thousand * scale, to_baseline=True)
    tree = root.to_json("all", SMALLEST * max(root.cost, root.baseline))
    return _ENVIRONMENT.get_template("flame.html.j2").render(
        arm=printable(arm),
        baseline=printable(baseline[0]) if baseline is not None else None,
        title=title,
        trials=count(starts, "profiled trial"),
        event=TITLES[data.event],
        unit=unit,
        per=per,
        areas=AREAS,
        # A name may hold anything: nothing in it may end the script that it stands in.
        tree=json.dumps(tree, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    )
