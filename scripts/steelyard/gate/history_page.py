# SPDX-License-Identifier: Apache-2.0
"""The page of a history: one HTML file, no network, no scripts; a chart for each metric, and every change in words."""

import time
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from matplotlib.ticker import MaxNLocator

from steelyard.analysis import figures
from steelyard.analysis.metrics import metric
from steelyard.gate.history import Entry, Series, spread, told
from steelyard.report.canvas import INK, STEPS, Chart, canvas, finish, near, styled

_STYLE = Path(__file__).parents[1] / "report" / "templates" / "style.css"
_WIDTH = 900
FEWEST = 2
"""Sessions of a series that is drawn: on hosted runners many a night has another processor or kernel."""
_LABELS = 12
"""Of the horizontal axis, at most."""
_FOOTER = (
    "Means of sessions of different days. Only what stands out of the spread between sessions is called a change;"
    " figures of different hosts or kernels are never compared."
)


def to_page(series: Sequence[Series], title: str) -> str:
    """The page, whole."""
    open_ones = [place for one in series for place in one.changes if place.harmful and not place.acknowledged]
    entries = sorted(
        {one.key: one for s in series for one in s.entries}.values(), key=lambda one: (one.time, one.key)
    )
    drawn = [one for one in series if len(one.entries) >= FEWEST]
    lead = (
        f"{figures.count(len(open_ones), 'change')} for the worse that nobody has acknowledged."
        if open_ones
        else "No change for the worse that is not acknowledged."
    )
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="question">{lead}</p>',
        *(f"<p>{escape(figures.capital(told(place)))}</p>" for place in open_ones),
        *(_section(one, index, entries) for index, one in enumerate(drawn)),
        *_single(len(series) - len(drawn)),
        "<section><h2>Sessions</h2>",
        _table(entries),
        "</section>",
        f"<footer>{_FOOTER}</footer>",
    ]
    style = _STYLE.read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}\nfigure svg {{ max-width: none; }}</style></head><body>",
            '<p class="brand">Steelyard <span>history</span></p>',
            *body,
            "</body></html>",
            "",
        ]
    )


def _single(left_out: int) -> list[str]:
    """What is said of series that have nothing to draw yet."""
    told = f"{figures.count(left_out, 'line')} of a single session: figures of it alone say nothing, and have no chart."
    return [f'<p class="note">{told}</p>'] if left_out else []


def _section(series: Series, index: int, all_entries: Sequence[Entry]) -> str:
    chart = draw(series, index, all_entries)
    varies = spread(series)
    notes = [f"from session to session {figures.percent(varies)}"] if varies is not None else []
    notes.append(f"{series.entries[-1].host_told}, {series.entries[-1].jvm}")
    changes = "".join(f"<li>{escape(figures.capital(told(place)))}</li>" for place in series.changes)
    return (
        f"<section><h2>{escape(figures.capital(series.title))}</h2>"
        f'<figure style="max-width:60rem">{chart.svg}</figure>'
        f'<p class="note">{escape("; ".join(notes))}</p>'
        + (f"<ul>{changes}</ul>" if changes else "")
        + "</section>"
    )


@styled
def draw(series: Series, index: int, all_entries: Sequence[Entry]) -> Chart:
    """Means over sessions, by their place among all sessions, so that a break by another host shows as one."""
    info, entries = metric(series.metric), series.entries
    places = {one.key: at for at, one in enumerate(all_entries)}
    times = figures.scale(info)
    axes = canvas(260, _WIDTH)
    xs = [places[one.key] for one in entries]
    ys = [one.metrics[series.metric].mean * times for one in entries]
    axes.plot(xs, ys, "-", color=INK["accent"], lw=1, alpha=0.5)
    axes.plot(xs, ys, "o", mfc=INK["surface"], mec=INK["accent"], ms=5, mew=1.5, zorder=4)
    for place in series.changes:
        worse = place.harmful and not place.acknowledged
        ink = INK["void"] if worse else INK["muted"]
        x = places[place.entry.key] - 0.5
        axes.axvline(x, color=ink, lw=1.6, ls="--")
        word = figures.change(place.after / place.before) + (" (known)" if place.acknowledged else "")
        top = (x, 1.0)
        axes.annotate(
            word,
            top,
            xycoords=("data", "axes fraction"),
            xytext=(4, -12),
            textcoords="offset points",
            color=ink,
            fontsize=11,
        )
    for before, after in pairwise(all_entries):
        if before.host != after.host and after.host == entries[0].host:
            x = places[after.key] - 0.5
            axes.axvline(x, color=INK["grid"], lw=4)
            near(axes, "another host", (x, min(ys)), (4, 2), fontsize=10.5, color=INK["muted"])
    axes.margins(y=0.25)
    axes.set_xlim(-0.7, len(all_entries) - 0.3)
    every = -(-len(all_entries) // _LABELS)
    shown = [x for at, x in enumerate(xs) if at == 0 or x // every != xs[at - 1] // every]
    by_place = {places[one.key]: one for one in entries}
    axes.set_xticks(shown, [_short(by_place[x]) for x in shown])
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    digits = 3 if max(ys) < 10 else 0
    axes.yaxis.set_major_formatter(lambda y, _: figures.number(y, digits))
    unit = figures.unit(info)
    axes.set_ylabel(unit)
    words = "; ".join(told(place) for place in series.changes) or "no change"
    ends = f"{figures.with_unit(info, ys[0] / times)} to {figures.with_unit(info, ys[-1] / times)}"
    text = f"{figures.count(len(entries), 'session')}, {ends}; {words}."
    return finish(axes, f"history-{index}", series.title, text)


def _short(entry: Entry) -> str:
    day = time.strftime("%m-%d", time.gmtime(entry.time))
    return f"{entry.commit[:7]}\n{day}" if entry.commit else day


def _table(entries: Sequence[Entry]) -> str:
    rows = "".join(
        f"<tr><th>{escape(one.session)}</th><td>{escape((one.commit or '')[:12])}</td>"
        f"<td>{escape(one.workload)}</td><td>{escape(one.host_told)}</td>"
        f"<td>{escape(figures.capital(one.sentence)) if one.sentence else figures.DASH}</td></tr>"
        for one in reversed(entries)
    )
    heads = "".join(
        f"<th>{name}</th>" for name in ("session", "commit", "workload", "host", "verdict of a gate")
    )
    return (
        '<div class="scroll words" tabindex="0"><table><caption>Sessions, the newest first</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
