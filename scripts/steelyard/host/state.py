# SPDX-License-Identifier: Apache-2.0
"""What a host state is, and the two shapes that most of them have: a number of `sysctl`, one value in many files.

The value of a state is text, exactly as `read` gives it, so that what was there can be written again as it was.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypedDict

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.system import Seen, System
from steelyard.units import quote_value
from steelyard.yamlfile import Scalar

_WORD = re.compile(r"[\w,.-]+")


def _none(_system: System) -> list[Scalar]:
    return []


def _as_it_is(_system: System) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class HostState:
    """One setting of the host."""

    name: str
    """As experiments write it; the doctor's topic is the same with hyphens."""
    allowed: str
    """The values it takes, for messages."""
    why: str
    """Why it matters to a measurement."""
    where: str
    """Its files, for people."""
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
    """What the doctor says of it, where the host has it."""
    missing: Callable[[System], str]
    """Why the host does not have it, where it does not."""
    levels: Callable[[System], list[Scalar]] = _none
    """What `levels: host` of an experiment stands for; none: the experiment has to say."""
    better: Callable[[System], str | None] = _as_it_is
    """The value that is better for a server under load than the one that is set; None: as it is, or nobody knows."""
    said: str = ""
    """What the POWER9 study says of it, for `steelyard tune`."""
    experiment: str = ""
    """The experiment that shows what it does here; none: it is no part of that study."""
    facts: tuple[str, ...] = ()
    """Facts of the host that follow from it, and so may differ when a session is resumed."""
    of_servers: str = ""
    """What `servers` stands for, with `{}` for the CPUs of an arm's servers; empty: it stands for nothing."""
    named: Callable[[System], Mapping[str, str]] | None = None
    """The files by name, of a state whose value may be `name=value` of each."""

    @property
    def topic(self) -> str:
        """Its topic in the doctor's output."""
        return self.name.replace("_", "-")

    def observation(self, system: System) -> Seen:
        """What the doctor says of it; of a host that does not have it, the reason."""
        return self.judge(system) if self.read(system) is not None else Seen(self.missing(system), "info")

    def value(self, system: System, wanted: Scalar) -> str:
        """A wanted value as this host will read it back (raises BadInput)."""
        try:
            if self.named is not None and isinstance(wanted, str) and "=" in wanted:
                return _of_each(wanted, self.named(system))
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
                f"this host has no {self.name} to set ({self.missing(system)}): leave it out of the experiment, or use"
                " another host"
            )
        if not all(system.may_write(name) for name in files):
            raise self._refusal("no permission to write it")

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
            raise self._refusal(error.strerror or str(error)) from error
        if (now := self.read(system)) != value:
            raise MissingRequirement(
                f"{self.name} was set to {value} and reads back as {now or 'nothing'}: something else sets it too,"
                f" or this host cannot; stop what does, or leave {self.name} out of the experiment"
            )

    def _refusal(self, reason: str) -> MissingRequirement:
        return MissingRequirement(
            f"{self.name} of this host cannot be set ({reason}): run it as root (sudo) or let this user set just that"
            f" (docs/host-states.md), in a container also with --privileged, or leave {self.name} out of the experiment"
        )


def sysctl(
    name: str,
    key: str,
    allowed: str,
    why: str,
    judge: Callable[[System], Seen] | None = None,
    most: int | None = None,
    better: Callable[[System], str | None] = _as_it_is,
) -> HostState:
    """A whole number that `sysctl` sets.

    Args:
        name: of the state.
        key: of sysctl.
        allowed: for messages.
        why: it matters.
        judge: what the doctor says of it; None: the number.
        most: the largest value that it takes; None: the kernel says.
        better: as of a host state.
    """
    file = f"proc/sys/{key.replace('.', '/')}"

    def parse(_system: System, wanted: object) -> str:
        text = str(wanted).strip()
        if isinstance(wanted, bool) and most == 1:
            return str(int(wanted))
        if isinstance(wanted, bool) or not re.fullmatch(r"\d+", text):
            raise ValueError(f"{quote_value(wanted)} is no number")
        if most is not None and int(text) > most:
            raise ValueError(f"{text} is above {most}")
        return str(int(text))

    return HostState(
        name=name,
        allowed=allowed,
        why=why,
        where=f"/{file}",
        files=lambda system: [file] if system.path(file).exists() else [],
        read=lambda system: system.text(file),
        parse=parse,
        write=lambda system, value: system.write(file, value),
        command=lambda value: f"sudo sysctl {key}={value}",
        judge=judge or (lambda system: Seen(system.text(file) or "")),
        missing=lambda _system: f"its kernel does not have {key}, or it may not be read here",
        better=better,
    )


class InFiles(TypedDict):
    """The fields of a host state that follow from the files that hold it."""

    files: Callable[[System], list[str]]
    read: Callable[[System], str | None]
    write: Callable[[System, str], None]
    named: Callable[[System], Mapping[str, str]]


def in_files(named: Callable[[System], Mapping[str, str]]) -> InFiles:
    """One value in many files, or one of each: `HostState(**in_files(...), ...)`; `named`: the files by name."""

    def write(system: System, value: str) -> None:
        files = named(system)
        for name, text in split_value(value, files).items():
            if system.text(files[name]) != text:
                system.write(files[name], text)

    return {
        "files": lambda system: [*named(system).values()],
        "read": lambda system: join_values({name: system.text(file) for name, file in named(system).items()}),
        "write": write,
        "named": named,
    }


def join_values(values: Mapping[str, str | None]) -> str | None:
    """The value of a state that lives in several files: what all of them hold, or of each `name=value`.

    None where there is no file, or one cannot be read.
    """
    known = {name: text for name, text in values.items() if text is not None}
    if not values or len(known) < len(values):
        return None
    if len(set(known.values())) == 1:
        return next(iter(known.values()))
    return " ".join(f"{name}={text}" for name, text in known.items())


def _of_each(wanted: str, files: Mapping[str, str]) -> str:
    """Such a value as a person writes it, in the order of the files; ValueError where it names others."""
    values = dict(part.split("=", 1) for part in wanted.split() if "=" in part)
    if (
        len(values) < len(wanted.split())
        or values.keys() != files.keys()
        or not all(map(_WORD.fullmatch, values.values()))
    ):
        raise ValueError(f"{quote_value(wanted)} does not name each of {' '.join(files) or 'none'} once")
    return join_values({name: values[name] for name in files}) or ""


def split_value(value: str, names: Mapping[str, str]) -> dict[str, str]:
    """The value of each file of such a state, of those that are there now."""
    if "=" not in value:
        return dict.fromkeys(names, value)
    values = dict(part.split("=", 1) for part in value.split())
    return {name: values[name] for name in names if name in values}
