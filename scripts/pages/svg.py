# SPDX-License-Identifier: Apache-2.0
"""Small drawings that are read in light and in dark: shapes and words with the colours of a role, not colours.

A drawing has a panel of its own, so that it is read on any page; the viewer's preference chooses the colours.
"""

from collections.abc import Sequence
from html import escape

_ROLES = {  # each in light and in dark
    "a": ("#2a6fbb", "#6cb0f5"),
    "b": ("#c0641d", "#f0a35c"),
    "good": ("#2e7d4f", "#6fc28f"),
    "bad": ("#b3362b", "#f0857a"),
    "idle": ("#d5d9de", "#49505a"),
    "soft": ("#e9eef5", "#2b3440"),
    "paper": ("#ffffff", "#1c2128"),
    "ink": ("#1f2328", "#e6e9ed"),
    "faint": ("#5b636d", "#a3acb8"),
}


def _colours(of: int) -> str:
    return "".join(f"--{role}:{pair[of]};" for role, pair in _ROLES.items())


_STYLE = (
    f"svg{{{_colours(0)}}}@media(prefers-color-scheme:dark){{svg{{{_colours(1)}}}}}"
    "text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:var(--ink)}"
    ".small{font-size:12px}.large{font-size:17px;font-weight:600}.strong{font-weight:600}"
    ".line{fill:none;stroke:var(--faint);stroke-width:1.5}.thick{stroke-width:3}.dashed{stroke-dasharray:5 4}"
    ".box{stroke:var(--faint);stroke-width:1}.frame{stroke:var(--idle)}"
    + "".join(f".{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in _ROLES)
    + "text.on{fill:var(--paper)}"
)


class Drawing:
    """Shapes on a panel; lengths are in pixels from the upper left corner."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []

    def text(self, x: float, y: float, words: str, style: str = "", anchor: str = "start") -> None:
        """One line; `y` is its base line."""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" class="{style}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def lines(
        self, x: float, y: float, lines: list[str], style: str = "", anchor: str = "start", step: int = 18
    ) -> None:
        """Several lines, the first one's base line at `y`."""
        for number, words in enumerate(lines):
            self.text(x, y + step * number, words, style, anchor)

    def rect(self, x: float, y: float, width: float, height: float, style: str, radius: float = 4) -> None:
        """A filled rectangle."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" class="{style}"/>'
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        lines: list[str],
        style: str = "soft",
        words: str = "",
    ) -> None:
        """A rectangle with lines of words in its middle."""
        self.rect(x, y, width, height, f"box {style}", 6)
        top = y + height / 2 + 5 - 9 * (len(lines) - 1)
        self.lines(x + width / 2, top, lines, words, "middle")

    def circle(self, x: float, y: float, radius: float, style: str) -> None:
        """A filled circle."""
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{style}"/>')

    def path(self, points: Sequence[tuple[float, float]], style: str = "") -> None:
        """A line through points."""
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f'<polyline points="{way}" class="line {style}"/>')

    def arrow(self, points: Sequence[tuple[float, float]], style: str = "") -> None:
        """A line through points, with a head at its end."""
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f'<polyline points="{way}" class="line {style}" marker-end="url(#head)"/>')

    def render(self) -> str:
        """The file."""
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0 8 4 0 8z" class="faint"/></marker>'
        )
        return (
            "<!-- SPDX-License-Identifier: Apache-2.0; made by `python -m pages.diagrams` -->\n"
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
            f' width="{self.width}" height="{self.height}" role="img">\n<title>{escape(self.title)}</title>\n'
            f"<style>{_STYLE}</style>\n<defs>{head}</defs>\n"
            f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="8" class="frame paper"/>\n'
            + "\n".join(self._parts)
            + "\n</svg>\n"
        )
