# SPDX-License-Identifier: Apache-2.0
"""Time of the kernel on the servers' CPUs, most of which is the network, and programs that forward a container's."""

from collections.abc import Iterable

from steelyard.measure.formulas import Metric, combine_known, of_trial, ratio
from steelyard.measure.rule import Rule, judge_none, needs
from steelyard.measure.series import NOTHING_READ
from steelyard.measure.window import SENTENCES, Unknown, Window, known_or, trial_figure
from steelyard.results.figures import percent
from steelyard.results.schema import Trial

SATURATED = 0.8
"""Share of one CPU from which a program that forwards packets, most of them in one thread, is what is measured."""
_TIMES = ("user_s", "system_s", "irq_s", "softirq_s", "steal_s", "idle_s")
_UNREAD = Unknown("the CPUs were not read at both ends of the window")


def _share(window: Window, columns: Iterable[str]) -> float | Unknown:
    """Time of the servers' CPUs in some states / all of their time."""
    if window.spec.remote:
        return Unknown("the CPUs of other machines are not read one by one")
    cpus = window.samples.cpus
    grown = {
        column: combine_known(
            (
                cpus.get((str(cpu), column), NOTHING_READ).delta_of_readings(window.start, window.end)
                for cpu in window.spec.server_cpus
            ),
            sum,
        )
        for column in _TIMES
    }
    used = combine_known((grown[column] for column in columns), sum)
    return known_or(ratio(used, combine_known(grown.values(), sum)), _UNREAD)


@trial_figure("share", undisturbed=0.1)
def kernel_share(window: Window) -> float | Unknown:
    """Time that the servers' CPUs spent in the kernel for processes (%sys), whoever's they were / all of their time."""
    return _share(window, ("system_s",))


@trial_figure("share", undisturbed=0.01)
def softirq_share(window: Window) -> float | Unknown:
    """The same in soft interrupts (%soft), which is where packets are taken in."""
    return _share(window, ("softirq_s",))


@trial_figure(SENTENCES)
def saturated_forwarders(window: Window) -> list[str] | Unknown:
    """Programs that forwarded the network of containers and took most of a CPU for it."""
    if not window.samples.cpus:
        return _UNREAD
    shares = {
        name: ratio(series.delta(window.start, window.end), window.seconds)
        for (name, _), series in window.samples.forwarders.items()
    }
    return [
        f"{name.partition(' ')[0]} (process {name.partition(' ')[2]}) used {percent(share, 0)} of a CPU"
        for name, share in sorted(shares.items())
        if share is not None and share > SATURATED
    ]


def network_of(trials: Iterable[Trial]) -> str:
    """Which ways requests went in some trials, in order of their names; empty: none of them tells."""
    paths = {trial.measurement.network_path for trial in trials if trial.measurement is not None}
    return ", ".join(sorted(paths - {""}))


METRICS = (
    Metric(
        name="server_cpus_system",
        label="servers' CPUs in the kernel",
        unit="share",
        digits=4,
        source="Time of the CPUs that the servers may use in the kernel for processes (%sys of /proc/stat) in the"
        " window / all of their time.",
        pitfalls="Of whatever ran there, injectors and databases included where they share those CPUs. By the timer's"
        " tick on most kernels: a sample.",
        compute=of_trial("kernel_share"),
        better="neither",
    ),
    Metric(
        name="server_cpus_soft",
        label="servers' CPUs in soft interrupts",
        unit="share",
        digits=4,
        source="Time of the CPUs that the servers may use in soft interrupts (%soft of /proc/stat) in the window / all"
        " of their time.",
        pitfalls="A kernel that does not account for interrupts apart tells ticks that it found there.",
        compute=of_trial("softirq_share"),
        better="neither",
    ),
)

RULES = (
    Rule(
        name="forwarder",
        limit=0.0,
        unit="programs",
        says="no program that forwards the network of containers (pasta, slirp4netns, docker-proxy, rootlesskit) took"
        " more than 80 % of a CPU",
        judge=judge_none(
            "saturated_forwarders",
            "No program that forwards the network of containers took most of a CPU",
            "What was measured may be the program that forwards the network of containers",
        ),
        source="such a program has one thread for most of its work; its CPU is `other-cpu`, as that of what is not the"
        " trial's",
        voids=False,
        unless=needs(lambda spec: not spec.remote, "The servers run on other machines."),
    ),
)
