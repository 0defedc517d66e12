# SPDX-License-Identifier: Apache-2.0
"""The value of a search in a spec: where it begins, how far it may go, and the spec of a trial with one value."""

from typing import Any, Literal, NamedTuple

from steelyard.errors import BadInput
from steelyard.experiment.schema import Search
from steelyard.results.spec import Component, Spec
from steelyard.spec.injectors import share_users
from steelyard.units import MIB

Varied = Literal["users", "rate", "memory"]
LEAST_MEMORY = 16.0 * MIB
"""No JVM starts in less."""
LEAST_RATE = 0.1


class Range(NamedTuple):
    """Values that a search may try: users, arrivals/s, or bytes of memory."""

    varies: Varied
    start: float
    least: float
    most: float | None


def varied(search: Search, spec: Spec) -> Varied:
    """What the search changes; `hold` changes what the load model has: users or rate."""
    return search.lower or search.raise_ or ("users" if spec.load.model == "closed" else "rate")


def range_of(search: Search, spec: Spec) -> Range:
    """Where the search of an arm begins, and its bounds.

    Raises:
        BadInput: the arm's load or engine has nothing of the kind, or there is no value to begin with.
    """
    varies = varied(search, spec)
    if varies == "memory" and spec.engine == "process":
        raise BadInput(f"{spec.arm}: a search for memory needs servers in containers: set engine: compose")
    own = {
        "users": spec.load.users,
        "rate": spec.load.rate,
        "memory": next((one.memory_bytes for one in spec.servers), None),
    }[varies]
    if varies != "memory" and own is None:
        raise BadInput(
            f"{spec.arm}: a search for {varies} needs a load of that model, this one is {spec.load.model}"
        )
    start = search.value("start") or own
    if start is None:
        raise BadInput(f"{spec.arm}: where does the search begin? Give search.start or memory")
    smallest = {"users": float(spec.load.injectors), "rate": LEAST_RATE, "memory": LEAST_MEMORY}[varies]
    least, most = max(smallest, search.value("least") or smallest), search.value("most")
    if start < least or (most is not None and start > most):
        raise BadInput(f"{spec.arm}: the search begins at {start:g}, which is outside of what it may try")
    return Range(varies, float(start), least, most)


def with_value(spec: Spec, search: Search, value: float) -> Spec:
    """The spec of one trial of the search: as the arm's, with this value."""
    varies = varied(search, spec)
    if varies == "memory":
        changed = [_changed(one, {"memory_bytes": round(value)}) for one in spec.servers]
        return _with(spec, changed)
    size: dict[str, Any] = {"users": round(value)} if varies == "users" else {"rate": value}
    load = spec.load.model_copy(update=size)
    injectors = [
        _changed(one, {"settings": one.settings | _share(size, index, len(spec.injectors))})
        for index, one in enumerate(spec.injectors)
    ]
    return _with(spec.model_copy(update={"load": load}), injectors)


def _share(size: dict[str, Any], index: int, injectors: int) -> dict[str, Any]:
    """An injector's part, as even as can be, and the global index of its first user."""
    if "rate" in size:
        return {"rate": size["rate"] / injectors}
    users, first = share_users(size["users"], injectors, index)
    return {"users": users, "firstUser": first}


def _changed(component: Component, update: dict[str, Any]) -> Component:
    return component.model_copy(update=update)


def _with(spec: Spec, changed: list[Component]) -> Spec:
    """The spec with these components in place of those of the same name."""
    new = {one.name: one for one in changed}
    return spec.model_copy(update={"components": [new.get(one.name, one) for one in spec.components]})
