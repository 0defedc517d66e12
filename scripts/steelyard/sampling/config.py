# SPDX-License-Identifier: Apache-2.0
"""What the sampler is told: a small JSON file, which may be replaced while it runs to add processes."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

ROLES = ("server", "injector", "backing", "harness")
OWN_NAME = "sampler"
NOTHING = "internal-nothing"
"""Stands in counters.csv for the operations of a server that answers and has none to tell of."""


class Watched(NamedTuple):
    """One process to sample."""

    name: str
    pid: int
    role: str
    """`server`: with thread groups, PSS, context switches and counters; the others: CPU, memory, faults."""
    counters_url: str | None
    cgroup: bool = False
    """Whether it has a control group of its own (a container), whose figures are sampled too."""


class Config(NamedTuple):
    """The sampler's configuration."""

    output: Path
    interval: float
    """Seconds between samples."""
    parent: int | None
    """The sampler ends when this is no longer its parent; None: whoever started it."""
    processes: tuple[Watched, ...]


def parse_config(text: str) -> Config:
    """Read a configuration.

    Raises:
        ValueError: not a configuration; the message says why.
    """
    try:
        raw: Any = json.loads(text)
        entries = [{"counters_url": None, **entry, "pid": int(entry["pid"])} for entry in raw["processes"]]
        processes = tuple(Watched(**entry) for entry in entries)
        config = Config(Path(raw["output"]), float(raw.get("interval", 1.0)), raw.get("parent"), processes)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no sampler configuration: {error!r}") from error
    if not 0.01 <= config.interval <= 3600:
        raise ValueError(f"interval {config.interval} is not between 0.01 and 3600 seconds")
    for one in processes:
        if one.role not in ROLES:
            raise ValueError(f"role {one.role!r} of {one.name} is none of {', '.join(ROLES)}")
        if re.search(r'[,"\r\n]', str(one.name)):
            raise ValueError(f"process name {one.name!r} cannot stand in a CSV file")
    names = [process.name for process in processes]
    if len({*names, OWN_NAME}) != len(names) + 1:
        raise ValueError(f"process names must differ from each other and from {OWN_NAME!r}: {names}")
    return config
