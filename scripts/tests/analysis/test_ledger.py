# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from session_builder import measurement

from steelyard.analysis.ledger import MIX_FALSE_ALARM, RULES, is_void, judge, mix_allowance
from steelyard.results.schema import RatioResult

# check -> what just passes, what just fails. 60,000 requests in the window; the mix allowance is asked for below.
AT = 0.02 + mix_allowance(0.5, 60_000, 2)
CHANCE = mix_allowance(0.7, 60_000, 2)


def ratio(value: float | None, of: int) -> RatioResult:
    return RatioResult(name="flights found per query", value=value, of=of, low=0.6, high=0.7)


LIMITS = {
    "injector-cpu": ({"injector_cpu_share": 0.80}, {"injector_cpu_share": 0.801}),
    "late-arrivals": ({"late_share": 0.001}, {"late_share": 0.00101}),
    "arrival-rate": (
        {"window_injector_rate": 1010.0, "window_server_rate": 1010.0},
        {"window_injector_rate": 1010.1, "window_server_rate": 1010.1},
    ),
    "operation-mix": (
        {"mix_achieved": {"browse": 0.5 + AT - 1e-6, "book": 0.5 - AT + 1e-6}},
        {"mix_achieved": {"browse": 0.5 + AT + 1e-6, "book": 0.5 - AT - 1e-6}},
    ),
    "outcomes": (
        {"ratios": [ratio(0.7, of=60_000), ratio(0.7 + CHANCE - 1e-6, of=60_000)]},
        {"ratios": [ratio(0.7, of=60_000), ratio(0.7 + CHANCE + 1e-6, of=60_000)]},
    ),
    "errors": ({"injector_errors": 100}, {"injector_errors": 101}),
    "counts": ({"server_requests": 101_000}, {"server_requests": 101_001}),
    "counts-window": ({"window_server_rate": 990.0}, {"window_server_rate": 989.9}),
    "counts-exact": ({"server_requests": 99_900}, {"server_requests": 99_899}),
    "throttling": ({"throttled_seconds": 0.0}, {"throttled_seconds": 0.01}),
    "steal": ({"steal_share": 0.01}, {"steal_share": 0.0101}),
    "other-cpu": ({"other_cpu_share": 0.02}, {"other_cpu_share": 0.0201}),
    "restarts": ({"restarts": []}, {"restarts": ["jvm-1 was OOM-killed"]}),
    "injectors": ({"injector_failures": []}, {"injector_failures": ["injector 1 died"]}),
    "build": ({"wrong_builds": []}, {"wrong_builds": ["jvm-1"]}),
    "settings": ({"settings_differ": []}, {"settings_differ": ["heap is 1 GiB, not 2"]}),
    "clock-step": ({"clock_step_seconds": -0.25}, {"clock_step_seconds": -0.251}),
    "not-steady": ({"steady": True}, {"steady": False, "steady_detail": "Not steady."}),
    "jit-busy": ({"jit_share": 0.02}, {"jit_share": 0.0201}),
}
MARKS = {"counts-exact", "not-steady", "jit-busy"}


def failed(**changes):
    return {check.name for check in judge(measurement(**changes)) if not check.passed}


def test_every_rule_is_tested():
    assert [rule.name for rule in RULES] == list(LIMITS)


def test_an_undisturbed_trial_passes():
    checks = judge(measurement())
    assert all(check.passed for check in checks)
    assert not is_void(checks)
    assert all(check.detail.endswith(".") and check.limit is not None for check in checks)


@pytest.mark.parametrize("name", LIMITS)
def test_passes_at_its_limit_and_fails_beyond(name):
    at, beyond = LIMITS[name]
    assert name not in failed(**at)
    assert name in failed(**beyond)


@pytest.mark.parametrize("name", LIMITS)
def test_voids_or_marks(name):
    # Totals that are 0.1 % apart only mark; every other rule is failed here alone.
    checks = judge(measurement(**LIMITS[name][1]))
    assert is_void(checks) == (name not in MARKS)


@pytest.mark.parametrize(
    "field",
    [
        "injector_cpu_share",
        "late_share",
        "window_server_rate",
        "steal_share",
        "other_cpu_share",
        "clock_step_seconds",
    ],
)
def test_what_is_not_a_number_is_not_valid(field):
    assert is_void(judge(measurement(**{field: math.nan})))


def test_closed_model_has_no_arrivals():
    checks = {check.name: check for check in judge(measurement(target_rate=None, late_share=0.5))}
    assert checks["arrival-rate"].passed
    assert checks["arrival-rate"].value is None
    assert checks["late-arrivals"].passed


def test_nothing_measured_is_void():
    nothing = {
        "server_requests": 0,
        "injector_requests": 0,
        "window_server_rate": 0.0,
        "window_injector_rate": 0.0,
    }
    assert "errors" in failed(**nothing, target_rate=None, mix_achieved={})


def test_servers_that_answered_nobody_known():
    assert {"counts", "counts-exact", "errors"} <= failed(injector_requests=0)


def test_server_side_errors_count_too():
    assert failed(server_errors=101) == {"errors"}


def test_unknown_throttling_and_jit_pass_and_say_so():
    checks = {check.name: check for check in judge(measurement(throttled_seconds=None, jit_share=None))}
    for name in ("throttling", "jit-busy"):
        assert checks[name].passed
        assert checks[name].value is None
        assert "cannot be told" in checks[name].detail


def test_operation_nobody_asked_for():
    assert "operation-mix" in failed(mix_achieved={"browse": 0.48, "book": 0.47, "login": 0.05})


def test_too_few_flights_are_as_wrong_as_too_many():
    """0.537 instead of 0.675 is what a driver a day ahead of its servers finds (workload sheet of AcmeAir)."""
    checks = {c.name: c for c in judge(measurement(ratios=[ratio(0.537, of=10_000)]))}
    assert not checks["outcomes"].passed
    assert checks["outcomes"].detail == (
        "There were 0.537 flights found per query, where 0.600 to 0.700 is right."
    )
    assert "outcomes" not in failed(ratios=[ratio(None, of=0)])


def test_mix_is_lenient_with_few_requests_only():
    off = {"mix_achieved": {"browse": 0.55, "book": 0.45}, "target_rate": None}
    assert "operation-mix" not in failed(**off, window_injector_rate=10.0, window_server_rate=10.0)
    assert "operation-mix" in failed(**off)


def test_mix_allowance_is_rarely_exceeded_by_chance():
    """A mix of three operations drawn at random exceeds the allowance in one trial of a thousand."""
    import numpy as np

    shares, requests, trials = np.array([0.6, 0.3, 0.1]), 500, 200_000
    drawn = np.random.default_rng(3).multinomial(requests, shares, trials) / requests
    allowed = np.array([mix_allowance(share, requests, 3) for share in shares])
    exceeded = (abs(drawn - shares) > allowed).any(axis=1).mean()
    assert 0.2 * MIX_FALSE_ALARM < exceeded < 1.5 * MIX_FALSE_ALARM


def test_details_carry_the_figures():
    details = {
        check.name: check.detail for check in judge(measurement(steal_share=0.034, restarts=["jvm-2 died"]))
    }
    assert details["steal"] == "The hypervisor took 3.40 % of the CPU time."
    assert details["restarts"] == "A server died or restarted: jvm-2 died."
