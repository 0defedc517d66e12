# SPDX-License-Identifier: Apache-2.0
"""A browser for the tests of this folder: Debian's Chromium, driven by Playwright."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .browsing import FLAGS, NO_LIMIT, Visits, find_chromium, why_no_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    """One browser for all tests; each page has a profile of its own in it."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright has no package for this platform"
    )
    program = find_chromium()
    if program is None:
        if reason := why_no_chromium():
            pytest.skip(reason)
        subprocess.run([str(Path(__file__).parent / "install-chromium.sh")], check=True)
        program = find_chromium()
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=FLAGS, **NO_LIMIT)
        yield running
        running.close()


@pytest.fixture
def visits(browser: "Browser") -> Iterator[Visits]:
    """Opens pages; after the test, that they kept to their own server and that nothing went wrong in them."""
    made = Visits(browser)
    yield made
    made.close()
    made.check()
