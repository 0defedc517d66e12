# SPDX-License-Identifier: Apache-2.0
"""How far apart injectors begin that wait for each other (`meet`), by their own records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from injector_clients import SPARE_SECONDS, RoundError, new_output, start_injector, wait_for_end

PORT = 18098
HOUR_MILLIS = 3_600_000
"""Think time with which a user sends one request in a run of a second."""


@dataclass(frozen=True)
class Start:
    """One start of several injectors, in milliseconds.

    Args:
        due: from the first to the last of the times at which their first requests were due
        answered: the same of their first answers, which a cold JVM delays
    """

    due: float
    answered: float


def start_together(java: str, load: Mapping[str, Any], injectors: int, folder: Path) -> Start:
    """Start injectors that meet, with one user and one request each, on all CPUs.

    Raises:
        RoundError: if one failed
    """
    settings = {**load, "model": "closed", "users": injectors, "thinkTimeMillis": HOUR_MILLIS}
    settings |= {"measureSeconds": 1, "meet": f"127.0.0.1:{PORT}", "meetSeconds": SPARE_SECONDS}
    settings["injectors"] = injectors
    outputs = [new_output(folder) for _ in range(injectors)]
    with ExitStack() as running:
        processes = [
            running.enter_context(start_injector(java, {**settings, "injector": index}, output))
            for index, output in enumerate(outputs)
        ]
        try:
            for process in processes:
                wait_for_end(process, 2 * SPARE_SECONDS)
        except RoundError:
            for process in processes:
                process.kill()
            raise
    return spread([json.loads((output / "summary.json").read_text()) for output in outputs])


def spread(summaries: list[dict[str, Any]]) -> Start:
    """Return how far apart injectors began, each of which sent one request.

    A request was due when its answer had arrived, less its latency, which counts from then: both are kept to
    microseconds, the latter with three digits.

    Raises:
        RoundError: if one sent another number of requests, or had an error
    """
    due, answered = [], []
    for summary in summaries:
        operation = summary["operations"]["ping"]
        if (operation["requests"], operation["errors"]) != (1, 0):
            raise RoundError(
                f"an injector had {operation['requests']} requests, {operation['errors']} errors"
            )
        arrived = summary["firstAnswers"]["ping"]
        answered.append(arrived)
        due.append(arrived - operation["latencyMillis"]["max"])
    return Start(max(due) - min(due), max(answered) - min(answered))
