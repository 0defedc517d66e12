# SPDX-License-Identifier: Apache-2.0
"""What the harness has to know of each workload."""

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.units import MIB


@dataclass(frozen=True)
class Workload:
    """A workload's constants."""

    name: str
    min_heap: int
    """Smallest maximum heap in bytes with which the server starts and serves (apps/README.md has the figures)."""
    mix: Mapping[str, float]
    """Share of each operation in its own mix."""


WORKLOADS = {"ping": Workload("ping", min_heap=32 * MIB, mix={"ping": 1.0})}
