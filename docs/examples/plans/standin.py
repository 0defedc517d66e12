# SPDX-License-Identifier: Apache-2.0
"""Stands in for the servers of six public load plans, and answers 400 with the reason to whatever a plan got wrong.

python3 standin.py --port=9080
"""

import argparse
import hashlib
import html
import itertools
import json
import re
import secrets
import threading
from collections.abc import Callable
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlsplit

SHOP = "/tools.descartes.teastore.webui"
REALM = "/realms/shop"
POLLS = 3
"""How often a job says that it runs."""


class Wrong(Exception):
    """What a plan got wrong."""


def demand(right: object, otherwise: str) -> None:
    """Raise Wrong unless something holds."""
    if not right:
        raise Wrong(otherwise)


class Answer:
    """Status, headers and body of an answer."""

    def __init__(self, body: object = "", status: int = 200, **headers: str) -> None:
        self.status, self.headers = status, {name.replace("_", "-"): value for name, value in headers.items()}
        self.kind = "text/html" if isinstance(body, str) else "application/json"
        self.body = body if isinstance(body, str) else json.dumps(body)


class Asked:
    """A request, and the session of who sent it."""

    def __init__(self, method: str, target: str, headers: dict[str, str], body: bytes, session: dict[str, object]):
        parts = urlsplit(target)
        self.method, self.path, self.headers, self.body = method, parts.path, headers, body
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.session = session

    def form(self) -> dict[str, str]:
        """Fields of a url-encoded body."""
        kind = self.headers.get("content-type", "")
        demand(kind.startswith("application/x-www-form-urlencoded"), f"a form, and not {kind!r}")
        return {name: values[0] for name, values in parse_qs(self.body.decode(), keep_blank_values=True).items()}

    def json(self) -> dict[str, object]:
        """A JSON body."""
        demand("json" in self.headers.get("content-type", ""), "the Content-Type of JSON is missing")
        try:
            document: dict[str, object] = json.loads(self.body)
        except ValueError as error:
            raise Wrong(f"no JSON: {self.body!r}") from error
        return document


LOCK = threading.Lock()
SESSIONS: dict[str, dict[str, object]] = {}
CODES: dict[str, str] = {}
NOTES: dict[int, dict[str, object]] = {}
JOBS: dict[str, int] = {}
FILES: dict[str, tuple[int, str]] = {}
NUMBERS = itertools.count(1)


# TeaStore: browse categories and products, put some into the cart.
def shop(asked: Asked) -> Answer:
    page = asked.path.removeprefix(SHOP).strip("/")
    if page == "":
        links = "".join(f"<a class='category' href='category?category={n}&amp;page=1'>{n}</a>" for n in range(2, 7))
        return Answer(f"<title>TeaStore</title><a href='login'>Sign in</a>{links}<img src='logo.png'>")
    if page == "logo.png":
        return Answer("logo", ETag='"1"')
    if page == "login":
        asked.session["referer"] = secrets.token_hex(8)
        return Answer(
            f"<form id='signin' action='loginAction' method='POST'><input type='hidden' name='referer' value="
            f"'{asked.session['referer']}'><input name='username'><input type='password' name='password'></form>"
        )
    if page == "loginAction":
        form = asked.form()
        if "logout" in form:
            asked.session.pop("user", None)
            return Answer(status=302, Location=f"{SHOP}/")
        demand(form.get("referer") == asked.session.get("referer"), "the hidden field referer")
        demand(form.get("password") == "password" and form.get("signin") == "Sign in", "user, password, button")
        asked.session["user"] = form["username"]
        return Answer(status=302, Location=f"{SHOP}/")
    if page == "category":
        number = int(asked.query["category"])
        products = "".join(f"<a class='product' href='product?id={number * 100 + n}'>tea {n}</a>" for n in range(20))
        return Answer(f"<title>TeaStore Category {number}</title>{products}")
    if page == "product":
        demand(re.fullmatch(r"[2-6]\d\d", asked.query["id"]), f"there is no product {asked.query['id']}")
        asked.session["product"] = asked.query["id"]
        return Answer(
            f"<title>TeaStore Product</title><form action='cartAction' method='POST' class='cart'>"
            f"<input type='hidden' name='productid' value='{asked.query['id']}'></form>"
        )
    if page == "cartAction":
        form = asked.form()
        demand(form.get("productid") == asked.session.get("product"), f"productid is that of the page, not {form}")
        demand("addToCart" in form, "the button addToCart")
        asked.session.setdefault("cart", []).append(form["productid"])  # type: ignore[attr-defined]
        return Answer(status=302, Location="cart")
    demand(page == "cart", f"there is no page {page}")
    demand(asked.session.get("user"), "nobody is signed in")
    return Answer(f"<title>TeaStore Cart</title>{len(asked.session['cart'])} products")  # type: ignore[arg-type]


# Keycloak: OpenID Connect's authorization code flow (OpenID Connect Core 1.0, section 3.1).
def realm(asked: Asked) -> Answer:
    step = asked.path.removeprefix(REALM)
    if step == "/protocol/openid-connect/auth":
        wanted = {"client_id": "web", "response_type": "code", "redirect_uri": "https://app.example/callback"}
        demand(wanted.items() <= asked.query.items() and "openid" in asked.query["scope"], f"query {asked.query}")
        asked.session |= {"state": asked.query["state"], "code": secrets.token_urlsafe(16)}
        action = f"{REALM}/login-actions/authenticate?session_code={asked.session['code']}&tab_id=t-1"
        return Answer(
            f"<form id='kc-form-login' action='http://{asked.headers['host']}{html.escape(action)}' method='post'>"
            "<input name='username'><input type='password' name='password'>"
            "<input type='hidden' name='credentialId' value=''></form>"
        )
    if step == "/login-actions/authenticate":
        demand(asked.query.get("session_code") == asked.session.get("code"), "the code of the form's action")
        demand(asked.query.get("tab_id") == "t-1", "all of the action's query")
        form = asked.form()
        demand(form.keys() == {"username", "password", "credentialId"}, f"fields {sorted(form)}")
        demand(form["password"] == f"secret-{form['username']}", "the password of the row")
        code = f"{secrets.token_urlsafe(8)}.{secrets.token_urlsafe(8)}"
        CODES[code] = form["username"]
        state = quote(str(asked.session["state"]), safe="")
        return Answer(
            status=302, Location=f"https://app.example/callback?state={state}&session_state=s&code={quote(code)}"
        )
    if step == "/protocol/openid-connect/token":
        form = asked.form()
        demand(form.get("grant_type") == "authorization_code" and form.get("client_id") == "web", f"form {form}")
        user = CODES.pop(form.get("code", ""), None)
        demand(user, "the code of the redirection, once")
        return Answer({"access_token": f"token of {user}", "expires_in": 60})
    demand(step == "/protocol/openid-connect/userinfo", f"there is no page {step}")
    user = asked.headers.get("authorization", "").removeprefix("Bearer token of ")
    demand(user in CODES.values() or user.startswith("user"), "the access token")
    return Answer({"preferred_username": user})


# A REST service: create, read, change, delete, read.
def notes(asked: Asked) -> Answer:
    if asked.method == "POST":
        demand(asked.path == "/api/notes", "notes are created at /api/notes")
        number = next(NUMBERS)
        NOTES[number] = {"id": number, **asked.json()}
        return Answer(NOTES[number], 201, Location=f"/api/notes/{number}")
    number = int(asked.path.rpartition("/")[2])
    if asked.method == "PUT":
        demand(NOTES[number]["title"] != asked.json()["title"], "a title that is another")
        NOTES[number] |= asked.json()
    if asked.method == "DELETE":
        return Answer(status=204) if NOTES.pop(number, None) else Answer(status=404)
    return Answer(NOTES[number]) if number in NOTES else Answer({"error": "no such note"}, 404)


# A cart whose users and products are rows of files.
def cart(asked: Asked) -> Answer:
    page = asked.path.removeprefix("/cart/")
    if page == "login":
        form = asked.form()
        demand(form["password"] == f"pw of {form['name']} & co", f"the password of {form['name']}")
        asked.session |= {"name": form["name"], "items": {}, "csrf": secrets.token_hex(6)}
        return Answer({"ok": True}, Set_Cookie=f"CSRF={asked.session['csrf']}; Path=/cart")
    demand(asked.session.get("name"), "nobody is logged in")
    items: dict[str, int] = asked.session["items"]  # type: ignore[assignment]
    if page.startswith("items/"):
        demand(asked.headers.get("x-csrf") == asked.session["csrf"], "the token of the cookie CSRF")
        sku = unquote(page.removeprefix("items/"))
        demand(re.fullmatch(r"[A-Z]+ \d+/\d", sku), f"no product {sku!r}")
        items[sku] = items.get(sku, 0) + int(str(asked.json()["quantity"]))
        return Answer({"skus": list(items)}, 201)
    if page == "price":
        demand(asked.query["sku"] in items, f"{asked.query['sku']!r} is not in the cart")
        return Answer({"price": 2.5})
    demand(page == "checkout" and asked.method == "POST", f"there is no page {page}")
    asked.session.clear()
    return Answer({"items": sum(items.values())})


# A job that takes its time.
def jobs(asked: Asked) -> Answer:
    if asked.method == "POST":
        demand(asked.json()["kind"] == "report", "the kind of the job")
        name = secrets.token_hex(6)
        JOBS[name] = 0
        return Answer({"state": "queued"}, 202, Location=f"/jobs/{name}")
    name, _, result = asked.path.removeprefix("/jobs/").partition("/")
    demand(name in JOBS, "no such job")
    if result:
        demand(JOBS[name] > POLLS, "its result is not there yet")
        return Answer({"rows": 3})
    JOBS[name] += 1
    return Answer({"state": "running" if JOBS[name] <= POLLS else "done", "result": f"{name}/result"})


# A form with a file.
def files(asked: Asked) -> Answer:
    if asked.path == "/files/form":
        asked.session["csrf"] = secrets.token_hex(8)
        return Answer(
            "<form method='post' enctype='multipart/form-data' action='/files?from=form'>"
            f"<input type='hidden' name='_csrf' value='{asked.session['csrf']}'><input name='title'>"
            "<input type='file' name='upload'></form>"
        )
    if asked.method == "POST":
        parts = multipart(asked)
        demand(asked.query == {"from": "form"}, "the query of the form's action")
        demand(parts["_csrf"][1].decode() == asked.session.pop("csrf", None), "the hidden field _csrf, once")
        filename, content = parts["upload"]
        demand(filename == "leaf.png" and content.startswith(b"\x89PNG\r\n\x1a\n"), "the file as it is")
        name = secrets.token_hex(6)
        FILES[name] = (len(content), hashlib.sha256(content).hexdigest())
        return Answer(status=303, Location=f"files/{name}")
    size, digest = FILES[asked.path.removeprefix("/files/")]
    return Answer({"size": size, "sha256": digest})


def multipart(asked: Asked) -> dict[str, tuple[str | None, bytes]]:
    """Parts of a body: name -> name of the file, and content (RFC 7578)."""
    match = re.fullmatch(r"multipart/form-data;\s*boundary=\"?([^\";]+)\"?.*", asked.headers["content-type"])
    demand(match, "a multipart body")
    assert match is not None
    parts: dict[str, tuple[str | None, bytes]] = {}
    for part in asked.body.split(b"--" + match[1].encode())[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'[^e]name="([^"]*)"', head)
        filename = re.search(rb'filename="([^"]*)"', head)
        assert name is not None
        parts[name[1].decode()] = (filename[1].decode() if filename else None, content.removesuffix(b"\r\n"))
    return parts


PLANS: dict[str, Callable[[Asked], Answer]] = {
    SHOP: shop,
    REALM: realm,
    "/api/notes": notes,
    "/cart/": cart,
    "/jobs": jobs,
    "/files": files,
}


class Handler(BaseHTTPRequestHandler):
    """Finds the session and the plan."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        cookies = SimpleCookie(headers.get("cookie", ""))
        known = cookies["SESSION"].value if "SESSION" in cookies else ""
        with LOCK:
            answer, name = self._answer(headers, body, known)
        content = answer.body.encode()
        self.send_response(answer.status)
        for header, value in answer.headers.items():
            self.send_header(header, value)
        if name != known:
            self.send_header("Set-Cookie", f"SESSION={name}; Path=/; HttpOnly")
        self.send_header("Content-Type", answer.kind)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if answer.status != 204:
            self.wfile.write(content)

    def _answer(self, headers: dict[str, str], body: bytes, known: str) -> tuple[Answer, str]:
        name = known if known in SESSIONS else secrets.token_hex(8)
        asked = Asked(self.command, self.path, headers, body, SESSIONS.setdefault(name, {}))
        try:
            plan = next((serve for path, serve in PLANS.items() if asked.path.startswith(path)), None)
            if plan is not None:
                return plan(asked), name
            return (Answer("up") if asked.path == "/" else Answer("no such page", 404)), name
        except Wrong as wrong:
            return Answer(f"wrong: {wrong}", 400), name
        except (KeyError, ValueError, TypeError) as error:
            return Answer(f"wrong: {error!r}", 400), name

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def log_message(self, *_: object) -> None:
        """Nothing is written down."""


class Server(ThreadingHTTPServer):
    """Takes as many connections at once as injectors have users."""

    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9080)
    given = parser.parse_args()
    Server((given.host, given.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
