# SPDX-License-Identifier: Apache-2.0
"""Shares and ratios of operations that come in sessions, drawn from DayTrader7's own mix: good trials of any length
pass, and what is wrong is found as soon as the counts tell."""

from collections.abc import Sequence

import numpy as np
import pytest
from builders import make_measurement, make_spec

from steelyard.experiment.schema import Load
from steelyard.measure import offered_load
from steelyard.measure.chance import (
    FALSE_ALARM,
    Interval,
    ratio_effect,
    ratio_interval,
    share_effect,
    share_interval,
)
from steelyard.results.measurement import RatioResult
from steelyard.results.spec import Spec
from steelyard.spec.injectors import intended_mix, mix_parts
from steelyard.workload.journey import MixPart
from steelyard.workload.loader import load_workload

TOPOLOGY = load_workload("daytrader7").workload.topologies["single"]
SALES = TOPOLOGY.ratios[0]
Counts = dict[str, int]


def daytrader(pages: int, faces: int) -> Spec:
    """DayTrader7's mix with sessions of both front ends."""
    parts = mix_parts(TOPOLOGY, Load(users=6), {"pages_sessions": pages, "faces_sessions": faces})
    return make_spec(parts=parts, mix=intended_mix(parts), ratios=[SALES])


def played(rng: np.random.Generator, parts: Sequence[MixPart], sessions: int) -> Counts:
    """What a window counts: sessions of a part drawn by its times, each of which ends at random."""
    weights = np.array([float(part.times) for part in parts])
    counts: Counts = {}
    for part, times in zip(parts, rng.multinomial(sessions, weights / weights.sum()), strict=True):
        length = sum(part.operations.values())
        requests = rng.geometric(1 / length, times).sum()
        shares = np.array([*part.operations.values()]) / length
        drawn = rng.multinomial(requests, shares)
        for name, count in zip(part.operations, drawn, strict=True):
            counts[name] = counts.get(name, 0) + int(count)
    return counts


def judged(by: Spec, counts: Counts) -> dict[str, bool]:
    """Whether the rules of mix and ratios are broken."""
    requests = sum(counts.values())
    buys = counts["buy"]
    seen = make_measurement(
        measure_seconds=1.0,
        window_injector_rate=float(requests),
        mix_intended=by.mix,
        mix_achieved={name: count / requests for name, count in counts.items()},
        ratios=[
            RatioResult(
                name=SALES.name,
                value=counts["sell"] / buys if buys else None,
                of=buys,
                low=SALES.low,
                high=SALES.high,
            )
        ],
    )
    mix, ratios = offered_load.judge_mix(seen, by), offered_load.judge_ratios(seen, by)
    assert mix.value is not None
    return {
        "mix": mix.value > offered_load.MIX_LIMIT,
        "ratios": ratios.value is not None and ratios.value > 0,
    }


@pytest.mark.parametrize("sessions", [5, 20, 200, 2000])
@pytest.mark.parametrize(("pages", "faces"), [(90, 10), (90, 45)])
def test_good_trials_pass_however_few_sessions_they_had(pages: int, faces: int, sessions: int) -> None:
    by, rng = daytrader(pages, faces), np.random.default_rng(sessions)
    trials = 300
    verdicts = [judged(by, played(rng, by.parts, sessions)) for _ in range(trials)]
    for rule in ("mix", "ratios"):
        assert sum(verdict[rule] for verdict in verdicts) <= 2, rule


def test_fixed_bands_would_void_them() -> None:
    """What makes the intervals necessary: of windows of 20 sessions most are outside of the bands themselves."""
    by, rng = daytrader(90, 45), np.random.default_rng(3)
    outside = {"mix": 0, "ratios": 0}
    for _ in range(200):
        counts = played(rng, by.parts, 20)
        requests = sum(counts.values())
        outside["mix"] += any(abs(counts[name] / requests - by.mix[name]) > 0.02 for name in by.mix)
        outside["ratios"] += not SALES.low <= counts["sell"] / max(counts["buy"], 1) <= SALES.high
    assert min(outside.values()) > 60


def test_a_ratio_of_few_sessions_is_chance_and_the_same_of_many_is_none() -> None:
    by = daytrader(90, 10)

    def broken(buys: int) -> bool:
        result = RatioResult(name=SALES.name, value=1.2, of=buys, low=SALES.low, high=SALES.high)
        found = offered_load.judge_ratios(make_measurement(ratios=[result]), by)
        assert found.value is not None
        assert found.detail.startswith("There were 1.200 sales per purchase (")
        return found.value > 0

    assert not broken(10)
    assert not broken(100)
    assert broken(2000)


def test_no_purchase_at_all_is_chance_in_few_requests_only() -> None:
    by = daytrader(90, 10).model_copy(update={"ratios": [SALES]})
    none = RatioResult(name=SALES.name, value=None, of=0, low=SALES.low, high=SALES.high)

    def applies(requests: float) -> bool:
        seen = make_measurement(
            ratios=[none], mix_intended=by.mix, measure_seconds=1.0, window_injector_rate=requests
        )
        found = offered_load.judge_ratios(seen, by)
        assert found.value is None
        return found.applies

    assert not applies(60)
    assert applies(2000)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [({"sell": 0.4}, "ratios"), ({"quotes": 1.3}, "mix"), ({"home": 0.0}, "mix")],
)
def test_what_is_wrong_is_found_in_a_window_of_many_sessions(changed: dict[str, float], rule: str) -> None:
    """Two fifths of the sales, a third more quotes, no home page: in each of twenty windows of 2,000 sessions."""
    by, rng = daytrader(90, 10), np.random.default_rng(11)
    wrong = [
        part.model_copy(
            update={
                "operations": {
                    name: count * changed.get(name, 1.0) for name, count in part.operations.items()
                }
            }
        )
        for part in by.parts
    ]
    assert all(judged(by, played(rng, wrong, 2000))[rule] for _ in range(20))


def test_the_intended_share_is_missed_by_chance_as_seldom_as_said() -> None:
    """Of single drawings, few and many."""
    rng, trials = np.random.default_rng(5), 100_000
    for share, of in ((0.02, 50), (0.3, 50), (0.3, 5000)):
        counts, times = np.unique(rng.binomial(of, share, trials), return_counts=True)
        missed = [
            count for hits, count in zip(counts, times, strict=True)
            if share_interval(hits, of).beyond(share, share) > 0
        ]  # fmt: skip
        assert sum(missed) / trials <= 1.2 * FALSE_ALARM


def test_an_interval_ends_where_there_is_nothing_left() -> None:
    assert share_interval(0, 100).low == 0.0
    assert share_interval(100, 100).high == 1.0
    assert share_interval(0, 0) == (0.0, 1.0)
    assert ratio_interval(5, 0).high == float("inf")
    assert share_interval(1, 1_000_000).low > 0.0, "what never happens by chance has happened"
    assert Interval(0.1, 0.3).beyond(0.2, 0.25) == 0.0
    assert Interval(0.1, 0.3).beyond(0.4, 0.5) == pytest.approx(0.1)


def test_operations_of_one_kind_of_session_are_as_if_drawn_one_by_one() -> None:
    one = [MixPart(times=3.0, operations={"browse": 8, "book": 2})]
    assert share_effect(one, "browse") == pytest.approx(1.0)
    assert ratio_effect(one, "book", "browse") == pytest.approx(1.0)
    assert share_effect([], "browse") == 1.0
    two = [
        MixPart(times=1.0, operations={"browse": 10}),
        MixPart(times=1.0, operations={"book": 10}),
    ]
    # Ten requests of a kind at a time, and lengths that vary as much as they are long: 2 x 10 - 1.
    assert share_effect(two, "browse") == pytest.approx(19.0)
