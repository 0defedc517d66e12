# SPDX-License-Identifier: Apache-2.0
"""The page of a history: one HTML file, no network, no scripts; a chart for each metric of each
thing that is kept, and every change in words."""

import time
from collections.abc import Iterable, Sequence
from html import escape

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from steelyard.gate.history import ChangePoint, Entry, MetricSeries, change_sentence, spread
from steelyard.measure.registry import metric_info
from steelyard.report.canvas import INK, STEPS, Chart, annotate, canvas, finish, with_style
from steelyard.report.pages import page_style
from steelyard.results import figures

STYLE = "figure.wide { max-width: 60rem; } figure.wide svg { max-width: none; }"
"""What its charts need beside the style sheet of all pages."""
_WIDTH = 900
FEWEST = 2
"""Sessions of a line that is drawn."""
_LABELS = 12
"""Of the horizontal axis, at most."""
_FOOTER = (
    "Means of sessions of different days. Only what stands out of the spread between sessions is called a change;"
    " figures of different hosts or kernels are never compared."
)


def to_page(series: Sequence[MetricSeries], title: str) -> str:
    """The page, whole."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{page_style()}\n{STYLE}</style></head><body>",
            '<p class="brand">Steelyard <span>history</span></p>',
            to_body(series, title),
            "</body></html>",
            "",
        ]
    )


def to_body(series: Sequence[MetricSeries], title: str) -> str:
    """What the page holds, for a page of any kind: changes, charts, sessions."""
    open_ones = [
        place for line in series for place in line.changes if place.harmful and not place.acknowledged
    ]
    entries = _sessions(series)
    lines = by_line(series)
    drawn = [line for line in lines if len(_sessions(line)) >= FEWEST]
    lead = (
        f"{figures.count(len(open_ones), 'change')} for the worse that nobody has acknowledged."
        if open_ones
        else "No change for the worse that is not acknowledged."
    )
    return "\n".join(
        [
            f"<h1>{escape(title)}</h1>",
            f'<p class="question">{lead}</p>',
            *(f"<p>{escape(figures.capital(change_sentence(place)))}</p>" for place in open_ones),
            *(_section(line, index) for index, line in enumerate(drawn)),
            *_single(len(lines) - len(drawn)),
            "<section><h2>Sessions</h2>",
            _table(entries),
            "</section>",
            f"<footer>{_FOOTER}</footer>",
        ]
    )


def by_line(series: Iterable[MetricSeries]) -> list[list[MetricSeries]]:
    """Series that one chart holds: of one metric and one thing, each on a host of its own; the newest host last."""
    lines: dict[tuple[str, ...], list[MetricSeries]] = {}
    for host_series in series:
        first = host_series.entries[0]
        key = (host_series.metric, first.workload, first.experiment, first.arm, first.conditions)
        lines.setdefault(key, []).append(host_series)
    return [sorted(line, key=lambda host_series: host_series.entries[-1].time) for line in lines.values()]


def _sessions(series: Iterable[MetricSeries]) -> list[Entry]:
    """All sessions of these, in the order of time."""
    entries = {entry.key: entry for each in series for entry in each.entries}
    return sorted(entries.values(), key=lambda entry: (entry.time, entry.key))


def _single(left_out: int) -> list[str]:
    """What is said of lines that have nothing to draw yet."""
    note = f"{figures.count(left_out, 'line')} of a single session: its figures alone say nothing, and have no chart."
    return [f'<p class="note">{note}</p>'] if left_out else []


def _section(line: Sequence[MetricSeries], index: int) -> str:
    chart = draw(line, index)
    notes = "".join(f'<p class="note">{escape(_of_host(host_series))}</p>' for host_series in reversed(line))
    changes = "".join(
        f"<li>{escape(figures.capital(change_sentence(place)))}</li>"
        for host_series in line
        for place in host_series.changes
    )
    return (
        f"<section><h2>{escape(figures.capital(line[-1].title))}</h2>"
        f'<figure class="wide">{chart.svg}</figure>{notes}'
        + (f"<ul>{changes}</ul>" if changes else "")
        + "</section>"
    )


def _of_host(series: MetricSeries) -> str:
    """Which host it was, and how its sessions vary."""
    last, varies = series.entries[-1], spread(series)
    told_spread = [f"from session to session {figures.percent(varies)}"] if varies is not None else []
    return "; ".join(
        [f"{last.host_told}, {last.jvm}: {figures.count(len(series.entries), 'session')}", *told_spread]
    )


@with_style
def draw(line: Sequence[MetricSeries], index: int) -> Chart:
    """Means over sessions by their place in time; what one host did is joined, and older hosts are pale."""
    info, entries = metric_info(line[0].metric), _sessions(line)
    places = {entry.key: at for at, entry in enumerate(entries)}
    times = figures.scale(info)
    axes = canvas(260, _WIDTH)
    seen: list[float] = []
    for host_series in line:
        ink = INK["accent"] if host_series is line[-1] else INK["muted"]
        xs = [places[entry.key] for entry in host_series.entries]
        ys = [entry.metrics[host_series.metric].mean * times for entry in host_series.entries]
        seen += ys
        axes.plot(xs, ys, "-", color=ink, lw=1, alpha=0.5)
        axes.plot(xs, ys, "o", mfc=INK["surface"], mec=ink, ms=5, mew=1.5, zorder=4)
        for place in host_series.changes:
            _mark_change(axes, places[place.entry.key] - 0.5, place)
    _mark_hosts(axes, sorted(places[host_series.entries[0].key] for host_series in line)[1:], len(entries))
    axes.margins(y=0.25)
    axes.set_xlim(-0.7, len(entries) - 0.3)
    every = -(-len(entries) // _LABELS)
    shown = range(0, len(entries), every)
    axes.set_xticks(list(shown), [_short(entries[x]) for x in shown])
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    digits = 3 if max(seen) < 10 else 0
    axes.yaxis.set_major_formatter(lambda y, _: figures.number(y, digits))
    axes.set_ylabel(figures.unit(info))
    words = (
        "; ".join(change_sentence(place) for host_series in line for place in host_series.changes)
        or "no change"
    )
    ends = f"{figures.with_unit(info, min(seen) / times)} to {figures.with_unit(info, max(seen) / times)}"
    hosts = f" on {figures.count(len(line), 'host')}" if len(line) > 1 else ""
    text = f"{figures.count(len(entries), 'session')}{hosts}, {ends}; {words}."
    return finish(axes, f"history-{index}", line[-1].title, text)


def _mark_change(axes: Axes, x: float, place: ChangePoint) -> None:
    ink = INK["void"] if place.harmful and not place.acknowledged else INK["muted"]
    axes.axvline(x, color=ink, lw=1.6, ls="--")
    word = figures.change(place.after / place.before) + (" (known)" if place.acknowledged else "")
    annotate(axes, word, (x, 1.0), (4, -12), xycoords=("data", "axes fraction"), color=ink, fontsize=11)


def _mark_hosts(axes: Axes, begins: Sequence[int], length: int) -> None:
    """Where sessions of a further host begin; the words only where there is room for them."""
    before = -length
    for begin in begins:
        axes.axvline(begin - 0.5, color=INK["grid"], lw=4)
        if begin - before > length / 6:
            annotate(
                axes,
                "another host",
                (begin - 0.5, 0.0),
                (4, 4),
                xycoords=("data", "axes fraction"),
                color=INK["muted"],
                fontsize=10.5,
            )
            before = begin


def _short(entry: Entry) -> str:
    day = time.strftime("%m-%d", time.gmtime(entry.time))
    return f"{entry.commit[:7]}\n{day}" if entry.commit else day


def _table(entries: Sequence[Entry]) -> str:
    rows = "".join(
        f"<tr><th>{escape(entry.session)}</th><td>{escape((entry.commit or '')[:12])}</td>"
        f"<td>{escape(entry.workload)}</td><td>{escape(entry.host_told)}</td>"
        f"<td>{escape(figures.capital(entry.sentence)) if entry.sentence else figures.DASH}</td></tr>"
        for entry in reversed(entries)
    )
    heads = "".join(
        f"<th>{name}</th>" for name in ("session", "commit", "workload", "host", "verdict of a gate")
    )
    return (
        '<div class="scroll words" tabindex="0"><table><caption>Sessions, the newest first</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
