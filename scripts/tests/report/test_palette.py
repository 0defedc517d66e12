# SPDX-License-Identifier: Apache-2.0
"""Colours of arms, as people see them who lack one kind of cone."""

import re
from itertools import combinations
from math import dist
from pathlib import Path

import pytest

import steelyard.report
from steelyard.report.canvas import SERIES

STYLE = (Path(steelyard.report.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
# Of linear RGB: Vienot, Brettel and Mollon, Color Research and Application 24 (1999) 243.
SIGHT = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanope": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deuteranope": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
}
TOLD_APART = 10.0
"""Difference of CIELAB (CIE76); 2.3 can just be noticed."""


def lab(color: str, sight: str) -> tuple[float, float, float]:
    """CIELAB of a colour `#rrggbb` (D65), as it is seen."""
    shares = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    seen = [max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))) for row in SIGHT[sight]]
    rows = (
        (0.4124, 0.3576, 0.1805, 0.9505),
        (0.2126, 0.7152, 0.0722, 1.0),
        (0.0193, 0.1192, 0.9505, 1.089),
    )
    xyz = [sum(a * b for a, b in zip(row[:3], seen, strict=True)) / row[3] for row in rows]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_arms_are_told_apart_by_colour_and_by_mark_and_dash(theme: int, sight: str) -> None:
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    colours = [re.search(rf"--chart-s{n}: (#\w{{6}})", blocks[theme]) for n in range(1, len(SERIES) + 1)]
    seen = [lab(match[1], sight) for match in colours if match]
    assert len(seen) == len(SERIES)
    near = [
        (one + 1, other + 1)
        for one, other in combinations(range(len(seen)), 2)
        if dist(seen[one], seen[other]) < TOLD_APART
    ]
    assert near == []
    assert len({mark for _, mark, _ in SERIES}) == len(SERIES)
