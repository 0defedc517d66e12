# SPDX-License-Identifier: Apache-2.0
"""Where the CPU of the injector's event loop goes, by owner and by function, from async-profiler's collapsed stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

KERNEL = "system calls"
SYSTEM_CALLS = (
    "send",
    "recv",
    "read",
    "write",
    "epoll_",
    "connect",
    "socket",
    "close",
    "shutdown",
    "fcntl",
    "bind",
)
SOCKET_CALLS = ("getsockopt", "setsockopt", "getsockname", "getpeername")
OWNERS = {
    KERNEL: SYSTEM_CALLS + SOCKET_CALLS,
    "ours": ("dev/steelyard/", "org/HdrHistogram/"),
    "Gatling, Scala": ("io/gatling/", "scala/", "com/typesafe/"),
    "Netty": ("io/netty/", "netty_"),
}
"""Whose code a frame is, by the beginning of its name without glibc's prefix; of the JDK's nobody's: its caller's."""
OTHER = "other"
LOOP = "io/netty/channel/SingleThreadIoEventLoop.run"
FRAMES = 10


@dataclass
class Samples:
    """Samples of the event loop.

    Args:
        process: samples of all threads
        own: by the owner of the innermost frame that is anybody's
        beneath: by every owner with a frame in them
        frames: by the innermost frame, and the innermost one that is anybody's
    """

    process: int = 0
    own: Counter[str] = field(default_factory=Counter)
    beneath: Counter[str] = field(default_factory=Counter)
    frames: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def loop(self) -> int:
        """Samples of the event loop."""
        return sum(self.own.values())


def count_samples(stacks: str) -> Samples:
    """Count the samples of collapsed stacks."""
    counts = Samples()
    for text in stacks.splitlines():
        stack, number = text.rsplit(" ", 1)
        counts.process += int(number)
        if LOOP in stack:
            frames = stack.split(";")
            owned = [frame for frame in reversed(frames) if owner_of(frame) != OTHER]
            owners = [owner_of(frame) for frame in owned] or [OTHER]
            counts.own[owners[0]] += int(number)
            counts.beneath.update(dict.fromkeys(owners, int(number)))
            counts.frames[frames[-1], owned[0] if owned else OTHER] += int(number)
    return counts


def owner_of(frame: str) -> str:
    """Return whose code a frame is."""
    name = frame.removeprefix("__GI_").lstrip("_").removeprefix("libc_")
    return next((owner for owner, starts in OWNERS.items() if name.startswith(starts)), OTHER)


def micros_per_sample(counts: Samples, cpu_seconds_per_request: float) -> float:
    """Return what a sample stands for, in us of CPU a request: those of all threads are all of a request's CPU."""
    return 1e6 * cpu_seconds_per_request / counts.process


def owner_table(name: str, counts: Samples, cpu_seconds_per_request: float | None) -> Iterator[str]:
    """Yield lines of Markdown: whose code ran, beneath whose it did, and the time of a request, where it is known."""
    yield f"| {name}: {counts.loop:,} samples of the event loop | share | beneath it | us of a request |"
    yield "| --- | --- | --- | --- |"
    for owner in [*OWNERS, OTHER]:
        micros = "-"
        if cpu_seconds_per_request is not None:
            micros = f"{counts.own[owner] * micros_per_sample(counts, cpu_seconds_per_request):.2f}"
        shares = [f"{number[owner] / counts.loop:.1%}" for number in (counts.own, counts.beneath)]
        yield f"| {owner} | {' | '.join(shares)} | {micros} |"


def frame_table(name: str, counts: Samples) -> Iterator[str]:
    """Yield lines of Markdown: the functions in which most samples are."""
    yield f"| {name}: function | called by | share |"
    yield "| --- | --- | --- |"
    for (frame, owned), number in counts.frames.most_common(FRAMES):
        yield f"| `{frame}` | {caller(frame, owned)} | {number / counts.loop:.1%} |"


def growth_table(
    names: tuple[str, str], counts: tuple[Samples, Samples], costs: tuple[float, float]
) -> Iterator[str]:
    """Yield lines of Markdown: functions that take more CPU a request in the second profile, in us.

    Args:
        names: of the profiles
        counts: their samples
        costs: CPU seconds a request of rounds without a profiler
    """
    before, after = (
        Counter({key: number * micros_per_sample(samples, cost) for key, number in samples.frames.items()})
        for samples, cost in zip(counts, costs, strict=True)
    )
    growth = {key: micros - before[key] for key, micros in after.items()}
    yield f"| more CPU with {names[1]} than with {names[0]}: function | called by | us a request | of |"
    yield "| --- | --- | --- | --- |"
    for frame, owned in sorted(growth, key=lambda key: growth[key], reverse=True)[:FRAMES]:
        key = (frame, owned)
        yield f"| `{frame}` | {caller(frame, owned)} | +{growth[key]:.2f} | {after[key]:.2f} |"
    yield f"| all of a request | | {1e6 * (costs[1] - costs[0]):+.2f} | {1e6 * costs[1]:.2f} |"


def caller(frame: str, owned: str) -> str:
    """Return the function of an owner that called a function; a dash where it is its own."""
    return "-" if owned == frame else f"`{owned}`"
