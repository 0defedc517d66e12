# SPDX-License-Identifier: Apache-2.0
"""Charts of figures over the arms hold all that they draw."""

import pytest

from steelyard.report.canvas import canvas, with_style
from steelyard.report.charts import _cut_axis


@with_style
def limits_of(low: float, high: float) -> tuple[float, float]:
    axes = canvas(300)
    axes.plot([0, 1], [low, high], "o")
    _cut_axis(axes)
    return axes.get_ylim()


@pytest.mark.parametrize(
    ("low", "high"),
    [(-50.0, 30.0), (-50.0, -20.0), (-0.5, 0.0), (0.0, 0.0), (0.0, 30.0), (10.0, 30.0), (28.0, 30.0)],
)
def test_every_figure_lies_within_its_chart(low: float, high: float) -> None:
    bottom, top = limits_of(low, high)
    assert bottom < top
    assert bottom <= low <= high <= top
    if low <= 0.6 * high or high <= 0:
        assert bottom <= 0 <= top, "zero is shown unless the figures lie close together"
