# SPDX-License-Identifier: Apache-2.0
"""Two sessions as tables: effects side by side, and throughput for what a host has and costs."""

from collections.abc import Sequence

from steelyard.analysis.across import Effect, IntervalEstimate, Side, effects, yields
from steelyard.analysis.estimates import arm_label
from steelyard.analysis.findings import INCONCLUSIVE, is_inconclusive
from steelyard.analysis.wording import beyond_noise, rests_on
from steelyard.measure.requests import THROUGHPUT
from steelyard.report.table import Column, Table, TableCell, cells, numbers, words
from steelyard.results import figures
from steelyard.results.analysis import Estimate
from steelyard.results.schema import Session

_TWO_HOSTS = (
    "Two hosts differ in everything: figures stand side by side, and none of them says why it is as it is."
)
_ONE_HOST = (
    "Both sessions are of one host. Between two sessions the host drifts, which is in no interval here: compare the"
    " changes of the arms, not requests per second, and run what is to be compared in one session."
)
_PER = {
    THROUGHPUT: "req/s",
    "core": "per core",
    "GiB": "per GiB",
    "price": "per unit of price",
    "watt": "per watt",
}


def host_name(session: Session) -> str:
    """A host in a few words: its name, processor, architecture, cores and threads."""
    host = session.host
    threads = f"{figures.count(host.cores, 'core')}, {figures.count(host.cpus, 'hardware thread')}"
    return f"{host.hostname}: {host.cpu_model} ({host.architecture}), {threads}"


def are_of_one_host(first: Side, second: Side) -> bool:
    """Whether two sessions ran on the same host, as far as its name and its hardware tell."""
    return bool(first.session.host.hostname) and host_name(first.session) == host_name(second.session)


def no_cause(first: Side, second: Side) -> str:
    """What two sessions side by side do not show."""
    return _ONE_HOST if are_of_one_host(first, second) else _TWO_HOSTS


def side_by_side(first: Side, second: Side) -> list[Table]:
    """The tables of two sessions that may be compared."""
    compared = [_effects(first, second, effects(first, second))]
    per_side = yields(first), yields(second)
    if all(per_side):
        compared.append(_yields((first, second), per_side))
    return compared


def _effects(first: Side, second: Side, effects_found: Sequence[Effect]) -> Table:
    noun, there = ("session", "then") if are_of_one_host(first, second) else ("host", "there")
    columns = [*words("metric", "arm"), *numbers(f"first {noun}", f"second {noun}", "second / first")]
    rows = [
        cells(
            next((i.label for i in first.analysis.metrics if i.name == effect.metric), effect.metric),
            arm_label(first.session, effect.arm),
            _effect_cell(effect.first),
            _effect_cell(effect.second),
            _ratio_cell(effect.apart),
        )
        for effect in effects_found
    ]
    notes = [
        (
            "Changes against the baseline of the same session, with 95 % CI over its blocks. second / first: how"
            f" many times the second {noun}'s ratio is the first one's, with Welch's 95 % CI. It says how"
            f" far the effect of an arm differs {there}, not why."
        ),
        (
            "In bold, in every column: the interval leaves out no change (0 %, or 1 times). Intervals are simultaneous"
            " over the comparisons of the primary metric, and over those of the reported ones (Bonferroni)."
        ),
    ]
    left = [arm for side in (first, second) for arm in side.analysis.arms]
    if alone := [arm for arm in dict.fromkeys(left) if left.count(arm) == 1]:
        notes.append(f"In one of the sessions only, and left out: {', '.join(alone)}.")
    if unknown := _unknown_builds(first, second):
        notes.append(
            f"The build of {', '.join(unknown)} is unknown, and so is whether both sessions ran the same one."
        )
    return Table("Effects side by side", columns, rows, 2, notes)


def _unknown_builds(*sides: Side) -> list[str]:
    """Servers that are compared by no build and no image: two unknown builds need not be one."""
    servers = [server for side in sides for arm in side.session.arms for server in arm.spec.servers]
    return sorted(
        {server.kind for server in servers if server.artifact.build is None and server.artifact.image is None}
    )


def _effect_cell(estimate: Estimate | None) -> TableCell:
    if estimate is None or estimate.ratio is None:
        return TableCell(figures.DASH, ("no comparison",))
    if is_inconclusive(estimate):
        return TableCell(figures.effect(estimate), (INCONCLUSIVE,))
    notes = (figures.bounds(estimate) or "no interval", rests_on(estimate))
    return TableCell(figures.effect(estimate), notes, 0 if beyond_noise(estimate) else None)


def _ratio_cell(ratio: IntervalEstimate | None) -> TableCell:
    if ratio is None:
        return TableCell(figures.DASH, ("no comparison",))
    text, interval = figures.factors(ratio.value, ratio.low, ratio.high)
    if ratio.low is None or ratio.high is None:
        return TableCell(text, ("no spread seen",))
    return TableCell(text, (interval,), None if ratio.low <= 1 <= ratio.high else 0)


def _yields(sides: tuple[Side, Side], per_side: tuple[dict[str, dict[str, IntervalEstimate]], ...]) -> Table:
    shown = [name for name in _PER if any(name in per for side in per_side for per in side.values())]
    noun = "session" if are_of_one_host(*sides) else "host"
    columns = [*words("arm", noun), *(Column(_PER[name]) for name in shown)]
    rows = []
    for arm in per_side[0]:
        for which, side, own in zip(("first", "second"), sides, per_side, strict=True):
            if arm in own:
                row = [_interval_cell(own[arm].get(name)) for name in shown]
                rows.append(cells(arm_label(side.session, arm), which, *row))
    notes = [
        "Throughput in requests per second: geometric means over valid trials, with 95 % CI over trials of that"
        " one session. Per core: "
        + " and ".join(map(_cores, sides))
        + ". Per GiB: of the servers' resident memory."
    ]
    given = {name for side in sides for name in side.given} - {"cores"}
    if given:
        notes.append(f"As given by the user, and not measured: {', '.join(sorted(given))}.")
    return Table("Throughput for what a host has", columns, rows, 2, notes)


def _cores(side: Side) -> str:
    if "cores" in side.given:
        return f"{side.given['cores']:g} cores as given by the user"
    counts = sorted({arm.spec.server_cores for arm in side.session.arms})
    return f"{' or '.join(map(str, counts))} cores that the servers had"


def _interval_cell(interval: IntervalEstimate | None) -> TableCell:
    if interval is None:
        return TableCell(figures.DASH)
    bounds = (
        f"{figures.short(interval.low)} to {figures.short(interval.high)}"
        if interval.low is not None
        else "no interval"
    )
    return TableCell(figures.short(interval.value), (bounds,))
