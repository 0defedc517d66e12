# SPDX-License-Identifier: Apache-2.0
"""The table of JVM settings in docs/openj9.md, from the rows: `python -m steelyard.jvm.reference ../docs/openj9.md`."""

import sys
from pathlib import Path

from steelyard.documented import fill_table
from steelyard.jvm.rows import JvmKind, On, Setting
from steelyard.jvm.settings import SETTINGS
from steelyard.units import format_value

_HEAD = ("setting", "OpenJ9", "told by", "HotSpot", "told by", "notes")


def fill_page(page: str) -> str:
    """The page with the table as the rows say; the text about it is kept (raises ValueError: no such table)."""
    return fill_table(page, _HEAD, (_cells(name, row) for name, row in SETTINGS.items()))


def _cells(name: str, row: Setting) -> list[str]:
    kinds: tuple[JvmKind, ...] = ("openj9", "hotspot")
    columns = [(_options(row.on(jvm_kind)), _sources(jvm_kind, row)) for jvm_kind in kinds]
    return [f"`{name}`", *(cell for column in columns for cell in column), row.note]


def _sources(jvm_kind: JvmKind, row: Setting) -> str:
    if (on := row.on(jvm_kind)) is None or not row.compared:
        return "-"
    own = "memory bean" if jvm_kind == "openj9" else "`VM.flags`"
    names = {"options": own, "gc_log": "GC log", "map": "kernel's map"}
    readers = (names[source] if on.sure.get(source) != () else f"({names[source]})" for source in on.sources)
    return ", ".join(readers) or "nothing"


def _options(on: On | None) -> str:
    """The options by value, as code."""
    texts = options_by_value(on) if on is not None else {}
    if on is None or not texts:
        return "-" if on is None else "(notes)"
    return "; ".join(f"`{value}` `{text}`" if value else f"`{text}`" for value, text in texts.items())


def options_by_value(on: On) -> dict[str, str]:
    """Options by value; by an empty text where one option takes any value; none where a function makes them."""
    if isinstance(on.options, str):
        return {"": on.options.replace("{size}", "SIZE").replace("{value}", "N")}
    by_value = {} if callable(on.options) else on.options
    return {format_value(value): text.replace("{page}", "4k") for value, text in by_value.items() if text}


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill_page(path.read_text(encoding="utf-8")), encoding="utf-8")
