# SPDX-License-Identifier: Apache-2.0
"""What else took CPU of the host, or of the machines of a cluster."""

from steelyard.measure.formulas import EVERY, combine_known, ratio
from steelyard.measure.rule import Rule, in_duet, judge_share
from steelyard.measure.series import NOTHING_READ, SLACK
from steelyard.measure.window import Unknown, Window, trial_figure
from steelyard.results.measurement import MachineResult

DUET_LIMIT = 0.2
"""What the hypervisor or other processes may take of a duet: it meets both sides, and their certificate says what is
left of it."""
LATE_SHARE = 0.1
"""Part of a window that may have gone by at the first sample of this host, at most `SLACK`: what it did until then is
not known."""
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
        limit=0.02,
        unit="of the servers' CPUs",
        says=f"all CPU that is not the trial's at most 2 % of the servers' CPUs; {_OF_DUET}",
        judge=in_duet(
            DUET_LIMIT, judge_share("other_cpu_share", "other processes used {} of the servers' CPU time")
        ),
        procedures=EVERY,
    ),
)
