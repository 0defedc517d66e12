# SPDX-License-Identifier: Apache-2.0
"""A ramp-up: throughput and CPU second by second from the first second of load on (`curves`)."""

import math
from collections.abc import Iterable

from steelyard.experiment.schema import ProcedureName
from steelyard.measure.cpu import OTHER_ROLES, THREADS
from steelyard.measure.curves import SHARES, lost_requests, steady_level, time_to
from steelyard.measure.formulas import Compute, Metric, combine_known, of_curve
from steelyard.measure.thread_groups import GROUPS
from steelyard.measure.window import Window
from steelyard.results.schema import Trial
from steelyard.results.spec import Role, Spec

RAMP: tuple[ProcedureName, ...] = ("ramp-up",)


def _account(group: str) -> tuple[Role, str]:
    """Whose CPU a curve of a ramp-up is."""
    if group == "compiler":
        return "compiler", OTHER_ROLES["compiler"][0]
    return "server", f"{THREADS[group][0]} of the servers"


def curves(window: Window) -> dict[str, list[float]]:
    """Per-second series of a ramp-up: throughput (requests/s) and the CPU of the servers by thread group (cores)."""
    begin, end = window.start, window.end
    series = {"throughput": [round(rate, 2) for _, rate in window.rates(begin, end)]}
    steps = [(begin + second, begin + second + 1.0) for second in range(int(end - begin))]
    for role, groups in (("server", GROUPS), ("compiler", ("",))):
        names = [component.name for component in window.spec.components if component.role == role]
        for group in groups if names else ():
            cores = [_cores(window, names, group, *step) for step in steps]
            if None not in cores:
                series[f"cpu_{group or role}"] = [round(value, 3) for value in cores if value is not None]
    return series


def _cores(window: Window, names: Iterable[str], group: str, start: float, end: float) -> float | None:
    samples = window.samples
    if not group:
        return combine_known((samples.cpu_seconds(name, start, end) for name in names), sum)
    return combine_known((samples.cpu_by_group(name, start, end).get(group) for name in names), sum)


def _time_to_share(share: int) -> Compute:
    """Seconds until throughput comes up to so many per cent of its own level."""
    return of_curve(lambda curve: (level := steady_level(curve)) and time_to(curve, share / 100 * level))


def _curve_cpu(name: str) -> Compute:
    """CPU seconds of a ramp-up: cores used, second by second."""
    return lambda trial, _spec: math.fsum(trial.curves[name]) if trial.curves.get(name) else None


def _compilation_cpu(trial: Trial, spec: Spec) -> float | None:
    """CPU seconds of a ramp-up that went into compiling: in the servers, and in the compilers that there are."""
    accounts = ("cpu_jit", *(["cpu_compiler"] if spec.of("compiler") else []))
    return combine_known((_curve_cpu(name)(trial, spec) for name in accounts), math.fsum)


_lost = of_curve(lambda curve: (level := steady_level(curve)) and lost_requests(curve, level))

METRICS = (
    Metric(
        name="steady_level",
        label="throughput at the end of the ramp-up",
        unit="req/s",
        source="Median of per-second throughput over the last quarter of the load.",
        pitfalls="Too low where throughput still rises at the end; the notes of the analysis say where it does.",
        compute=of_curve(steady_level),
        better="higher",
        procedures=RAMP,
    ),
    *(
        Metric(
            name=f"time_to_{share}",
            label=f"time to {share} % of its own level",
            unit="s",
            digits=2,
            source=(
                f"Start of the load to the moment at which the running median (5 s) of throughput comes up to {share}"
                f" % of"
                " steady_level."
            ),
            pitfalls="An arm with a low level of its own reaches it sooner; the start of the servers is not in it.",
            compute=_time_to_share(share),
            procedures=RAMP,
        )
        for share in SHARES
    ),
    *(
        Metric(
            name=f"time_to_{share}_of_best",
            label=f"time to {share} % of the best arm's level",
            unit="s",
            digits=2,
            source=f"As time_to_{share}, against the steady_level, in the same block, of the arm whose mean level is"
            f" highest.",
            pitfalls="Reported only if every valid trial of the arm reached that level; otherwise only the fast"
            " trials would count.",
            compute=None,
            procedures=RAMP,
        )
        for share in SHARES
    ),
    Metric(
        name="requests_lost",
        label="requests lost to the ramp-up",
        unit="requests",
        source="steady_level x seconds of load, less the requests that were served.",
        pitfalls="Grows with the level: an arm that ends higher loses more on the same curve. About zero where there"
        " is no ramp.",
        compute=_lost,
        procedures=RAMP,
    ),
    Metric(
        name="requests_lost_to_best",
        label="requests lost against the best arm's level",
        unit="requests",
        source="As requests_lost, against the steady_level, in the same block, of the arm whose mean level is highest.",
        pitfalls="Grows with the length of the load where an arm never comes up to that level.",
        compute=None,
        procedures=RAMP,
    ),
    *(
        Metric(
            name=f"cpu_{group}",
            label=f"ramp-up CPU of the {who}",
            unit="CPU s",
            digits=1,
            source=f"CPU seconds of the {who}, from the first second of the load to its end.",
            pitfalls="A sum over a fixed time, not over a fixed amount of work: read it with steady_level.",
            compute=_curve_cpu(f"cpu_{group}"),
            procedures=RAMP,
            roles=(whose,),
            part_of="cpu_compilation" if group in ("jit", "compiler") else "",
        )
        for group in ("request", "network", "other", "jit", "gc", "compiler")
        for whose, who in [_account(group)]
    ),
    Metric(
        name="cpu_compilation",
        label="ramp-up CPU of the JIT threads of the servers and of the JITServer",
        unit="CPU s",
        digits=1,
        source="cpu_jit and, where there is a JITServer, cpu_compiler.",
        pitfalls="What a JITServer does beside compiling is in it. Only told where some arm has a JITServer:"
        " elsewhere it is cpu_jit.",
        compute=_compilation_cpu,
        procedures=RAMP,
        only_with_compilers=True,
    ),
)
