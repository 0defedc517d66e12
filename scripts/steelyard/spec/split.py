# SPDX-License-Identifier: Apache-2.0
"""Even shares of cores, heap and memory, and whether the arms of an experiment have the same in total.

Cores, in this order: how many the injectors keep (`auto_injector_cores`), which ones those and the servers' are
(`cores_for`), and which of the servers' each JVM has (`split_cores`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from math import gcd
from typing import Literal, NamedTuple

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.results.spec import MEASURED_ROLES, Role, Spec
from steelyard.units import MIB, add_known

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
    Cores are taken in the order given, so that groups stay within a socket or NUMA node where they can (`cores_for`).
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


class Offer(NamedTuple):
    """What decides how many cores the injectors of an arm keep."""

    servers: int | Literal["all"]
    """`cores` of the arm."""
    cores: int
    """Physical cores that the host offers."""
    jvms: int = 1


def auto_injector_cores(offers: Collection[Offer]) -> int | Literal["shared"]:
    """What `injector_cores: auto` stands for in these arms, the same in all.

    Otherwise what an arm has less of would slow its servers and its load at once: databases and services stand with the
    injectors. The rule:

    - What the servers leave is the injectors'; of arms that leave different numbers, the smallest.
    - Where the servers have all cores, a quarter is kept on hosts with eight or more; smaller hosts share.
    - Where they have all in every arm: the first number from that quarter to half of the cores with which the JVMs of
      most arms come out even (`split_cores`). On 12 cores 4 and not 3 for one and two JVMs.
    """
    least = min(_spare(offer) for offer in offers)
    if not least or any(offer.servers != "all" for offer in offers):
        return least or "shared"
    most = max(least, min(offer.cores for offer in offers) // 2)

    def uneven(kept: int) -> int:
        return sum(not _comes_out_even(cores - kept, jvms) for _, cores, jvms in offers)

    return min(range(least, most + 1), key=uneven)


def _spare(offer: Offer) -> int:
    left = 0 if offer.servers == "all" else max(0, offer.cores - offer.servers)
    return left or (offer.cores // 4 if offer.cores >= AUTO_APART_FROM else 0)


def _comes_out_even(cores: int, jvms: int) -> bool:
    """Whether each JVM has cores of its own, or each core as many JVMs as any other."""
    return gcd(jvms, cores) == min(jvms, cores)


def count_uneven(arms: Sequence[Arm], cores: int) -> int:
    """How many arms have JVMs that do not come out even where servers and injectors have so many cores together."""

    def of_servers(arm: Arm) -> int:
        servers, kept = arm.deployment.cores, arm.deployment.injector_cores
        if servers != "all":
            return servers
        return cores - kept if isinstance(kept, int) else cores

    return sum(not _comes_out_even(of_servers(arm), arm.deployment.jvms) for arm in arms)


def with_injector_cores(arms: Sequence[Arm], offered: Mapping[str, int]) -> list[Arm]:
    """The arms with what `injector_cores: auto` stands for in its place; `offered`: cores of the host, by arm."""
    offers = [_offer(arm, offered[arm.name]) for arm in arms if arm.deployment.injector_cores == "auto"]
    changed = {"injector_cores": auto_injector_cores(offers)} if offers else {}
    return [
        replace(arm, deployment=arm.deployment.model_copy(update=changed))
        if arm.deployment.injector_cores == "auto"
        else arm
        for arm in arms
    ]


def _offer(arm: Arm, cores: int) -> Offer:
    return Offer(arm.deployment.cores, cores, arm.deployment.jvms)


def cores_for(arm: Arm, cores: Sequence[Core], nodes: Mapping[int, int]) -> tuple[list[Core], list[Core]]:
    """Cores of the servers and of the injectors of an arm; the same list when they are shared.

    The servers' are of the fewest NUMA nodes that hold them, of all nodes where they have `all`, and equally many of
    each of these: so the JVMs that `split_cores` gives them to lie on one node as far as they fit. The injectors' are
    the next ones. Each list is in the order of `cores`, in which those of a node are neighbours.

    Args:
        arm: what is wanted.
        cores: of the host.
        nodes: NUMA node of each logical CPU; empty: one.

    Raises:
        BadInput: the host has too few.
    """
    servers, injectors = arm.deployment.cores, arm.deployment.injector_cores
    wanted = len(cores) if servers == "all" else servers
    if wanted > len(cores):
        raise BadInput(f"arm {arm.name} needs {wanted} cores, this host offers {len(cores)}: lower cores")
    order = _node_by_node(cores, wanted, nodes)
    apart = auto_injector_cores([_offer(arm, len(cores))]) if injectors == "auto" else injectors
    own = 0 if apart == "shared" else apart
    if servers == "all":
        wanted -= own
    if wanted < 1 or wanted + own > len(cores):
        raise BadInput(
            f"arm {arm.name} needs {max(wanted, 1)} cores for servers and {own} for injectors, this host offers"
            f" {len(cores)}: lower cores or use injector_cores: shared"
        )
    first, following = set(order[:wanted]), set(order[wanted : wanted + own])
    served = [core for core in cores if core in first]
    return served, [core for core in cores if core in following] if own else served


def _node_by_node(cores: Sequence[Core], wanted: int, nodes: Mapping[int, int]) -> list[Core]:
    """The cores of the fewest nodes that hold so many, one of each node in turn, and then those of the others: of the
    first nodes, or of the largest where the first are too small (CPUs of theirs are offline, or not allowed)."""
    of_nodes = [list(group) for _, group in groupby(cores, key=lambda core: nodes.get(core[0], 0))]
    largest = sorted(of_nodes, key=len, reverse=True)
    fewest = next(
        (count for count in range(1, len(largest)) if sum(map(len, largest[:count])) >= wanted),
        len(largest),
    )
    if sum(map(len, of_nodes[:fewest])) < wanted:
        of_nodes = largest
    in_turn = [core for turn in zip_longest(*of_nodes[:fewest]) for core in turn if core is not None]
    return [*in_turn, *(core for group in of_nodes[fewest:] for core in group)]


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
    sizes: Iterable[int | None] = (getattr(component, size) for component in counted)
    total = add_known(sizes)
    return total / MIB if total is not None else None


def _total_quota(spec: Spec) -> float | None:
    return add_known(server.cpu_quota for server in spec.servers)


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
