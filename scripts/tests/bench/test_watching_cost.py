# SPDX-License-Identifier: Apache-2.0
"""`bench/watching_cost.py`: what it makes of the trials, and that its experiment can be planned."""

from argparse import Namespace
from math import exp, log
from pathlib import Path

import pytest
import watching_cost as bench
from builders import make_trial
from rich.console import Console
from session_series import Stopped, TimeLeft, why_ended

from steelyard.errors import BadInput, MissingRequirement
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.session import opening
from steelyard.session.plan import RunRequest, question_of

WAYS = {"watching-nothing": bench.NOTHING, "watching-gc-log": "GC log", "watching-perf-stat": bench.PERF}
NOTHING, GC_LOG, PERF = WAYS


def trial(block: int, arm: str, cpu: float, rate: float = 1000.0, state: str = "void") -> Trial:
    return make_trial(block, arm, state=state, metrics={bench.CPU: cpu, bench.RATE: rate})


def test_changes_are_those_of_pairs_whatever_their_blocks_had_in_common() -> None:
    # The host is half as fast in the second block, and the log costs 2 % and 4 % there.
    trials = [
        *(trial(1, NOTHING, 0.2), trial(1, GC_LOG, 0.204)),
        *(trial(2, NOTHING, 0.4, state="valid"), trial(2, GC_LOG, 0.416)),
    ]
    nothing, gc_log = bench.costs(trials, WAYS)
    assert (nothing.trials, nothing.void, nothing.cpu_change) == (2, 1, None)
    assert (gc_log.way, gc_log.void) == ("GC log", 2)
    assert gc_log.cpu_change is not None
    assert gc_log.cpu_change.ratio == pytest.approx((1.02 * 1.04) ** 0.5)
    # Student's t of one degree of freedom at 97.5 %: 12.706.
    half = 12.7062 * (log(1.04) - log(1.02)) / 2
    assert gc_log.cpu_change.bounds is not None
    assert gc_log.cpu_change.bounds[1] == pytest.approx(gc_log.cpu_change.ratio * exp(half), rel=1e-4)
    assert str(gc_log.rate_change) == "0.0 % (0.0 to 0.0 %)"


def test_trials_without_figures_or_without_their_pair_are_left_out() -> None:
    trials = [
        trial(1, NOTHING, 0.2),
        *(trial(1, PERF, 0.22), trial(2, PERF, 0.5)),
        make_trial(2, NOTHING, state="void", metrics={}),
    ]
    nothing, perf = bench.costs(trials, WAYS)
    assert nothing.trials == 1
    assert perf.trials == 2
    assert str(perf.cpu_change) == "+10 % (no interval)"
    assert bench.table([nothing, perf]).splitlines()[2:] == [
        "| nothing | 1 (1) | 0.200 ms | 1,000 |",
        "| perf stat | 2 (2) | +10 % (no interval) | 0.0 % (no interval) |",
    ]


def test_its_experiment_has_an_arm_for_each_way(tmp_path: Path) -> None:
    options = Namespace(workload="ping", users=8, warm_up=30, seconds=20, blocks=10, profile=["cpu", "alloc"])
    file = tmp_path / "watching.yaml"
    file.write_text(bench.experiment_text(options), encoding="utf-8")
    experiment = question_of(RunRequest(str(file))).experiment
    assert list(experiment.factors[bench.FACTOR].levels) == [*bench.LEVELS, "profiler cpu", "profiler alloc"]
    assert experiment.design.equal


def test_no_trial_begins_that_would_not_end_in_time() -> None:
    now = 0.0
    left = TimeLeft(1.0, lambda: now)
    taken = [make_trial(1, NOTHING, started=100.0, phases={"start": (101, 105), "stop": (125, 130)})]
    bench.require_time(left, [])  # the first one
    now = 30.0
    bench.require_time(left, taken)
    now = 31.0
    with pytest.raises(Stopped, match="no time for another trial of 30 s"):
        bench.require_time(left, taken)


def test_a_folder_without_a_session_is_used_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill before the session was written down leaves one."""
    for name in ("make_ready", "ensure_builds"):
        monkeypatch.setattr(bench, name, lambda *_: None)
    monkeypatch.setattr(bench, "prepare_resume", lambda *_, **__: (None, ""))
    run: list[Path] = []
    monkeypatch.setattr(bench, "run", lambda directory, *_: run.append(directory.path))
    monkeypatch.setattr(opening, "examine", lambda _: [])
    folder = tmp_path / "watching"
    more = {"workload": "ping", "users": 8, "warm_up": 15, "seconds": 20, "blocks": 2}
    options = Namespace(folder=folder, profile=[], jdk=None, **more)

    def measure() -> None:
        bench.measure(SessionDirectory(folder), options, Console(), TimeLeft(None))

    (folder / "trials").mkdir(parents=True)
    measure()
    assert run == [folder]
    (folder / "session.json").unlink()
    (folder / "notes.txt").touch()
    with pytest.raises(BadInput, match="holds no session, and is not empty: give another folder"):
        measure()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["watching", "watching.yaml"]


def test_what_is_missing_is_said_in_a_sentence() -> None:
    def run() -> None:
        raise MissingRequirement("perf is not installed")

    assert why_ended(run) == "perf is not installed"
