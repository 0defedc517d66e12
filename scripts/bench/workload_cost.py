# SPDX-License-Identifier: Apache-2.0
"""What a request of AcmeAir's monolith costs relative to one of ping: throughput and CPU, both in one run.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/workload_cost.py [ROUNDS]

One JVM on all cores, 8 closed-loop users without think time; each round is a trial of ping and one of AcmeAir, with the
harness's own ledger. Ratios within a round are what counts: the machine's speed is in both.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console

from steelyard.cli.building import ensure_builds
from steelyard.host.switching import HostStates
from steelyard.processes import Children
from steelyard.results.schema import Phase, Planned, Trial
from steelyard.session.opening import new_session
from steelyard.session.plan import Request, make_plan
from steelyard.session.runtimes import make_engines
from steelyard.session.schedule import Course
from steelyard.session.trial import TrialRunner

WORKLOADS = ("ping", "acmeair")
ARM = "jvms-1"
EXPERIMENT = """\
steelyard: 1
name: cost
title: Cost of a request
question: What does a request cost?
workload: ping
factors: {jvms: {levels: [1, 2]}}
deployment: {total_heap: 1g, jvm: {gc: generational}}
load: {users: 8, warmup: {until: fixed, at_least: 60s}, measure: 20s}
"""


class _Silent:
    """Nobody watches."""

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Ignored."""

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Ignored."""

    def throughput(self, rate: float) -> None:
        """Ignored."""

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Ignored."""

    def note(self, sentence: str) -> None:
        """Ignored."""


def _runner(workload: str, folder: Path, children: Children) -> TrialRunner:
    file = folder / "cost.yaml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    request = Request(str(file), seed=1, workload=workload)
    plan = make_plan(request)
    ensure_builds(Console(stderr=True), plan.runtimes)
    directory = new_session(plan, folder)
    engines = make_engines([plan.specs[ARM].engine], plan.runtimes, children, directory.path.name)
    states = HostStates([], children, directory.path)
    return TrialRunner(Course(directory.session()), directory, engines, children, _Silent(), states)


def main() -> None:
    """Run the rounds, a line for each trial, and print the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rates, costs = [], []
    with tempfile.TemporaryDirectory() as folder, Children() as children:
        runners = {workload: _runner(workload, Path(folder), children) for workload in WORKLOADS}
        for number in range(1, rounds + 1):
            # The order turns round, so that a drift of the machine favours neither.
            order = WORKLOADS if number % 2 else WORKLOADS[::-1]
            planned = Planned(block=number, arm=ARM, order=number)
            trials = {workload: runners[workload].run(planned) for workload in order}
            for workload in WORKLOADS:
                _print(number, workload, trials[workload])
            ping, acmeair = (trials[workload].metrics for workload in WORKLOADS)
            if ping and acmeair:
                rates.append(acmeair["throughput"] / ping["throughput"])
                costs.append(acmeair["cpu_per_1k"] / ping["cpu_per_1k"])
    if rates:
        print(  # noqa: T201
            f"AcmeAir against ping, median of {len(rates)}: {median(rates):.3f} of the requests/s"
            f" ({min(rates):.3f} to {max(rates):.3f}), {median(costs):.1f} times the servers' CPU per request"
            f" ({min(costs):.1f} to {max(costs):.1f})"
        )


def _print(number: int, workload: str, trial: Trial) -> None:
    if trial.measurement is None:
        print(f"round {number} {workload}: {trial.failure}")  # noqa: T201
        return
    failed = [check.name for check in trial.checks if check.voids and check.failed]
    figures = trial.metrics
    system = f", with database {figures['cpu_per_1k_system']:.3f}" if "cpu_per_1k_system" in figures else ""
    print(  # noqa: T201
        f"round {number} {workload}: {figures['throughput']:,.0f} requests/s,"
        f" {figures['cpu_per_1k']:.3f} CPU ms a request"
        f"{system}{'' if not failed else ', void: ' + ', '.join(failed)}"
    )


if __name__ == "__main__":
    main()
