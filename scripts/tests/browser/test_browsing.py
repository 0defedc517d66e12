# SPDX-License-Identifier: Apache-2.0
"""The means of browser tests: that they see what a page asks for elsewhere, and what goes wrong in it."""

from pathlib import Path

import pytest

from .browsing import Visits, is_own, wait_on, why_no_chromium

HOST = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("page", "asked", "own"),
    [
        (f"{HOST}/a", f"{HOST}/b", True),
        (f"{HOST}/a", "ws://127.0.0.1:8000/b", True),
        (f"{HOST}/a", "data:,", True),
        (f"{HOST}/a", "http://127.0.0.1:8001/b", False),
        (f"{HOST}/a", "https://127.0.0.1:8000/b", False),
        (f"{HOST}/a", "https://fonts.example/b.css", False),
        ("file:///s/report.html", "file:///s/flames/a.html", True),
        ("file:///s/report.html", "file:///etc/passwd", False),
        ("file:///s/report.html", "https://fonts.example/b.css", False),
    ],
)
def test_a_page_has_its_own_server_or_folder(page: str, asked: str, own: bool) -> None:
    assert is_own(page, asked) is own


def test_where_no_browser_can_be_had_the_reason_is_told(tmp_path: Path) -> None:
    system = tmp_path / "os-release"
    assert "not Debian" in (why_no_chromium(system) or "")
    system.write_text("ID=debian\n", encoding="utf-8")
    assert "apt-get install" in (why_no_chromium(system, user=1000) or "")
    assert why_no_chromium(system, user=0) is None


@pytest.mark.full
def test_what_a_page_does_is_seen(visits: Visits, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><title>t</title><img src='https://elsewhere.example/a.png'><p>text</p>"
        "<script>console.error('told'); setTimeout(() => { throw new Error('thrown') })</script>",
        encoding="utf-8",
    )
    opened = visits.open(page, scheme="dark")
    assert opened.inner_text("p") == "text"
    assert opened.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    wait_on(opened, lambda: len(visits.errors) == 3, "three errors")
    assert visits.elsewhere == ["https://elsewhere.example/a.png"]
    assert "told" in visits.errors
    assert any("thrown" in error for error in visits.errors)
    with pytest.raises(AssertionError):
        visits.check()
    visits.elsewhere.clear()
    visits.errors.clear()
