# SPDX-License-Identifier: Apache-2.0
"""Six public load plans as journeys, played against a server that checks each request; and a recording played again."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import urlopen

import pytest
from waiting import wait_until

from steelyard.build import find_build
from steelyard.host.java import find_hotspot, find_jdk
from steelyard.paths import ROOT
from steelyard.session.journey_try import try_settings
from steelyard.spec.injectors import injector_options
from steelyard.workload.loader import load_workload

from .driver import call, free_port

pytestmark = [pytest.mark.e2e]

PLANS = ROOT / "docs" / "examples" / "plans"
OPERATIONS = {
    "teastore": {"home", "login-page", "login", "category", "product", "add-to-cart", "cart"},
    "keycloak": {"login-page", "login", "token", "userinfo"},
    "rest": {"create", "read", "change", "delete", "gone"},
    "cart": {"login", "add", "price", "checkout"},
    "polling": {"order", "poll", "result"},
    "upload": {"form", "upload", "stored"},
}
SHOP = "/tools.descartes.teastore.webui"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server that stands in."""
    port = free_port()
    server = subprocess.Popen([sys.executable, str(PLANS / "standin.py"), f"--port={port}"])
    try:
        wait_until(lambda: answers(port), "the stand-in answers")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def tried(path: Path, url: str) -> list[dict[str, Any]]:
    """What one user did, who had no error."""
    done = call("journey", "try", str(path), "--url", url, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    operations: list[dict[str, Any]] = json.loads(done.stdout)
    return operations


@pytest.mark.parametrize("plan", OPERATIONS)
def test_a_plan_is_played_without_an_error(plan: str, url: str) -> None:
    operations = tried(PLANS / f"{plan}.yaml", url)
    assert {each["operation"] for each in operations} - {"logout"} == OPERATIONS[plan]


def test_the_operation_that_failed_is_printed_in_full(tmp_path: Path, url: str) -> None:
    for name in ("users.csv", "keycloak.yaml"):
        (tmp_path / name).write_bytes((PLANS / name).read_bytes())
    (tmp_path / "users.csv").write_text("name,password\nuser1,wrong\n", encoding="utf-8")
    done = call("journey", "try", str(tmp_path / "keycloak.yaml"), "--url", url)
    assert done.returncode == 12, done.stderr
    assert "< wrong: the password of the row" in done.stdout
    assert "username=user1" in done.stdout


@pytest.mark.full
@pytest.mark.parametrize("plan", OPERATIONS)
def test_a_plan_is_played_by_several_users(plan: str, url: str, tmp_path: Path) -> None:
    topology = load_workload(str(PLANS / f"{plan}.yaml")).workload.topologies["single"]
    output = tmp_path / "out"
    load = {"model": "closed", "users": 8, "measureSeconds": 3, "output": str(output)}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({**try_settings(topology, {}, url, None), **load}), encoding="utf-8")
    build, jdk = find_build(["loadgen"]), find_hotspot(find_jdk())
    assert build is not None
    package = build / "loadgen"
    options = [option.replace("${package}", str(package)) for option in injector_options(jdk.identity)]
    java = [str(jdk.home / "bin" / "java"), *options, "-cp", f"{package}/lib/*", "dev.steelyard.loadgen.Main"]
    done = subprocess.run([*java, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    assert {name: each["errors"] for name, each in summary["operations"].items() if each["errors"]} == {}
    assert summary["operations"].keys() - {"logout"} == OPERATIONS[plan]
    assert not any(summary.get("outcomes", {}).values())


class Hidden(HTMLParser):
    """Hidden fields and links of a page, as a browser knows them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.get("type") == "hidden":
            self.fields[given["name"]] = given["value"]
        if tag == "a":
            self.links.append(given["href"])


class Browser:
    """Asks as a browser does, and writes down all of it (HAR 1.2)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies: dict[str, str] = {}
        self.entries: list[dict[str, Any]] = []
        self.now = datetime(2026, 11, 25, tzinfo=UTC)

    def ask(self, address: str, form: dict[str, str] | None = None) -> str:
        """Go to an address, and where it leads to; the page."""
        whole = urljoin(self.url, address)
        parts = urlsplit(whole)
        connection = http.client.HTTPConnection(parts.netloc)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None if form is None else urlencode(form)
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        method = "GET" if form is None else "POST"
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        page = answer.read().decode()
        connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        self.now += timedelta(milliseconds=300)
        request: dict[str, Any] = {"method": method, "url": whole, "headers": pairs(headers)}
        if body is not None:
            request["postData"] = {"mimeType": headers["Content-Type"], "text": body}
        content = {"mimeType": answer.headers["Content-Type"], "text": page}
        response = {"status": answer.status, "headers": pairs(dict(answer.headers)), "content": content}
        self.entries.append(
            {"startedDateTime": self.now.isoformat(), "time": 5, "request": request, "response": response}
        )
        self.url = whole
        return self.ask(answer.headers["Location"]) if answer.status in (302, 303) else page


def pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def test_a_recording_is_played_again_with_tokens_of_its_own(tmp_path: Path, url: str) -> None:
    browser = Browser(url)
    browser.ask(f"{SHOP}/")
    login = Hidden(browser.ask(f"{SHOP}/login")).fields
    assert login["referer"]
    entered = {"username": "ann", "password": "password", "signin": "Sign in"}
    browser.ask("loginAction", {**login, **entered})
    products = Hidden(browser.ask(f"{SHOP}/category?category=3&page=1")).links
    product = Hidden(browser.ask(products[5])).fields
    browser.ask("cartAction", {**product, "addToCart": "Add to Cart"})
    query = "client_id=web&response_type=code&scope=openid&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&state=1"
    browser.ask(f"/realms/shop/protocol/openid-connect/auth?{query}")
    recording = tmp_path / "shop.har"
    recording.write_text(json.dumps({"log": {"entries": browser.entries}}), encoding="utf-8")

    workload = tmp_path / "shop.yaml"
    done = call("journey", "from-har", str(recording), "--to", str(workload))
    assert done.returncode == 0, done.stderr
    assert login["referer"] not in workload.read_text(encoding="utf-8")
    operations = tried(workload, url)
    asked = [urlsplit(each["exchanges"][0]["url"]).path for each in operations]
    assert asked == [urlsplit(each["request"]["url"]).path for each in browser.entries]
    assert call("journey", "from-har", str(recording), "--to", str(workload)).returncode == 4
