# SPDX-License-Identifier: Apache-2.0
"""A first workload file for a server, of what its owner knows: how it is started, its port, a path that answers; and a
question for one that has no JVM, of which the suite's own experiments ask nothing."""

import json
import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import BadInput

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_JVM_SETTING = re.compile(r"-X(mx|ms|mn)|-XX:[+-]Use\w*GC\b|-Xgcpolicy:|-Xlog:gc|-Xverbosegclog")
"""Options that experiments set: heap, collector and GC log."""
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_FOR_A_SHELL = re.compile(r"[;&|<>()]+|[*?`\n]|(?<![^\s=:])~")
"""Operators, patterns and the home, which no program is given as they are typed."""


class Starter(NamedTuple):
    """What was made of the answers."""

    text: str
    """Of the workload file."""
    left_out: list[str]
    """JVM options of the command that experiments set."""
    takes_jvm_options: bool
    """Whether the harness can put those in; else no experiment of the suite can be asked of it."""


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
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"the start command cannot be read ({error}): write it as a shell takes it") from error
    if "$" in command:
        raise BadInput(f"the start command holds a variable ({command}): write its value in its place")
    if shell := _FOR_A_SHELL.search(_QUOTED.sub("x", command)):
        raise BadInput(
            f"the start command holds {shell[0].strip() or 'several lines'}, which only a shell reads: put the command"
            " into a script and give that, with the port as its argument, or quote what your server reads itself"
        )
    variables = {}
    while words and (assigned := _ASSIGNED.fullmatch(words[0])):
        variables[assigned[1]] = assigned[2]
        words = words[1:]
    if not words:
        raise BadInput("there is no start command: write what starts your server in the foreground")
    given = [*words, *variables.values()]
    # In a container the server has a port of its own: `-p 8080:8080` becomes `-p ${port}:8080`.
    published = [re.sub(rf"(?<!\d){port}(?=:\d)", "${port}", word) for word in given]
    in_container = Path(words[0]).name in ("docker", "podman") and published != given
    ported = published if in_container else [_with_port(word, port) for word in given]
    if ported == given:
        raise BadInput(
            f"port {port} is not in the start command, and each server needs one of its own: say it as your server"
            f" takes it (--port={port}, -Dserver.port={port} before -jar, or PORT={port} in front of the command)"
        )
    words, variables = ported[: len(words)], dict(zip(variables, ported[len(words) :], strict=True))
    is_java = Path(words[0]).name == "java"
    left_out = [word for word in words if _JVM_SETTING.match(word)] if is_java else []
    kept = [word for word in words if word not in left_out]
    return Starter(_text(name, kept, variables, path, here, folder), left_out, is_java)


def _with_port(word: str, port: int) -> str:
    return re.sub(rf"(?<!\d){port}(?!\d)", "${port}", word)


def _text(name: str, words: list[str], variables: dict[str, str], path: str, here: Path, folder: Path) -> str:
    if Path(words[0]).name == "java":
        start = f"java: {_flow(words[1:])}    # the JDK and the options of each arm are put in front"
    else:
        start = f"command: {_flow(words)}    # ${{jvm_options}} as a word, where it takes a JVM's"
    environment = f"\n          environment: {json.dumps(variables, ensure_ascii=False)}" if variables else ""
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
          {start}{environment}
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
