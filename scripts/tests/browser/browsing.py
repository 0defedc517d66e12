# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser, with a record of what they asked for elsewhere and of what went wrong in them."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest
from waiting import wait_until

if TYPE_CHECKING:  # not on every platform there is a package of it
    from playwright.sync_api import Browser, ConsoleMessage, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
NO_LIMIT: Any = {"timeout": 0}
"""Playwright's word for: wait for as long as it takes (the watchdog ends a test that stands still)."""
FLAGS = (
    # Nothing leaves this machine, whatever a page asks for; that it asked is recorded all the same.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    # In containers /dev/shm is small.
    "--disable-dev-shm-usage",
)
SCREEN, PHONE = (1280, 800), (390, 844)
"""Width and height of a window in CSS pixels: a small laptop's, a phone's."""
_OF_THE_PAGE = {"data", "blob", "about"}


@dataclass
class Visits:
    """Opens pages, and keeps what a test has to look at afterwards."""

    browser: "Browser"
    elsewhere: list[str] = field(default_factory=list)
    """Addresses outside of a page's own server or folder that it asked for."""
    errors: list[str] = field(default_factory=list)
    """Errors on a page's console, and exceptions that nothing caught."""
    _closers: list[Callable[[], None]] = field(default_factory=list)

    def open(
        self,
        address: str | Path,
        size: tuple[int, int] = SCREEN,
        scheme: Literal["light", "dark"] = "light",
        **context: Any,  # of Playwright's
    ) -> "Page":
        """A page that has loaded.

        Args:
            address: of a server, or a file.
            size: width and height of the window.
            scheme: which colours the user prefers.
            context: further arguments of Playwright's `new_context`.
        """
        url = address.resolve().as_uri() if isinstance(address, Path) else address
        viewport: Any = {"width": size[0], "height": size[1]}
        made = self.browser.new_context(viewport=viewport, color_scheme=scheme, **context)
        self._closers.append(made.close)
        made.set_default_timeout(0)
        page = made.new_page()
        page.on("request", lambda request: self._see(url, request.url))
        page.on("websocket", lambda socket: self._see(url, socket.url))
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(url)
        return page

    def close(self) -> None:
        """Close all pages."""
        while self._closers:
            self._closers.pop()()

    def check(self) -> None:
        """That no page asked for anything elsewhere, and nothing went wrong in any."""
        assert self.elsewhere == []
        assert self.errors == []

    def _see(self, page: str, asked: str) -> None:
        if not is_own(page, asked):
            self.elsewhere.append(asked)

    def _hear(self, message: "ConsoleMessage") -> None:
        if message.type == "error":
            self.errors.append(message.text)


def wait_on(page: "Page", holds: Callable[[], object], what: str) -> None:
    """Wait until something is so in a page, which may be on its way to another address meanwhile."""
    from playwright.sync_api import Error

    def look() -> bool:
        # What the browser has told arrives while Playwright is asked for something, and not before.
        page.wait_for_timeout(0)
        try:
            return bool(holds())
        except Error:
            return False

    wait_until(look, lambda: f"{what} at {page.url}")


def is_own(page: str, asked: str) -> bool:
    """Whether an address is of the same server as a page, or in the same folder as a file."""
    own, other = urlsplit(page), urlsplit(asked)
    if other.scheme in _OF_THE_PAGE:
        return True
    if own.scheme == "file":
        return other.scheme == "file" and other.path.startswith(own.path.rpartition("/")[0] + "/")
    return other.scheme in (own.scheme, own.scheme.replace("http", "ws")) and other.netloc == own.netloc


@contextmanager
def run_chromium() -> Iterator["Browser"]:
    """Chromium, driven by Playwright; installed where it can be, and else the test is skipped."""
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


def find_chromium() -> str | None:
    """The path of Chromium or Chrome; None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def why_no_chromium(os_release: Path = Path("/etc/os-release"), user: int | None = None) -> str | None:
    """Why Chromium cannot be installed here; None where it can."""
    text = os_release.read_text(encoding="utf-8") if os_release.exists() else ""
    if "ID=debian" not in text.split():
        return "there is no Chromium here, and this host is not Debian, whose package could be installed"
    if (os.geteuid() if user is None else user) != 0:
        return "there is no Chromium here: apt-get install chromium"
    return None
