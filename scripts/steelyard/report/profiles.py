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
from steelyard.results.profile import INTERVALS, TITLES, UNITS
from steelyard.results.schema import Session
from steelyard.results.store import write_atomic

SLOWED = 0.10
"""By how much a profiler may slow its trial before the report says so."""


def write_flames(folder: Path, session: Session, profiles: Sequence[SampledProfile]) -> None:
    """Write the page of each profile (raises NoSpace)."""
    first = next(arm.name for arm in session.arms if arm.baseline)
    for profile in profiles:
        baseline = _baseline_of(first, profile, profiles)
        compared = (arm_label(session, first), baseline.data) if baseline is not None else None
        label = arm_label(session, profile.record.arm)
        title = printable(session.experiment.title)
        page = flame_page(label, profile.data, compared, title, len(profile.starts))
        write_atomic(folder / profile.path, page)


def _baseline_of(
    first: str, profile: SampledProfile, profiles: Sequence[SampledProfile]
) -> SampledProfile | None:
    """What a profile is compared with: the baseline's of the same event; None where it is that itself."""
    wanted = (first, profile.record.event)
    same = (other for other in profiles if (other.record.arm, other.record.event) == wanted)
    baseline = next(same, None)
    return baseline if baseline is not profile else None


def profile_tables(view: View) -> list[Table]:
    """Of each arm and event what changed most against the baseline."""
    tables = []
    for profile in view.sampled:
        baseline = _baseline_of(view.baseline, profile, view.sampled)
        if baseline is not None:
            tables.append(_changes(view, profile, baseline))
    return tables


def _changes(view: View, profile: SampledProfile, baseline: SampledProfile) -> Table:
    event = profile.record.event
    scale, unit = SCALE[UNITS[event]]
    label, base = view.arm_label(profile.record.arm), view.arm_label(view.baseline)
    rows = [_row(change, scale) for change in changes(baseline.data, profile.data)]
    explanation = (
        f"Own cost of a method, with what it calls outside of Java, in {unit} per 1,000 requests; interval by the"
        f" bootstrap over slices of {profile.record.slice_seconds:g} s ({percent(LEVEL, 0)}): how sure these two"
        " profiles are, not how starts differ."
    )
    notes = [
        explanation,
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


def _row(change: Change, scale: float) -> list[TableCell]:
    low, high = change.low * scale, change.high * scale
    moved = TableCell(
        f"{change.difference * scale:+.3g}",
        (f"{low:+.3g} to {high:+.3g}",),
        bold=0 if low > 0 or high < 0 else None,
    )
    package, _, name = change.method.rpartition("/")
    method = TableCell(name, (package,) if package else ())
    return cells(method, change.area, f"{change.baseline * scale:.3g}", f"{change.arm * scale:.3g}", moved)


def _rests_on(view: View, profile: SampledProfile) -> str:
    """How much a profile rests on, and what it cost."""
    record, data = profile.record, profile.data
    total = sum(cost for stacks in data.slices for cost in stacks.values())
    samples = (
        f"about {count(round(total / INTERVALS[record.event]), 'sample')} in "
        if record.event != "lock"
        else ""
    )
    slices = f"{count(len(data.slices), 'slice')} of {count(len(profile.starts), 'start')}"
    text = f"{view.arm_label(record.arm)}: {samples}{slices}"
    by_area = cost_by_area(data)
    total_cost = sum(by_area.values()) or 1.0
    by_size = sorted(by_area.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{area} {percent(cost / total_cost, 0)}" for area, cost in by_size)
    text += f"; {shares}"
    seen = [each.throughput_change for each in profile.records if each.throughput_change is not None]
    if not seen:
        return f"{text}. What the profiler cost is not known: no valid trial of this arm has a throughput."
    slowed = " (the profiler slowed it: mind that when you read it)" if min(seen) < -SLOWED else ""
    change = percent(min(seen), sign=True)
    return f"{text}. Lowest throughput while it was profiled: {change} against the mean of the arm{slowed}."
