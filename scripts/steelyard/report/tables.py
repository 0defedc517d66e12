# SPDX-License-Identifier: Apache-2.0
"""The tables of figures, each made of a view."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from steelyard.analysis.best import LOST
from steelyard.analysis.estimates import LEAST_SWITCHES, few_switches
from steelyard.analysis.owners import NONE, parts_of
from steelyard.analysis.search import value_text
from steelyard.analysis.sentences import SURVIVED
from steelyard.analysis.wording import beyond_noise
from steelyard.measure.chance import exact_interval
from steelyard.measure.curves import SHARES
from steelyard.measure.registry import PARTS
from steelyard.report.table import Column, Table, TableCell, cells, figure_cell, numbers, words
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.analysis import Estimate, MetricInfo, Summary
from steelyard.results.measurement import Latency
from steelyard.results.spec import Spec
from steelyard.spec.search import Varied
from steelyard.units import format_size

CPU_GROUPS = {"request": "request", "jit": "JIT", "gc": "GC", "network": "network", "other": "other"}
"""Thread groups (names as in results.measurement) with their labels, in the order in which they are stacked."""
QUANTILES = ("p50", "p90", "p99", "max")
UNSERVED = ("unanswered", "abandoned", "late")
"""Of `OperationCounts`: what a table shows only where there is some."""
BOLD = "A change is in bold where it is beyond noise: where its interval leaves out 0."
"""The one rule of bold, in every table."""


def main(view: View) -> Table:
    """The table that answers the question: what the searches found, or the arms against the baseline."""
    tables = searches(view)
    return tables[0] if tables else headline(view)


def headline(view: View) -> Table:
    """One row per arm: levels, split of cores and heap, and the headline metrics against the baseline."""
    columns = [Column(view.factor_label(name), figure=view.numeric(name)) for name in view.factors]
    columns = columns or words("arm")
    heads = len(columns)
    rows = [cells(*([view.level(arm, name) for name in view.factors] or [arm.name])) for arm in view.arms]
    constant = view.constant(leave_out=[factor for _, factor, _ in SPLIT])
    for label, factor, text in SPLIT:
        shown = [text(spec) for spec in view.specs.values()]
        if factor in view.factors or not any(cell.text for cell in shown):
            continue
        if len({cell.text for cell in shown}) == 1:
            constant.append(f"{label} {shown[0].text}")
            continue
        columns.append(Column(label))
        for row, own in zip(rows, shown, strict=True):
            row.append(own if own.text else TableCell(figures.DASH))
    columns += [Column(metric.label, figures.unit(metric)) for metric in view.headline]
    for arm, row in zip(view.arms, rows, strict=True):
        if arm.name == view.baseline:
            row[0] = TableCell(row[0].text, ("baseline",))
        row += [_against_baseline(view, metric, arm.name) for metric in view.headline]
    notes = [f"In every arm: {', '.join(constant)}."] if constant else []
    notes.append(
        "Means over valid trials; below each, the change against the baseline arm with its 95 % confidence interval"
        f" (paired by block). {BOLD}"
    )
    if (last := view.verdict.last if view.verdict is not None else None) and (bounds := figures.bounds(last)):
        notes.append(
            f"The verdict rests on the interval of its interim analysis ({bounds}), not on that of this table."
        )
    notes += _families(view)
    notes += _switches(view)
    if view.analysis.blocks_complete < view.analysis.blocks_planned:
        notes.append("Arms that lack blocks have means over other blocks: compare the changes.")
    elif (
        len({tuple(summary.rounds) for summary in view.analysis.summaries[view.analysis.primary].values()})
        > 1
    ):
        notes.append(
            "Where a comparison was repeated, an arm's mean includes its valid trials of all rounds; its change is of"
            " the last round in which both arms are valid."
        )
    return Table("Arms against the baseline", columns, rows, heads, notes)


def _families(view: View) -> list[str]:
    """That intervals are simultaneous, where a family has several comparisons."""
    primary = view.analysis.primary
    reported = [name for name in view.experiment.metrics.report if name != primary]
    several = []
    for family, names in (("the primary metric", [primary]), ("the reported metrics", reported)):
        estimates = (e for name in names for e in view.analysis.estimates.get(name, {}).values())
        if (count := max((estimate.comparisons for estimate in estimates), default=1)) > 1:
            several.append(f"the {count} comparisons of {family}")
    if not several:
        return []
    note = (
        f"Intervals are simultaneous over {' and over '.join(several)}: with 95 % confidence all intervals of such a"
        " family hold their true changes together (each is at 100 % \N{MINUS SIGN} 5 %/comparisons, Bonferroni)."
    )
    return [note]


def _switches(view: View) -> list[str]:
    """How many switches of the host the comparisons rest on, where host states are varied."""
    estimates = {arm.name: view.estimate(view.analysis.primary, arm.name) for arm in view.arms}
    counts = {name: e.switches for name, e in estimates.items() if e is not None and e.switches is not None}
    if not counts:
        return []
    counted = ", ".join(f"{view.arm_short(name)}: {count}" for name, count in counts.items())
    note = (
        f"Switches of the host to each state that the comparison with the baseline rests on: {counted}. The host is"
        " switched again for every block, so that trials under one switch count once; below"
        f" {LEAST_SWITCHES} there is no interval."
    )
    return [note]


def _cores_per_jvm(spec: Spec) -> TableCell:
    return TableCell(" / ".join(dict.fromkeys(f"{server.cores:.3g}" for server in spec.servers)))


def _heap_per_jvm(spec: Spec) -> TableCell:
    heaps = dict.fromkeys(server.heap_bytes for server in spec.servers if server.heap_bytes is not None)
    return TableCell(" / ".join(map(format_size, heaps)), number=next(iter(heaps), None))


SPLIT: list[tuple[str, str, Callable[[Spec], TableCell]]] = [
    ("JVMs", "jvms", lambda spec: TableCell(f"{len(spec.servers)}")),
    ("cores per JVM", "cores", _cores_per_jvm),
    ("max heap per JVM", "heap", _heap_per_jvm),
]
"""Label, factor of that name, and text: columns for what differs between arms, words for what does not."""


def _against_baseline(view: View, metric: MetricInfo, arm: str) -> TableCell:
    summary = view.summary(metric.name, arm)
    if summary is None and view.has_none(metric.name, arm):
        return TableCell(NONE)
    if summary is None:
        return TableCell(figures.DASH, (view.why_no_mean(metric.name, arm),))
    text = figures.value(metric, summary.mean)
    parts = tuple(parts_of(view.analysis, metric, arm, figures.value))
    if arm == view.baseline:
        return TableCell(text, parts)
    estimate = view.estimate(metric.name, arm)
    if estimate is None or estimate.ratio is None:
        return TableCell(text, (_why_not_compared(view, metric, arm), *parts))
    bounds = figures.bounds(estimate) or ("no interval" if few_switches(estimate) else "no spread seen")
    return TableCell(text, (figures.effect(estimate), bounds, *parts), 1 if beyond_noise(estimate) else None)


def _why_not_compared(view: View, metric: MetricInfo, arm: str) -> str:
    if view.has_none(metric.name, view.baseline) and not view.has_none(metric.name, arm):
        return "the baseline has none"
    return "no comparison"


def by_role(view: View) -> Table | None:
    """Memory and CPU of servers, of JITServers and of both together; None where no arm has a JITServer.

    What an arm does not have adds nothing: arms are compared by the sums.
    """
    if not any(spec.of("compiler") for spec in view.specs.values()):
        return None
    rows = []
    for metric in view.known_metrics(*PARTS):
        rows.append([TableCell(metric.label, (figures.unit(metric),))])
        for arm in view.arms:
            summary, estimate = view.summary(metric.name, arm.name), view.estimate(metric.name, arm.name)
            mine = [_part(view, metric, part, arm.name) for part in PARTS[metric.name].values()]
            total = figures.value(metric, summary.mean) if summary else figures.DASH
            label = _estimate_label(view, arm.name)
            rows.append(cells(label, *mine, total, *_change(estimate)))
    columns = [
        *words(view.arm_heading),
        *numbers("servers", "JITServer", "sum", "change of the sum", "95 % CI"),
    ]
    note = f"Means over valid trials. A component that an arm does not have ({NONE}) adds nothing to its sum. {BOLD}"
    return Table("Memory and CPU of servers and JITServer", columns, rows, 1, [note]) if rows else None


def _part(view: View, metric: MetricInfo, part: str, arm: str) -> str:
    if view.has_none(part, arm):
        return NONE
    summary = view.summary(part, arm)
    return figures.value(metric, summary.mean) if summary else figures.DASH


def detectable(view: View) -> Table:
    """The smallest effect that the session could detect, per arm, for the metrics that have charts."""
    others = [arm for arm in view.arms if arm.name != view.baseline]
    columns = [*words("metric"), *numbers(*(view.arm_label(arm.name) for arm in others))]
    rows = []
    for metric in view.charted_metrics:
        estimates = [view.estimate(metric.name, arm.name) for arm in others]
        if any(e is not None and e.detectable is not None for e in estimates):
            rows.append(cells(metric.label, *map(_detectable, estimates)))
    note = (
        "The smallest change against the baseline that such a session detects with 80 % power, at the level of the"
        " intervals. Upper figure: by the upper 95 % bound of the spread between blocks; lower figure: by the spread"
        " that was measured. Over 100 %: only a doubling (or a halving) or more can be detected. It says what may have"
        " been missed; an effect that was detected stands by its interval."
    )
    return Table("Smallest detectable effect", columns, rows, 1, [note])


def _detectable(e: Estimate | None) -> TableCell:
    if e is None or e.detectable is None:
        return TableCell(figures.DASH)
    return figure_cell(figures.span(e.detectable, e.detectable_high), 100 * e.detectable)


def estimates(view: View) -> Table:
    """Everything that was estimated: metric by metric, one row per arm."""
    columns = [*words(view.arm_heading), *numbers("n", "mean", "min", "max", "sd", "cv", "change")]
    columns += numbers("95 % CI", "p", "p (adjusted)", "cannot rule out", "detectable")
    rows = []
    for metric in view.measured_metrics:
        rows.append([TableCell(metric.label, (figures.unit(metric),))])
        for arm in view.arms:
            summary = view.summary(metric.name, arm.name)
            if summary is not None:
                rows.append(_estimate_row(view, metric, arm.name, summary))
            elif view.has_none(metric.name, arm.name):
                rest = [figures.DASH] * (len(columns) - 3)
                rows.append(cells(_estimate_label(view, arm.name), figures.DASH, NONE, *rest))
    note = (
        "n: valid trials. sd and cv: standard deviation and coefficient of variation between trials. change: ratio"
        " to the baseline, mean of the logarithms over blocks in which both arms are valid. 95 % CI: simultaneous over"
        " the comparisons of the primary metric, of the reported ones, and of all the others (Bonferroni). p: of the"
        " comparison alone; p (adjusted): that times the comparisons, below 0.05 just where the interval leaves out 0."
        " cannot rule out: the largest change, either way, inside the interval. detectable: the smallest change that"
        " such a session detects with 80 % power, by the spread that was measured and by its upper 95 % bound; over"
        f" 100 %: only a doubling or more. {BOLD}"
    )
    return Table("All estimates", columns, rows, 1, [note])


def _estimate_label(view: View, arm: str) -> str:
    return view.arm_short(arm) + (" (baseline)" if arm == view.baseline else "")


def _estimate_row(view: View, metric: MetricInfo, arm: str, summary: Summary) -> list[TableCell]:
    e = view.estimate(metric.name, arm)
    label = _estimate_label(view, arm)
    spread = (summary.mean, summary.min, summary.max, summary.sd)
    chances = (e.p, e.p_adjusted) if e else (None, None)
    shown = [label, str(summary.n), *(figures.value(metric, x) for x in spread), figures.percent(summary.cv)]
    judged = [figure_cell(figures.probability(p), p) for p in chances]
    limit = e.cannot_rule_out if e else None
    judged.append(figure_cell(figures.limit(limit), _points(limit, 0)))
    return cells(*shown, *_change(e), *judged, _detectable(e))


def _change(e: Estimate | None) -> tuple[TableCell, TableCell]:
    """A change and its interval."""
    bold = 0 if e is not None and beyond_noise(e) else None
    bounds = figure_cell(figures.bounds(e) or figures.DASH, _points(e.low if e else None))
    return figure_cell(figures.effect(e), _points(e.ratio if e else None), bold), bounds


def _points(share: float | None, less: float = 1) -> float | None:
    """A ratio (a share: less 0) in the % of its text."""
    return None if share is None else 100 * (share - less)


def latency(view: View, operation: str) -> Table:
    """Latency of one operation in each arm: the mean over trials of each trial's own quantile."""
    names = ("mean", *QUANTILES)
    lost = [key for key in UNSERVED if any(view.count(arm.name, operation, key) for arm in view.arms)]
    columns = [
        *words(view.arm_heading),
        *numbers("requests", "errors", *lost),
        *(Column(n, "ms") for n in names),
    ]
    rows = []
    for arm in view.arms:
        items = view.latencies(arm.name, operation)
        sums = [sum(x.requests for x in items), sum(x.errors for x in items)] if items else [None, None]
        counts = [view.count(arm.name, operation, key) for key in lost]
        shown = [figures.short(latency_figure(items, name)) for name in names]
        rows.append(cells(view.arm_short(arm.name), *map(figures.number, [*sums, *counts]), *shown))
    note = (
        "Each quantile is taken within a trial and averaged over the arm's valid trials; max is the longest of all"
        " trials. p99 needs 1,000 requests in a trial."
    )
    if lost:
        note += f" Requests and errors are those of the measurement, {' and '.join(lost)} of the whole run."
    return Table(f"Latency of {operation}", columns, rows, 1, [note])


def latency_figure(items: Iterable[Latency], name: str) -> float | None:
    """A latency figure of an arm: mean over its trials, or the longest for `max`; None without any."""
    values = [value for value in (getattr(item, name) for item in items) if value is not None]
    if not values:
        return None
    return float(max(values) if name == "max" else sum(values) / len(values))


def cpu_by_group(view: View) -> Table | None:
    """CPU per 1,000 requests by thread group; None when it was not measured."""
    metrics = {f"cpu_per_1k_{group}": label for group, label in CPU_GROUPS.items()} | {"cpu_per_1k": "all"}
    note = "CPU seconds per 1,000 requests, mean over valid trials."
    return _means(view, f"CPU per 1,000 requests of {view.whose} by thread group", metrics, note)


def gc(view: View) -> Table | None:
    """Garbage collection; None when it was not measured."""
    metrics = dict.fromkeys(("gc_per_second", "gc_pause_share", "gc_pause_max"), "")
    note = "Mean over valid trials, largest trial in brackets."
    return _means(view, "Garbage collection", metrics, note, largest=True)


def startup(view: View) -> Table | None:
    """Start-up; None when it was not measured."""
    metrics = {
        "start_time": "first response",
        "container_start_time": "the same from the making of the container",
    }
    metrics |= {"ready_message_time": "ready message"}
    metrics |= {"first_answers_time": "every operation", "start_cpu": f"CPU of {view.whose}"}
    metrics |= {"start_rss": f"memory (RSS) of {view.whose}"}
    note = (
        "From the start of the process, slowest JVM of each trial; CPU and memory when each server had answered for the"
        " first time. Mean over valid trials, largest trial in brackets. JVMs of a trial start together and share the"
        " CPUs."
    )
    return _means(view, "Start-up", metrics, note, largest=True)


def ramp_up(view: View) -> list[Table]:
    """How fast the arms come to their own level, and to the best arm's; nothing for other procedures."""
    own, best = (
        {f"time_to_{share}{level}": f"time to {share} %" for share in SHARES} for level in ("", "_of_best")
    )
    own_note = (
        "Level: median throughput of the last quarter of the load. Time: until the running median (5 s) of throughput"
        " first comes up to that share of it. Lost: requests that a server at that level from the first second on"
        " would have served, less those that were served. Means over valid trials."
    )
    best_note = (
        "The best arm has the highest level; its level in the same block counts. Where some trials of an arm did not"
        " come up to a share while the load ran, how many did stands before the mean of those: not a mean of the arm."
    )
    own = {"steady_level": "own level", **own, "requests_lost": "requests lost"}
    best = {**best, LOST: "requests lost"}
    tables = [
        _means(view, "Against its own level", own, own_note),
        _means(view, "Against the best arm's level", best, best_note),
    ]
    return [table for table in tables if table is not None]


def survival(view: View) -> Table | None:
    """How many trials lived to the end of their load; None for other procedures."""
    if not view.known_metrics(SURVIVED):
        return None
    columns = [*words(view.arm_heading), *numbers("lived", "of trials", "share", "95 % CI")]
    rows = []
    for arm in view.arms:
        summary = view.summary(SURVIVED, arm.name)
        if summary is None:
            continue
        lived = round(summary.mean * summary.n)
        low, high = exact_interval(lived, summary.n)
        bounds = f"{figures.percent(low, 0).removesuffix(' %')} to {figures.percent(high, 0)}"
        share = figures.percent(summary.mean, 0)
        rows.append(cells(view.arm_short(arm.name), lived, summary.n, share, bounds))
    note = "Exact interval of the share of all such trials that would live (Clopper and Pearson)."
    return Table("Trials that lived to the end", columns, rows, 1, [note])


def searches(view: View) -> list[Table]:
    """What the searches found, and how each of them ended; nothing for a session that does not search."""
    if not view.analysis.searches:
        return []
    columns = [*words(view.arm_heading), *numbers("found", "95 % CI", "against the baseline")]
    columns += numbers("searches", "trials")
    rows, runs = [], []
    for result in view.analysis.searches:
        shown = partial(_value_cell, result.varies)
        against, ratio = result.against, TableCell(figures.DASH)
        if against is not None:
            spread = figures.interval(against.low, against.high) if against.low and against.high else ""
            bold = 0 if against.beyond_noise else None
            ratio = figure_cell(figures.change(against.ratio), _points(against.ratio), bold, (spread,))
        within = (
            f"{shown(result.low).text} to {shown(result.high).text}"
            if result.high is not None
            else figures.DASH
        )
        arm = TableCell(view.arm_short(result.arm), ("baseline",) if result.arm == view.baseline else ())
        stated, trials = f"{result.n} of {len(result.runs)}", sum(len(run.steps) for run in result.runs)
        rows.append(cells(arm, shown(result.value), within, ratio, stated, trials))
        for run in result.runs:
            edges = [shown(run.passed), shown(run.failed), shown(run.value)]
            runs.append(cells(arm.text, run.block, *edges, len(run.steps), run.end, run.why))
    note = (
        "Interval over blocks (Student's t), widened by the brackets; of changes simultaneous over the arms"
        f" (Bonferroni). Searches: those that stated a value. {BOLD}"
    )
    edges_of = ("last that passed", "first that failed")
    if view.holds_share:
        edges_of = ("largest below the share", "smallest above it")
    names = numbers("block", *edges_of, "stated", "trials")
    ended = [*words(view.arm_heading), *names, *words("ended", "how")]
    return [
        Table("What the searches found", columns, rows, 1, [note]),
        Table("How each search ended", ended, runs, 2),
    ]


def _value_cell(varies: Varied, value: float | None) -> TableCell:
    return TableCell(figures.DASH if value is None else value_text(varies, value), number=value)


def _means(
    view: View, caption: str, metrics: Mapping[str, str], note: str, largest: bool = False
) -> Table | None:
    """Means of the arms; the metrics by name, with their labels ("": the metric's own); None without any of them."""
    known = view.known_metrics(*metrics)
    if not known:
        return None
    columns = words(view.arm_heading)
    columns += [Column(metrics[m.name] or m.label, figures.unit(m)) for m in known]
    rows = [
        cells(view.arm_short(arm.name), *(_mean(view, metric, arm.name, largest) for metric in known))
        for arm in view.arms
    ]
    return Table(caption, columns, rows, 1, [note])


def _mean(view: View, metric: MetricInfo, arm: str, largest: bool) -> TableCell:
    """The mean of an arm; of a figure that only some trials have, how many and their mean."""
    if view.has_none(metric.name, arm):
        return TableCell(NONE)
    if (partly := view.partly(metric.name, arm)) is not None:
        count, summary = partly
        return TableCell(f"{count}: {figures.value(metric, summary.mean)}", number=summary.mean)
    summary_of_all = view.summary(metric.name, arm)
    if summary_of_all is None:
        return TableCell(figures.DASH)
    mean = figures.value(metric, summary_of_all.mean)
    text = f"{mean} ({figures.value(metric, summary_of_all.max)})" if largest else mean
    return TableCell(text, number=summary_of_all.mean)
