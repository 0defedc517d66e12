# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: T201
"""What one difference from an application's original costs: CPU, bytes and statements, beside the same server with it.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/variant_cost.py olio-results [--rounds 12]

A variant is a patch of one module's sources, `variants/NAME.patch`, whose first line says what it makes otherwise. It
is compiled against the package as it stands and put into a copy of it; neither is ever part of a release. Both servers
run beside each other and are asked in turns for the same, in the order AB BA AB ...: what the machine does otherwise
meets both. Printed are geometric means over the rounds, and the ratio of the variant to the present server with
Student's 95 % interval of their logarithms. CPU is that of the server's process, collector included; bytes are
those that its threads allocated (`operation_cost.py`). What a server does without requests is measured at first and
left out. Statements are counted in Derby's log, by servers of their own. With C1 alone (`--jvm` has the options)
nothing depends on how much C2 has compiled by then.
"""

import argparse
import math
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from operation_cost import Reading, Servers
from rich.console import Console
from variant_build import PATCHES, find_variants, make_variant
from variant_loads import LOADS, Load, Played
from variant_server import RunningServer

from steelyard.analysis.paired import paired_test, ratio_of
from steelyard.cli.building import ensure_build
from steelyard.host.java import find_hotspot, find_jdk, require_javac
from steelyard.sampling.procfs import cpu_clock

QUICK = "-Xms384m -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
LOG_STATEMENTS = "-Dderby.language.logStatementText=true -Dderby.stream.error.file="
IDLE_SECONDS = 5.0
SIDES = ("present", "variant")


@dataclass
class Figures:
    """What one kind of request cost on each side, a value for each round."""

    cpu: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    """Seconds for a request."""
    allocated: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    """Bytes for a request; empty where it was not asked."""


@dataclass
class Side:
    """A running server with what asks it."""

    name: str
    server: RunningServer
    load: Load
    meter: Servers
    idle: tuple[float, float] = (0.0, 0.0)
    """CPU seconds and bytes a second without requests."""

    def cpu(self) -> float:
        """CPU seconds of the server until now."""
        return cpu_clock(self.server.pid) or math.nan

    def watch_idle(self) -> None:
        """Measure what it does without requests."""
        first = self.meter.at_rest()
        time.sleep(IDLE_SECONDS)
        self.idle = first.rates(self.meter.read())

    def play(self, stretch: str, count: int) -> tuple[Played, float, float]:
        """Ask for it so many times: what came, CPU seconds and bytes of one."""
        before = self.meter.at_rest()
        played = self.load.play(stretch, count, self.cpu)
        after = self.meter.at_rest()
        cpu, allocated = _spent(before, after, self.idle)
        return played, cpu / count, allocated / count


def _spent(before: Reading, after: Reading, idle: tuple[float, float]) -> tuple[float, float]:
    seconds = after.at - before.at
    return after.cpu - before.cpu - idle[0] * seconds, after.allocated - before.allocated - idle[1] * seconds


def main() -> None:
    """Read the command line, run both servers and print the table."""
    variants = find_variants()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("variant", choices=sorted(variants), help=f"of {PATCHES}")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--warm-up", type=int, default=6, help="rounds before those that count")
    parser.add_argument("--requests", type=int, default=300, help="operations or messages in a round")
    parser.add_argument("--jvm", default=QUICK, help="options of both servers")
    parser.add_argument("--archive", type=Path, help="the package that Maven made, in the place of a build")
    parser.add_argument("--data", type=Path, help="folder in which loaded data is kept for the next run")
    options = parser.parse_args()
    variant = variants[options.variant]
    jdk = find_hotspot(find_jdk())
    require_javac(jdk)
    with tempfile.TemporaryDirectory(prefix="steelyard-variant-") as name:
        folder = Path(name)
        if options.archive is None:
            present = ensure_build(Console(stderr=True), jdk, packages=[variant.package]) / variant.package
        else:
            shutil.unpack_archive(options.archive, present := folder / "present")
        packages = {"present": present}
        packages["variant"] = make_variant(variant, packages["present"], folder / "built", jdk)
        kind = LOADS[variant.package]
        data = kind.prepare(packages["present"], jdk.home, options.data or folder / "data")

        def start(stack: ExitStack, side: str, jvm: str, part: str) -> tuple[RunningServer, Load]:
            place = folder / part / side
            environment = {**kind.environment(data, place), "JVM_ARGS": jvm}
            server = RunningServer(packages[side], variant.package, place, jdk.home, environment)
            stack.enter_context(server)
            server.wait_until_ready(kind.READY)
            return server, kind(server)

        print(f"{variant.about}\n")
        measure(options, start)
        if kind.COUNTS_STATEMENTS:
            count_statements(options, start, folder)


Start = Callable[[ExitStack, str, str, str], tuple[RunningServer, Load]]


def measure(options: argparse.Namespace, start: Start) -> None:
    """Run the rounds and print what they came to."""
    figures: dict[str, Figures] = defaultdict(Figures)
    answers = different = ended = 0
    with ExitStack() as stack:
        sides = []
        for name in SIDES:
            server, load = start(stack, name, options.jvm, "rounds")
            meter = Servers(name, f"{server.pid}@{server.url}")
            stack.callback(meter.close)
            sides.append(Side(name, server, load, meter))
        for number in range(options.warm_up + options.rounds):
            if number == options.warm_up:
                for side in sides:
                    side.watch_idle()
                ended = sum(side.meter.read().ended for side in sides)
            for stretch in sides[0].load.STRETCHES:
                played = {}
                for side in sides if number % 2 else sides[::-1]:
                    played[side.name], cpu, allocated = side.play(stretch, options.requests)
                    if number >= options.warm_up:
                        figures[stretch].cpu[side.name].append(cpu)
                        figures[stretch].allocated[side.name].append(allocated)
                        for operation, spent in played[side.name].cpu.items():
                            figures[operation].cpu[side.name].append(statistics.fmean(spent))
                pairs = list(zip(*(each.answers for each in played.values()), strict=True))
                answers += len(pairs)
                different += sum(one != other for one, other in pairs)
        ended = sum(side.meter.read().ended for side in sides) - ended
    print("| | CPU ms, present | variant | ratio | KiB, present | variant | ratio |")
    print("| --- |" + " --- |" * 6)
    for name, figure in figures.items():
        print(f"| {name} | {_cells(figure.cpu, 1e3, 3)} | {_cells(figure.allocated, 1 / 1024, 1)} |")
    said = f"\n{options.rounds} rounds of {options.requests} after {options.warm_up}; {options.jvm}"
    said += f"; {ended} threads ended" + (f"; {different} of {answers} answers differed" if answers else "")
    print(said, flush=True)


def _cells(values: dict[str, list[float]], factor: float, digits: int) -> str:
    present, variant = (values[side] for side in SIDES)
    if len(present) != len(variant) or min([*present, *variant], default=0) <= 0:
        return "- | - | -"  # Fewer than a round's requests of that kind, or no more than the server does by itself.
    test = paired_test([math.log(other / one) for one, other in zip(present, variant, strict=True)])
    means = [f"{statistics.geometric_mean(each) * factor:.{digits}f}" for each in (present, variant)]
    ratio = "-"
    if test is not None:
        low, mean, high = (ratio_of(log) for log in (test.low, test.mean, test.high))
        ratio = f"{mean:.3f} ({low:.3f} to {high:.3f})"
    return " | ".join([*means, ratio])


def count_statements(options: argparse.Namespace, start: Start, folder: Path) -> None:
    """Play the same once more on servers that log each statement, and print how many an operation sent."""
    counts: dict[str, dict[str, list[int]]] = {}
    for side in SIDES:
        with ExitStack() as stack:
            log = folder / f"{side}.log"
            _, load = start(stack, side, f"{options.jvm} {LOG_STATEMENTS}{log}", "statements")
            load.play(load.STRETCHES[0], options.warm_up * options.requests, lambda: 0.0)
            counts[side] = load.count_statements(load.STRETCHES[0], options.rounds * options.requests, log)
    print("\n| statements | times | present | variant |\n| --- | --- | --- | --- |")
    for operation in counts["present"]:
        each = [counts[side].get(operation, []) for side in SIDES]
        means = " | ".join(f"{statistics.fmean(one):.2f}" if one else "-" for one in each)
        print(f"| {operation} | {len(each[0])} | {means} |")
    everything = [list(chain(*counts[side].values())) for side in SIDES]
    print(
        f"| all | {len(everything[0])} | "
        + " | ".join(f"{statistics.fmean(e):.2f}" for e in everything)
        + " |"
    )


if __name__ == "__main__":
    main()
