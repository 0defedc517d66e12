# SPDX-License-Identifier: Apache-2.0
"""Stacks of a recording by perf as slices like async-profiler's, for platforms that it has no library for (ppc64le).

What `perf script` writes of a sample, the innermost frame first (perf-script(1)), compiled methods by the JVM's map:

    http-nio-1 4711/4730  5001.250000: cpu-clock:
            ffffffff81a0c2f3 tcp_sendmsg ([kernel.kallsyms])
                7f21a40c1a20 void shop.Cart.total(int) (/tmp/perf-4711.map)
                7f21b8a94ea7 start_thread (/usr/lib/powerpc64le-linux-gnu/libc.so.6)

An interpreted method has no name in the map, and a library that was built without frame pointers ends a stack.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import ceil, floor
from pathlib import Path

from steelyard.errors import ServerFailed
from steelyard.processes.environment import ask
from steelyard.session.profilers import FREQUENCY

_SCRIPT = ["perf", "script", "--no-inline", "--fields", "comm,pid,tid,time,event,ip,sym,dso"]
_HEADER = re.compile(r"(?P<thread>\S.*?)\s+(?P<pid>\d+)/\d+\s+(?P<time>\d+\.\d+):\s")
_FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*) \((?P<file>[^()]*)(?: \(deleted\))?\)$")
_MAP = re.compile(r".*/perf-\d+\.map")
_METHOD = re.compile(r"(?:[\w.$\[\]]+ )?(?P<owner>[\w$/.+]+)\.(?P<name>[\w$<>]+)\(")
"""HotSpot: `void shop.Cart.total(int)`; OpenJ9: `shop/Cart.total(I)V_warm`."""
_KERNEL = re.compile(r"\[(?!vdso|unknown|heap|stack).*|.*(/vmlinux|\.ko(\.\w+)?)")
_COMPILED = "_[1]"
COST = round(1e9 / FREQUENCY)
"""Nanoseconds of CPU time between two samples of a thread that runs."""


def read_recording(data: Path, pids: Iterable[int], limit: float) -> str:
    """What perf tells of the samples of these processes (raises ServerFailed: nothing, or not within the limit)."""
    command = [*_SCRIPT, "--pid", ",".join(map(str, pids)), "--input", str(data)]
    try:
        script = ask(command, limit)
    except subprocess.TimeoutExpired as error:
        raise ServerFailed(f"`perf script` did not end within {limit:g} s") from error
    if script.returncode != 0:
        said = next((line.strip() for line in script.stderr.splitlines() if line.strip()), "no reason given")
        raise ServerFailed(f"`perf script` ended with {script.returncode}: {said}")
    return script.stdout


def slices_of(
    script: str, servers: Mapping[int, str], window: tuple[float, float], seconds: float, ends_inside: bool
) -> dict[str, list[str]]:
    """Slices of a window in the collapsed format, by server.

    Args:
        script: from `read_recording`.
        servers: name by process.
        window: by the clock of the recording.
        seconds: length of a slice.
        ends_inside: whether the slice is kept in which the window ends.
    """
    start, end = window
    number = (ceil if ends_inside else floor)((end - start) / seconds)
    slices: dict[str, list[Counter[str]]] = {
        name: [Counter() for _ in range(number)] for name in sorted(set(servers.values()))
    }
    for pid, time, stack in _samples(script):
        place = floor((time - start) / seconds)
        if pid in servers and 0 <= place < number and time < start + number * seconds:
            slices[servers[pid]][place][stack] += COST
    return {
        name: ["".join(f"{stack} {cost}\n" for stack, cost in sorted(each.items())) for each in own]
        for name, own in slices.items()
    }


def _samples(script: str) -> Iterator[tuple[int, float, str]]:
    """Process, time and stack of each sample, the outermost frame first. A stack without methods begins with its
    thread, less its number: of compilers and collectors often nothing else says whose work it is."""
    for text in script.split("\n\n"):
        head, *lines = text.strip("\n").split("\n")
        sample = _HEADER.match(head)
        frames = [frame_name(*match.groups()) for line in lines if (match := _FRAME.match(line))]
        if sample is not None:
            if not any(frame.endswith(_COMPILED) for frame in frames):
                frames.append(re.sub(r"\d+$", "", sample["thread"].replace(";", ",")))
            yield int(sample["pid"]), float(sample["time"]), ";".join(reversed(frames))


def frame_name(symbol: str, file: str) -> str:
    """A frame as async-profiler writes it: methods with slashes, and kernel and compiled code annotated."""
    if _KERNEL.fullmatch(file):
        return f"{symbol.replace(';', ',')}_[k]"
    if _MAP.fullmatch(file) and (method := _METHOD.match(symbol)):
        owner = re.sub(r"(\$\$Lambda).*", r"\1", method["owner"]).replace(".", "/")
        return f"{owner}.{method['name']}{_COMPILED}"
    return symbol.replace(";", ",")
