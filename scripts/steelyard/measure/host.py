# SPDX-License-Identifier: Apache-2.0
"""What else took CPU of the host, or of the machines of a cluster."""

from steelyard.measure.formulas import EVERY, combine_known, ratio
from steelyard.measure.rule import Finding, Rule, in_duet, judge_share
from steelyard.measure.series import NOTHING_READ, SLACK
from steelyard.measure.window import Unknown, Window, trial_figure
from steelyard.results.measurement import MachineResult, TrialMeasurement
from steelyard.results.spec import Spec

DUET_LIMIT = 0.2
"""What the hypervisor or other processes may take of a duet: it meets both sides, and their certificate says what is
left of it."""
LATE_SHARE = 0.1
"""Part of a window that may have gone by at the first sample of this host, at most `SLACK`: what it did until then is
not known."""
OTHER_LIMIT = 0.02
KERNEL_SECONDS = 0.06
"""CPU seconds that threads of the kernel take while a server starts, beside what they always do (RCU, soft interrupts,
writing back, by scheduler events); whose work that is cannot be told. In 45 starts of 0.4 to 3.4 s on an undisturbed
host all CPU of others was 0.024 to 0.113 s (docs/lab-notes/2026-11-28-checkpoint-starts.md)."""
_OF_DUET = "20 % in a duet, where it affects both sides"


def machine_results(window: Window) -> list[MachineResult]:
    """What each machine did, where the trial ran in a cluster."""
    return [
        MachineResult(
            name=machine.name,
            components=list(machine.components),
            clock=machine.clock,
            other_cpu_share=ratio(
                window.samples.other_cpu(window.start, window.end, machine),
                window.seconds * len(window.cpus(machine.components)),
            ),
        )
        for machine in window.samples.machines
    ]


@trial_figure("share", undisturbed=0.0)
def steal_share(window: Window) -> float | Unknown | None:
    """CPU time that the hypervisor took / CPU time of the host; of several, of the one that lost most."""
    if late := _late_start(window):
        return late
    shares = []
    for host in window.samples.hosts():
        grown = {key[0]: series.delta(window.start, window.end) for key, series in host.items()}
        capacity = combine_known((grown.get(part) for part in ("busy_s", "steal_s", "idle_s")), sum)
        shares.append(ratio(grown.get("steal_s"), capacity))
    return combine_known(shares, max)


@trial_figure("share", undisturbed=0.001)
def other_cpu_share(window: Window) -> float | Unknown | None:
    """CPU of all processes that do not belong to the trial / CPU time of the servers' CPUs; it may be above 1. In a
    cluster that of the machine where it is most, by `machines`."""
    if machines := machine_results(window):
        return combine_known((machine.other_cpu_share for machine in machines), max)
    if late := _late_start(window):
        return late
    time = len(window.spec.server_cpus) * window.seconds
    return ratio(window.samples.other_cpu(window.start, window.end), time)


def _late_start(window: Window) -> Unknown | None:
    """Why a part of the window is not known; None: it is. Of a cluster's machines a sample comes with the first pod."""
    begins = window.samples.host.get(("monotonic",), NOTHING_READ).t[:1]
    if not begins.size or begins[0] <= window.start + min(SLACK, LATE_SHARE * window.seconds):
        return None
    return Unknown(f"samples of the host began {begins[0] - window.start:.1f} s after the window")


def _judge_others(measurement: TrialMeasurement, spec: Spec) -> Finding:
    finding = judge_share("other_cpu_share", "other processes used {} of the servers' CPU time")(
        measurement, spec
    )
    # Of a cluster the share is that of one of its machines, whose CPUs another number tells.
    if spec.procedure != "start-up" or spec.remote or not measurement.measure_seconds > 0.0:
        return finding
    cpu_time = len(spec.server_cpus) * measurement.measure_seconds
    return finding._replace(limit=OTHER_LIMIT + KERNEL_SECONDS / cpu_time)


RULES = (
    Rule(
        name="steal",
        limit=0.01,
        unit="of CPU time",
        says=f"at most 1 % steal; {_OF_DUET}",
        judge=in_duet(DUET_LIMIT, judge_share("steal_share", "the hypervisor took {} of the CPU time")),
        procedures=EVERY,
    ),
    Rule(
        name="other-cpu",
        limit=OTHER_LIMIT,
        unit="of the servers' CPUs",
        says="all CPU that is not the trial's at most 2 % of the servers' CPUs, and 60 ms more in a `start-up` trial,"
        f" for the kernel's own threads; {_OF_DUET}",
        judge=in_duet(DUET_LIMIT, _judge_others),
        procedures=EVERY,
    ),
)
