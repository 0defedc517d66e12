# SPDX-License-Identifier: Apache-2.0
"""Which setting an option that somebody typed is about, from the rows of `jvm/settings.py` (pure)."""

import re
from collections.abc import Iterator
from functools import cache

from steelyard.jvm.rows import On
from steelyard.jvm.settings import SETTINGS

_NAME = re.compile(r"-XX:[+-]?\w+|-Xlog:\w+|-X[A-Za-z]+")
"""The name of an option: of HotSpot's logs each has its own."""
_COLLECTOR = re.compile(r"-XX:[+-]Use\w*GC\b")
"""Also those of other releases: with two collectors a JVM does not start."""
_MORE = {
    "initial_heap": ("-XX:MinHeapSize",),
    "nursery": ("-Xmnx", "-Xmns"),
    "gc_log": ("-Xloggc",),
    "class_cache": ("-Xshareclasses", "-Xscmx", "-Xshare", "-XX:AOTMode"),
}
"""Options that no text of a row has: HotSpot's -Xms sets that one as well, OpenJ9's -Xmn those two; an older name of
HotSpot's log; and what `jvm/class_cache.py` makes."""


class _AskedNames(dict[str, object]):
    """Flags that nobody has given; it keeps which a reader asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def get(self, key: str, default: object = None) -> object:
        """Keep the name."""
        self.names.append(key)
        return default


def find_setting(option: str) -> str | None:
    """The setting that an option of either JVM is about; None: of none.

    A command's own options stand behind those of an arm, and a JVM takes the last one.
    """
    if _COLLECTOR.match(option):
        return "gc"
    typed = _without_sign(option)
    known = _names_by_setting().items()
    return next((setting for setting, names in known if any(_has_name(typed, name) for name in names)), None)


def _without_sign(option: str) -> str:
    return re.sub("^-XX:[+-]", "-XX:", option)


def _has_name(option: str, name: str) -> bool:
    # A value may stand right behind a name (-Xmx1g); -Xmso is another option than -Xms.
    return option.startswith(name) and not option[len(name) : len(name) + 1].isalpha()


@cache
def _names_by_setting() -> dict[str, set[str]]:
    return {
        setting: {*_MORE.get(setting, ())}
        | {_without_sign(name) for on in (row.hotspot, row.openj9) for name in _option_names(on)}
        | {f"-XX:{flag}" for flag in _flags(row.hotspot)}
        for setting, row in SETTINGS.items()
    }


def _option_names(on: On | str) -> Iterator[str]:
    """Names of the options of a row, where texts have them."""
    if isinstance(on, On) and not callable(on.options):
        texts = [on.options] if isinstance(on.options, str) else on.options.values()
        yield from (name for text in texts for word in text.split() for name in _NAME.findall(word)[:1])


def _flags(on: On | str) -> list[str]:
    """The flags of HotSpot by which a row is read back, which are options as well."""
    if not isinstance(on, On) or not on.flags:
        return []
    if isinstance(on.flags, str):
        return [on.flags]
    asked = _AskedNames()
    on.flags(asked)
    return asked.names
