# SPDX-License-Identifier: Apache-2.0
"""A journey as data: what users do, as HTTP requests that the injector plays without a program (loadgen/README.md)."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from steelyard.yamlfile import Duration, Limit, Model, Scalar, nearest

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
            raise ValueError(f"it is no regular expression ({error})") from error
    return written


RootPath = Annotated[str, AfterValidator(_from_the_root)]
Address = Annotated[str, AfterValidator(_address)]
Expression = Annotated[str, AfterValidator(_expression)]


class MixPart(Model):
    """Requests by operation of one part of what a user does, once all have settled."""

    times: str | float = 1.0
    """How often the part comes for each time of the others: a number, or `${setting}`."""
    operations: dict[str, Annotated[float, Field(ge=0)]]


def mix_counts(parts: Iterable[MixPart]) -> dict[str, float]:
    """Requests of each operation in parts whose times are numbers."""
    counts: dict[str, float] = {}
    for part in parts:
        for operation, count in part.operations.items():
            counts[operation] = counts.get(operation, 0.0) + float(part.times) * count
    return counts


class Variable(Model):
    """A value drawn anew at each visit of each user; exactly one of the three."""

    exactly_one = ("random", "choose", "user")
    random: tuple[int, int] | None = None
    """A whole number between these, both included."""
    choose: Annotated[list[Scalar], Field(min_length=1)] | None = None
    """One of these."""
    user: int | None = None
    """The global index of the user, plus this."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.random is not None and self.random[0] > self.random[1]:
            raise ValueError("random: the first number is above the second")
        return self


class AnswerCheck(Model):
    """What makes an answer right."""

    status: int | Annotated[list[int], Field(min_length=1)] = 200
    contains: str | list[str] | None = None
    absent: str | list[str] | None = None
    matches: Expression | None = None
    json_: dict[str, Scalar | None] | None = Field(default=None, alias="json")
    """JSONPath -> expected value."""


class Extraction(Model):
    """A value taken from an answer; exactly one of the four."""

    exactly_one = ("json_", "regex", "header", "css")
    json_: str | None = Field(default=None, alias="json")
    regex: Expression | None = None
    header: str | None = None
    css: str | None = None
    attribute: str | None = None
    """Of the element that `css` finds; left out: its text."""
    optional: bool = False
    """Whether the operation is right without it."""


class Upload(Model):
    """A file of a multipart form."""

    content: str
    filename: str
    type: str = "text/plain"


class Part(Model):
    """A further request of a page."""

    path: Address
    headers: dict[str, str] = Field(default_factory=dict)
    conditional: bool = False
    """Ask only for what changed since this user last got it; 304 counts as right."""


class WebSocket(Model):
    """An exchange over a WebSocket."""

    path: RootPath
    send: str | None = None
    expect: Expression
    """A regular expression; what is sent before a message that matches it counts for nothing."""
    within: Limit = 10.0


class Pause(Model):
    """Time before the user goes on; exactly one of think and cycle."""

    exactly_one = ("think", "cycle")
    think: Duration | None = None
    """From the end of this operation."""
    cycle: Duration | None = None
    """From the start of this operation to the start of the next."""
    distribution: Literal["constant", "exponential"] = "constant"
    least: Duration | None = None
    """Shortest length of an exponential one, from which it is drawn; left out: 0. Its mean stays what it is."""
    most: Duration | None = None
    """Where an exponential one is cut; left out: ten of its means above the shortest."""

    @model_validator(mode="after")
    def _mean_between(self) -> Self:
        mean = self.think if self.think is not None else self.cycle
        if mean is not None and not (self.least or 0.0) <= mean <= (mean if self.most is None else self.most):
            raise ValueError("its mean lies between least and most")
        return self


class Step(Model):
    """One operation: a request, a page with its parts, or a WebSocket exchange."""

    exactly_one = ("path", "websocket")
    operation: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
    method: Literal["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"] = "GET"
    path: Address | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    form: dict[str, str] | None = None
    body: str | None = None
    multipart: dict[str, str | Upload] | None = None
    check: AnswerCheck = Field(default_factory=AnswerCheck)
    save: dict[str, Extraction] = Field(default_factory=dict)
    parts: list[Part] = Field(default_factory=list)
    parts_in_turn: bool = False
    """Whether the parts are asked for one after the other; left out: side by side, as browsers do."""
    websocket: WebSocket | None = None
    pause: Pause | None = None
    optional: bool = False
    """Whether the visit goes on after it failed."""

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if sum(body is not None for body in (self.form, self.body, self.multipart)) > 1:
            raise ValueError("give one of form, body and multipart")
        request = self.headers or self.form or self.body or self.multipart or self.save or self.parts
        if self.websocket is not None and (request or self.check != AnswerCheck()):
            raise ValueError("websocket stands alone: leave out what belongs to a request")
        return self

    def texts(self) -> Iterator[str]:
        """All that may hold `${name}`."""
        yield from filter(None, (self.path, self.body))
        yield from (*self.headers.values(), *(self.form or {}).values())
        for contents in (self.check.contains, self.check.absent):
            yield from [contents] if isinstance(contents, str) else contents or []
        for field in (self.multipart or {}).values():
            yield from [field] if isinstance(field, str) else [field.content, field.filename]
        yield from (value for value in (self.check.json_ or {}).values() if isinstance(value, str))
        for part in self.parts:
            yield from (part.path, *part.headers.values())
        if self.websocket is not None:
            yield from filter(None, (self.websocket.path, self.websocket.send))


class Visit(Model):
    """What a user does from time to time: its steps in order."""

    weight: Annotated[float, Field(gt=0)] = 1.0
    steps: Annotated[list[Step], Field(min_length=1)]
    forget_cookies: bool = False


class Journey(Model):
    """What users do: each draws a visit by weight, plays its steps, and begins again."""

    variables: dict[str, Variable] = Field(default_factory=dict)
    visits: Annotated[dict[str, Visit], Field(min_length=1)]

    def require_names(self, parameters: Collection[str]) -> None:
        """Refuse `${name}` that nothing gives a value (raises ValueError)."""
        steps = [(visit, step) for visit, each in self.visits.items() for step in each.steps]
        saved = {name for _, step in steps for name in step.save}
        known = [*self.variables, *saved, *parameters]
        for visit, step in steps:
            for name in (name for text in step.texts() for name in REFERENCE.findall(text)):
                if name not in known:
                    raise ValueError(
                        f"visit {visit}, {step.operation}: ${{{name}}} stands for nothing{nearest(name, known)}:"
                        f" there are {', '.join(sorted(known)) or 'no names'}"
                    )

    def parts(self, percent: dict[str, float] | None = None) -> list[MixPart]:
        """Requests of each visit, and how often it comes: `percent` of each instead of the weights."""
        weights = percent or {name: visit.weight for name, visit in self.visits.items()}
        visits = [
            (weight, [step.operation for step in self.visits[name].steps]) for name, weight in weights.items()
        ]
        return [
            MixPart(times=weight, operations={name: steps.count(name) for name in steps})
            for weight, steps in visits
        ]

    # As the injector reads it: JSON.
    def document(self) -> dict[str, Any]:
        """What the injector is handed, with the keys of the file."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
