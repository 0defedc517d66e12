# SPDX-License-Identifier: Apache-2.0
"""The JIT's log of a server with `jit_log: true`: what was compiled at which level, and optimized code that was given
up.

HotSpot writes it by `-Xlog:jit+compilation=debug` (levels: CompilationPolicy; 1 to 3 are C1's, 4 is C2's; without
`TieredCompilation` it prints none, and C2 alone compiles). Lines of it (JDK 17, 25):

  [2026-11-26T09:50:24.715+0000][2.220s][debug][jit,compilation]    7       4       a.B::c (1 bytes)
  [2026-11-26T09:50:24.715+0000][2.220s][debug][jit,compilation]    1       3       a.B::c (1 bytes)   made not entrant
  [2026-11-26T09:50:24.741+0000][2.246s][info ][jit,compilation]   14     n 0       a.B::d (native)   (static)
  [2026-11-26T09:50:26.959+0000][4.464s][info ][jit,compilation]  440 %     4       a.B::e @ 12 (138 bytes)

and from JDK 25 on why code was given up: `made not entrant: uncommon trap`. Of a class that was unloaded the method has
no name any more (JDK 17: `9       4       (method)   made zombie`).

What OpenJ9 writes (`jit_log`) has levels and no times: they are counted since the start alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from steelyard.measure.gc_log import epoch_of
from steelyard.measure.jit_log import JitLog

_LINE = re.compile(
    r"^\[(?P<time>[0-9]{4}-[^\]]+)\]\[[^\]]*\]\[\w+\s*\]\[jit,compilation\s*\](?P<text> +\d+ .*)$"
)
_METHOD = re.compile(
    r" +(?P<id>\d+) [ %][ s][ !][ b](?P<native>[ n]) (?P<level>[0-4 -]) +"
    r"(?:\S.* \((?:\d+ bytes|native)\)|(?P<nameless>\(method\)))(?: {3}(?P<event>.*))?"
)
_GIVEN_UP = "made not entrant"
_REPLACED = f"{_GIVEN_UP}: not used"
"""Code of a lower level, once there is some of a higher one (JDK 25 tells why)."""
OPTIMIZING = 4
"""The level of HotSpot's optimizing compiler, C2."""
_NONE = " -"
"""What stands for the level where there are none."""


@dataclass(frozen=True)
class CompileLog:
    """What the JIT of a server did."""

    levels: Mapping[str, int] = field(default_factory=dict)
    """Methods compiled since its start, by level as the JVM calls it."""
    compiled: tuple[tuple[float, int], ...] = ()
    """When a method had been given to a compiler (epoch seconds), and at which level."""
    given_up: tuple[float, ...] = ()
    """When optimized code was given up, for what the compiler had assumed did not hold; once for each piece of code."""
    unknown: str | None = None
    """Why it is not known when what was compiled."""


NO_TIMES = "OpenJ9's log of its JIT has no times"


def parse_hotspot(lines: Iterable[str]) -> CompileLog:
    """What HotSpot's log says; a last line that was cut off is passed over."""
    compiled: list[tuple[float, int]] = []
    given_up: dict[str, float] = {}
    for line in lines:
        entry = _LINE.match(line) if line.endswith("\n") else None
        if entry is None:
            continue
        method, at = _METHOD.fullmatch(entry["text"].rstrip()), epoch_of(entry["time"])
        if method is None or at is None:
            return CompileLog(unknown=f"a line of the JIT's log cannot be read: {line.strip()[:160]}")
        level = OPTIMIZING if method["level"] in _NONE else int(method["level"])
        event = method["event"] or ""
        # A wrapper, which no compiler optimizes, or code that went with its class.
        if method["native"] == "n" or method["nameless"]:
            continue
        if not event:
            compiled.append((at, level))
        elif level == OPTIMIZING and event.startswith(_GIVEN_UP) and event != _REPLACED:
            given_up.setdefault(method["id"], at)
    if not compiled:
        return CompileLog(unknown="the JIT's log tells of no compilation")
    levels = Counter(f"level {level}" for _, level in compiled)
    return CompileLog(dict(sorted(levels.items())), tuple(compiled), tuple(given_up.values()))


def of_openj9(log: JitLog) -> CompileLog:
    """What OpenJ9's log says."""
    return CompileLog(dict(sorted(log.levels.items())) if log.is_known else {}, unknown=NO_TIMES)
