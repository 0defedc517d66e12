# SPDX-License-Identifier: Apache-2.0
"""The table of host states: settings of the whole host that a session can set and put back.

One declaration each, and nothing else knows where a state lives: experiments are checked against it, trials are read
back through it, `doctor` and the host's facts are told by it. To add a state is to add a declaration to `STATES`.

The value of a state is text, exactly as `read` gives it, so that what was there can be written again as it was.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.system import UNTOLD, Seen, System
from steelyard.units import format_size, parse_size
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


# --- reserved huge pages

_POOLS = "sys/kernel/mm/hugepages"
IN_USE = 10.0
"""Seconds that pages in use are waited for: those of a JVM that is being killed come back one by one."""


def _pool(size: int) -> str:
    return f"{_POOLS}/hugepages-{size // 1024}kB/nr_hugepages"


def _default_size(system: System) -> int | None:
    """Bytes of the huge pages that programs get unless they ask for others: 2 MiB on x86-64 and POWER's radix MMU."""
    return system.memory("Hugepagesize")


def reserved_pages(system: System) -> dict[str, int]:
    """Pages reserved by size in kB, of every size that the host has."""
    names = (folder.name for folder in system.matching(_POOLS, "hugepages-*kB"))
    sizes = [name.removeprefix("hugepages-").removesuffix("kB") for name in names]
    found = {size: system.number(_pool(int(size) * 1024)) for size in sizes}
    return {size: reserved for size, reserved in found.items() if reserved is not None}


def _huge_pages_files(system: System) -> list[str]:
    size = _default_size(system)
    return [_pool(size)] if size is not None and system.path(_pool(size)).exists() else []


def _read_huge_pages(system: System) -> str | None:
    numbers = [system.number(name) for name in _huge_pages_files(system)]
    return str(numbers[0]) if numbers and numbers[0] is not None else None


def _parse_huge_pages(system: System, wanted: object) -> str:
    """A whole number is pages of the default size; a size is as many as hold it."""
    size = _default_size(system)
    if size is None:
        raise ValueError("this host has no huge pages")
    if isinstance(wanted, bool) or not isinstance(wanted, str | int):
        raise ValueError(f"{wanted!r} is no number of pages")  # noqa: TRY004 - its callers expect a ValueError
    text = str(wanted).strip()
    pages = int(text) if re.fullmatch(r"\d+", text) else -(-parse_size(text) // size)
    memory = system.memory("MemTotal")
    if memory is not None and pages * size > memory:
        raise ValueError(
            f"{format_size(pages * size)} are more than this host's {format_size(memory)} of memory"
        )
    return str(pages)


def _write_huge_pages(system: System, value: str) -> None:
    """Reserve or give back pages; a host that has too little free memory in one piece is told so.

    More than can be had without swapping is refused before the kernel tries: it would swap other programs out.
    When the kernel provides fewer pages than asked for, memory is compacted and it is asked once more.
    """
    (name,), size, wanted = _huge_pages_files(system), _default_size(system) or 0, int(value)
    before, available = system.number(name) or 0, system.memory("MemAvailable")
    if available is not None and (wanted - before) * size > available:
        raise MissingRequirement(
            f"{wanted} huge pages of {format_size(size)} need {format_size((wanted - before) * size)} more,"
            f" and only {format_size(available)} of memory are free: stop what is not needed, or ask for fewer"
        )
    system.write(name, value)
    if (system.number(name) or 0) < wanted:
        system.write("proc/sys/vm/compact_memory", "1")
        system.write(name, value)
    deadline = time.monotonic() + IN_USE
    while (now := system.number(name) or 0) > wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    if now < wanted:
        raise MissingRequirement(
            f"this host provided {now} of {wanted} huge pages of {format_size(size)}, for its free memory is in pieces"
            " (fragmented): reserve them soon after a restart of the host, or ask for fewer"
        )
    if now > wanted:
        raise MissingRequirement(
            f"{now} huge pages of {format_size(size)} are left where {wanted} were asked for, for some are in use:"
            " stop the program that uses them (grep -l 'Private_Hugetlb: *[1-9]' /proc/*/smaps_rollup names it)"
        )


def _huge_pages_command(value: str) -> str:
    return f"sudo sysctl vm.nr_hugepages={value}"


def _judge_huge_pages(system: System) -> Seen:
    reserved = reserved_pages(system)
    if not reserved:
        return UNTOLD
    sizes = sorted(reserved.items(), key=lambda item: int(item[0]))
    state = ", ".join(f"{count} of {format_size(int(size) * 1024)}" for size, count in sizes)
    if any(reserved.values()):
        return Seen(state, "info", f"{_huge_pages_command('0')}   (gives their memory back)")
    return Seen(state, change=f"{_huge_pages_command('N')}   (only for `pages: large`)")


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
            allowed="a number of pages of the host's default size (2 MiB on x86-64), or a size like 1g",
            why="`pages: large` needs huge pages that are reserved before; without them a JVM refuses to start"
            " or silently uses small ones.",
            files=_huge_pages_files,
            read=_read_huge_pages,
            parse=_parse_huge_pages,
            write=_write_huge_pages,
            command=_huge_pages_command,
            judge=_judge_huge_pages,
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
