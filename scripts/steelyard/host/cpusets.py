# SPDX-License-Identifier: Apache-2.0
"""CPUs that go offline and come back: whether what runs here may use them again.

A CPU that goes offline is taken out of every CPU set of control groups version 1, and is not put back when it comes
online: containers and sessions below such a set then never use it, which is how a POWER9 host that was raised from SMT4
to SMT8 ran on half of its threads. So the sets are written down before CPUs go, and made again when they come
(`/run/steelyard/cpusets.json`, which a crash does not lose). Version 2 keeps what was asked for by itself
(the kernel's Documentation/admin-guide/cgroup-v1/cpusets.rst and cgroup-v2.rst).

An interrupt whose CPUs have all gone may be served by every CPU from then on (kernel/irq/cpuhotplug.c), and so with
the interrupts of the network card.
"""

import json
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.host.cards import IRQ_AFFINITY
from steelyard.host.cpus import cpu_list, read_cpus
from steelyard.host.system import System
from steelyard.results.store import write_atomic

RECORD = "run/steelyard/cpusets.json"
_ONLINE = "sys/devices/system/cpu/online"
_TOP = "sys/fs/cgroup/cpuset"
_FILE = "cpuset.cpus"
_PROCESSOR = 36
"""Field of /proc/thread-self/stat, counted from the state, that names the CPU a thread ran on last (proc(5), 39)."""


def save_sets(system: System, cpus: Iterable[int]) -> None:
    """Before CPUs go offline: write down the CPU sets that will lose them, and the interrupts that no other serves."""
    gone, kept = set(cpus), _read_record(system)
    for name, held in _sets(system).items():
        if gone & held:
            kept[name] = sorted(held | set(kept.get(name, ())))
    left = set(read_cpus(system, _ONLINE)) - gone
    for name, held in _interrupts(system).items():
        if held and not held & left:
            kept.setdefault(name, sorted(held))
    if kept and gone:
        _write_record(system, kept)


def restore_sets(system: System) -> None:
    """After CPUs came online: make the CPU sets again that had them, and give them their interrupts."""
    online = set(read_cpus(system, _ONLINE))
    kept, interrupts = _read_record(system), _interrupts(system)
    now = _sets(system) | interrupts
    # From the top: a set may have no CPU that the one above it has not.
    for name in sorted(kept, key=lambda name: name.count("/")):
        before, has = set(kept[name]), now.get(name, set())
        wanted = has | before & online
        if name in interrupts:
            wanted = before if before <= online else has
        if wanted != has and name in now:
            with suppress(OSError):  # a set that went meanwhile, an interrupt that the kernel alone moves
                system.write(name, cpu_list(wanted))
        if name not in now or before <= online:
            del kept[name]
    if system.path(RECORD).exists():
        _write_record(system, kept)


def require_usable(system: System, cpus: Iterable[int]) -> None:
    """See that the CPUs of an arm can be used from here once they are online (raises MissingRequirement).

    Others may come online that a smaller CPU set around this session does not have: no concern of it.
    """
    if system.is_here and (idle := unusable(cpus)):
        raise MissingRequirement(
            f"CPU {cpu_list(idle)} is online and cannot be used from here: the CPU set of this session's control"
            " group does not have it; add it there (cpuset.cpus), or start the session again outside of that group"
        )


def unusable(cpus: Iterable[int]) -> list[int]:
    """CPUs on which a thread of this process cannot run."""
    refused: list[int] = []

    def visit() -> None:
        for cpu in sorted(cpus):
            try:
                os.sched_setaffinity(
                    0, {cpu}
                )  # of this thread alone, which does not go on without being there
                stat = Path("/proc/thread-self/stat").read_text(encoding="ascii")
                there = int(stat.rpartition(")")[2].split()[_PROCESSOR])
            except OSError:
                there = -1
            if there != cpu:
                refused.append(cpu)

    visitor = threading.Thread(target=visit)
    visitor.start()
    visitor.join()
    return refused


def _sets(system: System) -> dict[str, set[int]]:
    """CPUs of each CPU set of version 1 below the first one, by its file."""
    sets = {}
    for path in sorted(system.path(_TOP).glob(f"*/**/{_FILE}")):
        name = str(path.relative_to(system.root))
        sets[name] = set(read_cpus(system, name))
    return sets


def _interrupts(system: System) -> dict[str, set[int]]:
    """CPUs that may serve each interrupt of the card, by its file."""
    return {name: set(read_cpus(system, name)) for name in IRQ_AFFINITY.files(system)}


def _read_record(system: System) -> dict[str, list[int]]:
    system.require_own_records()
    try:
        record: dict[str, list[int]] = json.loads(system.path(RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record


def _write_record(system: System, kept: dict[str, list[int]]) -> None:
    if kept:
        system.make_run_folder()
        write_atomic(system.path(RECORD), json.dumps(kept, indent=1) + "\n")
    else:
        system.path(RECORD).unlink(missing_ok=True)
