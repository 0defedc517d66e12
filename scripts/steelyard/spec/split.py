# SPDX-License-Identifier: Apache-2.0
"""Even shares of cores, heap and memory, and whether the arms of an experiment have the same in total."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import gcd
from typing import Literal, NamedTuple

from steelyard.errors import BadInput
from steelyard.results.spec import MEASURED_ROLES, Role, Spec
from steelyard.units import MIB

Core = tuple[int, ...]
"""A physical core: its logical CPUs (SMT siblings)."""
AUTO_APART_FROM = 8
"""From this many cores on, `injector_cores: auto` keeps a quarter of them for the injectors."""


class CpuShare(NamedTuple):
    """The CPUs of one server JVM."""

    cpus: tuple[int, ...]
    """Logical CPUs that it may use."""
    shared_with: int
    """JVMs on these CPUs, itself included."""
    cores: float
    """Its share of physical cores."""


def split_cores(cores: Sequence[Core], jvms: int, *, apart: bool = True) -> list[CpuShare]:
    """Give each of `jvms` JVMs an equal share of `cores`, `apart` where that comes out even.

    With g = gcd(jvms, cores) there are g groups of JVMs, each on cores/g cores of its own: four JVMs on
    eight cores have two cores each; twelve JVMs on two cores are six on each core; three JVMs on two cores
    share both.
    Cores are taken in the order given, so that groups stay within a socket or NUMA node where they can.
    """
    groups = gcd(jvms, len(cores)) if apart else 1
    each, members = len(cores) // groups, jvms // groups
    shares = []
    for first in range(0, len(cores), each):
        cpus = tuple(sorted(cpu for core in cores[first : first + each] for cpu in core))
        shares += [CpuShare(cpus, members, each / members)] * members
    return shares


def split_total(total: int, weights: Sequence[int], setting: str) -> list[int]:
    """Bytes of each JVM by its weight, of heap or of memory (`what` names the setting), rounded down to whole MiB.

    Raises:
        BadInput: rounding would lose more than 1 % of the total, so that arms would not be equal.
    """
    parts = sum(weights)
    shares = [total * weight // parts // MIB * MIB for weight in weights]
    if 0 in shares or sum(shares) < 0.99 * total:
        raise BadInput(
            f"{setting} of {total // MIB} MiB does not split evenly over {len(weights)} JVMs: choose a multiple of"
            f" {parts} MiB"
        )
    return shares


def cores_for(
    servers: int | Literal["all"], injectors: int | Literal["auto", "shared"], cores: Sequence[Core], arm: str
) -> tuple[list[Core], list[Core]]:
    """Cores of the servers and of the injectors; the same list when they are shared.

    Raises:
        BadInput: the host has too few.
    """
    available = list(cores)
    wanted = len(available) if servers == "all" else servers
    if wanted > len(available):
        raise BadInput(f"arm {arm} needs {wanted} cores, this host offers {len(available)}: lower cores")
    apart = (_auto(servers, len(available)) or "shared") if injectors == "auto" else injectors
    if apart == "shared":
        return available[:wanted], available[:wanted]
    if servers == "all":
        wanted -= apart
    if wanted < 1 or wanted + apart > len(available):
        raise BadInput(
            f"arm {arm} needs {max(wanted, 1)} cores for servers and {apart} for injectors, this host offers"
            f" {len(available)}: lower cores or use injector_cores: shared"
        )
    return available[:wanted], available[wanted : wanted + apart]


def _auto(servers: int | Literal["all"], cores: int) -> int:
    """Cores that `injector_cores: auto` keeps for the injectors, by itself; 0: none, they share the servers'.

    What the servers leave is the injectors'; where they leave none, a quarter on a large host.
    """
    spare = 0 if servers == "all" else max(0, cores - servers)
    return spare or (cores // 4 if cores >= AUTO_APART_FROM else 0)


def even_injector_cores(
    offers: Mapping[str, tuple[int | Literal["all"], int]],
) -> int | Literal["shared"] | None:
    """What `injector_cores: auto` means to arms that give their servers different numbers of cores: the same in all.

    The load side, and the databases and services beside it, must not have other cores in each arm: then what an arm
    has less of would slow its servers and its load at once. None: it comes out the same by itself.

    Args:
        offers: cores of the servers and those that the host offers, by arm; of the arms whose own are `auto`.
    """
    kept = {_auto(servers, cores) for servers, cores in offers.values()}
    return None if len(kept) < 2 else min(kept) or "shared"


def dealt_out(cores: Sequence[Core], parts: int) -> list[Core]:
    """The cores in an order in which neighbours come from all over: each of so many parts has every `parts`-th one."""
    return [core for first in range(parts) for core in cores[first::parts]]


def check_conserved(specs: Mapping[str, Spec], varied: Collection[str]) -> None:
    """Refuse an experiment whose arms do not have the same total cores, heap, memory and CPU quota, unless that is its
    question.

    What compilers have counts with the servers'. A heap that is left to the JVM is unknown, and unknown is not equal to
    anything but itself.

    Raises:
        BadInput: naming the arms and the totals.
    """
    totals: tuple[tuple[str, str, set[str], Callable[[Spec], float | None]], ...] = (
        (
            "server cores",
            "",
            {"cores", "injector_cores", "cpus_online"},
            lambda spec: float(spec.server_cores),
        ),
        ("total heap", " MiB", {"heap", "total_heap"}, lambda spec: _total(spec, "heap_bytes")),
        (
            "total memory limit",
            " MiB",
            {"memory", "total_memory", "jitserver.memory"},
            lambda spec: _total(spec, "memory_bytes"),
        ),
        ("total CPU quota", "", {"cpus"}, _total_quota),
    )
    for resource, unit, settings, total in totals:
        if not settings.intersection(varied):
            _same({name: total(spec) for name, spec in specs.items()}, resource, unit)


def check_kinds(specs: Iterable[Spec], kinds: Mapping[int, str]) -> None:
    """Refuse arms whose servers, or whose injectors, would not all have the same mix of kinds of core: the faster cores
    of one would be taken for its merit.

    Args:
        specs: of all arms, of a duet of both sides.
        kinds: of each CPU, by a name for people; empty where all are of one kind.

    Raises:
        BadInput: naming who would have which, and what to do.
    """
    seen: dict[Role, tuple[str, dict[str, float]]] = {}
    for spec in specs if kinds else ():
        for component in spec.of("server", "injector"):
            counts = Counter(kinds.get(cpu, "another") for cpu in component.cpus)
            mix = {core_kind: count / len(component.cpus) for core_kind, count in sorted(counts.items())}
            name = f"{component.name} of {spec.arm}"
            first, other = seen.setdefault(component.role, (name, mix))
            if mix != other:
                usual, _ = Counter(kinds.values()).most_common(1)[0]
                most = ",".join(str(cpu) for cpu in sorted(kinds) if kinds[cpu] == usual)
                raise BadInput(
                    f"this host's cores are not alike: {first} would have {_mix_text(other)}, and {name}"
                    f" {_mix_text(mix)}: run on cores of one kind, as in `taskset -c {most} ./steelyard ...`"
                )


def _mix_text(mix: Mapping[str, float]) -> str:
    return " and ".join(f"{share:.0%} {core_kind}" for core_kind, share in mix.items())


def check_isolated(specs: Iterable[Spec], isolated: Collection[int]) -> None:
    """Refuse components that are bound to several CPUs of which some are isolated: the kernel would leave all their
    threads where the first one began (raises BadInput)."""
    for spec in specs if isolated else ():
        for component in spec.components:
            if len(component.cpus) > 1 and (alone := set(isolated).intersection(component.cpus)):
                raise BadInput(
                    f"{component.name} of {spec.arm} would be bound to CPU {min(alone)}, which is isolated (isolcpus):"
                    " the kernel spreads no threads over such CPUs: leave them out with `taskset -c`, or boot without"
                    " isolcpus"
                )


def _total(spec: Spec, size: str) -> float | None:
    # A JITServer has a memory limit, and no heap that anybody sets.
    counted = spec.of(*MEASURED_ROLES) if size == "memory_bytes" else spec.servers
    known = [size_bytes for component in counted if (size_bytes := getattr(component, size)) is not None]
    return sum(known) / MIB if len(known) == len(counted) else None


def _total_quota(spec: Spec) -> float | None:
    quotas = [server.cpu_quota for server in spec.servers]
    known = [quota for quota in quotas if quota is not None]
    return sum(known) if len(known) == len(quotas) else None


def _same(totals: Mapping[str, float | None], resource: str, unit: str) -> None:
    known = {name: total for name, total in totals.items() if total is not None}
    if not known:
        return
    unknown = next((name for name, total in totals.items() if total is None), None)
    low, high = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
    if unknown is not None:
        raise BadInput(
            f"arms do not have equal resources: {resource} is {known[high]:g}{unit} in {high} and left to the JVM in"
            f" {unknown}: set it in every arm, or make it a factor"
        )
    if known[low] < 0.99 * known[high]:
        raise BadInput(
            f"arms do not have equal resources: {resource} is {known[low]:g}{unit} in {low} and"
            f" {known[high]:g}{unit} in {high}: set a total that is split, or make it a factor"
        )
