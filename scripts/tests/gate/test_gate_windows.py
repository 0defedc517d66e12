# SPDX-License-Identifier: Apache-2.0
"""With which windows a gate would see most, by what a certificate's session showed."""

import math
import shutil
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from builders import make_trial
from pairs import BASE, NEW
from test_certificate import equal_session, starts

from steelyard.analysis.paired import sd_bound
from steelyard.gate.certificate import Windows, best_windows, make_certificate, windows_of
from steelyard.gate.interim import floor_of, interims_until
from steelyard.gate.needs import relative_spread
from steelyard.gate.windows import best_window, describe_windows, figures_of, floor_in, variance_within
from steelyard.measure.samples import Samples
from steelyard.results.figures import percent
from steelyard.results.store import SessionDirectory

SESSION = Path(__file__).parent.parent / "fixtures" / "sessions" / "steady.zip"


def test_as_many_windows_as_kalibera_and_jones_say() -> None:
    """A start costs 8 windows and varies half as much as one of them: sqrt(8 x 2) in each start."""
    assert best_windows(8.0, 2e-4, 1e-4) == 4
    assert best_windows(8.0, 1e-6, 1e-4) == 1
    assert best_windows(8.0, 1e-4, 0.0) is None


def test_the_floor_is_that_of_a_gate_with_as_many_pairs_as_there_is_time_for() -> None:
    """900 s hold 14 pairs of 60 s and one more; a second of 4 % and a start of 1 % are 1.34 % in 20 s."""
    floor = floor_in(900.0, 10.0, 20.0, 0.04**2, 0.01**2)
    sd = math.sqrt(2 * (0.01**2 + 0.04**2 / 20))
    assert math.expm1(floor * sd_bound(10)) == pytest.approx(floor_of(sd, 10, interims_until(14)))
    assert floor_in(300.0, 10.0, 20.0, 0.04**2, 0.01**2) == math.inf


@pytest.mark.parametrize(("within", "between"), [(0.0, 1e-4), (1e-3, 1e-4), (1e-1, 1e-6)])
@pytest.mark.parametrize("seconds", [600.0, 900.0, 1800.0])
def test_no_window_has_a_lower_floor_than_the_best(seconds: float, within: float, between: float) -> None:
    best = best_window(seconds, 12.0, within, between)
    floors = [floor_in(seconds, 12.0, window, within, between) for window in range(4, 61)]
    assert floor_in(seconds, 12.0, best, within, between) == min(floors)


def test_starts_that_differ_want_short_windows_and_seconds_that_differ_long_ones() -> None:
    short, long = (best_window(900.0, 12.0, *variances) for variances in ((1e-5, 1e-4), (1e-1, 1e-6)))
    assert short < 12 < long


def test_the_variance_of_a_second_is_known_from_parts_of_any_length() -> None:
    seconds = np.random.default_rng(4).normal(100.0, 5.0, (400, 40))
    pairs = seconds.reshape(400, 20, 2).mean(axis=2)
    for series, each in ((seconds, 1.0), (pairs, 2.0)):
        assert variance_within(series.tolist(), each) == pytest.approx(0.05**2, rel=0.05)


def test_variance_is_split_over_starts_and_windows() -> None:
    """Starts of 3 %, seconds of 4 %: windows of two seconds have 4 % / sqrt(2)."""
    rng = np.random.default_rng(8)
    made = []
    for at in range(400):
        level = 1000 * math.exp(rng.normal(0, 0.03))
        trace = [(float(second), level * (1 + rng.normal(0, 0.04))) for second in range(1, 41)]
        phases = {"start": (0.0, 7.0), "ramp": (7.0, 10.0), "warmup": (10.0, 20.0), "measure": (20.0, 50.0)}
        made.append(make_trial(at // 2 + 1, (BASE, NEW)[at % 2], phases=phases, trace=trace))
    found = windows_of(made)
    assert found is not None
    assert found.per_start == 15
    assert found.start_seconds == 20
    assert found.window_sd == pytest.approx(0.04 / math.sqrt(2), rel=0.05)
    assert found.start_sd == pytest.approx(0.03, rel=0.1)
    # sqrt(20 s / 2 s) x 2.83 % / 3 %
    assert found.best == round(math.sqrt(10) * found.window_sd / found.start_sd) == 3
    assert windows_of(made[:4]) is None
    same = [
        one.model_copy(update={"trace": [(s, rate * 1000 / one.trace[0][1]) for s, rate in one.trace]})
        for one in made
    ]
    alike = windows_of(same)
    assert alike is not None
    assert alike.start_sd < 0.05


def test_what_an_arm_changes_is_no_variation_of_starts() -> None:
    """30 % more throughput of one arm were 19 % from start to start, and no window seemed to save anything."""

    def split(change: float) -> Windows:
        rng = np.random.default_rng(8)
        made = []
        for at in range(60):
            level = 1000 * (1 + change * (at % 2)) * math.exp(rng.normal(0, 0.03) + at / 300)
            trace = [(float(second), level * (1 + rng.normal(0, 0.04))) for second in range(1, 41)]
            phases = {"ramp": (0.0, 1.0), "measure": (11.0, 41.0)}
            made.append(make_trial(at // 2 + 1, (BASE, NEW)[at % 2], phases=phases, trace=trace))
        # A block without one arm says nothing of starts.
        found = windows_of(made[:-1])
        assert found is not None
        return found

    equal, faster = split(0.0), split(0.3)
    assert faster.start_sd == pytest.approx(equal.start_sd)
    assert relative_spread(faster, 30, 240) == pytest.approx(relative_spread(equal, 30, 240))


@pytest.fixture
def recorded(tmp_path: Path) -> SessionDirectory:
    shutil.unpack_archive(SESSION, tmp_path)
    return SessionDirectory(tmp_path)


def test_parts_of_a_recorded_window_make_up_its_figures(recorded: SessionDirectory) -> None:
    session = recorded.session()
    for trial in recorded.trials():
        (servers,) = (
            [each.name for each in arm.spec.servers] for arm in session.arms if arm.name == trial.arm
        )
        samples = Samples.load(recorded.trial_path(trial.block, trial.arm, trial.attempt) / "samples")
        window, begin = session.experiment.load.measure, math.floor(trial.phases["measure"][0])
        rates = figures_of(samples, servers, begin, window, "throughput", 2.0)
        costs = figures_of(samples, servers, begin, window, "cpu_per_1k", 2.0)
        assert rates is not None
        assert costs is not None
        assert fmean(rates) == pytest.approx(trial.metrics["throughput"], rel=1e-3)
        mean = math.fsum(map(math.prod, zip(rates, costs, strict=True))) / math.fsum(rates)
        assert mean == pytest.approx(trial.metrics["cpu_per_1k"], rel=1e-3)
        assert figures_of(samples, [*servers, "gone"], begin, window, "throughput") is None


def test_what_a_session_showed_is_told_of_the_metric_that_decides(recorded: SessionDirectory) -> None:
    made = make_certificate(equal_session(10), starts(0.01, 10))
    (noise,) = made.noise
    certificate = made.model_copy(update={"noise": [noise.model_copy(update={"metric": "throughput"})]})
    window = recorded.session().experiment.load.measure
    pair = 80.0 + 2 * window
    sentence = describe_windows(certificate.model_copy(update={"pair_seconds": pair}), recorded)
    assert sentence is not None
    assert sentence.startswith("throughput varies by ")
    assert "and a start costs 40 s: " in sentence
    assert "15 min" in sentence
    assert describe_windows(made, recorded) is None, "the certificate has no figure of the session's metric"
    # Its floor is the certificate's, whatever the seconds of a window seem to explain.
    floor = floor_of(noise.pair_sd, 10, interims_until(int(900 / pair)))
    assert f"({percent(floor)} with these of 6 s); for both commands: --set measure=" in sentence


def test_starts_that_their_seconds_explain_wholly_do_not_differ_beyond_them(
    recorded: SessionDirectory,
) -> None:
    """(sd^2 x 6) / 6 is more than sd^2 there, by rounding."""
    sd = 0.010011
    assert sd**2 - sd**2 * 6 / 6 < 0
    made = make_certificate(equal_session(10), starts(0.01, 10))
    (noise,) = made.noise
    throughput = noise.model_copy(update={"metric": "throughput", "start_sd": sd})
    certificate = made.model_copy(update={"noise": [throughput], "pair_seconds": 92.0})
    sentence = describe_windows(certificate, recorded)
    assert sentence is not None
    assert "and by 0.0 % from start to start beyond that" in sentence
