# SPDX-License-Identifier: Apache-2.0
"""Sizes, durations and shares as people write them in experiment files (`1536m`, `90s`, `0.1%`), and back.

What a file holds is shown as a file has it (`true`), and not as Python has it (`True`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

Number = TypeVar("Number", int, float)
MIB = 1024 * 1024
_SIZES = {"": 1, "k": 1024, "m": MIB, "g": 1024 * MIB}
YEAR = 366 * 24 * 3600.0
_DURATIONS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def add_known(values: Iterable[Number | None]) -> Number | None:
    """The sum; None where there is no value, or one of them is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if known and len(known) == len(listed) else None


def format_value(value: object) -> str:
    """A value as a file has it: `true`, `null`, `[1, 2]`, `{key: value}`; a text as it is."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case list() | tuple():
            return f"[{', '.join(map(quote_value, value))}]"
        case Mapping():
            return f"{{{', '.join(f'{key}: {quote_value(part)}' for key, part in value.items())}}}"
        case _:
            return str(value)


def quote_value(value: object) -> str:
    """The same, a text in quotes: where a sentence goes on after it."""
    return repr(value) if isinstance(value, str) else format_value(value)


def shorten(text: str) -> str:
    """A text of at most 80 characters, the end cut off: what a person wrote may be long."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def _parts(text: object, pattern: str, noun: str, example: str) -> tuple[str, str]:
    """Number and unit of a text (raises ValueError with a sentence)."""
    match = re.fullmatch(rf"\s*{pattern}\s*", str(text).lower())
    if not match:
        raise ValueError(f"{quote_value(text)} is not a {noun}: write for example {example}")
    return match[1], match[2] or ""


def parse_size(text: str | int) -> int:
    """Size in bytes of `512k`, `1536m`, `2g` (binary multiples, as JVMs read them); raises ValueError."""
    number, unit = _parts(text, r"(\d{1,15})\s*([kmg]?)b?", "size", "512m or 2g")
    return int(number) * _SIZES[unit]


def parse_duration(text: str | float) -> float:
    """Duration in seconds of `500ms`, `30s`, `2m`, `1h` or a plain number of seconds; raises ValueError."""
    if isinstance(text, int | float) and not isinstance(text, bool) and text >= 0:
        seconds: float = text  # as a text it may be 5e-05
    else:
        number, unit = _parts(text, r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?", "duration", "30s, 500ms or 2m")
        seconds = float(number) * _DURATIONS[unit or "s"]
    if seconds > YEAR:
        raise ValueError(f"{shorten(quote_value(text))} is more than a year")
    return float(seconds)


def parse_share(text: str | float) -> float:
    """Share of 1 of `0.1%` or a plain fraction; raises ValueError."""
    number, percent = _parts(text, r"(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%?)", "share", "0.1%")
    share = float(number) / (100 if percent else 1)
    if share > 1:
        raise ValueError(f"{quote_value(text)} is not a share: write for example 0.1%")
    return share


def format_size(size: float) -> str:
    """Size for people: MiB up to 10 GiB, as memory tables of JVMs are written; KiB or bytes below one MiB."""
    if 0 < abs(size) < MIB:
        return f"{size / 1024:,.0f} KiB" if abs(size) >= 10 * 1024 else f"{size:,.0f} bytes"
    return f"{size / MIB:,.0f} MiB" if size < 10 * 1024 * MIB else f"{size / MIB / 1024:,.1f} GiB"


def format_duration(seconds: float) -> str:
    """Duration for people: `45 s`, `3 min 20 s`, `2 h 5 min`."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s" if rounded % 60 else f"{rounded // 60} min"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"


def format_duration_short(seconds: float) -> str:
    """Duration of an answer for people: `3.2 ms`, `200 ms`, `2 s`, three digits."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
