# SPDX-License-Identifier: Apache-2.0
"""What the sampler is told: a small JSON file, which may be replaced while it runs to add processes."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.measure.columns import OWN_NAME

SETTINGS = "STEELYARD_OBSERVE"
"""Variable with the settings of an observer (observe.py)."""
MARKER = "STEELYARD_COMPONENT"
"""Variable that the processes of a pod's component have, and its observer has not."""
NAME = "component"
"""What an observer calls its component in rows: its real name is the harness's to know."""
PORT = 9779
"""Of an observer."""


class Watched(NamedTuple):
    """One component to sample: its main process, and all that belong to it (process_tree.py)."""

    name: str
    pid: int
    role: str
    """`server`: with thread groups, PSS, context switches and counters; the others: CPU, memory, faults. Of an
    `engine` (what starts containers) also what its own helpers use: those of its descendants that nobody watches."""
    counters_url: str | None = None
    cgroup: bool = False
    """Whether it has a control group of its own (a container), whose figures are sampled too."""
    quota: bool = False
    """Whether only its quota of CPU time is that of a group of its own (a process that was put into one)."""
    metrics_url: str | None = None
    """Where it tells figures of its own in Prometheus' text format."""
    mark: str = ""
    """An entry of the environment (`NAME=VALUE`) that its processes alone have; empty: they have none."""
    alone: bool = False
    """Whether only the main process is meant; it always is of an `engine` and of the `harness`."""


class Config(NamedTuple):
    """The sampler's configuration."""

    output: Path
    interval: float
    """Seconds between samples."""
    parent: int | None
    """The sampler ends when this is no longer its parent; None: whoever started it."""
    processes: tuple[Watched, ...]
    answer_limit: float | None = None
    """Seconds after which a component that does not answer is asked again; None: the usual."""


def parse_config(text: str) -> Config:
    """Read a configuration.

    Raises:
        ValueError: not a configuration; the message says why.
    """
    try:
        raw: Any = json.loads(text)
        processes = tuple(Watched(**entry) for entry in raw["processes"])
        config = Config(
            Path(raw["output"]),
            float(raw["interval"]),
            raw.get("parent"),
            processes,
            raw.get("answer_limit"),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no sampler configuration: {error!r}") from error
    names = [process.name for process in processes]
    if len({*names, OWN_NAME}) != len(names) + 1:
        raise ValueError(f"process names must differ from each other and from {OWN_NAME!r}: {names}")
    return config
