# SPDX-License-Identifier: Apache-2.0
"""Small SVG charts that take their colours and font from the page they stand in.

Matplotlib draws with stand-in colours; in the SVG each becomes a CSS variable, so that one chart serves light,
dark and print. Text stays text. The same figures give the same bytes: no dates, no random identifiers.
"""

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter

from steelyard.escape import printable
from steelyard.results import figures

WIDTH = 440
"""Width of a chart in CSS pixels: two stand side by side on a screen, one on a phone."""
WIDE = 500
"""Width of the chart beside the answer, in CSS pixels: a screen shows it a third larger, and on a phone it can still be
read."""
_NAMES = ("text", "muted", "grid", "accent", "void", "surface", "s1", "s2", "s3", "s4", "s5", "s6")
INK = {name: f"#0102{index:02x}" for index, name in enumerate(_NAMES, start=3)}
"""Stand-in colours by name; the page defines `--chart-<name>`."""
SERIES = [
    (INK["s1"], "o", "-"),
    (INK["s2"], "s", "--"),
    (INK["s3"], "^", "-."),
    (INK["s4"], "D", ":"),
    (INK["s5"], "v", "-"),
    (INK["s6"], "P", "--"),
]
"""Colour, marker and dash of each series: told apart without colour as well."""
LINES, LEGEND = 4, 60
"""Lines of a label, at most, and characters of a line in a legend."""
STEPS = [1, 2, 2.5, 5, 10]
"""Distances between ticks that people read easily."""
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    # Labels are the user's: a dollar is a dollar, and no formula that may not be one.
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": "DejaVu Sans",  # ships with matplotlib: text is laid out alike on every host
    "font.size": 12,
    "text.color": INK["text"],
    "axes.labelcolor": INK["muted"],
    "axes.edgecolor": INK["grid"],
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": INK["grid"],
    "grid.linewidth": 0.8,
    "xtick.labelcolor": INK["muted"],
    "ytick.labelcolor": INK["muted"],
    **{f"{axis}tick.{which}.size": 0 for axis in "xy" for which in ("major", "minor")},
    "lines.solid_capstyle": "butt",
    "legend.frameon": False,
    "legend.fontsize": 11,
    "legend.borderaxespad": 0.3,
}
# Keywords of matplotlib.
ABOVE: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "handletextpad": 0.1}
"""Where a legend stands: over the axes, at the right, in words that matplotlib 3.6 (Debian, ppc64le image) knows."""


@dataclass(frozen=True)
class Chart:
    """A chart for the page: what it shows in one line, and the SVG, which also tells it in full."""

    title: str
    svg: str
    series: str = ""
    """Of curves: their points as JSON, from which a script of the page tells values and draws single trials."""


with_style = mpl.rc_context(_STYLE)
"""Decorator of every function that draws: artists take their style when they are made."""


def canvas(height: int, width: int = WIDTH) -> Axes:
    """An empty chart; sizes in CSS pixels."""
    return Figure(figsize=(width / 72, height / 72), layout="constrained").add_subplot()


def rows(labels: Sequence[str], height: int | None = None, width: int = WIDTH) -> Axes:
    """An empty chart with a row for each label, figures along the horizontal axis; sizes in CSS pixels."""
    axes = canvas(height or 76 + 34 * len(labels), width)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.set_yticks(range(len(labels)), [wrap_label(printable(label)) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.6)
    axes.spines["left"].set_visible(False)
    return axes


def annotate(
    axes: Axes, text: str, point: tuple[float, float], offset: tuple[int, int], **style: Any
) -> None:
    """Words beside a point, at a distance in CSS pixels."""
    axes.annotate(text, point, xytext=offset, textcoords="offset points", **style)


def legend_text(label: str) -> str:
    """A label for a legend, which leaves out labels that begin with an underscore."""
    text = wrap_label(label, LEGEND)
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


def place_of_change(ratio: float, most: float) -> tuple[float, str]:
    """Where a change is drawn, in %, and by which mark: beyond a ratio of `most` at the edge, by an arrowhead."""
    return 100 * (min(ratio, most) - 1), "o" if ratio <= most else ">"


def draw_bounds(axes: Axes, row: float, bounds: Sequence[float], most: float, tag: str, width: float) -> None:
    """An interval of ratios on its row, the ends of which lie at the edge beyond `most`; nothing without bounds."""
    ends = [place_of_change(bound, most) for bound in bounds]
    axes.plot([end for end, _ in ends], [row] * len(ends), color=INK["accent"], lw=width, gid=tag)
    for end, mark in ends:
        if mark != "o":
            axes.plot(end, row, mark, color=INK["accent"], clip_on=False, gid=tag)


def arm_tag(arm: int, tip: str = "") -> str:
    """Identifier (`gid`) of what belongs to an arm, which the page can switch off; the tip is what the page tells where
    the pointer rests."""
    return f"arm-{arm}:{printable(tip)}"


def wrap_label(label: str, width: int = 30) -> str:
    """A label of several factors, one to a line; of a long one what three lines hold, so that the chart keeps room."""
    lines = [part for factor in label.split(", ") for part in textwrap.wrap(factor, width) or [""]]
    return "\n".join(
        lines
        if len(lines) <= LINES
        else [*lines[: LINES - 1], f"{lines[LINES - 1][: width - 1]}\N{HORIZONTAL ELLIPSIS}"]
    )


def tick_digits(ticks: Sequence[float]) -> int:
    """The fewest decimals, up to 6, with which each tick is named by its own value and by no other."""
    nearly = 1e-9 * max(map(abs, ticks), default=0.0)  # ticks are multiples of a step, with errors of floats
    digits = range(6)
    return next((n for n in digits if all(abs(round(t, n) - t) <= nearly for t in ticks)), 6)


class TickFormatter(Formatter):
    """Names ticks by their values, all with as many decimals as these take."""

    def __init__(self, text: Callable[[float, int], str] = figures.number) -> None:
        """`text`: a value with so many decimals, for people."""
        self._text = text

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a value alone."""
        del pos
        return self._text(x, tick_digits([x]))

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """The labels of all ticks of an axis."""
        digits = tick_digits(values)
        return [self._text(value, digits) for value in values]


def percent_ticks() -> TickFormatter:
    """Names ticks in % with their signs."""
    return TickFormatter(lambda x, digits: figures.percent(x / 100, digits, sign=True))


def plot_area(axes: Axes) -> dict[str, list[float]]:
    """Where the axes of a finished chart lie in its SVG (left, top, right, bottom), and what stands at their ends."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    width, height = (72 * inches for inches in figure.get_size_inches())
    place = axes.get_position()
    box = [place.x0 * width, (1 - place.y1) * height, place.x1 * width, (1 - place.y0) * height]
    return {"box": [round(edge, 1) for edge in box], "x": [*axes.get_xlim()], "y": [*axes.get_ylim()]}


def finish(axes: Axes, key: str, title: str, description: str) -> Chart:
    """Turn what was drawn into a chart; the description tells it with its figures, for readers who cannot see it.

    The key is made unique on the page by the caller: identifiers inside the SVG start with it.
    """
    key = re.sub(r"[^\w-]", "-", key)
    target = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": key}), warnings.catch_warnings():
        # Signs that the font lacks are laid out by their box; the page shows them in a font that has them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        axes.figure.canvas.print_figure(target, format="svg", metadata=no_metadata)
    title, description = printable(title), printable(description)
    return Chart(title, _for_page(target.getvalue(), key, title, description))


def _for_page(svg: str, key: str, title: str, description: str) -> str:
    body = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="([^"]+)"', body)
    inner = body[body.index(">") + 1 : body.rindex("</svg>")]
    inner = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", inner, flags=re.DOTALL)
    # Inside of tags alone: what stands between them is text that anybody may have written.
    inner = re.sub(r"<[^>]*>", lambda tag: _tag(tag[0], key), inner)
    inner = re.sub(r"\n\s*", "\n", inner).replace("<g/>\n", "").strip()
    return (
        f'<svg viewBox="{box[1] if box else ""}" role="img" aria-labelledby="{key}-t {key}-d">'
        f'<title id="{key}-t">{escape(title)}</title><desc id="{key}-d">{escape(description)}</desc>\n'
        f"{inner}\n</svg>"
    )


def _tag(tag: str, key: str) -> str:
    """A tag with identifiers of this chart alone, colours of the page, and no more digits than it takes."""
    if of_arm := re.fullmatch(r'<g id="arm-(\d+):([^"]*)"(.*)', tag, flags=re.DOTALL):
        arm, tip, rest = of_arm.groups()
        return f'<g class="arm-{arm}"{f" data-tip={chr(34)}{tip}{chr(34)}" if tip else ""}{rest}'
    tag = re.sub(r'<g id="[^"]*"', "<g", tag)  # matplotlib numbers its groups alike in every chart
    tag = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag)  # and turns text that lies straight
    tag = re.sub(r"\bid=\"", f'id="{key}-', tag)
    tag = tag.replace('xlink:href="#', f'href="#{key}-').replace("url(#", f"url(#{key}-")
    tag = re.sub(r'([ \n](?:d|x|y|points|transform)=")([^"]+)"', _shorter, tag)
    tag = re.sub(r"font-family: [^;\"]+; ", "", tag)
    for name, ink in INK.items():
        tag = tag.replace(ink, f"var(--chart-{name})")
    return tag


def _shorter(match: re.Match[str]) -> str:
    """A tenth of a pixel is fine enough."""
    path = re.sub(r"-?\d+\.\d+", lambda n: f"{float(n[0]):.1f}", match[2])
    return f'{match[1]}{" ".join(path.split())}"'
