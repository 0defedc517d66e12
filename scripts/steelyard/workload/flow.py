# SPDX-License-Identifier: Apache-2.0
"""Steps of a journey, and blocks of them with a rule of when they are played."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from steelyard.workload.answers import Expression
from steelyard.workload.step import Step
from steelyard.yamlfile import KeyPath, Model, Scalar, Share

MAX_ROUNDS = 1_000_000
Rounds = Annotated[int, Field(ge=0, le=MAX_ROUNDS)]


class Condition(Model):
    """What steps depend on; exactly one of value, saved, missing and chance."""

    exactly_one = ("value", "saved", "missing", "chance")
    value: str | None = None
    """A text with `${name}`, held against exactly one of the next three."""
    is_: Scalar | None = Field(default=None, alias="is")
    is_not: Scalar | None = None
    matches: Expression | None = None
    saved: str | None = None
    """A variable that has a value."""
    missing: str | None = None
    """A variable that has none."""
    chance: Annotated[Share, Field(ge=0, le=1)] | None = None
    """How often it holds, for example 30%."""

    @model_validator(mode="after")
    def _one_comparison(self) -> Self:
        given = sum(each is not None for each in (self.is_, self.is_not, self.matches))
        if given != (self.value is not None):
            raise ValueError("give value with exactly one of is, is_not and matches")
        return self

    def texts(self) -> Iterator[str]:
        """All that may hold `${name}`."""
        yield from (text for text in (self.value, self.is_, self.is_not) if isinstance(text, str))

    def variables(self) -> list[str]:
        """What it asks for by name."""
        return [name for name in (self.saved, self.missing) if name is not None]


class Repeat(Model):
    """Steps that are played so many times."""

    repeat: Rounds | tuple[Rounds, Rounds]
    """A number, or the least and the greatest of those that are drawn."""
    steps: Annotated[list["Action"], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if isinstance(self.repeat, tuple) and self.repeat[0] > self.repeat[1]:
            raise ValueError("repeat: the first number is above the second")
        return self

    def bounds(self) -> tuple[int, int]:
        """Least and greatest number of times."""
        return self.repeat if isinstance(self.repeat, tuple) else (self.repeat, self.repeat)

    def rounds(self) -> float:
        """Mean number of times."""
        return sum(self.bounds()) / 2


class Each(Model):
    """Steps that are played once for each value of a variable that was saved with `which: all`."""

    each: str
    as_: str = Field(alias="as")
    """The variable that has the value in its turn."""
    steps: Annotated[list["Action"], Field(min_length=1)]


class Until(Model):
    """Steps that are played again and again until something holds at their end."""

    until: Condition
    at_most: Annotated[int, Field(ge=1, le=MAX_ROUNDS)]
    """How often, should it never hold: then the visit ends, and the outcome `given-up` is counted."""
    steps: Annotated[list["Action"], Field(min_length=1)]
    optional: bool = False
    """Whether the visit goes on when it never held."""


class If(Model):
    """Steps that are played only if something holds at their start."""

    if_: Condition = Field(alias="if")
    steps: Annotated[list["Action"], Field(min_length=1)]
    else_: list["Action"] = Field(default_factory=list, alias="else")
    """Steps in their place if it does not."""


class Choice(Model):
    """One of several ways to go on; without steps, nothing is done."""

    weight: Annotated[float, Field(gt=0)] = 1.0
    steps: list["Action"] = Field(default_factory=list)


class OneOf(Model):
    """Steps of which one list is drawn by weight."""

    one_of: Annotated[list[Choice], Field(min_length=1)]


class Take(Model):
    """Takes the next row of a feeder, as within a loop; its visits then take none at their beginning."""

    take: str
    """The feeder."""


Block = Repeat | Each | Until | If | OneOf | Take
_KINDS = {"repeat": Repeat, "each": Each, "until": Until, "if": If, "one_of": OneOf, "take": Take}


def _block_key(data: Any) -> str:
    """Which of the actions is written; what has an operation is a step, whatever else it has."""
    if isinstance(data, dict):
        return next((key for key in _KINDS if key in data and "operation" not in data), "step")
    return next((key for key, made in _KINDS.items() if isinstance(data, made)), "step")


Action = Annotated[
    Annotated[Step, Tag("step")]
    | Annotated[Repeat, Tag("repeat")]
    | Annotated[Each, Tag("each")]
    | Annotated[Until, Tag("until")]
    | Annotated[If, Tag("if")]
    | Annotated[OneOf, Tag("one_of")]
    | Annotated[Take, Tag("take")],
    Discriminator(_block_key),
]

Place = tuple[KeyPath, Step | Block]


def ways_of(block: Block, at: KeyPath) -> list[list[Place]]:
    """What stands directly in a block, with where in the file: a list for each of the ways that a visit may take."""
    lists: list[tuple[KeyPath, list[Any]]]
    match block:
        case OneOf():
            lists = [(("one_of", number, "steps"), each.steps) for number, each in enumerate(block.one_of)]
        case If():
            lists = [(("steps",), block.steps), (("else",), block.else_)]
        case Take():
            lists = []
        case _:
            lists = [(("steps",), block.steps)]
    return [list(places(steps, (*at, *key))) for key, steps in lists]


def places(actions: list[Any], at: KeyPath) -> Iterator[Place]:
    """Actions of a list, with where in the file."""
    yield from (((*at, number), action) for number, action in enumerate(actions))


def walk(actions: list[Any], at: KeyPath = ()) -> Iterator[Place]:
    """All actions of a list, those of blocks after the block, in the order of the file."""
    return _walk_places(places(actions, at))


def _walk_places(placed: Iterable[Place]) -> Iterator[Place]:
    for where, action in placed:
        yield where, action
        if not isinstance(action, Step):
            yield from _walk_places(chain(*ways_of(action, where)))


Expected = dict[str, float]


def expected_counts(actions: list[Any], times: float = 1.0) -> tuple[Expected, set[str]]:
    """How often each operation is to be expected, and the operations of which that depends on answers."""
    counts: Expected = {}
    varying: set[str] = set()

    def add(inner: list[Any], factor: float) -> None:
        more, unknown = expected_counts(inner, factor)
        for name, count in more.items():
            counts[name] = counts.get(name, 0.0) + count
        varying.update(unknown)

    for action in actions:
        match action:
            case Step():
                for name in action.operations():
                    counts[name] = counts.get(name, 0.0) + times
            case Repeat():
                add(action.steps, times * action.rounds())
            case OneOf():
                total = sum(choice.weight for choice in action.one_of)
                for choice in action.one_of:
                    add(choice.steps, times * choice.weight / total)
            case If() if action.if_.chance is not None:
                add(action.steps, times * action.if_.chance)
                add(action.else_, times * (1 - action.if_.chance))
            case _:
                inside = [inner for _, inner in _walk_places(chain(*ways_of(action, ())))]
                varying.update(
                    name for step in inside if isinstance(step, Step) for name in step.operations()
                )
    return counts, varying
