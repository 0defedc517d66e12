# SPDX-License-Identifier: Apache-2.0
"""Whether each `${name}` of a journey can have a value where it is used."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from steelyard.workload.answers import names_in
from steelyard.workload.flow import (
    Condition,
    Each,
    If,
    Place,
    Repeat,
    Until,
    places,
    walk,
    ways_of,
)
from steelyard.workload.step import Step
from steelyard.yamlfile import KeyPath, key_error

Names = frozenset[str]
Steps = Sequence[Any]


def conditions(action: Any) -> Iterator[Condition]:
    """What a block asks."""
    if isinstance(action, If):
        yield action.if_
    elif isinstance(action, Until):
        yield action.until


def names_in_texts(action: Any) -> list[str]:
    """The names in texts of a step or of a block's condition."""
    texts = (
        action.texts()
        if isinstance(action, Step)
        else (text for each in conditions(action) for text in each.texts())
    )
    return [name for text in texts for name in names_in(text)]


def variables_asked_for(action: Any) -> list[str]:
    """The variables that a block asks for by name."""
    if isinstance(action, Each):
        return [action.each]
    return [name for each in conditions(action) for name in each.variables()]


def label_of(visit: str, action: Any) -> str:
    """A step or block for people."""
    return f"visit {visit}, {action.operation if isinstance(action, Step) else 'a block'}"


def saved_names(actions: Steps) -> dict[str, bool]:
    """What steps and loops of a visit give a value, and whether it is kept for later visits."""
    saved: dict[str, bool] = {}
    for _, action in walk(list(actions)):
        if isinstance(action, Step):
            for name, save in action.saves():
                saved[name] = saved.get(name, False) or save.keep
        elif isinstance(action, Each):
            saved.setdefault(action.as_, False)
    return saved


def check_saved(visits: Mapping[str, Steps], always: Collection[str]) -> None:
    """Refuse a name that only answers give a value, where none can have given it yet.

    Args:
        visits: their steps.
        always: names that have a value at any time.

    Raises:
        PydanticCustomError: of the first place where the visit would always end.
    """
    saved = {visit: saved_names(steps) for visit, steps in visits.items()}
    kept = frozenset(name for names in saved.values() for name, keep in names.items() if keep)
    owners = {
        name: [visit for visit, names in saved.items() if name in names]
        for name in set().union(*saved.values()) - set(always)
    }
    for visit, steps in visits.items():
        before = frozenset(name for name in kept if any(owner != visit for owner in owners.get(name, ())))
        flow = _Flow(frozenset(owners), frozenset(saved[visit]) | kept)
        flow.play_visits(steps, (visit, "steps"), before, kept)
        for at, (action, name) in flow.lacking.items():
            if at in flow.played:
                continue
            others = ", ".join(owner for owner in owners[name] if owner != visit)
            why = (
                "the steps that save it come later, or on another branch: move one of them before this"
                if visit in owners[name]
                else f"visit {others} saves it for itself alone: add `keep: true` to that save"
            )
            shown = f"${{{name}}}" if name in names_in_texts(action) else name
            raise key_error(
                ("journey", "visits", *at), f"{label_of(visit, action)}: {shown} has no value there: {why}"
            )


class _Flow:
    """Follows a visit through its blocks with the names that may have a value.

    A step that uses another fails and ends the visit: what follows is not reached on that way.
    """

    def __init__(self, saved: Names, of_visit: Names) -> None:
        self.saved, self.of_visit = saved, of_visit
        self.played: set[KeyPath] = set()
        """Where all names had a value, in one round at least."""
        self.lacking: dict[KeyPath, tuple[Any, str]] = {}
        """Where one had none, in one round at least."""

    def play_visits(self, steps: Steps, at: KeyPath, names: Names, kept: Names) -> None:
        """The visit again and again, as long as more is kept."""
        while True:
            after = self._through(places(list(steps), at), names)
            more = names | (kept & (after or names))
            if more == names:
                return
            names = more

    def _through(self, placed: Iterable[Place], names: Names) -> Names | None:
        """The names after some actions; None: nobody comes so far."""
        for at, action in placed:
            after = self._after(at, action, names)
            if after is None:
                return None
            names = after
        return names

    def _after(self, at: KeyPath, action: Any, names: Names) -> Names | None:
        # A condition takes a name without a value for one: that of the visit is all that it needs.
        if any(True for _ in conditions(action)):
            self._has(at, action, [*names_in_texts(action), *variables_asked_for(action)], self.of_visit)
        if isinstance(action, Step):
            return self._after_step(at, action, names)
        ways = ways_of(action, at)
        match action:
            case Each():
                has_values = self._has(at, action, [action.each], names)
                after = self._rounds(ways[0], names | {action.as_}, many=True) if has_values else None
                return _either([names, after])
            case Repeat():
                least, most = action.bounds()
                after = self._rounds(ways[0], names, many=most > 1)
                return after if least > 0 else _either([names, after])
            case Until():
                return self._rounds(ways[0], names, many=action.at_most > 1)
        return _either([self._through(way, names) for way in ways or [[]]])

    def _after_step(self, at: KeyPath, step: Step, names: Names) -> Names | None:
        for texts, saves in step.stages():
            if self._lacks(at, step, [name for text in texts for name in names_in(text)], names):
                return names if step.optional else None
            names |= frozenset(saves)
        self.played.add(at)
        return names

    def _rounds(self, inside: list[Place], names: Names, *, many: bool) -> Names | None:
        """The names after one round or more: what one saves, the next has."""
        while True:
            after = self._through(inside, names)
            if after is None or after == names or not many:
                return after
            names = after

    def _has(self, at: KeyPath, action: Any, asked: Iterable[str], names: Names) -> bool:
        """Whether all have a value that only answers give; a block is played then."""
        if self._lacks(at, action, asked, names):
            return False
        self.played.add(at)
        return True

    def _lacks(self, at: KeyPath, action: Any, asked: Iterable[str], names: Names) -> bool:
        """Whether one of them has none."""
        missing = next((name for name in asked if name in self.saved and name not in names), None)
        if missing is not None:
            self.lacking.setdefault(at, (action, missing))
        return missing is not None


def _either(ways: Iterable[Names | None]) -> Names | None:
    """What may have a value after one of several ways."""
    reached = [names for names in ways if names is not None]
    return frozenset().union(*reached) if reached else None
