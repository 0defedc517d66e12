# SPDX-License-Identifier: Apache-2.0
"""Loads that an injector would not offer are refused before a trial (Settings.java)."""

from typing import Any

import pytest
from pydantic import ValidationError

from steelyard.experiment.schema import Load


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ({"users": 200_000}, "200000 users are more than 100,000 for each injector: add injectors"),
        ({"model": "open", "rate": 3e6, "injectors": 2}, "0.001 to 1,000,000 arrivals/s, not 1.5e\\+06"),
        ({"model": "open", "rate": 0.01, "injectors": 20}, "0.001 to 1,000,000 arrivals/s, not 0.0005"),
        ({"users": 1, "think_time": "2h"}, "less than or equal to 3600"),
        ({"users": 1, "request_timeout": "15m"}, "less than or equal to 600"),
        ({"users": 1, "ramp": "8760h"}, "less than or equal to 518400"),
        ({"users": 1, "warmup": "145h"}, "less than or equal to 518400"),
        ({"users": 1, "measure": "145h"}, "less than or equal to 518400"),
    ],
)
def test_what_an_injector_does_not_take_is_refused(load: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Load.model_validate(load)


@pytest.mark.parametrize(
    "load",
    [
        {"users": 200_000, "injectors": 2, "think_time": "1h", "request_timeout": "10m", "measure": "144h"},
        {"model": "open", "rate": 2e6, "injectors": 2},
        {"model": "open", "rate": 0.001},
    ],
)
def test_what_it_takes_is_accepted(load: dict[str, Any]) -> None:
    assert Load.model_validate(load)
