# SPDX-License-Identifier: Apache-2.0
"""The sampled profiles of a session: a flame graph for each arm, and a table of what changed most against the baseline.

Flame graphs lie beside the slices that they are made of, the tables are part of the report.
"""

from collections.abc import Sequence
from pathlib import Path

from steelyard.analysis.culprits import LEAST_STARTS, culprits
from steelyard.analysis.culprits import LEVEL as ERROR_RATE
from steelyard.analysis.estimates import arm_label
from steelyard.analysis.profiles import LEVEL, Change, changes, cost_by_area
from steelyard.escape import printable
from steelyard.report.flame import SCALE, flame_page
from steelyard.report.sampled import SampledProfile
from steelyard.report.table import Column, Table, TableCell, cells
from steelyard.report.view import View
from steelyard.results.figures import count, percent
from steelyard.results.profile import INTERVALS, TITLES, UNITS, Profile
from steelyard.results.schema import Session
from steelyard.results.store import write_atomic

SLOWED = 0.10
"""By how much a profiler may change its trial's throughput or CPU before the report says so."""
_PER = {"requests": "per 1,000 requests", "start": "per start"}


def write_flames(folder: Path, session: Session, profiles: Sequence[SampledProfile]) -> None:
    """Write the page of each profile (raises NoSpace)."""
    first = next(arm.name for arm in session.arms if arm.baseline)
    for profile in (profile for profile in profiles if profile.starts):
        baseline = _baseline_of(first, profile, profiles)
        compared = (arm_label(session, first), baseline.data) if baseline is not None else None
        label = arm_label(session, profile.record.arm)
        title = printable(session.experiment.title)
        per = _PER[profile.record.per]
        page = flame_page(label, profile.data, compared, title, len(profile.starts), per)
        write_atomic(folder / profile.path, page)


def _baseline_of(
    first: str, profile: SampledProfile, profiles: Sequence[SampledProfile]
) -> SampledProfile | None:
    """What a profile is compared with: the baseline's of the same event; None where it is that itself."""
    wanted = (first, profile.record.event)
    same = (other for other in profiles if other.starts and (other.record.arm, other.record.event) == wanted)
    baseline = next(same, None)
    return baseline if baseline is not profile else None


def profile_tables(view: View) -> list[Table]:
    """Of each arm and event what changed most against the baseline."""
    tables = []
    for profile in view.sampled:
        baseline = _baseline_of(view.baseline, profile, view.sampled)
        if baseline is not None and profile.starts:
            tables.append(_changes(view, profile, baseline))
    return tables


def omission_notes(view: View) -> list[str]:
    """A sentence for each profile of which starts are left out."""
    return [
        f"{TITLES[profile.record.event]} of {view.arm_label(profile.record.arm)}:"
        f" {count(len(profile.omitted), 'profiled start')} without slices of every server, left out."
        for profile in view.sampled
        if profile.omitted
    ]


def _changes(view: View, profile: SampledProfile, baseline: SampledProfile) -> Table:
    event = profile.record.event
    scale, unit = SCALE[UNITS[event]]
    label, base = view.arm_label(profile.record.arm), view.arm_label(view.baseline)
    per_start = profile.record.per == "start"
    fewest = min(len(baseline.data.slices), len(profile.data.slices))
    has_interval = not per_start or fewest >= LEAST_STARTS
    rows = [_row(change, scale, has_interval) for change in changes(baseline.data, profile.data)]
    over = "starts" if per_start else f"slices of {profile.record.slice_seconds:g} s"
    surety = "" if per_start else ": how sure these two profiles are, not how starts differ"
    interval = f"interval by the bootstrap over {over} ({percent(LEVEL, 0)}){surety}"
    if not has_interval:
        interval = f"no interval, for which it takes {LEAST_STARTS} starts of each arm (--profile-starts)"
    own = f"Own cost of a method, with what it calls outside of Java, in {unit} {_PER[profile.record.per]}"
    notes = [
        f"{own}; {interval}.",
        _methods_over_starts(profile, baseline, scale, unit),
        *(_rests_on(view, each) for each in (baseline, profile)),
    ]
    columns = [
        Column("method", figure=False),
        Column("whose", figure=False),
        Column(base, unit),
        Column(label, unit),
    ]
    return Table(
        f"{TITLES[event]}: {label} against {base}", [*columns, Column("change", unit)], rows, notes=notes
    )


def _methods_over_starts(profile: SampledProfile, baseline: SampledProfile, scale: float, unit: str) -> str:
    """Which methods a test over starts names."""
    if not (_total(profile) or _total(baseline)):
        return "Nothing was sampled in either arm: there is nothing to compare."
    both = len(baseline.starts), len(profile.starts)
    starts = f"{both[0]} and {count(both[1], 'start')}"
    if min(both) < LEAST_STARTS:
        return (
            f"Which methods differ on average over starts is not known: {starts} of the two arms were profiled, and it"
            f" takes {LEAST_STARTS} of each (--profile-starts)."
        )
    named = [
        f"{culprit.method.rpartition('/')[2]} ({culprit.baseline * scale:.3g} to {culprit.arm * scale:.3g} {unit})"
        for culprit in culprits(baseline.starts, profile.starts)
    ]
    error = f"{starts}; {percent(ERROR_RATE, 0)} chance that equal arms have any method named"
    return f"Different on average over starts ({error}): {', '.join(named) or 'none'}."


def _row(change: Change, scale: float, has_interval: bool) -> list[TableCell]:
    low, high = change.low * scale, change.high * scale
    moved = TableCell(
        f"{change.difference * scale:+.3g}",
        (f"{low:+.3g} to {high:+.3g}",) if has_interval else (),
        bold=0 if has_interval and (low > 0 or high < 0) else None,
    )
    package, _, name = change.method.rpartition("/")
    method = TableCell(name, (package,) if package else ())
    return cells(method, change.area, f"{change.baseline * scale:.3g}", f"{change.arm * scale:.3g}", moved)


def _rests_on(view: View, profile: SampledProfile) -> str:
    """How much a profile rests on, and what it cost."""
    label = view.arm_label(profile.record.arm)
    return f"{label}: {_samples(profile)}{_shares(profile)}. {_overhead(profile.records)}"


def _total(profile: SampledProfile) -> int:
    return sum(cost for stacks in profile.data.slices for cost in stacks.values())


def _samples(profile: SampledProfile) -> str:
    """How many samples a profile has; of locks the profiler counts how long was waited, and not how often."""
    event, number = profile.record.event, sum(map(_slices_of, profile.records))
    slices = f"{count(number, 'slice')} of {count(len(profile.starts), 'start')}"
    if not (total := _total(profile)):
        return f"nothing was sampled in {slices}"
    if event == "lock":
        return f"{slices}, of which it is known how long threads waited, and not how often"
    return f"about {count(round(total / INTERVALS[event]), 'sample')} in {slices}"


def _slices_of(record: Profile) -> int:
    return min(len(names) for names in record.slices.values())


def _shares(profile: SampledProfile) -> str:
    by_area = cost_by_area(profile.data)
    by_size = sorted(by_area.items(), key=lambda item: -item[1])
    shares = [f"{area} {percent(cost / sum(by_area.values()), 0)}" for area, cost in by_size]
    return f"; {', '.join(shares)}" if shares else ""


def _overhead(records: Sequence[Profile]) -> str:
    """What the profiler cost: under an open load the servers' CPU alone shows it."""
    slowest = min(
        (each.throughput_change for each in records if each.throughput_change is not None), default=None
    )
    dearest = max((each.cpu_change for each in records if each.cpu_change is not None), default=None)
    cpu = "CPU of a start" if records[0].per == "start" else "CPU per request"
    changed = [
        f"{name} {percent(change, sign=True)}"
        for name, change in (("lowest throughput", slowest), (f"highest {cpu}", dearest))
        if change is not None
    ]
    failed = sorted({name for each in records for name in each.failed_checks})
    checks = f" It failed checks that void a trial: {', '.join(failed)}." if failed else ""
    if not changed:
        return (
            "What the profiler cost is not known: no valid trial of this arm has a throughput or its servers' CPU."
            f"{checks}"
        )
    is_slowed = (slowest or 0.0) < -SLOWED or (dearest or 0.0) > SLOWED
    slowed = " (the profiler slowed it: mind that when you read it)" if is_slowed else ""
    text = f"While it was profiled, against the mean of the arm: {', '.join(changed)}{slowed}."
    return f"{text}{checks}"
