# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: what is not zero is not shown as zero, and what was asked for is shown as it was."""

import pytest

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
