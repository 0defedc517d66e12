#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many requests per CPU-second the injector issues, against wrk on the same target in the same run.

    python bench/injector_cost.py [--rounds 5] [--rate 2000] [--bytes 5] [--profiler LIBRARY]
    python bench/injector_cost.py --table [--profiler LIBRARY]

The target (nginx with fixed replies, or the server given by --target) is pinned to one CPU, the client to another.
With --scenario acmeair-monolith the injector sends that scenario's journeys, while wrk goes on asking for the tiny
reply of ping: the ratio then says how much more a request costs that carries a form and whose answer is read.
Rounds alternate between the two clients; printed are the medians and the median of the ratios of neighbouring rounds.
CPU of wrk is its rusage; CPU of the injector is what its process used in the seconds counted (health.jsonl).
With a C compiler, injector_floor.c says what of the open model's CPU the machine takes for any program at that rate.
--profiler runs one more round of each model under async-profiler (its libasyncProfiler.so, which the Maven artifact
tools.profiler:async-profiler holds) and prints where the CPU of the event loop went; these rounds are in no other
figure.

--table measures all of the lab note's tables: replies of 5 bytes to 1 MiB, connections that the server closes, the
open model, how far apart injectors begin that meet, and profiles. What a round gave is printed at once; one that
fails is listed, and is missing in its table alone; an interrupt prints the tables of what there is.
Figures need a machine on which nothing else runs. Exit code 1: a round failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from injector_barrier import Start, start_together
from injector_clients import PACKAGE, USERS, Clients, OpenRound, Round, RoundError, find_program, say
from injector_table import Plan, Results, measure, tables
from injector_target import (
    PORT,
    RETURNED_BYTES,
    URL,
    Reply,
    ServerCounts,
    nginx_running,
    read_server_counts,
    wait_for,
)

TINY = Reply()
SMALL = Reply(2048, path="/2-kib")
LARGE = Reply(64 * 1024, is_read=False, path="/64-kib")
CLOSED = Reply(5, per_connection=1, path="/closed-after-1")
TABLE = [
    TINY,
    SMALL,
    Reply(2048, is_read=False, path="/2-kib-not-read"),
    LARGE,
    Reply(1024 * 1024, is_read=False, path="/1-mib"),
    CLOSED,
    Reply(5, per_connection=100, path="/closed-after-100"),
]
TABLE_OPEN = [(TINY, 2000), (SMALL, 10_000)]
TABLE_INJECTORS = (2, 4)


@dataclass(frozen=True)
class Machine:
    """The clients, and the target that they ask.

    Args:
        scenario: what the injector sends instead of asking for a reply; None: nothing else
        library: async-profiler's
    """

    clients: Clients
    url: str
    scenario: str | None = None
    library: str | None = None

    def load(self, reply: Reply) -> dict[str, Any]:
        """Return what the injector sends."""
        if self.scenario:
            return {"scenario": self.scenario, "targets": [self.url]}
        step: dict[str, Any] = {"operation": "ping", "path": reply.path}
        if reply.is_read:
            step["check"] = {"matches": f"^{reply.text}\\n$"}
        return {"journey": {"visits": {"ping": {"steps": [step]}}}, "targets": [self.url]}

    def profiled(self, stacks: Path | None) -> tuple[str, Path] | None:
        """Return the profiler's library and its file."""
        return (self.library, stacks) if self.library and stacks else None

    def wrk(self, reply: Reply) -> Round:
        """Run wrk."""
        return self.clients.wrk_round(self.url + reply.path)

    def injector(self, reply: Reply, stacks: Path | None = None) -> Round:
        """Run the injector's closed model."""
        return self.clients.closed_round(self.load(reply), self.profiled(stacks))

    def open_round(self, reply: Reply, rate: int, stacks: Path | None = None) -> OpenRound:
        """Run the injector's open model."""
        return self.clients.open_round(self.load(reply), rate, self.profiled(stacks))

    def floor(self, reply: Reply, rate: int) -> float | None:
        """Return CPU seconds a request of injector_floor.c, which has one connection to nginx."""
        return self.clients.floor_round(PORT, reply.path, rate) if self.url == URL else None

    def start_together(self, injectors: int) -> Start:
        """Start injectors at a barrier."""
        return start_together(self.clients.java, self.load(TINY), injectors, self.clients.folder)

    def server_counts(self) -> ServerCounts | None:
        """Return nginx's counts so far; None of another server."""
        return read_server_counts() if self.url == URL else None


def parse_arguments() -> argparse.Namespace:
    """Return the command line, checked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="store_true", help="all tables of the lab note, about 15 minutes")
    parser.add_argument("--rounds", type=int, help="rounds of each client (5; with --table 3)")
    parser.add_argument("--seconds", type=int, help="seconds counted per round (8; with --table 5)")
    parser.add_argument(
        "--warmup", type=int, help="seconds of each injector round left out (20; with --table 12)"
    )
    parser.add_argument("--rate", type=int, default=2000, help="arrivals/s of the open-model round (2000)")
    parser.add_argument(
        "--bytes", type=int, default=5, help="size of a reply (5); above 16,000 it is not read"
    )
    parser.add_argument(
        "--per-connection",
        type=int,
        metavar="REQUESTS",
        help="after which nginx closes a connection (it does not)",
    )
    parser.add_argument(
        "--profiler", metavar="LIBRARY", help="libasyncProfiler.so, for profiles of one more round each"
    )
    parser.add_argument("--scenario", choices=["ping", "acmeair-monolith"], default="ping", help="(ping)")
    parser.add_argument("--target", help="base URL of a running ping server, instead of nginx")
    parser.add_argument("--java", default="java", help="JVM of the injector")
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--client-cpu", type=int, default=1)
    arguments = parser.parse_args()
    rounds, seconds, warmup = (3, 5, 12) if arguments.table else (5, 8, 20)
    arguments.rounds = arguments.rounds or rounds
    arguments.seconds = arguments.seconds or seconds
    arguments.warmup = warmup if arguments.warmup is None else arguments.warmup
    if arguments.table and (arguments.target or arguments.scenario != "ping"):
        parser.error("--table measures ping on nginx: leave out --target and --scenario.")
    if not (PACKAGE / "lib").is_dir():
        sys.exit(
            "The injector is not built: run mvn -DskipTests package at the root of the repository first."
        )
    if not {arguments.server_cpu, arguments.client_cpu} <= os.sched_getaffinity(0):
        sys.exit("This benchmark needs two CPUs: choose them with --server-cpu and --client-cpu.")
    return arguments


def plan_of(arguments: argparse.Namespace) -> Plan:
    """Return what a command line asks for."""
    if arguments.table:
        profiled = [TINY, SMALL, LARGE, CLOSED] if arguments.profiler else []
        return Plan(arguments.rounds, TABLE, TABLE_OPEN, profiled, injectors=TABLE_INJECTORS)
    reply = Reply(arguments.bytes, arguments.per_connection, arguments.bytes <= RETURNED_BYTES)
    opened = [(reply, arguments.rate)]
    profiled, profiled_open = ([reply], opened) if arguments.profiler else ([], [])
    return Plan(arguments.rounds, [reply], opened, profiled, profiled_open)


def main() -> None:
    """Measure what the command line asks for, and print the tables of what there is, however it ends."""
    arguments = parse_arguments()
    # Whoever ends it gets the tables, and leaves no target behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan, results = plan_of(arguments), Results()
    folder = Path(tempfile.mkdtemp(prefix="steelyard-bench-"))
    folder.chmod(0o755)
    began = time.monotonic()
    try:
        java = find_program(arguments.java, "openjdk-17-jre-headless")
        clients = Clients(java, arguments.client_cpu, folder, arguments.seconds, arguments.warmup)
        scenario = None if arguments.scenario == "ping" else arguments.scenario
        machine = Machine(clients, arguments.target or URL, scenario, arguments.profiler)
        say(f"about {plan.minutes(arguments.seconds, arguments.warmup):.0f} minutes")
        if arguments.target:
            wait_for(arguments.target, plan.closed[0])
        target = (
            nullcontext() if arguments.target else nginx_running(plan.closed, folder, arguments.server_cpu)
        )
        with target:
            measure(plan, machine, folder, results)
    except RoundError as error:
        results.failures.append(str(error))
    except KeyboardInterrupt:
        results.failures.append("interrupted: what would have come then was not measured")
    finally:
        shutil.rmtree(folder)
        say(
            f"\nIn {(time.monotonic() - began) / 60:.1f} minutes, {plan.rounds} rounds of {arguments.seconds} s after"
            f" {arguments.warmup} s, {USERS} connections, one client CPU, {arguments.scenario}:\n"
        )
        say("\n".join(tables(plan, results)))
    sys.exit(1 if results.failures else 0)


if __name__ == "__main__":
    main()
