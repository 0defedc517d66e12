# SPDX-License-Identifier: Apache-2.0
"""The value of a search in a spec: where it begins, how far it may go, and the spec of a trial with one value."""

import math
from typing import Literal, NamedTuple

from steelyard.errors import BadInput
from steelyard.experiment.schema import MOST_RATE, MOST_USERS, Search
from steelyard.results.spec import Spec
from steelyard.spec.injectors import load_of_all, own_rows
from steelyard.units import MIB

Varied = Literal["users", "rate", "memory"]
LEAST_MEMORY = 16.0 * MIB
"""No JVM starts in less."""
LEAST_RATE = 0.1
WHOLE: dict[Varied, float] = {"users": 1.0, "memory": float(MIB)}
"""What can be set in whole numbers of this alone; a rate has no such unit."""


class SearchRange(NamedTuple):
    """Values that a search may try: users, arrivals/s, or bytes of memory; both bounds can be set."""

    varies: Varied
    start: float
    minimum: float
    maximum: float | None


def varied_setting(search: Search, spec: Spec) -> Varied:
    """What the search changes; `hold` changes what the load model has: users or rate."""
    return search.lower or search.raise_ or ("users" if spec.load.model == "closed" else "rate")


def range_of(search: Search, spec: Spec) -> SearchRange:
    """Where the search of an arm begins, and its bounds.

    Raises:
        BadInput: the arm's load or engine has nothing of the kind, there is no value to begin with, or the injectors
            refuse what it may try.
    """
    varies = varied_setting(search, spec)
    if varies == "memory" and spec.engine == "process":
        raise BadInput(f"{spec.arm}: a search for memory needs servers in containers: set engine: compose")
    own = {
        "users": spec.load.users,
        "rate": spec.load.rate,
        "memory": next((server.memory_bytes for server in spec.servers), None),
    }[varies]
    if varies != "memory" and own is None:
        raise BadInput(
            f"{spec.arm}: a search for {varies} needs a load of that model, this one is {spec.load.model}"
        )
    start = search.value("start") or own
    if start is None:
        raise BadInput(f"{spec.arm}: where does the search begin? Give search.start or memory")
    smallest = {"users": float(spec.load.injectors), "rate": LEAST_RATE, "memory": LEAST_MEMORY}[varies]
    minimum, maximum = max(smallest, search.value("minimum") or smallest), search.value("maximum")
    most, cure = _offer_limit(varies, spec)
    offered = "arrivals/s" if varies == "rate" else varies
    for key, value in (("start", start), ("maximum", maximum)):
        if value is not None and value > most:
            raise BadInput(
                f"{spec.arm}: search.{key} is {value:,.15g} and the injectors take {most:,.15g} {offered} at most:"
                f" lower it, or {cure}"
            )
    if maximum is None and varies != "memory":
        maximum = most
    if start < minimum or (maximum is not None and start > maximum):
        raise BadInput(f"{spec.arm}: the search begins at {start:g}, which is outside of what it may try")
    if unit := WHOLE.get(varies):
        minimum = math.ceil(minimum / unit) * unit
        maximum = math.floor(maximum / unit) * unit if maximum is not None else None
    return SearchRange(varies, float(start), minimum, maximum)


def _offer_limit(varies: Varied, spec: Spec) -> tuple[float, str]:
    """Users or arrivals/s that the injectors of a spec take at most, and what allows more."""
    if varies == "memory":
        return math.inf, ""
    each = MOST_USERS if varies == "users" else MOST_RATE
    limits = [(float(each * spec.load.injectors), "add injectors")]
    if varies == "users":
        rows = own_rows(spec)
        limits += [
            (float(rows[name]), f"give feeder {name} more rows or an order other than user") for name in rows
        ]
    return min(limits)


def with_value(spec: Spec, search: Search, value: float) -> Spec:
    """The spec of one trial of the search: as the arm's, with this value."""
    varies = varied_setting(search, spec)
    if varies == "memory":
        return spec.with_changes("server", lambda _: {"memory_bytes": round(value)})
    load = spec.load.model_copy(update={varies: round(value) if varies == "users" else value})
    return spec.with_changes(
        "injector",
        lambda injector: {"settings": injector.settings | load_of_all(load)},
        load=load,
    )
