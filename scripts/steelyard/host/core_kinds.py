# SPDX-License-Identifier: Apache-2.0
"""Kinds of core: on hybrid processors and big.LITTLE ones some are faster, whatever their number of threads.

The kernel tells by the CPUs of each performance monitoring unit (Intel: `cpu_core`, `cpu_atom`), by `cpu_capacity`
(Arm), and by the performance and frequency that the firmware grants to each. Cores of one kind may differ a little in
the last two (favoured cores reach some per cent more), so that only a step of more than `STEP` makes another kind.
"""

from collections.abc import Collection, Mapping

from steelyard.host.cpus import cpu_list, read_cpus
from steelyard.host.system import System

STEP = 1.1
_CPU = "sys/devices/system/cpu"
_UNITS = ("cpu_core", "cpu_atom", "cpu_lowpower")
_MEASURES = ("cpu_capacity", "acpi_cppc/nominal_perf", "acpi_cppc/highest_perf", "cpufreq/cpuinfo_max_freq")
"""Files of a CPU, each with a number that is larger for a faster core. AMD's preferred cores have the same nominal
performance, and a highest one in steps of some per cent."""


def core_kinds(system: System, cpus: Collection[int]) -> dict[int, str]:
    """The kind of each of these CPUs, by a name for people; empty where all are of one, as far as the kernel tells."""
    signs: dict[int, list[str]] = {cpu: [] for cpu in cpus}
    units = {cpu: unit for unit in _UNITS for cpu in read_cpus(system, f"sys/devices/{unit}/cpus")}
    _add(signs, units)
    for measure in _MEASURES:
        numbers = {cpu: system.number(f"{_CPU}/cpu{cpu}/{measure}") for cpu in cpus}
        known = {cpu: number for cpu, number in numbers.items() if number}
        if len(known) == len(numbers):
            steps = _steps(known.values())
            name = measure.rpartition("/")[2]
            _add(signs, {cpu: f"{name} {steps[number]}" for cpu, number in known.items()})
    kinds = {cpu: ", ".join(words) for cpu, words in signs.items()}
    return kinds if len(set(kinds.values())) > 1 else {}


def core_units(system: System, cpus: Collection[int]) -> set[str]:
    """The performance monitoring units of these CPUs on a hybrid processor; empty on others."""
    return {unit for unit in _UNITS if {*cpus} & {*read_cpus(system, f"sys/devices/{unit}/cpus")}}


def describe_kinds(kinds: Mapping[int, str]) -> str:
    """CPUs by their kind, for people."""
    groups = {name: cpu_list([cpu for cpu in kinds if kinds[cpu] == name]) for name in kinds.values()}
    return "; ".join(f"CPU {cpus}: {name}" for name, cpus in groups.items())


def _add(signs: dict[int, list[str]], values: Mapping[int, str]) -> None:
    """Take in what tells CPUs apart; what is the same for all of them does not."""
    if len({values.get(cpu) for cpu in signs}) > 1:
        for cpu, words in signs.items():
            words.append(values.get(cpu, "another"))


def _steps(numbers: Collection[int]) -> dict[int, int]:
    """For each number the largest of those that are reached from it in steps of less than `STEP`."""
    ordered = sorted(set(numbers))
    largest: dict[int, int] = {}
    group = [ordered[0]]
    for number in ordered[1:]:
        if number > group[-1] * STEP:
            largest |= dict.fromkeys(group, group[-1])
            group = []
        group.append(number)
    return largest | dict.fromkeys(group, group[-1])


def isolated_cpus(system: System) -> set[int]:
    """CPUs over which the kernel spreads no threads (`isolcpus`)."""
    return set(read_cpus(system, f"{_CPU}/isolated"))
