# SPDX-License-Identifier: Apache-2.0
"""Even shares of cores and heap."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from steelyard.errors import BadInput
from steelyard.units import MIB

Core = tuple[int, ...]
"""A physical core: its logical CPUs (SMT siblings)."""


@dataclass(frozen=True)
class CpuShare:
    """The CPUs of one server JVM."""

    cpus: tuple[int, ...]
    """Logical CPUs that it may use."""
    shared_with: int
    """JVMs on these CPUs, itself included."""
    cores: float
    """Its share of physical cores."""


def split_cores(cores: Sequence[Core], jvms: int) -> list[CpuShare]:
    """Give each of `jvms` JVMs an equal share of `cores`, apart where that comes out even.

    With g = gcd(jvms, cores) there are g groups of JVMs, each on cores/g cores of its own: four JVMs on
    eight cores have two cores each; twelve JVMs on two cores are six on each core; three JVMs on two cores
    share both.
    Cores are taken in the order given, so that groups stay within a socket or NUMA node where they can.
    """
    groups = gcd(jvms, len(cores))
    cores_of_group = len(cores) // groups
    jvms_of_group = jvms // groups
    shares = []
    for jvm in range(jvms):
        first = jvm // jvms_of_group * cores_of_group
        cpus = tuple(sorted(cpu for core in cores[first : first + cores_of_group] for cpu in core))
        shares.append(CpuShare(cpus, jvms_of_group, cores_of_group / jvms_of_group))
    return shares


def split_heap(total: int, weights: Sequence[int]) -> list[int]:
    """Maximum heap of each JVM in bytes, by its weight, rounded down to whole MiB.

    Raises:
        BadInput: rounding would lose more than 1 % of the total, so that arms would not be equal.
    """
    parts = sum(weights)
    shares = [total * weight // parts // MIB * MIB for weight in weights]
    if 0 in shares or sum(shares) < 0.99 * total:
        raise BadInput(
            f"a total heap of {total // MIB} MiB does not split evenly over {len(weights)} JVMs:"
            f" choose a total_heap that is a multiple of {parts} MiB"
        )
    return shares


def share_cores(cores: Sequence[Core], jvms: int) -> list[CpuShare]:
    """Let all JVMs use all cores: services that take unequal parts in each request cannot be given equal cores."""
    cpus = tuple(sorted(cpu for core in cores for cpu in core))
    return [CpuShare(cpus, jvms, len(cores) / jvms)] * jvms
