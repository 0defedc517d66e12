# SPDX-License-Identifier: Apache-2.0
"""What the doctor saw of one topic."""

from typing import Literal, NamedTuple

Level = Literal["ok", "info", "warn"]


class Seen(NamedTuple):
    """A topic's state on this host."""

    state: str
    level: Level = "ok"
    """`ok`; `info`: belongs in the report; `warn`: disturbs a measurement."""
    change: str | None = None
    """A command that changes it, or what to do; None: nothing to change."""


UNTOLD = Seen("cannot be told here", "info")
"""This host, or this user's rights, do not allow to tell."""


class Finding(NamedTuple):
    """The same with its topic and why that matters."""

    topic: str
    why: str
    state: str
    level: Level
    change: str | None
