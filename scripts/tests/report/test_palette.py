# SPDX-License-Identifier: Apache-2.0
"""Colours of arms, as people see them who lack one kind of cone, and on their page."""

import re
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from pathlib import Path

import pytest

import steelyard.report
from steelyard.report.canvas import SERIES

STYLE = (Path(steelyard.report.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
# Of linear RGB, severity 1.0: Machado, Oliveira and Fernandes, IEEE TVCG 15(6) (2009) 1291.
SIGHT = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
THEMES = ("light", "dark")
TOLD_APART = 10.0
"""CIEDE2000; 1 can just be noticed where two patches touch."""
SEEN_ON_THE_PAGE = 3.0
"""Contrast of graphics with their ground (WCAG 2.2, 1.4.11)."""
Lab = tuple[float, float, float]


def linear(color: str) -> list[float]:
    """Linear RGB of a colour `#rrggbb`."""
    shares = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]


def lab(color: str, sight: str) -> Lab:
    """CIELAB of a colour (D65), as it is seen."""
    rgb = linear(color)
    seen = [min(1.0, max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True)))) for row in SIGHT[sight]]
    rows = (
        (0.4124, 0.3576, 0.1805, 0.9505),
        (0.2126, 0.7152, 0.0722, 1.0),
        (0.0193, 0.1192, 0.9505, 1.089),
    )
    xyz = [sum(a * b for a, b in zip(row[:3], seen, strict=True)) / row[3] for row in rows]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(first: Lab, second: Lab) -> float:
    """CIEDE2000 (Sharma, Wu and Dalal, Color Research and Application 30 (2005) 21), no colour without chroma."""
    chroma = (hypot(*first[1:]) + hypot(*second[1:])) / 2
    stretch = 1.5 - 0.5 * sqrt(chroma**7 / (chroma**7 + 25**7))
    (l1, c1, h1), (l2, c2, h2) = (
        (light, hypot(a * stretch, b), degrees(atan2(b, a * stretch)) % 360)
        for light, a, b in (first, second)
    )
    turn = (h2 - h1 + 180) % 360 - 180
    hue, light, chroma = (h1 + turn / 2) % 360, (l1 + l2) / 2, (c1 + c2) / 2
    weight = 1 - 0.17 * cos(radians(hue - 30)) + 0.24 * cos(radians(2 * hue))
    weight += 0.32 * cos(radians(3 * hue + 6)) - 0.2 * cos(radians(4 * hue - 63))
    by_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / sqrt(20 + (light - 50) ** 2))
    by_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    by_hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    blue = -2 * sqrt(chroma**7 / (chroma**7 + 25**7)) * sin(radians(60 * exp(-(((hue - 275) / 25) ** 2))))
    return sqrt(by_light**2 + by_chroma**2 + by_hue**2 + blue * by_chroma * by_hue)


def contrast(first: str, second: str) -> float:
    """Contrast of two colours (WCAG 2.2)."""
    shares = (0.2126, 0.7152, 0.0722)
    lights = (sum(a * b for a, b in zip(shares, linear(color), strict=True)) for color in (first, second))
    low, high = sorted(lights)
    return (high + 0.05) / (low + 0.05)


def colors_of(theme: str) -> dict[str, str]:
    """Colours of the charts by name: `s1`, `surface`."""
    block = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[THEMES.index(theme)]
    return dict(re.findall(r"--chart-(\w+): (#\w{6})", block))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [  # of Sharma's own table
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_differences_are_those_that_are_published(first: Lab, second: Lab, expected: float) -> None:
    assert difference(first, second) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", THEMES)
def test_arms_are_told_apart_by_colour_and_by_mark(theme: str, sight: str) -> None:
    colors = colors_of(theme)
    seen = {n: lab(colors[f"s{n}"], sight) for n in range(1, len(SERIES) + 1)}
    near = {
        (one, other): round(difference(seen[one], seen[other]), 1)
        for one, other in combinations(seen, 2)
        if difference(seen[one], seen[other]) < TOLD_APART
    }
    assert near == {}
    assert len({mark for _, mark, _ in SERIES}) == len(SERIES)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", THEMES)
def test_a_void_trial_is_told_from_a_valid_one(theme: str, sight: str) -> None:
    colors = colors_of(theme)
    assert difference(lab(colors["accent"], sight), lab(colors["void"], sight)) >= TOLD_APART


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_drawn_stands_out_from_its_page(theme: str) -> None:
    colors = colors_of(theme)
    faint = {
        name: round(contrast(color, colors["surface"]), 2)
        for name, color in colors.items()
        if name not in ("surface", "grid") and contrast(color, colors["surface"]) < SEEN_ON_THE_PAGE
    }
    assert faint == {}
