# SPDX-License-Identifier: Apache-2.0
"""The table of host states: settings of the whole host that a session can set and put back.

One declaration each, and nothing else knows where a state lives: experiments are checked against it, trials are read
back through it, `doctor` and the host's facts are told by it. To add a state is to add a declaration to `STATES`.

The value of a state is text, exactly as `read` gives it, so that what was there can be written again as it was.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host import huge_pages
from steelyard.host.system import UNTOLD, Seen, System
from steelyard.units import format_size
from steelyard.yamlfile import Scalar


@dataclass(frozen=True, slots=True)
class HostState:
    """One setting of the host."""

    name: str
    """As experiments write it; the doctor's topic is the same with hyphens."""
    allowed: str
    """The values it takes, for messages."""
    why: str
    """Why it matters to a measurement."""
    files: Callable[[System], list[str]]
    """The files that hold it; none where the host does not have it."""
    read: Callable[[System], str | None]
    """The value now; None where the host does not have it or does not tell."""
    parse: Callable[[System, object], str]
    """A wanted value as `read` will give it back; ValueError when it is none."""
    write: Callable[[System, str], None]
    """Set it, also back to what was read before; OSError when the kernel or the user's rights refuse."""
    command: Callable[[str], str]
    """What a person types to set it."""
    judge: Callable[[System], Seen]
    """What the doctor says of it."""

    @property
    def topic(self) -> str:
        """Its topic in the doctor's output."""
        return self.name.replace("_", "-")

    def value(self, system: System, wanted: Scalar) -> str:
        """A wanted value as this host will read it back (raises BadInput)."""
        try:
            return self.parse(system, wanted)
        except ValueError as error:
            raise BadInput(f"host state {self.name}: {error}; it takes {self.allowed}") from error

    def require(self, system: System) -> None:
        """See that it can be set here.

        Raises:
            MissingRequirement: the host does not have it, or this user may not change it.
        """
        files = self.files(system)
        if not files or self.read(system) is None:
            raise MissingRequirement(
                f"this host has no {self.name} to set: leave it out of the experiment, or use another host"
            )
        if not all(os.access(system.path(name), os.W_OK) for name in files):
            raise self._refused("no permission to write it")

    def set(self, system: System, value: str) -> None:
        """Set it and read it back; nothing is written when it is so already.

        Raises:
            MissingRequirement: this user may not, or the host did not do it.
        """
        if self.read(system) == value:
            return
        try:
            self.write(system, value)
        except OSError as error:
            raise self._refused(os.strerror(error.errno or 0)) from error
        if (now := self.read(system)) != value:
            raise MissingRequirement(
                f"{self.name} was set to {value} and reads back as {now or 'nothing'}: something else sets it too,"
                f" or this host cannot; stop what does, or leave {self.name} out of the experiment"
            )

    def _refused(self, reason: str) -> MissingRequirement:
        return MissingRequirement(
            f"{self.name} of this host cannot be set ({reason}): run it as root (sudo), in a container also with"
            f" --privileged, or leave {self.name} out of the experiment"
        )


# --- transparent huge pages

_THP = "sys/kernel/mm/transparent_hugepage/enabled"
_THP_VALUES = ("always", "madvise", "never")


def _parse_thp(_system: System, wanted: object) -> str:
    if wanted not in _THP_VALUES:
        raise ValueError(f"{wanted!r} is no mode of transparent huge pages")
    return str(wanted)


def _thp_command(value: str) -> str:
    return f"echo {value} | sudo tee /{_THP}"


def _judge_thp(system: System) -> Seen:
    chosen = system.choice(_THP)
    if chosen is None:
        return UNTOLD
    return Seen(chosen, "info", _thp_command("madvise")) if chosen == "always" else Seen(chosen)


# --- who may take huge pages as shared memory, as OpenJ9 does

_UNLIMITED = 2**62


def _sysctl(name: str, key: str, allowed: str, why: str, shown: Callable[[int], str]) -> HostState:
    """A whole number that `sysctl` sets."""
    file = f"proc/sys/{key.replace('.', '/')}"

    def parse(_system: System, wanted: object) -> str:
        text = str(wanted).strip()
        if isinstance(wanted, bool) or not re.fullmatch(r"\d+", text):
            raise ValueError(f"{wanted!r} is no number")
        return text

    def judge(system: System) -> Seen:
        value = system.number(file)
        return Seen(shown(value)) if value is not None else UNTOLD

    return HostState(
        name=name,
        allowed=allowed,
        why=why,
        files=lambda system: [file] if system.path(file).exists() else [],
        read=lambda system: system.text(file),
        parse=parse,
        write=lambda system, value: system.write(file, value),
        command=lambda value: f"sudo sysctl {key}={value}",
        judge=judge,
    )


STATES: Mapping[str, HostState] = {
    state.name: state
    for state in (
        HostState(
            name="thp",
            allowed="always, madvise or never",
            why="Transparent huge pages change memory and speed of a JVM, and when the kernel makes them is up to"
            " chance.",
            files=lambda system: [_THP] if system.path(_THP).exists() else [],
            read=lambda system: system.choice(_THP),
            parse=_parse_thp,
            write=lambda system, value: system.write(_THP, value),
            command=_thp_command,
            judge=_judge_thp,
        ),
        HostState(
            name="huge_pages",
            allowed="a number of pages of the host's default size (2 MiB on x86-64), a size like 1g, or both by NUMA"
            " node (node1=1g)",
            why="`pages: large` needs huge pages that are reserved before; without them a JVM refuses to start"
            " or silently uses small ones.",
            files=huge_pages.files,
            read=huge_pages.read,
            parse=huge_pages.parse,
            write=huge_pages.write,
            command=huge_pages.command,
            judge=huge_pages.judge,
        ),
        _sysctl(
            name="shm_group",
            key="vm.hugetlb_shm_group",
            allowed="the number of a group",
            why="OpenJ9 takes large pages as shared memory, which the kernel gives to root, to this group and to users"
            " whose limit on locked memory is as large.",
            shown=lambda group: f"group {group}",
        ),
        _sysctl(
            name="shmmax",
            key="kernel.shmmax",
            allowed="a number of bytes",
            why="The largest piece of shared memory: the heap of an OpenJ9 JVM on large pages has to fit.",
            shown=lambda size: "no limit" if size >= _UNLIMITED else format_size(size),
        ),
    )
}
"""The host states by name, in the order in which they are set; they are put back in reverse."""


def state_named(name: str) -> HostState:
    """A host state by its name (raises BadInput)."""
    if name not in STATES:
        raise BadInput(f"there is no host state {name!r}: known are {', '.join(STATES)}")
    return STATES[name]


def read_states(system: System) -> dict[str, str]:
    """Every host state that this host has and tells, by name."""
    values = {name: state.read(system) for name, state in STATES.items()}
    return {name: value for name, value in values.items() if value is not None}
