# SPDX-License-Identifier: Apache-2.0
"""What a journey demands of answers, and keeps of them (loadgen/README.md)."""

import re
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from steelyard.workload.expressions import check_expression, check_path, check_selector
from steelyard.yamlfile import Model, Scalar, key_error

REFERENCE = re.compile(r"\$\{([^}]*)\}")
"""`${name}` in a text of a journey, as the injector reads it."""


def _address(path: str) -> str:
    """A path, or what an answer gave: an address as browsers follow it (raises ValueError)."""
    return path if path.startswith("${") else _from_the_root(path)


def _from_the_root(path: str) -> str:
    """A path that the injector can ask for (raises ValueError)."""
    if not path.startswith("/"):
        raise ValueError("must begin with `/`: it is a path of the server, without its address")
    return path


def _check_by(check: Callable[[str], None]) -> AfterValidator:
    """Leaves a text as it is if that raises no ValueError."""

    def accept(written: str) -> str:
        check(written)
        return written

    return AfterValidator(accept)


def _check_header(text: str) -> None:
    """The value of a header (raises ValueError)."""
    if "\n" in text or "\r" in text:
        raise ValueError("the value of a header has no line end: write it in one line")


Status = Annotated[int, Field(ge=100, le=999)]
"""Of an answer: three digits (RFC 9110, section 15)."""
_LONG = 2**63
RootPath = Annotated[str, AfterValidator(_from_the_root)]
Address = Annotated[str, AfterValidator(_address)]
Headers = dict[str, Annotated[str, _check_by(_check_header)]]
Expression = Annotated[str, _check_by(check_expression)]
JsonPath = Annotated[str, _check_by(check_path)]
Selector = Annotated[str, _check_by(check_selector)]


def names_in(text: str) -> list[str]:
    """The names that a text refers to, `${+name}` among them."""
    return [name.removeprefix("+") for name in REFERENCE.findall(text)]


class AnswerCheck(Model):
    """What makes an answer right."""

    status: Status | Annotated[list[Status], Field(min_length=1)] = 200
    """One of these. 304 has no body: not beside `contains`, `matches`, `json` or a `save` of the body that is not
    `optional`."""
    contains: str | list[str] | None = None
    absent: str | list[str] | None = None
    matches: Expression | None = None
    json_: dict[JsonPath, Scalar | None] | None = Field(default=None, alias="json")
    """JSONPath -> expected value."""

    @model_validator(mode="after")
    def _check_numbers(self) -> Self:
        for path, value in (self.json_ or {}).items():
            if isinstance(value, int) and not -_LONG <= value < _LONG:
                raise key_error(
                    ("json", path), "the injector compares whole numbers of 64 bits: look for it by matches"
                )
        return self

    def allows(self, status: int) -> bool:
        """Whether an answer of this status may be right."""
        return status in (self.status if isinstance(self.status, list) else [self.status])

    def keys_of_the_body(self) -> list[str]:
        """The keys that an answer without a body cannot fulfil."""
        given = {"contains": self.contains, "matches": self.matches, "json": self.json_}
        return [key for key, value in given.items() if value]


class MessageExtraction(Model):
    """A value taken from a message of a WebSocket or an event; exactly one of the two."""

    exactly_one: ClassVar[tuple[str, ...]] = ("json_", "regex")
    json_: JsonPath | None = Field(default=None, alias="json")
    regex: Expression | None = None
    which: Literal["first", "last", "random", "all"] | Annotated[int, Field(ge=1, le=1_000_000)] = "first"
    """Of several matches: one of these, or its number, from 1. `all` is a list, for `each`."""
    part: Expression | None = None
    """A regular expression of what is kept of it: its first group, or all that it finds."""
    optional: bool = False
    """Whether the operation is right without it."""
    keep: bool = False
    """Whether the user has it in all later visits, too; left out: to the end of this visit."""


class Extraction(MessageExtraction):
    """A value taken from an answer; exactly one of the five."""

    exactly_one = ("json_", "regex", "header", "css", "cookie")
    header: str | None = None
    css: Selector | None = None
    cookie: str | None = None
    """Of the user, after the answer: one that it set, or that was set before."""
    attribute: str | None = None
    """Of the element that `css` finds; left out: its text."""

    @model_validator(mode="after")
    def _no_idle_keys(self) -> Self:
        if self.attribute is not None and self.css is None:
            raise ValueError("attribute is of the element that css finds: give css, or leave it out")
        # As it is handed on, each has a `which`.
        if self.cookie is not None and self.which != "first":
            raise ValueError("a user has one cookie of a name: leave out which")
        return self
