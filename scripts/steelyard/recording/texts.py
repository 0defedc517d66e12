# SPDX-License-Identifier: Apache-2.0
"""Texts of recorded requests as a journey writes them: as they were, but for the values that answers gave."""

import json
import re
import string
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote_plus

from steelyard.errors import BadInput
from steelyard.yamlfile import CONTROL

Reference = Callable[[str, str], str | None]
"""A value, and what the request calls it -> `${name}`, or None: it stays as it was."""
REPLACEMENT = "\ufffd"
_IN_ADDRESSES = string.punctuation.replace("{", "")
_BARE = "\0"
"""Marks a `${name}` that stands for a number, and so without quotes."""


def plain(value: str) -> str:
    """A text that stays as it was.

    Raises:
        BadInput: the injector would put a value into it.
    """
    if "${" in value:
        raise BadInput(f"the recording sends {value[:40]!r}, which a journey would read as a name")
    return value


def fit_for_files(value: Any) -> Any:
    """The same with U+FFFD in the place of characters that no workload file can hold."""
    if isinstance(value, dict):
        return {fit_for_files(key): fit_for_files(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [fit_for_files(inner) for inner in value]
    return CONTROL.sub(REPLACEMENT, value) if isinstance(value, str) else value


def is_odd(text: str) -> bool:
    """Whether no workload file can hold a text as it was sent."""
    return REPLACEMENT in fit_for_files(text)


def quote_address(text: str) -> str:
    """A part of an address as it was; percent-encoded is what no address has, and what begins a name in a journey."""
    return quote(text, safe=_IN_ADDRESSES, errors="surrogatepass")


def encoded_pairs(text: str, reference: Reference) -> str:
    """A query or url-encoded body; a pair is written anew only where an answer gave its value."""
    pairs = []
    for pair in text.split("&"):
        name, _, value = pair.partition("=")
        known = reference(unquote_plus(value), unquote_plus(name)) if value else None
        pairs.append(f"{quote_address(name)}={known}" if known is not None else quote_address(pair))
    return "&".join(pairs)


def json_body(text: str, reference: Reference) -> str:
    """A JSON text, as it was where no answer gave any of its values.

    Raises:
        BadInput: the injector would put a value into a text of it.
    """

    def place(value: Any, label: str) -> Any:
        if isinstance(value, dict):
            return {plain(key): place(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [place(inner, label) for inner in value]
        if isinstance(value, str):
            return reference(value, label) or plain(value)
        if isinstance(value, int) and not isinstance(value, bool):
            known = reference(str(value), label)
            return value if known is None else _BARE + known
        return value

    try:
        document = json.loads(text)
        placed = place(document, "")
    except (ValueError, RecursionError):
        return plain(text)
    if placed == document:
        return plain(text)
    written = re.sub(r'"\\u0000(\$\{\w+\})"', r"\1", json.dumps(placed, ensure_ascii=False))
    return CONTROL.sub(lambda odd: f"\\u{ord(odd[0]):04x}", written)
