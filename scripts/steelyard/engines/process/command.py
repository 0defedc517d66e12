# SPDX-License-Identifier: Apache-2.0
"""Command line, environment and files of one component as a process (pure); the same text goes into `replay/`."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.engines.process.quota import enter, script_lines
from steelyard.jvm.checkpoint import IMAGE, PHASES, VARIABLES
from steelyard.paths import ROOT
from steelyard.processes import child_environment
from steelyard.results.spec import Component, Spec
from steelyard.sampling.cgroup import Place
from steelyard.spec.layout import LOOPBACK

_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "TZ", "TMPDIR")
"""All that components get of our environment: options that JVMs, servers or applications read from it would change
what is weighed behind the experiment's back."""
SETTINGS = "settings.json"
"""File with an injector's settings, in its folder."""
TEMPORARY = "tmp"
"""Folder of a component for its JVM's temporary files: a JVM that is killed leaves what it has unpacked."""
SHARED = "shared"
"""Folder beside those of a trial's components, which goes when they stop."""
_OTHERS = re.compile(r"\$\{folder:([\w-]+)\}")
"""The folder of another component, by its name."""
_JVM_OPTIONS = "${jvm_options}"
_LINK = "\0"
"""Stands for the folder of a script until it is quoted; no word of a command can hold it."""


@dataclass(frozen=True)
class Places:
    """Where a component's things lie."""

    folder: str
    """Its own folder, with `logs/`."""
    package: str | None
    cache: str
    group: str | None = None
    """Folder of its control group, which holds it to its CPU quota."""

    @property
    def shared_folders(self) -> str:
        """What components of one trial share among themselves."""
        return f"{Path(self.folder).parent}/{SHARED}"

    def fill(self, text: str, component: Component) -> str:
        """The text with the names that a spec leaves to the engine."""
        jvm = component.artifact.jvm
        jdk = jvm.home if jvm is not None else None
        values = {"folder": self.folder, "package": self.package, "cache": self.cache, "jdk": jdk}
        values["java"] = f"{jdk}/bin/java" if jdk is not None else None
        values["shared"] = self.shared_folders
        for name, value in values.items():
            if value is not None:
                text = text.replace(f"${{{name}}}", value)
        return _OTHERS.sub(lambda other: f"{Path(self.folder).parent}/{other[1]}", text)


def command(component: Component, places: Places, *, takes_checkpoint: bool = False) -> list[str]:
    """The command in the foreground on the component's CPUs; no shell stands between it and its process id, but for the
    one that waits for a server that was restored. `takes_checkpoint`: the one that takes its checkpoint and ends."""
    artifact = component.artifact
    words = artifact.words
    if takes_checkpoint:
        words = ["${package}/wlp/bin/server", "checkpoint", *words, f"--at={PHASES[component.checkpoint]}"]
    elif artifact.form == "liberty":
        words = ["${package}/wlp/bin/server", "run", *words]
    elif artifact.form == "java":
        words = ["${java}", _temporary(places), "${jvm_options}", *words]
    options = component.jvm_options
    words = [part for word in words for part in (options if word == _JVM_OPTIONS else [word])]
    cpus = ",".join(str(cpu) for cpu in component.cpus)
    bound = ["taskset", "-c", cpus, *(_fill(word, component, places) for word in words)]
    return bound if places.group is None else enter(places.group, bound)


def _fill(text: str, component: Component, places: Places) -> str:
    """A text with its places, and with the JVM's options as a shell reads them."""
    return places.fill(text.replace(_JVM_OPTIONS, shlex.join(component.jvm_options)), component)


def environment(component: Component, places: Places) -> dict[str, str]:
    """Environment variables of a component beside those that every process gets.

    A Liberty server runs from a shared, read-only package: WLP_USER_DIR and LOG_DIR give it folders of its own;
    HTTP_PORT and HTTP_HOST override port and address of server.xml; VERBOSEGC=false keeps Liberty from adding a GC log
    of its own beside ours on OpenJ9.
    """
    variables = {key: _fill(text, component, places) for key, text in component.environment.items()}
    jvm = component.artifact.jvm
    if component.artifact.form != "liberty" or jvm is None:
        return {**({"JAVA_HOME": jvm.home} if jvm is not None else {}), **variables}
    options = [places.fill(option, component) for option in component.jvm_options]
    return {
        "JAVA_HOME": jvm.home,
        "WLP_USER_DIR": f"{places.folder}/usr",
        "LOG_DIR": f"{places.folder}/logs",
        "VERBOSEGC": "false",
        "HTTP_HOST": LOOPBACK,  # unless its own environment has another one: `up --listen`
        "HTTP_PORT": str(component.port),
        "JVM_ARGS": shlex.join([_temporary(places), *options]),
        **(VARIABLES if component.checkpoint != "none" else {}),
        **variables,
    }


def _temporary(places: Places) -> str:
    return f"-Djava.io.tmpdir={places.folder}/{TEMPORARY}"


def inherited_environment(source: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What every component gets of our environment, and the language of all that is parsed."""
    return child_environment({key: value for key, value in source.items() if key in _INHERITED})


def files(component: Component) -> dict[str, str]:
    """Files of its folder (name -> text), copies included."""
    copied = {name: (ROOT / path).read_text(encoding="utf-8") for name, path in component.copies.items()}
    return {**copied, **component.files}


def command_line(component: Component) -> str:
    """Environment and command as a person would type them, folders left as names (for `plan`)."""
    places = Places(f"$TRIAL/servers/{component.name}", "$PACKAGE", "$CACHE")
    if component.cpu_quota is not None:
        places = replace(places, group=f"$GROUP_WITH_{component.cpu_quota:g}_CPUS")
    variables = " ".join(f'{key}="{value}"' for key, value in environment(component, places).items())
    lines = [command(component, places, takes_checkpoint=takes) for takes in _starts(component)]
    return "; ".join(f"{variables} {' '.join(map(_type, line))}".strip() for line in lines)


def _starts(component: Component) -> Sequence[bool]:
    """What is started one after the other, a checkpoint first (True) of one that has it."""
    return (False,) if component.checkpoint == "none" else (True, False)


def _type(word: str) -> str:
    """A word for a shell, which fills in the names of folders."""
    return word if re.fullmatch(r"[\w@%+=:,./${}-]+", word) else shlex.quote(word)


def deployment_script(
    spec: Spec, packages: Mapping[str, str], primed: Mapping[str, Path], parent: Place | None = None
) -> str:
    """A shell script that starts everything but the injectors by hand, loads the data, and ends all on Ctrl-C.

    Args:
        spec: the trial's.
        packages: folder of its package by component.
        primed: folder that a Liberty server starts from, by component.
        parent: the group below which those are made that hold components to their CPU quotas.
    """
    lines = [
        *_script(
            "Starts the components of this trial again, in folders beside this script. Ctrl-C stops them."
        ),
        "trap 'kill $(jobs -p) 2>/dev/null; wait' INT TERM",
    ]
    for component in spec.without_injectors:
        places = Places(
            f"{_LINK}/{component.name}", packages.get(component.name), f"{_LINK}/cache/{component.kind}"
        )
        if component.cpu_quota is not None and parent is not None:
            group = Path(parent.folder) / f"steelyard-by-hand-{component.name}"
            lines += ["", *script_lines(group, component.cpu_quota, unified=parent.unified)]
            places = replace(places, group=str(group))
        lines += ["", *_start(component, places, primed.get(component.name))]
    for step in spec.data:
        component = spec.component(step.component)
        ready = shlex.quote(component.url + (component.ready.path or "/"))
        lines += [
            "",
            f"# data of {component.name}",
            f"until curl -fs -o /dev/null {ready}; do sleep 1; done",
            f"curl -fsS {shlex.quote(component.url + step.path)}; echo",
        ]
    return "\n".join([*lines, "", "wait", ""])


def load_script(injectors: Sequence[Component], packages: Mapping[str, str]) -> str:
    """A shell script that repeats the load of a trial by hand, against components that are up."""
    lines = _script(
        "Repeats the load of this trial against what deployment.sh started; `touch injector-1/stop` ends it."
    )
    for component in injectors:
        name = component.name
        lines += [
            f"mkdir -p {name}/{TEMPORARY}",
            f'sed "s|@OUTPUT@|$HERE/{name}|" {name}.json > {name}/{SETTINGS}',
            f"{_quote(*command(component, Places(f'{_LINK}/{name}', packages[name], '')))} &",
        ]
    return "\n".join([*lines, "wait", ""])


def _script(purpose: str) -> list[str]:
    language = [f"export {name}={text}" for name, text in child_environment({}).items()]
    return ["#!/bin/sh", f"# {purpose}", 'cd "$(dirname "$0")" || exit 1', "HERE=$PWD", *language]


def _start(component: Component, places: Places, primed: Path | None) -> list[str]:
    folder = _quote(places.folder)
    lines = [f"rm -rf {folder}; mkdir -p {folder}/logs {folder}/{TEMPORARY} {_quote(places.cache)}"]
    if primed is not None:
        lines.append(f"cp -r {shlex.quote(str(primed))} {folder}/usr")
    if component.data_from is not None:
        lines.append(f"cp -r {shlex.quote(component.data_from)} {folder}/{component.data}")
    for name, text in files(component).items():
        marker = "END_OF_FILE"
        lines += [f"cat > {folder}/{shlex.quote(name)} <<'{marker}'", text.rstrip("\n"), marker]
    start = folder if component.started_in is None else shlex.quote(component.started_in)
    lines.append(f"cd {start} || exit 1")
    for takes in _starts(component):
        lines += [f"{key}={_quote(value)} \\" for key, value in environment(component, places).items()]
        typed = _quote(*command(component, places, takes_checkpoint=takes))
        lines += [f"  {typed} || exit 1", *_wait_for_ids(component, folder)] if takes else [f"  {typed} &"]
    return [*lines, 'cd "$HERE" || exit 1']


def checkpoint_files(component: Component) -> str:
    """Those with the state of each thread in its checkpoint, named by its id: a pattern, below its folder."""
    return f"usr/servers/{component.artifact.words[0]}/{IMAGE}/core-*.img"


def _wait_for_ids(component: Component, folder: str) -> list[str]:
    """Until what a checkpoint was taken of holds none of its process ids any more."""
    return [
        f"for task in {folder}/{checkpoint_files(component)}; do",
        "  task=${task##*/core-}",
        '  while [ -e "/proc/${task%.img}" ]; do sleep 1; done',
        "done",
    ]


def _quote(*words: str) -> str:
    """The words for a shell, which replaces the script's folder and nothing else in them."""
    return " ".join(
        '"$HERE"'.join(shlex.quote(part) if part else "" for part in word.split(_LINK)) or "''"
        for word in words
    )
