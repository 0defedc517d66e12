# SPDX-License-Identifier: Apache-2.0
"""What a journey demands of answers, and keeps of them (loadgen/README.md)."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from steelyard.yamlfile import Model, Scalar

REFERENCE = re.compile(r"\$\{([^}]*)\}")
"""`${name}` in a text of a journey, as the injector reads it."""
_UNSOUND = (
    "missing ), unterminated subpattern",
    "unbalanced parenthesis",
    "unterminated character set",
    "nothing to repeat",
)
"""Faults of a regular expression by which Java's refuse it as well; others have no meaning in Python alone."""


def _address(path: str) -> str:
    """A path, or what an answer gave: an address as browsers follow it (raises ValueError)."""
    return path if path.startswith("${") else _from_the_root(path)


def _from_the_root(path: str) -> str:
    """A path that the injector can ask for (raises ValueError)."""
    if not path.startswith("/"):
        raise ValueError("must begin with `/`: it is a path of the server, without its address")
    return path


def _expression(written: str) -> str:
    """A regular expression that is none in Java either is refused (raises ValueError)."""
    try:
        re.compile(written)
    except re.error as error:
        if error.msg in _UNSOUND and "\\Q" not in written:
            raise ValueError(f"it is no regular expression ({error}): correct it") from error
    return written


def _one_line(text: str) -> str:
    """The value of a header (raises ValueError)."""
    if "\n" in text or "\r" in text:
        raise ValueError("the value of a header has no line end: write it in one line")
    return text


RootPath = Annotated[str, AfterValidator(_from_the_root)]
Address = Annotated[str, AfterValidator(_address)]
Expression = Annotated[str, AfterValidator(_expression)]
Headers = dict[str, Annotated[str, AfterValidator(_one_line)]]


def names_in(text: str) -> list[str]:
    """The names that a text refers to, `${+name}` among them."""
    return [name.removeprefix("+") for name in REFERENCE.findall(text)]


class AnswerCheck(Model):
    """What makes an answer right."""

    status: int | Annotated[list[int], Field(min_length=1)] = 200
    contains: str | list[str] | None = None
    absent: str | list[str] | None = None
    matches: Expression | None = None
    json_: dict[str, Scalar | None] | None = Field(default=None, alias="json")
    """JSONPath -> expected value."""


class MessageExtraction(Model):
    """A value taken from a message of a WebSocket or an event; exactly one of the two."""

    exactly_one: ClassVar[tuple[str, ...]] = ("json_", "regex")
    json_: str | None = Field(default=None, alias="json")
    regex: Expression | None = None
    which: Literal["first", "last", "random", "all"] | Annotated[int, Field(ge=1)] = "first"
    """Of several matches: one of these, or its number, from 1. `all` is a list, for `each`."""
    part: Expression | None = None
    """A regular expression of what is kept of it: its first group, or all that it finds."""
    optional: bool = False
    """Whether the operation is right without it."""


class Extraction(MessageExtraction):
    """A value taken from an answer; exactly one of the five."""

    exactly_one = ("json_", "regex", "header", "css", "cookie")
    header: str | None = None
    css: str | None = None
    cookie: str | None = None
    """Of the user, after the answer: one that it set, or that was set before."""
    attribute: str | None = None
    """Of the element that `css` finds; left out: its text."""
