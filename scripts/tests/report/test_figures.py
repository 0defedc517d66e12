# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: what is not zero is not shown as zero, and what was asked for is shown as it was."""

from typing import NamedTuple

import pytest

from steelyard.results import figures
from steelyard.units import MIB, format_size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 MiB"),
        (100, "100 bytes"),
        (64 * 1024, "64 KiB"),
        (300 * 1024, "300 KiB"),
        (MIB, "1 MiB"),
        (512 * MIB, "512 MiB"),
        (16 * 1024 * MIB, "16.0 GiB"),
    ],
)
def test_a_size_is_told_in_the_unit_that_shows_it(size: int, text: str) -> None:
    assert format_size(size) == text


class Estimate(NamedTuple):
    """A ratio and its interval."""

    ratio: float | None
    low: float | None
    high: float | None


@pytest.mark.parametrize(
    ("estimate", "effect", "bounds"),
    [
        (
            Estimate(0.9997, 0.9995, 0.9999),
            "\N{MINUS SIGN}0.03 %",
            "\N{MINUS SIGN}0.05 to \N{MINUS SIGN}0.01 %",
        ),
        (Estimate(1.0003, 0.99, 1.01), "+0.03 %", "\N{MINUS SIGN}1.00 to +1.00 %"),
        (Estimate(1.02, 1.0001, 1.04), "+2.00 %", "+0.01 to +4.00 %"),
        (Estimate(1.02, 0.99999, 1.04), "+2.0 %", "0.0 to +4.0 %"),
        (Estimate(1.0, 1.0, 1.0), "0.0 %", "0.0 to 0.0 %"),
        (Estimate(1 + 1e-15, None, None), "0.0 %", ""),
        (Estimate(2.88, 2.83, 2.93), "+188 %", "+183 to +193 %"),
    ],
)
def test_a_change_is_not_shown_as_none(estimate: Estimate, effect: str, bounds: str) -> None:
    assert (figures.effect(estimate), figures.bounds(estimate)) == (effect, bounds)


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.00001, "0.001 %"), (0.0004, "0.04 %"), (0.0, "0.0 %"), (1e-17, "0.00 %")]
)
def test_a_share_is_not_shown_as_none(fraction: float, text: str) -> None:
    assert figures.percent(fraction) == text


@pytest.mark.parametrize(
    ("margin", "text"),
    [(0.03, "3.0 %"), (0.1, "10 %"), (0.105, "10.5 %"), (0.125, "12.5 %"), (0.0025, "0.25 %")],
)
def test_a_margin_is_shown_as_it_was_asked_for(margin: float, text: str) -> None:
    assert figures.margin_text(margin) == text


@pytest.mark.parametrize(
    ("floor", "margin", "text"),
    [
        (0.104, 0.1, "10.4 %"),
        (0.1003, 0.1, "10.03 %"),
        (0.0304, 0.03, "3.04 %"),
        (0.2, 0.1, "20 %"),
        (0.1, 0.1, "10 %"),
    ],
)
def test_a_floor_beside_a_margin_is_told_apart_from_it(floor: float, margin: float, text: str) -> None:
    assert figures.beside_margin(floor, margin) == text


@pytest.mark.parametrize(
    ("raw", "digits", "text"),
    [
        (0.5, 0, "0.50"),
        (-0.5, 0, "\N{MINUS SIGN}0.50"),
        (0.51, 0, "1"),
        (0.05, 1, "0.1"),
        (0.0031, 2, "0.0031"),
        (0, 1, "0.0"),
    ],
)
def test_a_number_is_not_shown_as_none(raw: float, digits: int, text: str) -> None:
    assert figures.number(raw, digits) == text
