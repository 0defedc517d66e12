# SPDX-License-Identifier: Apache-2.0
"""Where the values of a recorded request come from: an answer before it, or the person at the browser."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any

from steelyard.recording.har import HarEntry
from steelyard.recording.pages import PageReader

_SHORTEST = 6
"""Characters of a value that is taken for a token wherever it stands; shorter ones need a name that says so."""
_SHORTEST_ID = 3
SAYS_SO = re.compile(r"id|token|etag|csrf|xsrf|nonce|state|code|key|session|ticket|version", re.IGNORECASE)
_CONTEXT = range(24, 97, 8)
"""Characters before a value by which it is told from others: as few as suffice."""


@dataclass(frozen=True)
class Origin:
    """Where a value stands in an answer."""

    step: int
    save: dict[str, str]
    """As a journey writes it."""
    name: str
    """Of the variable."""
    guess: str | None
    """Why it may be another, or None where its place is certain."""


def is_token(value: str) -> bool:
    """Whether a value looks like one that a server has made."""
    return (len(value) >= _SHORTEST and any(map(str.isdigit, value))) or len(value) >= 20


def find_origin(value: str, label: str, answers: Sequence[HarEntry]) -> Origin | None:
    """Where a value stands in the newest answer that has it; None: in none of them.

    Args:
        label: what the request calls it.
    """
    if not value:
        return None
    certain = is_token(value)
    # Digits as short as these are as often a quantity, whatever an answer calls them.
    by_label_alone = value.isdecimal() and len(value) < _SHORTEST_ID
    for step in reversed(range(len(answers))):
        for save, name, guess in _places(value, answers[step]):
            named = SAYS_SO.search(label) or (not by_label_alone and SAYS_SO.search(name))
            if certain or named:
                return Origin(step, save, variable(name or label), guess)
    return None


Place = tuple[dict[str, str], str, str | None]


def _places(value: str, answer: HarEntry) -> Iterator[Place]:
    for key, given in answer.answer_headers:
        if key.lower() == "set-cookie":
            yield from (({"cookie": name}, name, None) for name, held in _cookies(given) if held == value)
        elif given == value and (is_token(value) or key.lower() == "etag"):
            yield {"header": key}, key, None
    if "html" in answer.answer_type:
        yield from _html_places(value, answer.answer)
    elif not answer.is_static():
        # Whatever its type says: servers send JSON as plain text, too.
        yield from _json_places(value, answer.answer)
    if is_token(value) and answer.answer.count(value) > 0 and not answer.answer_type.startswith("image/"):
        yield from _text_places(value, answer.answer)


def _cookies(line: str) -> Iterator[tuple[str, str]]:
    try:
        yield from ((name, morsel.value) for name, morsel in SimpleCookie(line).items())
    except CookieError:
        return


def _json_places(value: str, text: str) -> Iterator[Place]:
    try:
        matches = [path for path, leaf in _leaves(json.loads(text), ()) if _same(leaf, value)]
    except (ValueError, RecursionError):
        return
    if matches:
        path = matches[0]
        name = next((key for key in reversed(path) if isinstance(key, str)), "")
        several = any(isinstance(key, int) for key in path) or len(matches) > 1
        yield {"json": _json_path(path)}, name, "one of several values: which one?" if several else None


def _leaves(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*path, number))
    else:
        yield path, value


def _same(leaf: Any, value: str) -> bool:
    return leaf == value or (
        isinstance(leaf, (int, float)) and not isinstance(leaf, bool) and str(leaf) == value
    )


def _json_path(path: Sequence[str | int]) -> str:
    parts = []
    for key in path:
        if isinstance(key, int):
            parts.append(f"[{key}]")
        else:
            parts.append(f".{key}" if key.isidentifier() else f"['{key}']")
    return "$" + "".join(parts)


class _Attributes(PageReader):
    """Elements whose value or content is what is looked for."""

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value
        self.places: list[Place] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: held or "" for name, held in attrs}
        for attribute, by in (("value", "name"), ("content", "name"), ("value", "id")):
            if given.get(attribute) == self.value and given.get(by):
                save = {"css": f'{tag}[{by}="{given[by]}"]', "attribute": attribute}
                self.places.append((save, given[by], None))


def _html_places(value: str, text: str) -> Iterator[Place]:
    parser = _Attributes(value)
    parser.read(text)
    yield from parser.places[:1]


def _text_places(value: str, text: str) -> Iterator[Place]:
    """By what stands around it: a pattern, which a change of the page may break."""
    at = text.index(value)
    line = text[:at].splitlines()[-1] if at and text[at - 1] not in "\r\n" else ""
    after = text[at + len(value) : at + len(value) + 1]
    inner = f"[^{re.escape(after)}]+" if after and after not in "\r\n" else r"\S+"
    for length in _CONTEXT:
        pattern = f"{re.escape(line[-length:])}({inner}){re.escape(after) if after.strip() else ''}"
        if (match := re.search(pattern, text)) is not None and match[1] == value:
            yield {"regex": pattern}, "", "found by the text around it"
            return


def variable(name: str) -> str:
    """A name as journeys write it: words of small letters."""
    words = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_")
    return words or "value"
