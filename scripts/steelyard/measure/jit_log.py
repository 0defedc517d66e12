# SPDX-License-Identifier: Apache-2.0
"""The JIT's log of an OpenJ9 server that compiles in a JITServer: where its methods were compiled, and its connection.

Written by `-Xjit:verbose={compilePerformance},vlog=FILE` with `-XX:+JITServerLogConnections`. Lines of it (OpenJ9 21):

    + (AOT warm) java/net/URL.isBuiltin(...)Z @ 0000...-0000... ... remote deserialized aotStored time=14987us ...
    #JITServer: t=   512 Connected to a server (serverUID=7963459829269949269)
    #JITServer: t= 30123 Lost connection to the server (serverUID=...). Next attempt in 1000 ms.
    #JITServer: t=   512 Could not connect to a server. Next attempt in 1000 ms.
    #JITServer: compThreadID=0 JITServer StreamVersionIncompatible: ...

It may hold bytes that are no text, and a last line that was cut off.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_COMPILED = re.compile(r"^\+ \(([^)]*)\) .*? @ [0-9A-Fa-f]+-[0-9A-Fa-f]+ (.*)$")
_CLOCKS = 0.1
"""Seconds by which the time of a file may be behind the wall clock: the kernel takes it from the last tick."""
_VERSION = re.compile(r"^#JITServer:.*JITServer version: ([0-9.]+)")


@dataclass
class JitLog:
    """What the logs of one server say."""

    remote: int = 0
    """Methods that were compiled in the JITServer."""
    cached: int = 0
    """Of them those that the JITServer had compiled before, for another server (AOT cache)."""
    local: int = 0
    """And by the server itself."""
    levels: Counter[str] = field(default_factory=Counter)
    """Methods by the level at which they were compiled, as OpenJ9 calls it: `cold`, `warm`, `AOT warm`."""
    unread: int = 0
    """Lines that tell of a compilation and cannot be read: with one of them no count is known."""
    connected: int = 0
    """Connections to a JITServer that was another one before, or none."""
    lost: int = 0
    """Connections that were lost."""
    failed: int = 0
    """Attempts to connect that failed."""
    unreadable: list[str] = field(default_factory=list)
    """Files that could not be read, each with its reason."""
    incompatible: list[str] = field(default_factory=list)
    """What it said of versions that do not match."""
    version: str | None = None
    """Version of its side of the protocol, where it tells it."""

    @property
    def is_known(self) -> bool:
        """Whether its counts of methods are: it tells of some, and every line of them was read."""
        return not self.unread and not self.unreadable and bool(self.remote or self.local)

    def add(self, line: str) -> None:
        """Take in a line."""
        if line.startswith("+ ("):
            compiled = _COMPILED.match(line)
            self.unread += compiled is None
            if compiled is not None:
                self.levels[compiled[1]] += 1
                words = compiled[2].split()
                remote = "remote" in words
                self.remote += remote
                self.local += not remote
                self.cached += "deserialized" in words and "aotStored" not in words
        elif line.startswith("#JITServer:"):
            self.connected += "Connected to a server" in line
            self.lost += "Lost connection to the server" in line
            self.failed += "Could not connect to a server" in line
            if "StreamVersionIncompatible" in line:
                self.incompatible.append(line.partition("StreamVersionIncompatible: ")[2].strip())
            elif version := _VERSION.match(line):
                self.version = version[1]


def read_jit_logs(paths: Iterable[Path], since: float = 0.0) -> JitLog:
    """What the files say together; one that was last written before `since` (epoch seconds: by a start before the
    measured one) says nothing."""
    log = JitLog()
    for path in paths:
        try:
            if path.stat().st_mtime < since - _CLOCKS:
                continue
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line.endswith("\n"):  # else it was cut off, and what it says of where may be missing
                        log.add(line)
        except OSError as error:
            log.unreadable.append(f"{path.name}: {error.strerror}")
    return log


def why_not_remote(name: str, log: JitLog, *, killed: bool, kept: bool = False) -> str | None:
    """Why a server did not compile in its JITServer as it should have, in one sentence; None: it did.

    Args:
        name: of the server.
        log: what it logged.
        killed: whether the trial has killed the JITServer on purpose: then its connection may be lost.
        kept: whether the JITServer has code from an earlier start, of which the server must have taken some.
    """
    if log.incompatible:
        return f"{name} and its JITServer are of different builds ({log.incompatible[0]})"
    if not log.connected:
        tried = f" in {log.failed} attempts" if log.failed else ""
        return f"{name} did not come to be connected to its JITServer{tried}"
    if not log.remote:
        return f"{name} compiled {log.local} methods by itself and none in its JITServer"
    if log.lost and not killed:
        return f"{name} lost its connection to the JITServer"
    if kept and not log.cached:
        return f"{name} took none of the code that its JITServer had kept"
    return None
