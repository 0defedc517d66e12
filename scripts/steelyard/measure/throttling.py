# SPDX-License-Identifier: Apache-2.0
"""CPU that a control group's quota took."""

from steelyard.measure.cgroup import of_group
from steelyard.measure.formulas import EVERY, Metric, combine_known, of_components
from steelyard.measure.rule import Rule, judge_figure, needs
from steelyard.measure.window import Window, trial_figure
from steelyard.results.spec import MEASURED_ROLES


@trial_figure("s", undisturbed=0.0)
def throttled_seconds(window: Window) -> float | None:
    """CPU throttling by cgroups that no arm asked for: of the containers of servers and compilers without a quota, else
    of the harness's own group (which is not theirs); by quotas of the groups above as well."""
    if not window.in_containers:
        return window.run.throttled
    held = {component.name for component in window.spec.components if component.cpu_quota is not None}
    free = [component for component in window.measured_components if component.name not in held]
    return combine_known(map(of_group("throttled_seconds"), free), sum)


METRICS = (
    Metric(
        name="throttled_time",
        label="CPU time withheld",
        unit="s",
        digits=2,
        source="Time for which the control group of a server or compiler was held back by its CPU quota, or in a"
        " container by that of a group above it, as the kernel sums it over the CPUs, of the one where that is most, in"
        " the window.",
        pitfalls="Longer in longer windows: compare throttled_share, or arms of one session.",
        compute=of_components(of_group("throttled_seconds"), MEASURED_ROLES, max),
    ),
    Metric(
        name="throttled_share",
        label="throttled periods",
        unit="share",
        digits=5,
        source="Periods in which the control group of a server or compiler used up its CPU quota / periods, of the one"
        " where that is most, in the window.",
        pitfalls="Zero without a quota (a cpuset does not throttle) and so without a ratio; any throttling voids the"
        " trial, but of servers with a quota (`cpus`), and in a cluster, where a limit is how an arm's pods get their"
        " CPUs.",
        compute=of_components(of_group("throttled_share"), MEASURED_ROLES, max),
    ),
)

_PINNED = needs(
    lambda spec: not spec.remote and (spec.engine in ("process", "synthetic") or spec.cpu_quota is None),
    "A CPU limit is what its arm gave it; throttled_share says how often it was held to that.",
)

RULES = (
    Rule(
        name="throttling",
        limit=0.0,
        unit="s",
        says="no CPU throttling that no arm asked for (in a cluster a CPU limit is how an arm's pods get their CPUs)",
        judge=judge_figure(
            "throttled_seconds",
            "the CPU was throttled for {}",
            "{:.2f} s".format,
            "an unknown time",
        ),
        procedures=EVERY,
        unless=_PINNED,
    ),
)
