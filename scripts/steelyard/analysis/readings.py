# SPDX-License-Identifier: Apache-2.0
"""What single metrics read of a trial, where that is more than a formula over one field (pure); all for
`steelyard.analysis.metrics`.
"""

import math

from steelyard.analysis.curves import requests_lost, steady_level, time_to
from steelyard.analysis.formulas import (
    OVERALL,
    Compute,
    Read,
    in_groups,
    measured,
    of_components,
    of_curve,
    over,
    per_second,
    quotient,
    rate,
    sum_of,
    whole,
)
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Trial
from steelyard.results.spec import WEIGHED, Role, Spec
from steelyard.units import MIB


def cpu(c: ComponentResult) -> float | None:
    """CPU seconds, user and system."""
    return c.cpu_seconds


def allocated_mib(c: ComponentResult) -> float | None:
    """What it allocated, MiB."""
    return None if c.allocated is None else c.allocated / MIB


def system_cpu(trial: Trial, spec: Spec) -> float | None:
    """CPU seconds of everything but the injectors, where there is something beside the servers."""
    roles: tuple[Role, ...] = ("database", "service", "proxy")
    return sum_of(cpu, (*WEIGHED, *roles))(trial, spec) if spec.of(*roles) else None


def group_cpu(group: str) -> Read:
    """CPU seconds of a group of threads."""

    def read(c: ComponentResult) -> float | None:
        if not c.cpu_by_group:
            return None
        used = c.cpu_by_group.get(group, 0.0)
        # A server under load has threads that serve requests: no CPU in them means that no rule knows their names.
        return None if group == "request" and used == 0 and c.role == "server" else used

    return read


def longest_pause(trial: Trial, spec: Spec) -> float | None:
    """Milliseconds, of the servers; None where the log of one does not tell, or nothing paused."""
    if sum_of(lambda c: c.gc_count, ("server",))(trial, spec) is None:
        return None
    pauses = [c.gc_pause_max for c in trial.components if c.role == "server" and c.gc_pause_max is not None]
    return max((1000 * seconds for seconds in pauses), default=None)


def weighted_p90(trial: Trial, _spec: Spec) -> float | None:
    """Mean of the operations' 90 % quantiles, weighted by their shares; milliseconds."""
    asked = [one for name, one in trial.latency.items() if name != OVERALL and one.requests]
    sums = whole((None if one.p90 is None else one.requests * one.p90 for one in asked), math.fsum)
    return over(sums, sum(one.requests for one in asked))


def first_answers(trial: Trial, spec: Spec) -> float | None:
    """Seconds until every operation of the mix had been answered; None unless every one was."""
    return whole((trial.first_answers.get(name) for name in spec.mix or trial.first_answers), max)


def time_to_share(share: int) -> Compute:
    """Seconds until throughput comes up to so many per cent of its own level."""
    return of_curve(lambda curve: (level := steady_level(curve)) and time_to(curve, share / 100 * level))


def curve_cpu(name: str) -> Compute:
    """CPU seconds of a ramp-up: cores used, second by second."""
    return lambda trial, _spec: math.fsum(trial.curves[name]) if trial.curves.get(name) else None


def compiling(trial: Trial, spec: Spec) -> float | None:
    """CPU seconds of a ramp-up that went into compiling: in the servers, and in the compilers that there are."""
    accounts = ("cpu_jit", *(["cpu_compiler"] if spec.of("compiler") else []))
    return whole((curve_cpu(name)(trial, spec) for name in accounts), math.fsum)


def compiled(where: str) -> Compute:
    """Methods of the servers that were compiled there: `remote`, `local`."""
    return sum_of(lambda c: c.compiled.get(where), ("server",))


def compiled_remotely(trial: Trial, spec: Spec) -> float | None:
    """Share of the methods of the servers that a JITServer compiled."""
    remote, local = compiled("remote")(trial, spec), compiled("local")(trial, spec)
    return over(remote, whole((remote, local), sum))


def relay_delay(trial: Trial, _spec: Spec) -> float | None:
    """Milliseconds, by the relay's own word."""
    found = (one.told.get('relay_delay_seconds{quantile="0.5"}') for one in trial.components)
    return next((1000 * seconds for seconds in found if seconds is not None), None)


lost = of_curve(lambda curve: (level := steady_level(curve)) and requests_lost(curve, level))
per_core_second = quotient(rate, lambda _trial, spec: spec.server_cores)
per_gib = quotient(rate, measured(lambda m: m.memory_rss and m.memory_rss / 2**30))
pauses_per_second = per_second(sum_of(lambda c: c.gc_pause_seconds, ("server",)))
pause_share = quotient(pauses_per_second, lambda _trial, spec: len(spec.servers))
throttled = of_components(in_groups(lambda g: g.throttled_share), WEIGHED, max)
