# SPDX-License-Identifier: Apache-2.0
"""What a request costs relative to one of ping: throughput, CPU and bytes allocated, all in one run.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/workload_cost.py \\
        [--workload acmeair|daytrader7] [--rounds N]

One JVM on all cores, 8 closed-loop users without think time; each round is a trial of ping and one of each way to run
the workload (AcmeAir's monolith; DayTrader7 by Enterprise Beans and by JDBC), with the harness's own ledger. Ratios
within a round are what counts: the machine's speed is in both. It prints a table.

    ... workload_cost.py --server ours=PID@http://127.0.0.1:9080 --server original=PID@http://127.0.0.1:9180

CPU and bytes allocated of each operation and of a request of the mix, of servers that run already with 200 customers
and today's flights (`--workload daytrader7`: 200 users and 400 stocks, `PID@http://127.0.0.1:9080/daytrader`), in
turns (`operation_cost.py`), and each one's ratios to the last. Give all of them a pool of fixed
size (`EXECUTOR_THREADS=8`; `<executor coreThreads="8" maxThreads="8"/>`): threads that end take their figures along.
With `-XX:TieredStopAtLevel=1` bytes depend on no warm-up, without it on how much C2 has removed by then.
Services: `NAME=PID@http://HOST:PORT/auth+PID@http://HOST:PORT/booking+...`, each directly.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from operation_cost import Cost, Driver, Reading, Servers, costs, of_the_mix
from rich.console import Console

from steelyard.cli.building import ensure_builds
from steelyard.host.switching import HostStates
from steelyard.measure.ledger import voiding_checks
from steelyard.processes import Children
from steelyard.results.schema import Phase, Planned, Trial
from steelyard.session.context import RunContext
from steelyard.session.opening import new_session
from steelyard.session.plan import RunRequest, make_plan
from steelyard.session.runtimes import make_engines
from steelyard.session.schedule import Schedule
from steelyard.session.trial import TrialRunner

PORT = 9080
_TRADE = ("daytrader7.users=200", "daytrader7.quotes=400")
SUBJECTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "acmeair": {"ping": (), "acmeair": ()},
    "daytrader7": {
        "ping": (),
        "daytrader7 by beans": (*_TRADE, "daytrader7.mode=ejb"),
        "daytrader7 by JDBC": (*_TRADE, "daytrader7.mode=direct"),
    },
}
"""For each workload what is run in turns, ping first: names that begin with the workload's, and settings."""
EXPERIMENT = """\
steelyard: 1
name: cost
title: Cost of a request
question: What does a request cost?
workload: ping
factors: {total_heap: {levels: [1g, 2g]}}
deployment: {jvm: {gc: generational}}
load: {users: 8, warmup: {until: fixed, at_least: WARMUP}, measure: 20s}
"""


@dataclass(frozen=True)
class Price:
    """What a trial says of a request."""

    rate: float
    """Requests a second."""
    cpu: float
    """CPU milliseconds of the servers."""
    allocated: float
    """Bytes."""


class _Meter:
    """Watches a trial, and reads what the server has allocated as the window begins and ends."""

    def __init__(self) -> None:
        self._servers: Servers | None = None
        self._began: Reading | None = None
        self.rate = 0.0
        """Bytes a second in the window of the last trial."""

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Ignored."""

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Begin or end to count."""
        del seconds
        if phase == "warmup":
            self._servers = Servers("server", f"{_listener(PORT)}@http://127.0.0.1:{PORT}")
        elif phase == "measure" and self._servers is not None:
            self._began = self._servers.read()
        elif phase == "stop" and self._servers is not None and self._began is not None:
            self.rate = self._began.rates(self._servers.read())[1]
            self._servers.close()
            self._servers = None

    def progress(self, text: str) -> None:
        """Ignored."""

    def throughput(self, rate: float) -> None:
        """Ignored."""

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Ignored."""

    def note(self, sentence: str) -> None:
        """Ignored."""


def _listener(port: int) -> int:
    """The process that listens on a port."""
    listening = ((one.laddr, one.pid) for one in psutil.net_connections("tcp") if one.status == "LISTEN")
    return next(pid for place, pid in listening if place and place[1] == port and pid is not None)


def _runner(
    name: str, settings: Sequence[str], warm_up: int, folder: Path, children: Children
) -> tuple[TrialRunner, _Meter, str]:
    """What runs the trials of one way to run a workload, and the name of their arm."""
    file = folder / "cost.yaml"
    file.write_text(EXPERIMENT.replace("WARMUP", f"{warm_up}s"), encoding="utf-8")
    request = RunRequest(
        str(file), seed=1, workload=name.split(maxsplit=1)[0], settings=settings, first_port=PORT
    )
    plan = make_plan(request)
    ensure_builds(Console(stderr=True), plan.runtimes, plan.specs.values())
    parent = folder / name.replace(" ", "-")
    parent.mkdir()
    directory = new_session(plan, parent)
    # An experiment has two arms at least; one is run.
    arm, spec = next(iter(plan.specs.items()))
    engines = make_engines([spec.engine], plan.runtimes, children, directory.path.name)
    states, meter = HostStates([], children, directory.path), _Meter()
    return (
        TrialRunner(Schedule(directory.session()), directory, engines, RunContext(children, meter), states),
        meter,
        arm,
    )


def main() -> None:
    """Read the command line and run one comparison or the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", action="append", metavar="NAME=PID@URL[+PID@URL...]", default=[])
    parser.add_argument("--workload", choices=list(SUBJECTS), default="acmeair")
    parser.add_argument("--seconds", type=int, default=60, help="of warm-up before each window of 20 s")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=10, help="rounds before those that count")
    parser.add_argument("--requests", type=int, default=800, help="of each operation in a round")
    options = parser.parse_args()
    if options.server:
        compare(options.workload, options.server, options.warm_up, options.rounds, options.requests)
    else:
        against_ping(SUBJECTS[options.workload], options.rounds, options.seconds)


def compare(workload: str, places: list[str], warm_up: int, rounds: int, requests: int) -> None:
    """Print, for each operation, the median cost on each deployment and the ratios of each round to the last one's."""
    deployments = [Servers(*place.split("=", 1)) for place in places]
    drivers = {servers: Driver(servers, workload) for servers in deployments}
    for driver in drivers.values():
        driver.prepare()
    found: dict[str, list[dict[str, Cost]]] = {servers.name: [] for servers in deployments}
    for number in range(warm_up + rounds):
        for servers in deployments if number % 2 else deployments[::-1]:
            figures = costs(servers, drivers[servers], requests)
            if number >= warm_up:
                found[servers.name].append(figures | {"the mix": of_the_mix(workload, figures)})
    *others, last = found
    heads = [f"{name}: ms, KiB" for name in found] + [f"{name}: CPU, bytes" for name in others]
    print("| operation | " + " | ".join(heads) + " |")  # noqa: T201
    print("| --- |" + " --- |" * len(heads))  # noqa: T201
    for operation in found[last][0]:
        of = {name: [figures[operation] for figures in each] for name, each in found.items()}
        cells = [_cost(rounds) for rounds in of.values()]
        cells += [_ratios(of[name], of[last]) for name in others]
        print(f"| {operation} | " + " | ".join(cells) + " |")  # noqa: T201
    for name, each in found.items():
        if ended := sum(figures["the mix"].ended for figures in each):
            print(f"{name}: {ended} threads ended in these rounds, and what they allocated last is missing")  # noqa: T201
    for servers in deployments:
        servers.close()


def _cost(rounds: list[Cost]) -> str:
    cpu, allocated = median(cost.cpu for cost in rounds), median(cost.allocated for cost in rounds)
    return f"{cpu * 1e3:.3f}, {allocated / 1024:.1f}"


def _ratios(rounds: list[Cost], others: list[Cost]) -> str:
    pairs = list(zip(rounds, others, strict=True))
    cpu = _spread([one.cpu / other.cpu for one, other in pairs if other.cpu])
    return f"{cpu}, {_spread([one.allocated / other.allocated for one, other in pairs])}"


def _spread(ratios: list[float]) -> str:
    return (
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        if ratios
        else "too little CPU to tell"
    )


def against_ping(subjects: Mapping[str, Sequence[str]], rounds: int, warm_up: int) -> None:
    """Run the rounds, a line for each trial, and print the medians and their ratios to ping's."""
    found: list[dict[str, Price]] = []
    with tempfile.TemporaryDirectory() as folder, Children() as children:
        runners = {
            name: _runner(name, settings, warm_up, Path(folder), children)
            for name, settings in subjects.items()
        }
        for number in range(1, rounds + 1):
            # The order turns round, so that a drift of the machine favours none.
            order = list(subjects)[:: 1 if number % 2 else -1]
            prices = {name: _price(*runners[name], number) for name in order}
            found.append({name: price for name, price in prices.items() if price is not None})
    print("| | requests/s | CPU ms | KiB | requests/s to ping's | CPU | bytes |")  # noqa: T201
    print("| --- |" + " --- |" * 6)  # noqa: T201
    for name in subjects:
        seen = [prices[name] for prices in found if name in prices]
        if not seen:
            continue
        pairs = [(prices[name], prices["ping"]) for prices in found if {name, "ping"} <= prices.keys()]
        cells = [f"{median(one.rate for one in seen):,.0f}", f"{median(one.cpu for one in seen):.3f}"]
        cells += [f"{median(one.allocated for one in seen) / 1024:.1f}"]
        cells += [_spread([one.rate / ping.rate for one, ping in pairs])]
        cells += [_spread([one.cpu / ping.cpu for one, ping in pairs])]
        cells += [_spread([one.allocated / ping.allocated for one, ping in pairs])]
        print(f"| {name} | " + " | ".join(cells) + " |")  # noqa: T201


def _price(runner: TrialRunner, meter: _Meter, arm: str, number: int) -> Price | None:
    """Run a trial in round `number`, and say what it told."""
    planned = Planned(block=number, arm=arm, order=number)
    (trial,), name = runner.run([planned]), runner.directory.path.parent.name
    if trial.measurement is None:
        print(f"round {planned.block} {name}: {trial.failure}")  # noqa: T201
        return None
    failed = [check.name for check in voiding_checks(trial.checks)]
    rate, cpu = trial.metrics["throughput"], trial.metrics["cpu_per_1k"]
    print(  # noqa: T201
        f"round {planned.block} {name}: {rate:,.0f} requests/s, {cpu:.3f} CPU ms a request,"
        f" {meter.rate / rate / 1024:.1f} KiB{'' if not failed else ', void: ' + ', '.join(failed)}",
        flush=True,
    )
    return Price(rate, cpu, meter.rate / rate)


if __name__ == "__main__":
    main()
