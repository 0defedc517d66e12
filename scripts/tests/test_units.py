# SPDX-License-Identifier: Apache-2.0
"""Durations as people write them, and as records hold them."""

import math

import pytest

from steelyard.experiment.schema import Load
from steelyard.units import YEAR, add_known, parse_duration


@pytest.mark.parametrize("text", ["0.05ms", "0.000001ms", "30s", "0", 5e-05, 0.1, 7, YEAR])
def test_a_duration_in_seconds_is_itself(text: str | float) -> None:
    """Python writes those below 0.1 ms as 5e-05, which no person does."""
    seconds = parse_duration(text)
    assert isinstance(seconds, float)
    assert parse_duration(seconds) == seconds


def test_a_load_that_was_written_is_read() -> None:
    load = Load.model_validate({"users": 1, "think_time": "0.05ms"})
    assert load.think_time == 5e-05
    assert Load.model_validate(load.model_dump()) == load
    assert Load.model_validate_json(load.model_dump_json()) == load


@pytest.mark.parametrize("number", [-1, -0.5, math.nan, math.inf, True, 10**400, "5e-05", "nan"])
def test_what_is_no_duration_is_refused(number: str | float) -> None:
    with pytest.raises(ValueError, match=r"is not a duration|is more than a year"):
        parse_duration(number)


def test_a_sum_of_which_a_part_is_not_known_is_not_known() -> None:
    assert add_known([1, 2]) == 3
    assert add_known(share for share in (0.5, None)) is None
    assert add_known(list[int | None]()) is None
