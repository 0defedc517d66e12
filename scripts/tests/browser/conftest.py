# SPDX-License-Identifier: Apache-2.0
"""A browser for the tests of this folder: Debian's Chromium, driven by Playwright."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from .browsing import Visits, run_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    """One browser for all tests; each page has a profile of its own in it."""
    with run_chromium() as running:
        yield running


@pytest.fixture
def visits(browser: "Browser") -> Iterator[Visits]:
    """Opens pages; after the test, that they kept to their own server and that nothing went wrong in them."""
    made = Visits(browser)
    yield made
    made.close()
    made.check()
