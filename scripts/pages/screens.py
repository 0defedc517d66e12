# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of reports and pages that the documents show: `python -m pages.screens [NAME...]` in scripts/.

It needs what the tests need, their browser included. Every session in a picture is a sample of the tests: nothing that
is shown was measured. A test holds that each picture of the documents has its recipe here.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt

SCRIPTS = Path(__file__).resolve().parents[1]
# The samples, and the browser, lie beside the tests.
sys.path += [str(SCRIPTS / "tests"), str(SCRIPTS / "tests" / "report")]

import kept_sessions
import sample
import sample_gate
import sample_procedures
from browser.browsing import Visits, run_chromium
from fake_site import serving
from sample_profiles import add_profiles

from steelyard.gate.outputs import to_markdown
from steelyard.host.lock import running_session
from steelyard.report import write_report
from steelyard.report.pages import to_html
from steelyard.serve.server import Server
from steelyard.serve.site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = SCRIPTS.parent / "docs" / "images"
WIDEST, LARGEST = 1280, 300_000
"""Pixels and bytes of a picture."""
NOW = sample.CREATED + 8.2 * kept_sessions.DAY
"""When the session runs that is seen running."""


@dataclass(frozen=True)
class Studio:
    """Where a picture is made."""

    visits: Visits
    folder: Path
    """For this picture alone."""

    def open(
        self,
        address: str | Path,
        height: int = 800,
        width: int = WIDEST,
        scheme: Literal["light", "dark"] = "light",
    ) -> "Page":
        """A page in a window of that size."""
        return self.visits.open(address, size=(width, height), scheme=scheme)

    def open_text(self, html: str, height: int = 800, width: int = WIDEST) -> "Page":
        """A page of that text."""
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf-8")
        return self.open(path, height, width)


def draw_ramp_up(studio: Studio) -> bytes:
    """First screen of a ramp-up's report."""
    return studio.open_text(to_html(sample.make_view(sample_procedures.ramp_up_plan()))).screenshot()


CALLOUTS = ("h1", ".lead", ".belief", ".arms", ".shown figure", ".caveats", "header nav")
"""What the numbers of the explained report stand beside."""
_NUMBERS = """selectors => {
    const style = document.createElement('style');
    style.textContent = `body { padding-left: 4.5rem !important; }
        .callout { position: absolute; width: 28px; height: 28px; border-radius: 50%; background: #b3261e;
            color: #fff; font: bold 16px/28px sans-serif; text-align: center; }`;
    document.head.append(style);
    selectors.forEach((selector, index) => {
        const box = document.querySelector(selector).getBoundingClientRect(), mark = document.createElement('div');
        mark.className = 'callout';
        mark.textContent = index + 1;
        mark.style.left = `${box.left < innerWidth / 3 ? 32 : box.left - 38}px`;
        mark.style.top = `${box.top + Math.min(14, box.height / 2) - 14}px`;
        document.body.append(mark);
    });
}"""


def draw_explained(studio: Studio) -> bytes:
    """First screen of a report, its parts numbered."""
    page = studio.open_text(to_html(sample.make_view(sample.study_plan())))
    page.evaluate(_NUMBERS, list(CALLOUTS))
    return page.screenshot()


def draw_flame(studio: Studio) -> bytes:
    """Flame graph of an arm against the baseline, with what a search finds."""
    plan = replace(
        sample.two_arm_plan(),
        title="The shop before and after the new prices",
        factors={"shop": {"label": "shop", "levels": ["before", "after"]}},
        blocks=2,
        effects={"shop": {"after": 0.8}},
    )
    directory = sample.write(studio.folder / "session", plan)
    _, folder = add_profiles(directory)
    write_report(directory)
    page = studio.open(folder / "flame.html", height=300)
    page.get_by_role("searchbox").fill("Cart.total")
    page.locator("#graph .found").hover()
    return page.screenshot(full_page=True)


def draw_sessions(studio: Studio) -> bytes:
    """The list of all sessions."""
    with serve_sample(studio.folder) as server:
        return studio.open(server.address).screenshot()


def draw_running(studio: Studio) -> bytes:
    """A session while it runs."""
    with serve_sample(studio.folder) as server:
        return studio.open(f"{server.address}sessions/jvm-count-400/live", scheme="dark").screenshot()


@contextmanager
def serve_sample(folder: Path) -> Iterator[Server]:
    """Sessions of all kinds, one of which runs."""
    results = folder / "results"
    for number in (0, 1, 2, 3, 4, 6, 7):
        kept_sessions.write_ended(results, number, report=False)
    running = kept_sessions.write_running(results, 13, NOW).path
    site = Site(results, now=lambda: NOW)
    with running_session(running), serving(Server(site, 0)) as server:
        yield server


def draw_comment(studio: Studio) -> bytes:
    """A gate's comment on a pull request."""
    _, _, verdict = sample_gate.make_gate(0.9)
    # Of GitHub's dialect of Markdown: tables, and HTML as it stands.
    text = MarkdownIt("commonmark", {"html": True}).enable("table").render(to_markdown(verdict))
    # Its sign is in colour there, by a font that this machine need not have.
    text = text.replace("\N{CROSS MARK}", '<span class="sign">\N{HEAVY MULTIPLICATION X}</span>')
    style = (Path(__file__).parent / "comment.css").read_text(encoding="utf-8")
    head = '<div class="head"><b>github-actions</b> <i>bot</i> commented</div>'
    page = studio.open_text(
        f'<!doctype html><meta charset="utf-8"><title>comment</title><style>{style}</style>'
        f'<div class="box">{head}<div class="text">{text}</div></div>',
        height=300,
        width=900,
    )
    return page.screenshot(full_page=True)


RECIPES: dict[str, Callable[[Studio], bytes]] = {
    "report-ramp-up": draw_ramp_up,
    "report-explained": draw_explained,
    "flame-graph": draw_flame,
    "serve-sessions": draw_sessions,
    "serve-running": draw_running,
    "gate-comment": draw_comment,
}
"""By the name of their file."""
BY_HAND = {"examples/plans/leaf.png": "a file that a journey of the example uploads: no page shows it"}
"""Pictures that no recipe makes, by their path below docs/: why not."""


def main(names: Sequence[str]) -> None:
    """Take pictures anew: those that are named, or all."""
    with run_chromium() as browser:
        for name in names or RECIPES:
            visits = Visits(browser)
            with tempfile.TemporaryDirectory(prefix="steelyard-screens-") as folder:
                picture = RECIPES[name](Studio(visits, Path(folder)))
                visits.close()
            visits.check()
            (IMAGES / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    main(sys.argv[1:])
