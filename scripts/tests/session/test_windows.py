# SPDX-License-Identifier: Apache-2.0
"""Which seconds of load a window holds. Under a load that grows all the time every second has a count of its own."""

import math

import pytest
from sessions import Bench, failed, ping

WARM_UP, MEASURED = 2, 5
RATE = 100.0


def served(seconds: float) -> float:
    """The nth second of load has 2n - 1 times the requests of the first one: n squared since the load began."""
    return seconds**2


def test_a_ramp_up_begins_with_the_first_second_of_load(bench: Bench) -> None:
    bench.world.warmth = served
    question = ping(
        procedure="ramp-up", load={"users": 8, "measure": MEASURED}, metrics={"primary": "requests_lost"}
    )
    one = bench.run(bench.session(question, blocks=1))[0]
    assert failed(one) == []
    assert one.measurement is not None
    assert one.curves["throughput"] == pytest.approx([100.0, 300.0, 500.0, 700.0, 900.0])
    # All of them, and none from before or after: 2,500 in 5 s.
    assert one.measurement.value("window_server_rate") == pytest.approx(500.0)
    assert one.measurement.window_injector_rate == pytest.approx(500.0)


def test_a_steady_window_begins_with_the_first_whole_second_after_the_warm_up(bench: Bench) -> None:
    bench.world.warmth = served
    warmup = {"until": "fixed", "at_least": WARM_UP}
    load = {"users": 8, "ramp": 1, "warmup": warmup, "measure": MEASURED}
    one = bench.run(bench.session(ping(load=load), blocks=1))[0]
    assert failed(one) == []
    assert one.measurement is not None
    load_from = bench.world.deployments[0].load_from
    assert load_from is not None
    begin = math.ceil(one.phases["warmup"][0] + WARM_UP)
    assert one.phases["measure"] == (begin, begin + MEASURED)
    # From 3.23 s of load: 100 x (8.23^2 - 3.23^2) in 5 s, 1,146 requests/s; a second later it would be 1,346.
    before = begin - load_from
    expected = RATE * (served(before + MEASURED) - served(before)) / MEASURED
    assert one.measurement.value("window_server_rate") == pytest.approx(expected, rel=1e-3)
    assert one.measurement.window_injector_rate == pytest.approx(expected, rel=1e-3)
