# SPDX-License-Identifier: Apache-2.0
"""Methods are named over starts: a planted one is, and of equal arms hardly ever any."""

import random
from collections import Counter

import pytest

from steelyard.analysis.culprits import LEVEL, culprits
from steelyard.analysis.profiles import ProfileData, Stack, changes


def start(generator: random.Random, factor: float = 1.0, planted: str = "step3") -> ProfileData:
    """A start of a server of 40 methods: each costs up to a tenth more or less than in the other starts."""
    costs = {f"step{n}": 500.0 * 1.2**n * generator.gauss(1, 0.05) for n in range(40)}
    costs[planted] *= factor
    slices: list[Counter[Stack]] = [
        Counter(
            {
                (f"shop/Service.{name}_[j]",): round(cost * generator.gauss(1, 0.03))
                for name, cost in costs.items()
            }
        )
        for _ in range(6)
    ]
    return ProfileData("cpu", slices, requests=[500.0] * 6)


def starts(
    generator: random.Random, number: int, factor: float = 1.0, planted: str = "step3"
) -> list[ProfileData]:
    return [start(generator, factor, planted) for _ in range(number)]


@pytest.mark.parametrize("number", [4, 5, 8])
def test_a_planted_method_is_named_first(number: int) -> None:
    generator = random.Random(number)
    named = culprits(starts(generator, number), starts(generator, number, 1.6, "step30"))
    assert named[0].method == "shop/Service.step30"
    assert named[0].arm > 1.4 * named[0].baseline
    assert len(named) <= 2


@pytest.mark.parametrize("number", [4, 6])
def test_of_equal_arms_hardly_any_is_named(number: int) -> None:
    generator = random.Random(number)
    sessions = 200
    false = sum(bool(culprits(starts(generator, number), starts(generator, number))) for _ in range(sessions))
    # 95 % of sessions name none: what chance adds to 200 of them is 3.3 standard deviations.
    assert false <= sessions * LEVEL + 3.3 * (sessions * LEVEL * (1 - LEVEL)) ** 0.5


def test_too_few_starts_name_none() -> None:
    generator = random.Random(1)
    assert culprits(starts(generator, 3), starts(generator, 8, 3.0)) == []


def test_where_nothing_was_sampled_none_is_named() -> None:
    empty: Counter[Stack] = Counter()
    nothing = [ProfileData("lock", [empty] * 6, requests=[500.0] * 6) for _ in range(4)]
    assert culprits(nothing, nothing) == []
    assert changes(nothing[0], nothing[0]) == []
    assert culprits(nothing, starts(random.Random(1), 4))[0].baseline == 0
