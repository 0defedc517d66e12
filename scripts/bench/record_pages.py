#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record a visit of AcmeAir's or DayTrader7's own pages in Chromium, as those of tests/fixtures/recordings were.

    ./steelyard up acmeair
    python bench/record_pages.py acmeair http://127.0.0.1:PORT tests/fixtures/recordings/acmeair.har

Needs the Python package playwright, which is of the tests' requirements, and Debian's package chromium. What is
written is what the browser has recorded, less what `journey from-har` does not read and the content of scripts,
styles and pictures.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

HEADERS = (
    "accept",
    "content-type",
    "cookie",
    "location",
    "set-cookie",
    "etag",
    "last-modified",
    "x-requested-with",
)
"""Headers that are kept: those that say what a browser was, and when, change from one to the next."""


def visit_acmeair(page: Page, url: str) -> None:
    """Log in, find a flight, book it, look at the bookings, cancel, change the profile, log out."""
    page.goto(f"{url}/index.html")
    page.click("#login button")
    page.wait_for_selector("#user:visible")
    page.select_option("[name=fromAirport]", "LHR")
    page.select_option("[name=toAirport]", "JFK")
    page.click("#query button")
    page.wait_for_selector("#options button:enabled")
    page.click("#options button")
    page.wait_for_selector("#bookings td button")
    page.click("#bookings td button")
    page.wait_for_function("document.querySelector('#message').textContent.includes('deleted')")
    page.click("nav a[href='#profile']")
    page.wait_for_selector("#customer:visible")
    page.fill("#customer [name=city]", "Durham")
    page.fill("#customer [name=password]", "password")
    page.click("#customer button")
    page.wait_for_function("document.querySelector('#message').textContent == 'Saved.'")
    page.click("#logout")
    page.wait_for_selector("#login:visible")


def visit_daytrader7(page: Page, url: str) -> None:
    """Log in, look at quotes, buy, look at the portfolio, sell, change the account, log out."""
    page.goto(f"{url}/daytrader/welcome.jsp")
    page.click("input[value='Log in']")
    page.wait_for_load_state()
    page.goto(f"{url}/daytrader/app?action=quotes&symbols=s:0,s:1")
    page.click("input[value=buy] >> nth=0")
    page.wait_for_load_state()
    page.goto(f"{url}/daytrader/app?action=portfolio")
    page.click("a:has-text('sell') >> nth=0")
    page.wait_for_load_state()
    page.goto(f"{url}/daytrader/app?action=account")
    page.goto(f"{url}/daytrader/app?action=logout")


VISITS = {"acmeair": visit_acmeair, "daytrader7": visit_daytrader7}


def trim(entry: dict[str, Any]) -> dict[str, Any]:
    """Leave of a request and its answer what is read, and of files of pages no content."""
    request, response = entry["request"], entry["response"]
    content = response["content"]
    kept = {"mimeType": content.get("mimeType", "")}
    if kept["mimeType"].startswith(("text/html", "text/plain", "application/json")):
        kept |= {key: content[key] for key in ("text", "encoding") if key in content}
    asked = {"method": request["method"], "url": request["url"], "headers": headers(request)}
    if "postData" in request:
        asked["postData"] = request["postData"]
    return {
        "startedDateTime": entry["startedDateTime"],
        "time": entry["time"],
        "request": asked,
        "response": {"status": response["status"], "headers": headers(response), "content": kept},
        **({"_resourceType": entry["_resourceType"]} if "_resourceType" in entry else {}),
    }


def headers(message: dict[str, Any]) -> list[dict[str, str]]:
    """Return the headers that are kept."""
    return [each for each in message["headers"] if each["name"].lower() in HEADERS]


def main() -> None:
    """Record one visit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workload", choices=VISITS)
    parser.add_argument("url", help="of the running server")
    parser.add_argument("file", type=Path, help="the HAR file to write")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        har = Path(folder, "whole.har")
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=flags)
        context = browser.new_context(record_har_path=har, record_har_content="embed")
        context.set_default_timeout(240_000)  # milliseconds: a busy machine is slow
        VISITS[arguments.workload](context.new_page(), arguments.url.rstrip("/"))
        context.close()
        browser.close()
        log = json.loads(har.read_text(encoding="utf-8"))["log"]
    trimmed = {
        "version": log["version"],
        "creator": log["creator"],
        "entries": list(map(trim, log["entries"])),
    }
    arguments.file.write_text(
        json.dumps({"log": trimmed}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
