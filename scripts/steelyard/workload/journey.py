# SPDX-License-Identifier: Apache-2.0
"""A journey as data: what users do, as HTTP requests that the injector plays without a program (loadgen/README.md)."""

from collections.abc import Collection, Iterable
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from steelyard.workload.feeder import Feeder
from steelyard.workload.flow import Action, Take, expected_counts, walk
from steelyard.workload.names import check_saved, label_of, names_in_texts, saved_names, variables_asked_for
from steelyard.workload.step import USUAL_WITHIN, Step
from steelyard.yamlfile import Model, Scalar, key_error, nearest

GIVEN_UP = "given-up"
"""The outcome that injectors count where an `until` never held."""


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
    """A value drawn again at each visit of each user; exactly one of the three."""

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


class Visit(Model):
    """What a user does from time to time: its steps in order."""

    weight: Annotated[float, Field(gt=0)] = 1.0
    steps: Annotated[list[Action], Field(min_length=1)]
    forget_cookies: bool = False

    def flat(self) -> list[Step]:
        """The steps in the order of the file, however often they are played."""
        return [action for _, action in walk(self.steps) if isinstance(action, Step)]

    @model_validator(mode="after")
    def _check_steps(self) -> Self:
        before: Step | None = None
        for where, action in walk(self.steps, ("steps",)):
            if not isinstance(action, Step):
                continue
            if action.submit is not None and (before is None or not before.has_page()):
                raise key_error(
                    (*where, "submit"), "the step before it asks for no page in which the form could stand"
                )
            before = action
        if before is None:
            raise ValueError("steps hold no operation")
        return self


class Journey(Model):
    """What users do: each draws a visit by weight, plays its steps, and begins again."""

    variables: dict[str, Variable] = Field(default_factory=dict)
    feeders: dict[str, Feeder] = Field(default_factory=dict)
    """Rows of values from files; a visit that uses one takes a row of it."""
    gzip: bool = False
    """Whether answers are asked for compressed (Accept-Encoding: gzip)."""
    visits: Annotated[dict[str, Visit], Field(min_length=1)]

    def require_names(self, parameters: Collection[str]) -> None:
        """Refuse `${name}` that nothing gives a value, or nothing before it (raises PydanticCustomError)."""
        placed = [
            (("journey", "visits", name, *where), name, action)
            for name, visit in self.visits.items()
            for where, action in walk(visit.steps, ("steps",))
        ]
        saved = {name for visit in self.visits.values() for name in saved_names(visit.steps)}
        rows = [
            f"{name}.{column}" for name, feeder in self.feeders.items() for column in feeder.columns or ()
        ]
        held = [*self.variables, *saved]
        known = [*held, *rows, *parameters]
        for at, visit, action in placed:
            taken = [action.take] if isinstance(action, Take) else []
            asked_for = (
                (names_in_texts(action), known),
                (variables_asked_for(action), held),
                (taken, [*self.feeders]),
            )
            for asked, allowed in asked_for:
                for name in asked:
                    if name not in allowed and not self._is_unread(name):
                        shown = f"${{{name}}}" if allowed is known else name
                        raise key_error(
                            at,
                            f"{label_of(visit, action)}: {shown} stands for nothing{nearest(name, allowed)}:"
                            f" there are {', '.join(sorted(allowed)) or 'no names'}",
                        )
            for name, save in action.saves() if isinstance(action, Step) else ():
                if save.keep and name in self.variables:
                    raise key_error(
                        (*at, "save", name),
                        f"{name} is a variable, drawn again at each visit: leave out keep, or take another name",
                    )
        check_saved(
            {name: visit.steps for name, visit in self.visits.items()}, [*self.variables, *rows, *parameters]
        )

    def _is_unread(self, name: str) -> bool:
        """Whether it is of a feeder whose file was not read."""
        feeder = self.feeders.get(name.partition(".")[0])
        return feeder is not None and feeder.rows is None

    def own_rows(self) -> dict[str, int]:
        """Rows of the feeders that give each user its own."""
        return {name: len(each.rows or ()) for name, each in self.feeders.items() if each.order == "user"}

    def longest_within(self) -> float:
        """Seconds that a message or an event is waited for at most; 0 without any."""
        steps = [step for visit in self.visits.values() for step in visit.flat()]
        messages = [
            each.within for step in steps if step.websocket for each in step.websocket.all_exchanges()
        ]
        events = [step.events.within for step in steps if step.events]
        return max(
            (USUAL_WITHIN if within is None else within for within in [*messages, *events]), default=0.0
        )

    def parts(self, percent: dict[str, float] | None = None) -> list[MixPart]:
        """Requests of each visit, and how often it comes: `percent` of each instead of the weights; without those whose
        number depends on answers."""
        weights = percent or {name: visit.weight for name, visit in self.visits.items()}
        varying = self.unforeseen_operations()
        counts = {name: expected_counts(self.visits[name].steps)[0] for name in weights}
        return [
            MixPart(
                times=weight,
                operations={key: count for key, count in counts[name].items() if key not in varying},
            )
            for name, weight in weights.items()
        ]

    def unforeseen_operations(self) -> set[str]:
        """Operations of which nobody can say beforehand how often they come: answers decide."""
        return set().union(*(expected_counts(visit.steps)[1] for visit in self.visits.values()))

    def operations(self) -> list[str]:
        """All operations, in the order of the file."""
        steps = (step for visit in self.visits.values() for step in visit.flat())
        return list(dict.fromkeys(name for step in steps for name in step.operations()))

    # As the injector reads it: JSON.
    def document(self) -> dict[str, Any]:
        """What the injector is handed, with the keys of the file."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
