# SPDX-License-Identifier: Apache-2.0
"""The rounds of injector_cost.py in turns, and its tables in Markdown, of whatever rounds gave a figure."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Protocol

from injector_barrier import Start
from injector_clients import PROFILE_SECONDS, RAMP_SECONDS, USERS, OpenRound, Round, RoundError, say
from injector_profile import Samples, count_samples, frame_table, growth_table, owner_table
from injector_target import RETURNED_BYTES, Reply, ServerCounts

CLIENTS = ("wrk", "injector")
COUNTS_APART = 0.001
"""Share by which a client's count and the server's may differ, beside what is in flight when wrk ends."""
START_SECONDS = 4
"""What a cold injector takes to start and to end, for the estimate of a plan's time."""


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Args:
        rounds: of each client and reply
        closed: replies of the closed model
        open_model: replies of the open model, with arrivals/s
        profiled: replies of closed rounds under the profiler, with the library
        injectors: how many meet at a barrier, each number `starts` times
    """

    rounds: int
    closed: Sequence[Reply]
    open_model: Sequence[tuple[Reply, int]] = ()
    profiled: Sequence[Reply] = ()
    profiled_open: Sequence[tuple[Reply, int]] = ()
    injectors: Sequence[int] = ()
    starts: int = 5

    def minutes(self, seconds: int, warmup: int) -> float:
        """Return about how long it takes with so many seconds counted and of warm-up."""
        injector = START_SECONDS + warmup + seconds + 2
        profiles = len(self.profiled) + len(self.profiled_open)
        meetings = sum(2 * START_SECONDS + number for number in self.injectors) * self.starts
        closed = self.rounds * len(self.closed) * (seconds + injector)
        profiling = profiles * (injector + max(0, PROFILE_SECONDS - seconds))
        return (
            closed + profiling + len(self.open_model) * (injector + RAMP_SECONDS + seconds) + meetings
        ) / 60


class Bench(Protocol):
    """What a plan asks of the machine."""

    def wrk(self, reply: Reply) -> Round:
        """Run wrk."""

    def injector(self, reply: Reply, stacks: Path | None = None) -> Round:
        """Run the injector's closed model, under the profiler where stacks have a file."""

    def open_round(self, reply: Reply, rate: int, stacks: Path | None = None) -> OpenRound:
        """Run the injector's open model."""

    def floor(self, reply: Reply, rate: int) -> float | None:
        """Return CPU seconds a request of a program that only waits, sends and receives."""

    def start_together(self, injectors: int) -> Start:
        """Start injectors at a barrier."""

    def server_counts(self) -> ServerCounts | None:
        """Return nginx's counts so far; None of another server."""


@dataclass
class Results:
    """What came out, by reply; a round that failed is one of the failures and nowhere else."""

    rounds: dict[tuple[Reply, str], dict[int, Round]] = field(default_factory=lambda: defaultdict(dict))
    seen: dict[tuple[Reply, str], list[tuple[int, ServerCounts]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    open_rounds: dict[tuple[Reply, int], tuple[OpenRound, float | None]] = field(default_factory=dict)
    profiles: dict[tuple[Reply, int | None], Samples] = field(default_factory=dict)
    starts: dict[int, list[Start]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)

    def attempt(self, name: str, step: Callable[[], str]) -> None:
        """Take a step and print what it gave, or why it gave nothing."""
        try:
            say(f"{name}: {step()}")
        except (RoundError, OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
            self.failures.append(f"{name}: {error or type(error).__name__}")
            say(f"failed: {self.failures[-1]}")

    def cpu_per_request(self, reply: Reply, client: str) -> float | None:
        """Return the median of the rounds' CPU seconds a request; None without a round."""
        rounds = self.rounds[reply, client].values()
        return median(1 / each.per_cpu_second for each in rounds) if rounds else None


def measure(plan: Plan, bench: Bench, folder: Path, results: Results) -> None:
    """Carry out a plan, round by round: all replies and both clients are in each round."""
    for index in range(plan.rounds):
        for reply in plan.closed:
            for client in CLIENTS if index % 2 == 0 else reversed(CLIENTS):
                name = f"round {index + 1}, {reply.name}, {client}"
                results.attempt(name, partial(closed_step, results, bench, reply, client, index))
    for reply, rate in plan.open_model:
        name = f"open model, {rate}/s, {reply.name}"
        results.attempt(name, partial(open_step, results, bench, reply, rate))
    closed: list[tuple[Reply, int | None]] = [(reply, None) for reply in plan.profiled]
    for reply, arrivals in [*closed, *plan.profiled_open]:
        name = f"profile, {profile_name(reply, arrivals)}"
        results.attempt(name, partial(profile_step, results, bench, reply, arrivals, folder))
    for number in plan.injectors:
        for index in range(plan.starts):
            name = f"{number} injectors that meet, start {index + 1}"
            results.attempt(name, partial(start_step, results, bench, number))


def closed_step(results: Results, bench: Bench, reply: Reply, client: str, index: int) -> str:
    """Run one client once, and compare its count with the server's."""
    before = bench.server_counts()
    measured = bench.wrk(reply) if client == "wrk" else bench.injector(reply)
    results.rounds[reply, client][index] = measured
    text = f"{measured.per_cpu_second:,.0f} requests per CPU-second ({measured.requests / measured.seconds:,.0f}/s)"
    after = bench.server_counts()
    if before is None or after is None:
        return text
    seen = after.since(before)
    results.seen[reply, client].append((measured.all_requests, seen))
    return f"{text}, {measured.all_requests} requests, {seen.requests} at the server, {seen.connections} connections"


def open_step(results: Results, bench: Bench, reply: Reply, rate: int) -> str:
    """Run the open model, and the program in C at the same rate."""
    measured = bench.open_round(reply, rate)
    results.open_rounds[reply, rate] = (measured, None)
    if reply.size <= RETURNED_BYTES and not reply.per_connection:
        results.open_rounds[reply, rate] = (measured, bench.floor(reply, rate))
    return f"{measured.cpu_share:.1%} of one CPU, {measured.late} late, {measured.dropped} dropped"


def profile_step(results: Results, bench: Bench, reply: Reply, rate: int | None, folder: Path) -> str:
    """Run the injector under the profiler."""
    stacks = folder / f"profile-{len(results.profiles)}.stacks"
    if rate is None:
        bench.injector(reply, stacks)
    else:
        bench.open_round(reply, rate, stacks)
    counts = count_samples(stacks.read_text())
    if not counts.loop:
        raise RoundError("the profiler saw nothing of the event loop")
    results.profiles[reply, rate] = counts
    return f"{counts.loop:,} samples of the event loop"


def start_step(results: Results, bench: Bench, number: int) -> str:
    """Start injectors at a barrier."""
    start = bench.start_together(number)
    results.starts[number].append(start)
    return f"due within {start.due:.3f} ms, answered within {start.answered:.3f} ms"


def profile_name(reply: Reply, rate: int | None) -> str:
    """Return the name of a profile: closed unless there is a rate."""
    return reply.name if rate is None else f"{reply.name}, open model at {rate}/s"


def tables(plan: Plan, results: Results) -> Iterator[str]:
    """Yield what was measured as lines of Markdown, and what failed."""
    for table in (closed_table, size_table, counts_table, open_table, start_table, profile_tables):
        lines = list(table(plan, results))
        yield from [*lines, ""] if lines else []
    yield from (f"- failed: {failure}" for failure in results.failures)


def closed_table(plan: Plan, results: Results) -> Iterator[str]:
    """Yield requests per CPU-second; ratios are those of rounds in which both clients have a figure."""
    yield "| closed model | wrk, requests per CPU-second | injector | ratio, median | ratios of the rounds |"
    yield "| --- | --- | --- | --- | --- |"
    for reply in plan.closed:
        wrk, injector = (results.rounds[reply, client] for client in CLIENTS)
        ratios = [
            injector[index].per_cpu_second / wrk[index].per_cpu_second
            for index in sorted(wrk.keys() & injector)
        ]
        cells = [
            number(median([each.per_cpu_second for each in rounds.values()] or [0]))
            for rounds in (wrk, injector)
        ]
        cells += [
            f"{median(ratios):.2f}" if ratios else "-",
            ", ".join(f"{ratio:.2f}" for ratio in ratios) or "-",
        ]
        yield f"| {reply.name} | {' | '.join(cells)} |"


def size_table(plan: Plan, results: Results) -> Iterator[str]:
    """Yield CPU of a request and of a MiB of bodies, and bodies per second."""
    columns = [f"{client}: {cell}" for client in CLIENTS for cell in ("us a request", "ms a MiB", "MiB/s")]
    yield f"| replies of | {' | '.join(columns)} |"
    yield f"| --- {'| --- ' * len(columns)}|"
    for reply in plan.closed:
        cells = []
        for client in CLIENTS:
            cost = results.cpu_per_request(reply, client)
            rates = [each.requests / each.seconds for each in results.rounds[reply, client].values()]
            mebibytes = reply.size / 2**20
            cells += (
                ["-"] * 3
                if cost is None
                else [
                    f"{1e6 * cost:,.1f}",
                    f"{1e3 * cost / mebibytes:,.2f}",
                    f"{median(rates) * mebibytes:,.1f}",
                ]
            )
        yield f"| {reply.name} | {' | '.join(cells)} |"


def counts_table(plan: Plan, results: Results) -> Iterator[str]:
    """Yield the clients' counts of all rounds, warm-ups included, beside those of nginx.

    The injector waits for its last answers; wrk leaves one for each connection, which are not held against it.
    """
    if not any(results.seen.values()):
        return
    yield "| replies of | client | requests counted | seen by nginx | apart, worst round | requests a connection |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for reply in plan.closed:
        for client in CLIENTS:
            if not (rounds := results.seen[reply, client]):
                continue
            counted, seen = sum(count for count, _ in rounds), sum(seen.requests for _, seen in rounds)
            spare = USERS if client == "wrk" else 0
            worst = max(
                max(0, abs(count - seen.requests) - spare) / max(seen.requests, 1) for count, seen in rounds
            )
            verdict = "" if worst <= COUNTS_APART else f" (above {COUNTS_APART:.1%})"
            each = seen / max(sum(seen.connections for _, seen in rounds), 1)
            yield f"| {reply.name} | {client} | {counted:,} | {seen:,} | {worst:.3%}{verdict} | {each:,.1f} |"


def open_table(_: Plan, results: Results) -> Iterator[str]:
    """Yield the open model beside a program that only waits, sends and receives."""
    if not results.open_rounds:
        return
    yield (
        "| open model | injector, of one CPU | a C program that only waits, sends and receives | late, dropped "
        "| median latency |"
    )
    yield "| --- | --- | --- | --- | --- |"
    for (reply, rate), (measured, floor) in results.open_rounds.items():
        least = "-" if floor is None else f"{floor * rate:.1%}"
        cells = [f"{measured.cpu_share:.1%}", least, f"{measured.late}, {measured.dropped}"]
        yield f"| {rate:,}/s, {reply.name} | {' | '.join(cells)} | {measured.median_millis:.2f} ms |"


def start_table(_: Plan, results: Results) -> Iterator[str]:
    """Yield how far apart injectors began."""
    if not results.starts:
        return
    yield "| injectors that meet | starts | first requests within, median | worst | first answers within | worst |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for number, starts in results.starts.items():
        due, answered = [start.due for start in starts], [start.answered for start in starts]
        cells = [f"{each(values):.2f} ms" for values in (due, answered) for each in (median, max)]
        yield f"| {number} | {len(starts)} | {' | '.join(cells)} |"


def profile_tables(_: Plan, results: Results) -> Iterator[str]:
    """Yield each profile by owner and by function, and what each reply costs more than the first one."""
    costs = {
        key: results.cpu_per_request(key[0], "injector") if key[1] is None else None
        for key in results.profiles
    }
    for (reply, rate), counts in results.profiles.items():
        name = profile_name(reply, rate)
        yield from [*owner_table(name, counts, costs[reply, rate]), "", *frame_table(name, counts), ""]
    known = [(key, cost) for key, cost in costs.items() if cost is not None]
    for key, cost in known[1:]:
        first, least = known[0]
        profiles = (results.profiles[first], results.profiles[key])
        yield from [*growth_table((first[0].name, key[0].name), profiles, (least, cost)), ""]


def number(value: float) -> str:
    """Return a rate with its thousands; a dash for none."""
    return f"{value:,.0f}" if value else "-"
