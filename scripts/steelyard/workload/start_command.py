# SPDX-License-Identifier: Apache-2.0
"""Reads the command that starts a server: its program, its variables, its JDK, and where its port stands."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import BadInput
from steelyard.jvm.recognition import find_setting

PORT = "${port}"
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_FOR_A_SHELL = re.compile(r"[;&|<>()]+|[*?`\n]|(?<![^\s=:])~")
"""Operators, patterns and the home, which no program is given as they are typed."""
_JVM_VARIABLES = (
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "OPENJ9_JAVA_OPTIONS",
    "IBM_JAVA_OPTIONS",
)
"""Variables that a JVM takes options from."""


class _Wrapper(NamedTuple):
    """How a program that starts another one is called."""

    valued: tuple[str, ...] = ()
    """Options with a value of their own."""
    operands: int = 0
    """Words that stand before the other program."""


_WRAPPERS: Mapping[str, _Wrapper] = {
    "exec": _Wrapper(("-a",)),
    "nohup": _Wrapper(),
    "setsid": _Wrapper(),
    "env": _Wrapper(),
    "nice": _Wrapper(("-n", "--adjustment")),
    "ionice": _Wrapper(("-c", "-n", "--class", "--classdata")),
    "taskset": _Wrapper(operands=1),
    "chrt": _Wrapper(operands=1),
    "numactl": _Wrapper(("-N", "-m", "-i", "-C", "-p")),
}
"""Programs by which a person starts a server. The harness starts it itself, on CPUs that it chooses."""

_PORT_NAME = re.compile(
    r"(?<!sup)(?<!re)(?<!ex)(?<!im)(?<!trans)(?<!view)ports?([-_.]?(no|num|number))?$|(^|[-_.])(bind|listen|addr(ess)?|urls?)$"
    r"|^-[pPlb]$",
    re.IGNORECASE,
)
"""Names of options and variables that are about a port; not `transport`, nor `http.timeout`."""


class StartCommand(NamedTuple):
    """What a person's command says."""

    words: list[str]
    """Program and arguments, with `${port}` where the port stood."""
    variables: dict[str, str]
    ported: list[str]
    """Words and variables that hold the port now."""
    wrapper: list[str]
    """Words in front of the program, which are left out: other programs, and what they are given."""
    settings: list[str]
    """Options that are left out, for experiments set them."""
    jdk: str | None
    """Home of the JDK whose `java` was typed; None: that of the PATH, or no JVM."""
    is_java: bool


def read_start_command(command: str, port: int, here: Path) -> StartCommand:
    """Read it.

    Args:
        command: as a person types it in `here`; variables may stand in front (`PORT=8080 node x`).
        port: where the server then listens; a `${port}` that stands in the command is taken as it is.
        here: the folder in which the command works.

    Raises:
        BadInput: it cannot be read, is a shell's line, or does not show where its port stands.
    """
    typed = _split(command)
    variables = _take_variables(typed)
    wrapper = _take_wrappers(typed, variables)
    if not typed:
        raise BadInput("there is no start command: write what starts your server in the foreground")
    words, variables = _with_port(typed, variables, port)
    ported = [word for word in (*words, *_assignments(variables)) if PORT in word]
    program = Path(words[0])
    of_path = words[0] == "java"
    is_java = of_path or (program.name == "java" and program.parent.name == "bin")
    settings: list[str] = []
    if is_java:
        end = words.index("-jar") if "-jar" in words else len(words)
        settings = [word for word in words[:end] if find_setting(word) is not None]
        words = [word for word in words[:end] if word not in settings] + words[end:]
        variables, more = _without_settings(variables)
        settings += more
    jdk = str(_home(here / program)) if is_java and not of_path else None
    return StartCommand(words, variables, ported, wrapper, settings, jdk, is_java)


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"the start command cannot be read ({error}): write it as a shell takes it") from error
    if "$" in command.replace(PORT, ""):
        raise BadInput(f"the start command holds a variable ({command}): write its value in its place")
    if shell := _FOR_A_SHELL.search(_QUOTED.sub("x", command)):
        raise BadInput(
            f"the start command holds {shell[0].strip() or 'several lines'}, which only a shell reads: put the command"
            " into a script and give that, with the port as its argument, or quote what your server reads itself"
        )
    return words


def _take_variables(words: list[str]) -> dict[str, str]:
    """Take variables off the front."""
    variables = {}
    while words and (assigned := _ASSIGNED.fullmatch(words[0])):
        variables[assigned[1]] = assigned[2]
        del words[0]
    return variables


def _take_wrappers(words: list[str], variables: dict[str, str]) -> list[str]:
    """Take programs that start the server off the front, and the variables that `env` sets."""
    taken = []
    while words and (wrapper := _WRAPPERS.get(name := Path(words[0]).name)):
        taken.append(words.pop(0))
        if name == "env":
            if words and words[0].startswith("-"):
                raise BadInput(
                    f"env {words[0]} of the start command has no place in a workload file: give env variables alone, or"
                    " put the command into a script"
                )
            variables |= _take_variables(words)
            continue
        while words and words[0].startswith("-"):
            takes_next = words[0] in wrapper.valued
            taken += words[: 1 + takes_next]
            del words[: 1 + takes_next]
        taken += words[: wrapper.operands]
        del words[: wrapper.operands]
    return taken


def _home(java: Path) -> Path:
    """The JDK of a `java`, which may be a link to it."""
    return (java.resolve() if java.is_symlink() else java).parent.parent


def _without_settings(variables: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Variables without the JVM's options that experiments set, and those options."""
    kept, settings = dict(variables), list[str]()
    for name in _JVM_VARIABLES:
        options = kept.pop(name, "").split()
        settings += [option for option in options if find_setting(option) is not None]
        if others := [option for option in options if find_setting(option) is None]:
            kept[name] = " ".join(others)
    return kept, settings


def _assignments(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in variables.items()]


class _Place(NamedTuple):
    """Where the port stands by itself."""

    at: int
    """Which word."""
    piece: str
    word: str
    """The word with `${port}` there."""


def _with_port(words: list[str], variables: dict[str, str], port: int) -> tuple[list[str], dict[str, str]]:
    """Words and variables with `${port}` in the place of the port (raises BadInput: that place is not clear)."""
    given = [*words, *_assignments(variables)]
    if any(PORT in word for word in given):
        return words, variables
    places = _container_places(given, port) or _places(given, port)
    if len(places) > 1:
        named = ", ".join(place.piece for place in places)
        raise BadInput(
            f"port {port} stands in several places of the start command ({named}): write '{PORT}' where your server"
            " takes its port"
        )
    if not places:
        raise BadInput(
            f"port {port} is not in the start command as the value of an option about a port, and each server needs one"
            f" of its own: say it as your server takes it (--port={port}, -Dserver.port={port} before -jar, or"
            f" PORT={port} in front of the command), or write '{PORT}' in its place"
        )
    given[places[0].at] = places[0].word
    pairs = (assigned.partition("=") for assigned in given[len(words) :])
    return given[: len(words)], {name: value for name, _, value in pairs}


def _container_places(given: Sequence[str], port: int) -> list[_Place]:
    """Where a container's port is published: it has one of its own, `-p 8080:8080` becomes `-p ${port}:8080`."""
    if Path(given[0]).name not in ("docker", "podman"):
        return []
    host = re.compile(rf"((?:-p|--publish=|-p=)?(?:[\w.\[\]:]+:)?){port}(:\d+(?:/\w+)?)")
    return [
        _Place(index, word, f"{match[1]}{PORT}{match[2]}")
        for index, word in enumerate(given)
        if (match := host.fullmatch(word))
        and (word.startswith("-") or given[index - 1] in ("-p", "--publish"))
    ]


def _places(given: Sequence[str], port: int) -> list[_Place]:
    """Where the port is the value of something about ports; without such, where it stands alone or in an address."""
    address = re.compile(rf"((?:(?:\w+://)?(?!\d+:)(?:[\w.*-]+|\[[\da-f:]*\])?:)?){port}((?:/\S*)?)")
    about, alone, before = list[_Place](), list[_Place](), ""
    for index, word in enumerate(given):
        for piece in re.finditer(r"\S+", word):
            name, value = _name_and_value(piece[0])
            if match := address.fullmatch(value):
                start = piece.end() - len(value)
                replaced = f"{word[:start]}{match[1]}{PORT}{match[2]}{word[piece.end() :]}"
                place, is_option = _Place(index, piece[0], replaced), before.startswith("-") and not name
                if _PORT_NAME.search(before if is_option else name):
                    about.append(place)
                elif match[1] or not (name or is_option):
                    alone.append(place)
            before = piece[0]
    return about or alone


def _name_and_value(piece: str) -> tuple[str, str]:
    """`--port=8080`, and `-p8080`; without a name the piece itself."""
    if joined := re.fullmatch(r"(-[pP])(\d+)", piece):
        return joined[1], joined[2]
    name, _, value = piece.rpartition("=")
    return name, value
