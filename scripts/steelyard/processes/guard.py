# SPDX-License-Identifier: Apache-2.0
"""Kills what a crashed harness left behind.

Runs as a process of its own and reads lines from the harness: `+PGID` and `-PGID` for process groups,
`!NAME COMMAND` (a JSON list) and `~NAME` for commands that remove what is no process of ours, as containers. When the
pipe closes, the harness is gone, however it went (even by SIGKILL): every group still on the list is killed, and every
process that bears the harness's mark in its environment (the argument), and every command still on the list is run, the
last one first. Imports the standard library only, so that it has little that can fail.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

COMMAND_LIMIT = 120.0
OWNER = "STEELYARD_OWNER"
"""Variable in the environment of every child: the mark of its harness."""
CHILD = "STEELYARD_CHILD"
"""Another one, with which child it is: what it starts is known by that, whoever is its parent."""


def main() -> None:
    """Follow the list on standard input; at its end kill and remove what is left."""
    # The terminal's Ctrl-C is for the harness, which stops its children in good order; the guard waits for that.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    groups: set[int] = set()
    commands: dict[str, list[str]] = {}
    for line in sys.stdin:
        sign, rest = line[0], line[1:].strip()
        if sign == "+":
            groups.add(int(rest))
        elif sign == "-":
            groups.discard(int(rest))
        elif sign == "!":
            name, _, command = rest.partition(" ")
            commands[name] = json.loads(command)
        elif sign == "~":
            commands.pop(rest, None)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for pid, mark in marked_processes().items():
        if mark == sys.argv[1] and pid != os.getpid():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    # The last one first: what was registered later may still use what was registered before.
    for command in reversed(commands.values()):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                command,
                timeout=COMMAND_LIMIT,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


def marked_processes() -> dict[int, str]:
    """Processes that bear a harness's mark in their environment, with it: nobody may have told of them, as of one that
    was started just before the harness went, or by a script."""
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for entry in (folder / "environ").read_bytes().split(b"\0"):
                if entry.startswith(OWNER.encode() + b"="):
                    processes[int(folder.name)] = entry.decode().partition("=")[2]
    return processes


if __name__ == "__main__":
    main()
