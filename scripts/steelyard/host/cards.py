# SPDX-License-Identifier: Apache-2.0
"""Which CPUs serve the interrupts of the network card: host state `irq_affinity`.

The card is that of the default route, which a load from other machines comes through. A load from this host itself
(injectors beside the servers) goes over `lo`, which has no interrupts: it changes nothing for that.
Source: the kernel's Documentation/core-api/irq/irq-affinity.rst.
"""

import re

from steelyard.host.cpus import cpu_list, parse_cpu_list, read_cpus
from steelyard.host.state import HostState, in_files, join_values
from steelyard.host.system import Seen, System
from steelyard.units import quote_value

SERVERS = "servers"
_DEFAULT_ROUTE = "00000000"


def card(system: System) -> str | None:
    """The card that the default route leads through; None where there is none."""
    lines = [line.split() for line in (system.text("proc/net/route") or "").splitlines()[1:]]
    routes = [line for line in lines if len(line) > 6 and line[1] == line[7] == _DEFAULT_ROUTE]
    return min(routes, key=lambda line: int(line[6]))[0] if routes else None


def _online(system: System) -> list[int]:
    return read_cpus(system, "sys/devices/system/cpu/online")


def _chosen_cpus(system: System, wanted: object) -> list[int]:
    """CPUs that a wanted value names; ValueError when it names none."""
    online = _online(system)
    if wanted in ("one", "all"):
        return online[:1] if wanted == "one" else online
    try:
        cpus = [] if isinstance(wanted, bool) else parse_cpu_list(str(wanted).replace(" ", ""))
    except ValueError:
        cpus = []
    if not cpus or not set(cpus) <= set(online):
        raise ValueError(
            f"{quote_value(wanted)} is no list of CPUs that are online ({cpu_list(online) or 'not told'})"
        )
    return cpus


# --- interrupts


def _interrupts(system: System) -> dict[str, str]:
    """The file of each interrupt of the card, by its number: as its device has them, else by their names."""
    name = card(system)
    if name is None:
        return {}
    device = f"sys/class/net/{name}/device"
    numbers = [path.name for where in ("", "/..") for path in system.glob(f"{device}{where}/msi_irqs", "*")]
    named = re.compile(rf"^\s*(\d+):.*\b{re.escape(name)}\b", re.MULTILINE)
    numbers = numbers or named.findall(system.text("proc/interrupts") or "")
    files = {number: f"proc/irq/{number}/smp_affinity_list" for number in sorted(set(numbers), key=int)}
    return {number: file for number, file in files.items() if system.path(file).exists()}


def _parse_irqs(system: System, wanted: object) -> str:
    dealt_over = str(wanted).removeprefix("dealt ")
    cpus = _chosen_cpus(system, wanted if dealt_over == str(wanted) else dealt_over)
    if wanted != "all" and dealt_over == str(wanted):
        return cpu_list(cpus)
    # One CPU for each, in turn: given several, most interrupt controllers would use the first of them alone.
    dealt = {number: str(cpus[at % len(cpus)]) for at, number in enumerate(_interrupts(system))}
    return join_values(dealt) or cpu_list(cpus)


def _better_irqs(system: System) -> str | None:
    """Spread, where one CPU serves all of several interrupts."""
    now = IRQ_AFFINITY.read(system) or ""
    alone = now.isdigit() and len(_interrupts(system)) > 1 and len(_online(system)) > 1
    return "all" if alone else None


def _judge_irqs(system: System) -> Seen:
    state = f"those of {card(system)}: CPU by interrupt {IRQ_AFFINITY.read(system)}"
    if (better := _better_irqs(system)) is None:
        return Seen(state)
    return Seen(state, "warn", f"sudo ./steelyard host set irq_affinity={better}")


IRQ_AFFINITY = HostState(
    name="irq_affinity",
    allowed="one (the first CPU for all interrupts of the card), all (dealt out over all CPUs, one each), servers (over"
    " those of the servers), `dealt 2-3` (over these), or a list of CPUs for each of them",
    why="A CPU that serves the interrupts has less time for the server that is bound to it.",
    where="/proc/irq/N/smp_affinity_list",
    **in_files(_interrupts),
    parse=_parse_irqs,
    command=lambda value: f"sudo ./steelyard host set 'irq_affinity={value}'",
    judge=_judge_irqs,
    missing=lambda system: (
        f"the card {name} has no interrupts of its own: a virtual one"
        if (name := card(system))
        else "no card leads out of this host (no default route)"
    ),
    levels=lambda _system: ["one", "all"],
    better=_better_irqs,
    said="with one receive queue one CPU was at 99 % of its time in soft interrupts: spread the interrupts",
    experiment="irq-affinity",
    of_servers="dealt {}",
)
