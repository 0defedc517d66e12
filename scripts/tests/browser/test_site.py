# SPDX-License-Identifier: Apache-2.0
"""The documents as a site: built strictly, and a person who types a question into its search finds the page."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from fake_site import serving

from steelyard.paths import ROOT

from .browsing import Visits, wait_on

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.site
TASKS = yaml.safe_load((Path(__file__).parent / "site_questions.yaml").read_text(encoding="utf-8"))
FIRST = 3
"""Results that a person reads before typing something else."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, ROOT / "scripts" / "pages" / "site.py", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/"


def test_the_site_is_built_strictly_and_asks_no_other_host(site: Path) -> None:
    """A link that leads nowhere, a page without a place and a request to elsewhere end the build with another code."""
    assert {"index.html", "glossary.html", "search"} <= {path.name for path in site.iterdir()}


def first_results(opened: "Page") -> list[str] | None:
    """Addresses of the first results, the best one first; None while there are none: the page says so at first, too."""
    counted = re.match(r"\s*(\d+) matching", opened.text_content(".md-search-result__meta") or "")
    if counted is None:
        return None
    pages = opened.locator(
        ".md-search-result__item"
    )  # of a page its own link comes first, then those of its sections
    addresses: list[str] = pages.evaluate_all(
        "all => all.map(one => one.querySelector('a').href.split(/[#?]/)[0])"
    )
    return addresses[:FIRST] if len(addresses) >= min(FIRST, int(counted[1])) else None


@pytest.mark.parametrize(
    ("question", "page"), [(question, task["page"]) for task in TASKS for question in task["questions"]]
)
def test_a_question_leads_to_its_page(visits: Visits, address: str, question: str, page: str) -> None:
    opened = visits.open(address)
    opened.fill(".md-search__input", question)
    # The page looks at what was typed when its index is ready, and when a key is let go: it may be ready by now.
    opened.press(".md-search__input", "End")
    wait_on(opened, lambda: first_results(opened) is not None, "the results of the search")
    assert f"{address}{page}" in (first_results(opened) or [])
