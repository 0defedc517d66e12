# SPDX-License-Identifier: Apache-2.0
"""What a request of AcmeAir's monolith costs relative to one of ping: throughput and CPU, both in one run.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/workload_cost.py [--rounds N]

One JVM on all cores, 8 closed-loop users without think time; each round is a trial of ping and one of AcmeAir, with the
harness's own ledger. Ratios within a round are what counts: the machine's speed is in both.

    ... workload_cost.py --server ours=PID@http://127.0.0.1:9080 --server original=PID@http://127.0.0.1:9180

CPU and bytes allocated of each operation, of servers that run already with 200 customers and today's flights, in turns
(`operation_cost.py`). Give all of them a pool of fixed size (`EXECUTOR_THREADS=8`; `<executor coreThreads="8"
maxThreads="8"/>`): threads that end take their figures along. With `-XX:TieredStopAtLevel=1` bytes depend on no
warm-up, without it on how much C2 has removed by then.
Services: `NAME=PID@http://HOST:PORT/auth+PID@http://HOST:PORT/booking+...`, each directly.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median

from operation_cost import Cost, Driver, Servers, costs
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
    """Read the command line and run one comparison or the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", action="append", metavar="NAME=PID@URL[+PID@URL...]", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=10, help="rounds before those that count")
    parser.add_argument("--requests", type=int, default=800, help="of each operation in a round")
    options = parser.parse_args()
    if options.server:
        compare(options.server, options.warm_up, options.rounds, options.requests)
    else:
        against_ping(options.rounds)


def compare(places: list[str], warm_up: int, rounds: int, requests: int) -> None:
    """Print, for each operation, the median cost on each deployment and the ratios of the rounds to the last one's."""
    deployments = [Servers(*place.split("=", 1)) for place in places]
    drivers = {servers: Driver(servers) for servers in deployments}
    for driver in drivers.values():
        driver.prepare()
    found: dict[str, list[dict[str, Cost]]] = {servers.name: [] for servers in deployments}
    for number in range(warm_up + rounds):
        for servers in deployments if number % 2 else deployments[::-1]:
            figures = costs(servers, drivers[servers], requests)
            if number >= warm_up:
                found[servers.name].append(figures)
    print("| operation | " + " | ".join(f"{n}: ms, KiB" for n in found) + " | CPU | bytes |")  # noqa: T201
    print("| --- |" + " --- |" * (len(found) + 2))  # noqa: T201
    first, last = deployments[0].name, deployments[-1].name
    for operation in found[first][0]:
        cells = [_cost([figures[operation] for figures in each]) for each in found.values()]
        pairs = [(a[operation], b[operation]) for a, b in zip(found[first], found[last], strict=True)]
        cells.append(_spread([a.cpu / b.cpu for a, b in pairs if b.cpu]))
        cells.append(_spread([a.allocated / b.allocated for a, b in pairs]))
        print(f"| {operation} | " + " | ".join(cells) + " |")  # noqa: T201
    for name, each in found.items():
        if ended := sum(cost.ended for figures in each for cost in figures.values()):
            print(f"{name}: {ended} threads ended in these rounds, and what they allocated last is missing")  # noqa: T201
    for servers in deployments:
        servers.close()


def _cost(rounds: list[Cost]) -> str:
    cpu, allocated = median(cost.cpu for cost in rounds), median(cost.allocated for cost in rounds)
    return f"{cpu * 1e3:.3f}, {allocated / 1024:.1f}"


def _spread(ratios: list[float]) -> str:
    return (
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        if ratios
        else "too little CPU to tell"
    )


def against_ping(rounds: int) -> None:
    """Run the rounds, a line for each trial, and print the ratios."""
    rates, prices = [], []
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
                prices.append(acmeair["cpu_per_1k"] / ping["cpu_per_1k"])
    if rates:
        print(  # noqa: T201
            f"AcmeAir against ping, median of {len(rates)}: {median(rates):.3f} of the requests/s"
            f" ({min(rates):.3f} to {max(rates):.3f}), {median(prices):.1f} times the servers' CPU per request"
            f" ({min(prices):.1f} to {max(prices):.1f})"
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
