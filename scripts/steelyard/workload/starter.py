# SPDX-License-Identifier: Apache-2.0
"""A first workload file for a server, of what its owner knows: how it is started, its port, a path that answers; and a
question for one that has no JVM, of which the suite's own experiments ask nothing."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from steelyard.workload.start_command import StartCommand, read_start_command


class Starter(NamedTuple):
    """What was made of the answers."""

    text: str
    """Of the workload file."""
    start: StartCommand
    """What was read of the command; no experiment of the suite can be asked of one that starts no `java`."""


QUESTION = """\
steelyard: 1
name: processes
title: One process or two
question: Do two processes serve more than one, on the same cores?
workload: workload.yaml           # beside this file
factors: {jvms: {label: processes, levels: [1, 2]}}
load: {users: 16, warmup: {until: fixed, at_least: 10s}, measure: 20s}
metrics: {primary: throughput, report: [memory_rss, cpu_per_1k]}
design: {blocks: 6}
quick: {blocks: 5, warmup: {until: fixed, at_least: 4s}}
"""
"""An experiment that sets nothing of a JVM, on the workload file beside it."""


def make_starter(name: str, command: str, port: int, path: str, *, here: Path, folder: Path) -> Starter:
    """Make the file.

    Args:
        name: of the workload.
        command: as a person types it in `here`, in the foreground; variables may stand in front (`PORT=8080 node x`).
        port: where the server then listens; in the file each server gets one of its own.
        path: a GET that answers 200 when it serves; the first journey asks for it alone.
        here: the folder in which the command works.
        folder: that of the file.

    Raises:
        BadInput: the command cannot be read, is a shell's line, or does not hold the port.
    """
    start = read_start_command(command, port, here)
    return Starter(_text(name, start, path, here, folder), start)


def _text(name: str, start: StartCommand, path: str, here: Path, folder: Path) -> str:
    if start.is_java:
        started = f"java: {_flow(start.words[1:])}    # the JDK and the options of each arm are put in front"
    else:
        started = f"command: {_flow(start.words)}    # ${{jvm_options}} as a word, where it takes a JVM's"
    variables = json.dumps(start.variables, ensure_ascii=False)
    environment = f"\n          environment: {variables}" if start.variables else ""
    started_in = os.path.relpath(here.resolve(), folder.resolve())
    return f"""\
steelyard: 1
name: {name}
version: "1"
title: {json.dumps(f"{name}, one page")}

limits: {{p99: 1s, errors: 0.1%}}

topologies:
  single:
    about: one or several servers, each by itself
    components:
      server:
        role: server
        replicas: jvms            # as many as the experiment says
        process:
          folder: {json.dumps(started_in)}              # where the command is run
          {started}{environment}
        ready: {{path: {json.dumps(path)}}}
    journey:
      visits:
        first:                    # ./steelyard journey from-har makes a journey of a browser's recording
          steps:
            - operation: page
              path: {json.dumps(path)}
              pause: {{think: 10ms, distribution: exponential}}
"""


def _flow(words: list[str]) -> str:
    return f"[{', '.join(json.dumps(word, ensure_ascii=False) for word in words)}]"
