# SPDX-License-Identifier: Apache-2.0
"""What a row of `jvm/settings.py` is made of: how each JVM has a setting, and when two values agree."""

import os
import platform
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field
from pydantic.fields import FieldInfo

from steelyard.errors import BadInput
from steelyard.jvm.identity import JvmIdentity
from steelyard.units import MIB, format_value

JvmKind = Literal["hotspot", "openj9"]
Fact = int | str
"""A setting as it was measured; sizes are bytes, switches `on` and `off`."""
Facts = Mapping[str, Fact]
"""What one source tells, by the names of the settings."""
Source = Literal["options", "gc_log", "map", "process", "info"]
"""`options`: what the JVM says of its options (HotSpot `VM.flags`, OpenJ9 its memory bean); `map`: the kernel's map of
its memory; `process`: what the kernel knows of its process; `info`: what the server says of itself."""
Told = Mapping[str, Any]  # options, log lines or JSON: each reader checks what it takes
"""What one source tells, by its own names."""
Reader = str | Callable[[Told], Fact | None]
"""The source's name of a number, or a function; empty: the source does not tell it."""
MAPPINGS = "mappings"
"""A fact of the source `map` that is no setting: how often a heap in shared memory is mapped (ZGC)."""
FOLDER = "${folder}"
"""The component's own folder: its logs lie in `logs/` below."""
JIT_LOG_NAME = "jit.log"
"""In its log folder; OpenJ9 appends a date and its process id."""
CACHE = "${cache}"
"""The folder of its class cache: empty for `cold`, filled by the populating run for `warm`."""


@dataclass(frozen=True)
class Start:
    """What options depend on beside the value of their own setting: the JVM, its maximum heap in bytes (None: left to
    it), the setting `gc`, and whether this is the run that fills a cache for `class_cache: warm`."""

    jvm: JvmIdentity
    heap: int | None = None
    gc: str = "default"
    populates: bool = False


@dataclass(frozen=True, eq=False)
class On:
    """How one JVM has a setting."""

    options: Mapping[Any, str] | str | Callable[[Any, Start], list[str]]
    """Options by value, or one with `{size}` or `{value}` in it, or a function; the default value needs none."""
    flags: Reader = ""
    """How the source `options` tells it."""
    gc_log: Reader = ""
    map: bool = False
    """Whether the kernel's map tells it."""
    sure: Mapping[Source, tuple[Fact, ...]] = field(default_factory=dict)
    """Of a source that tells only some values: which it is sure to tell. Other sources tell all."""
    says: Mapping[Fact, tuple[Fact, ...]] = field(default_factory=dict)
    """Value -> what the sources may say of it, where that is not the value itself."""
    refuses: Callable[[Any, Start], str | None] = lambda _value, _start: None
    """Why this JVM cannot have a value, in one sentence; None: it can."""
    blind: str = ""
    """The collector under which no source tells what was made of it."""

    @property
    def sources(self) -> list[Source]:
        """Those that may tell it."""
        readers: dict[Source, object] = {"options": self.flags, "gc_log": self.gc_log, "map": self.map}
        return [source for source, reader in readers.items() if reader]

    def fact(self, name: str, source: Source, facts: Told) -> Fact | None:
        """The setting of that name, as a source tells it; None: it does not."""
        if source == "map":
            return str(facts[name]) if self.map and facts.get(name) else None
        reader = self.flags if source == "options" else self.gc_log
        return reader(facts) if callable(reader) else whole_number(facts.get(reader))

    def is_told(self, value: Fact, gc: str, sources: Collection[Source]) -> bool:
        """Whether one of the sources is sure to tell it, where this value was asked for."""
        there = [source for source in self.sources if source in sources]
        return gc != self.blind and any(value in self.sure.get(source, (value,)) for source in there)


@dataclass(frozen=True, eq=False)
class Setting:
    """A row but for its name, type and what it is good for, which the field of the model has."""

    openj9: On | str
    """A text: this JVM does not have it, and what to do."""
    hotspot: On | str
    agrees: Callable[[Fact, Fact, int], bool] = lambda measured, requested, _heap: measured == requested
    """Whether a measured value is what was requested, under a heap of so many bytes (0: not known)."""
    compared: bool = True
    """Whether it is read back as a value; else its effect shows."""
    note: str = ""
    """What the reference has to say of it beside that, with its source."""

    def on(self, jvm_kind: JvmKind) -> On | None:
        """How a JVM has it; None: it does not."""
        on: On | str = getattr(self, jvm_kind)
        return on if isinstance(on, On) else None

    def options(self, name: str, value: Any, default: Any, start: Start) -> list[str]:
        """Its options for a value (raises BadInput: the JVM does not have that, in one sentence)."""
        on: On | str = getattr(self, start.jvm.kind)
        missing = f"{name}: {format_value(value)} does not exist on {start.jvm.vm_name}: "
        if isinstance(on, str):
            if value != default:
                raise BadInput(missing + on)
            return []
        if why := on.refuses(value, start):
            raise BadInput(why)
        if callable(on.options):
            return on.options(value, start)
        if isinstance(on.options, str):
            text = on.options if value != default else ""
        elif value in on.options or value == default:
            text = on.options.get(value, "")
        else:
            raise BadInput(f"{missing}choose {', '.join(map(format_value, on.options))} or default")
        filled = text.replace("{page}", size_option(page_size(start.jvm.architecture)))
        filled = filled.replace("{size}", size_option(value) if "{size}" in text else "")
        return filled.replace("{value}", str(value)).split()


def row(default: Any, **more: Any) -> Any:
    """A field of the model with its row: `more` are the fields of `Setting`."""
    made: FieldInfo = Field(default_factory=list) if default == [] else Field(default)
    made.metadata.append(Setting(**more))
    return made


def whole_number(value: object) -> int | None:
    """What a JVM tells as a number or as the text of one; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"[0-9]+", str(value)) else None


def page_size(architecture: str) -> int:
    """Bytes of an ordinary page under a JVM: this kernel's, or what kernels of another architecture have mostly."""
    if architecture == platform.machine():
        return os.sysconf("SC_PAGE_SIZE")
    return 64 * 1024 if architecture.startswith("ppc") else 4 * 1024


def size_option(size: int) -> str:
    """Bytes as JVMs take them."""
    return f"{size // MIB}m" if size % MIB == 0 else f"{size // 1024}k"


def near(measured: Fact, requested: Fact, heap: int) -> bool:
    """Whether a size is what was asked for, as collectors round it: to 2 MiB, or to a region of the heap, which is the
    power of two from 1 to 32 MiB from which on the heap has no more than 2,048 of them (G1 since JDK 17)."""
    if not isinstance(measured, int) or not isinstance(requested, int):
        return measured == requested
    region = MIB
    while region * 2048 < heap and region < 32 * MIB:
        region *= 2
    return abs(measured - requested) <= max(2 * MIB, requested // 100, region)
