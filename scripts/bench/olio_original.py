# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: T201
"""What Olio's operations cost beside the original application: CPU, bytes allocated, answers and statements.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/olio_original.py --files FILESTORE \\
        --server ours=PID@http://127.0.0.1:9085/olio --server original=PID@http://127.0.0.1:9095/webapp

The servers run already, each on its own copy of the data for 25 users, with a pool of fixed size (`variant_cost.py`);
the last one is what the others are compared with. They are asked in turns for the same operations: the chain of the
published driver, pages alone, in an order that is turned around with each round. Printed are geometric means over the
rounds, and ratios with Student's 95 % interval of their logarithms. In the first part CPU is read around each
operation, in the second (`--byte-rounds`) the bytes that the server's threads have allocated until the answer.

    ... olio_original.py --files FILESTORE --server NAME=PID@URL --log derby.log

Statements that each operation of one server sends, by the log that its Derby writes with
`-Dderby.language.logStatementText=true`.
"""

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from operation_cost import Servers
from variant_browser import OlioPages
from variant_loads import sent_statements

from steelyard.analysis.paired import paired_test, ratio_of
from steelyard.sampling.procfs import cpu_clock

MIX = {
    "home-page": 26.15,
    "login": 10.22,
    "tag-search": 33.45,
    "event-detail": 24.68,
    "person-detail": 2.61,
    "add-person": 0.84,
    "add-event": 2.04,
}
"""Steady shares of the operations, % (docs/reference/olio.md)."""
Values = Mapping[str, Mapping[str, list[float]]]
"""By operation and server, one for each round."""


@dataclass(frozen=True)
class Side:
    """A running server with what asks it."""

    name: str
    pid: int
    pages: OlioPages
    meter: Servers

    @staticmethod
    def attach(text: str, files: Path) -> "Side":
        """Take a server by `NAME=PID@URL`."""
        name, _, place = text.partition("=")
        pid, _, address = place.partition("@")
        url = urlsplit(address)
        if url.hostname is None or url.port is None:
            raise ValueError(f"{text} is not NAME=PID@http://HOST:PORT/CONTEXT")
        pages = OlioPages(url.hostname, url.port, files, url.path)
        return Side(name, int(pid), pages, Servers(name, f"{pid}@{url.scheme}://{url.netloc}"))

    def cpu(self) -> float:
        """CPU seconds until now."""
        return cpu_clock(self.pid) or math.nan

    def allocated(self) -> float:
        """Bytes until now."""
        return self.meter.read().allocated


def main() -> None:
    """Read the command line, ask the servers and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", action="append", required=True, help="NAME=PID@http://HOST:PORT/CONTEXT")
    parser.add_argument("--files", type=Path, required=True, help="filestore with the loaded files")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--byte-rounds", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=12, help="rounds before those that count")
    parser.add_argument("--operations", type=int, default=400, help="in a round")
    parser.add_argument("--log", type=Path, help="Derby's log of one server: count its statements alone")
    options = parser.parse_args()
    sides = [Side.attach(text, options.files) for text in options.server]
    try:
        if options.log is not None:
            print_statements(sides[0], options)
            return
        play(sides, options.warm_up, options.operations, Side.cpu)
        cpu, sizes = play(sides, options.rounds, options.operations, Side.cpu)
        allocated, _ = play(sides, options.byte_rounds, options.operations, Side.allocated)
        names = [side.name for side in sides]
        print_table("CPU ms", names, cpu, 1e3, 3)
        print_table("KiB allocated", names, allocated, 1 / 1024, 1)
        print_table("bytes of answers", names, sizes, 1, 0)
        ended = ", ".join(f"{side.name} {side.meter.read().ended}" for side in sides)
        print(
            f"\n{options.rounds} and {options.byte_rounds} rounds of {options.operations} operations", end=""
        )
        print(f" after {options.warm_up}; threads ended since the start: {ended}")
    finally:
        for side in sides:
            side.meter.close()


def play(sides: list[Side], rounds: int, count: int, clock: Callable[[Side], float]) -> tuple[Values, Values]:
    """Ask all servers for the same operations.

    Returns:
        What each operation took by a clock, and bytes of its answers: means of each round.
    """
    taken: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    sizes: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        for side in sides if number % 2 else sides[::-1]:
            side.pages.connect()
            spent: dict[str, list[float]] = defaultdict(list)
            length: dict[str, list[float]] = defaultdict(list)
            for _ in range(count):
                bytes_before, before = side.pages.body_bytes, clock(side)
                operation = side.pages.perform([])
                spent[operation].append(clock(side) - before)
                length[operation].append(side.pages.body_bytes - bytes_before)
            for values, kept in ((spent, taken), (length, sizes)):
                for operation, each in values.items():
                    kept[operation][side.name].append(statistics.fmean(each))
    return taken, sizes


def print_table(title: str, names: list[str], values: Values, factor: float, digits: int) -> None:
    """Print means of each server, and the ratios of all to the last."""
    *others, base = names
    print(f"\n| {title} | {' | '.join(names)} | " + " | ".join(f"{name} / {base}" for name in others) + " |")
    print("| --- |" + " --- |" * (len(names) + len(others)))
    rows = {operation: values[operation] for operation in MIX if operation in values}
    if len(rows) == len(MIX):
        rows["an operation of the mix"] = of_the_mix(rows)
    for operation, row in rows.items():
        means = [f"{statistics.geometric_mean(row[name]) * factor:.{digits}f}" for name in names]
        print(f"| {operation} | {' | '.join([*means, *(ratio(row[name], row[base]) for name in others)])} |")


def of_the_mix(rows: Values) -> dict[str, list[float]]:
    """An operation of the mix, for each round in which all were performed; else by the mean of the others."""
    count = max(len(values) for row in rows.values() for values in row.values())
    mix: dict[str, list[float]] = {}
    for name in next(iter(rows.values())):
        mix[name] = [0.0] * count
        for operation, row in rows.items():
            mean = statistics.fmean(row[name])
            for number in range(count):
                value = row[name][number] if len(row[name]) == count else mean
                mix[name][number] += MIX[operation] / sum(MIX.values()) * value
    return mix


def ratio(values: list[float], base: list[float]) -> str:
    """Geometric mean of the rounds' ratios, with its interval."""
    logs = [math.log(value / other) for value, other in zip(values, base, strict=True)]
    test = paired_test(logs)
    if test is None:
        return f"{ratio_of(statistics.fmean(logs)):.2f}"
    return f"{ratio_of(test.mean):.2f} ({ratio_of(test.low):.2f} to {ratio_of(test.high):.2f})"


def print_statements(side: Side, options: argparse.Namespace) -> None:
    """Play the operations, and print what each wrote to Derby's log."""
    play([side], options.warm_up, options.operations, Side.cpu)
    counts: dict[str, list[int]] = defaultdict(list)
    side.pages.connect()
    with options.log.open(encoding="utf-8", errors="replace") as lines:
        lines.seek(0, 2)
        for _ in range(options.rounds * options.operations):
            operation = side.pages.perform([])
            counts[operation].append(sent_statements(lines.read()))
    print(f"\n| statements of {side.name} | times | mean |\n| --- | --- | --- |")
    for operation in MIX:
        if counts[operation]:
            print(f"| {operation} | {len(counts[operation])} | {statistics.fmean(counts[operation]):.2f} |")
    everything = [count for each in counts.values() for count in each]
    print(f"| an operation | {len(everything)} | {statistics.fmean(everything):.2f} |")


if __name__ == "__main__":
    main()
