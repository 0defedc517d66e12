# SPDX-License-Identifier: Apache-2.0
"""An API server of a cluster, in this process: keeps objects, lists and watches them, and answers as a real one does.

`refused` are sentences of Kubernetes 1.33, as recorded from one.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from steelyard.engines.kubernetes.api import Proxy
from steelyard.engines.kubernetes.cluster import Cluster

Json = dict[str, Any]
NAMESPACE = "/api/v1/namespaces/trials"
_PATH = re.compile(
    r"(?P<all>/api/v1|/apis/[^/]+/v1)(/namespaces/[^/]+)?/(?P<resource>[a-z]+)(/(?P<name>[^/]+))?(?P<more>/.*)?"
)
_SELECTOR = re.compile(r"(?P<not>!?)(?P<key>[^\s,=!]+)(?:=(?P<value>[^,]*)| in \((?P<values>[^)]*)\))?,?")


class FakeApi(Proxy):
    """The API server, and the way to it."""

    def __init__(self) -> None:
        super().__init__([])
        self.objects: dict[str, Json] = {}
        """By their paths."""
        self.answers: dict[str, tuple[int, str]] = {"GET /version": (200, '{"gitVersion": "v1.33.1"}')}
        """What is answered to requests that begin so (and on no other ground): a status, and a text."""
        self.asked: list[str] = []
        self._away = False
        self.denied: set[tuple[str, str]] = set()
        """Resource and verb."""
        self.after_list: list[Callable[[], object]] = []
        """What others do right after something was listed, one for each list."""
        self.changed = threading.Condition()
        self._version = 0
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    @property
    def away(self) -> bool:
        """Whether nobody answers."""
        return self._away

    @away.setter
    def away(self, away: bool) -> None:
        with self.changed:
            self._away = away
            self.changed.notify_all()

    def connection(self, timeout: float) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self._server.server_port, timeout)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def put(self, resource: str, thing: Json, path: str = NAMESPACE) -> Json:
        """Keep an object, in place of what has its name."""
        with self.changed:
            self._version += 1
            name = thing["metadata"]["name"]
            metadata = {"uid": f"uid-{name}", **thing["metadata"], "resourceVersion": str(self._version)}
            kept = self.objects[f"{path}/{resource}/{name}"] = {**thing, "metadata": metadata}
            self.changed.notify_all()
        return kept

    def remove(self, resource: str, *names: str) -> None:
        """Remove objects; without names all of them."""
        with self.changed:
            for path in list(self.objects):
                folder, _, name = path.rpartition("/")
                if folder.endswith(f"/{resource}") and (not names or name in names):
                    del self.objects[path]
            self.changed.notify_all()

    def asked_for(self, method: str) -> list[str]:
        """Last parts of the paths of all requests of a method."""
        return [line.partition("?")[0].rpartition("/")[2] for line in self.asked if line.startswith(method)]


class _Handler(BaseHTTPRequestHandler):
    api: FakeApi

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        query = {name: texts[0] for name, texts in parse_qs(asked.query).items()}
        if self._began():
            return
        if (found := _PATH.fullmatch(asked.path)) is None:
            self._refuse(404, "NotFound", "the server could not find the requested resource")
        elif "watch" in query:
            self._watch(asked.path, query)
        elif found["name"] is None:
            things = list(self._selected(asked.path, query))
            self._answer({"metadata": {"resourceVersion": str(self.api._version)}, "items": things})
            if self.api.after_list:
                self.api.after_list.pop(0)()
        elif (thing := self.api.objects.get(asked.path)) is not None:
            self._answer(thing)
        else:
            self._refuse_missing(found)

    def do_POST(self) -> None:
        thing, path = self._content(), self.path.partition("?")[0]
        if self._began():
            return
        if path.endswith("/selfsubjectaccessreviews"):
            right = thing["spec"]["resourceAttributes"]
            asked = right["resource"] + (f"/{right['subresource']}" if right["subresource"] else "")
            self._answer({"status": {"allowed": (asked, right["verb"]) not in self.api.denied}})
        elif f"{path}/{thing['metadata'].get('name')}" in self.api.objects:
            name = thing["metadata"]["name"]
            self._refuse(409, "AlreadyExists", f'{path.rpartition("/")[2]} "{name}" already exists')
        elif "dryRun" in self.path:
            self._answer(thing)
        else:
            self._answer(self._keep(path, thing), 201)

    def do_PATCH(self) -> None:
        change, path = self._content(), self.path.partition("?")[0]
        if self._began():
            return
        folder, _, name = path.rpartition("/")
        if "apply" in self.headers["Content-Type"]:
            self._answer(self._keep(folder, change), 201)
        elif path not in self.api.objects:
            found = _PATH.fullmatch(path)
            assert found
            self._refuse_missing(found)
        else:
            kept = self.api.objects[path]
            wanted = change["metadata"].get("resourceVersion")
            if wanted not in (None, kept["metadata"]["resourceVersion"]):
                self._refuse(
                    409,
                    "Conflict",
                    f'Operation cannot be fulfilled on configmaps "{name}": the object has been modified;'
                    " please apply your changes to the latest version and try again",
                )
            else:
                metadata = kept["metadata"] | change["metadata"]
                self._answer(self._keep(folder, {**kept, **change, "metadata": metadata}))

    def do_DELETE(self) -> None:
        self._content()
        if self._began():
            return
        found = _PATH.fullmatch(self.path)
        assert found
        if self.path in self.api.objects:
            self.api.remove(found["resource"], found["name"])
            self._answer({"kind": "Status", "status": "Success"})
        else:
            self._refuse_missing(found)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

    def _began(self) -> bool:
        """Take note of a request; whether it has had its answer."""
        line = f"{self.command} {unquote(self.path)}"
        self.api.asked.append(line)
        status, text = next(
            ((502, "") for _ in range(self.api.away)),
            next((answer for part, answer in self.api.answers.items() if line.startswith(part)), (0, "")),
        )
        if status:
            self._send(status, text)
        return bool(status)

    def _content(self) -> Json:
        thing: Json = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        return thing

    def _keep(self, folder: str, thing: Json) -> Json:
        space, _, resource = folder.rpartition("/")
        name = thing["metadata"].get("name") or thing["metadata"]["generateName"] + "x2k7p"
        return self.api.put(resource, {**thing, "metadata": {**thing["metadata"], "name": name}}, space)

    def _selected(self, path: str, query: Json) -> Iterator[Json]:
        for where, thing in list(self.api.objects.items()):
            if where.rpartition("/")[0] == path and _fits(thing, query):
                yield thing

    def _watch(self, path: str, query: Json) -> None:
        self.send_response(200)
        self.end_headers()
        known = {one["metadata"]["name"]: one for one in self._selected(path, query)}
        known = {name: one for name, one in known.items() if _version(one) <= int(query["resourceVersion"])}
        while not self.api.away:
            with self.api.changed:
                now = {one["metadata"]["name"]: one for one in self._selected(path, query)}
                events = [("MODIFIED", one) for name, one in now.items() if known.get(name) != one]
                events += [("DELETED", one) for name, one in known.items() if name not in now]
                known = now
                if not events and not self.api.away:
                    self.api.changed.wait()
            for what, one in events:
                self.wfile.write(json.dumps({"type": what, "object": one}).encode() + b"\n")

    def _refuse_missing(self, found: re.Match[str]) -> None:
        self._refuse(404, "NotFound", f'{found["resource"]} "{found["name"]}" not found')

    def _refuse(self, code: int, reason: str, message: str) -> None:
        self._send(code, refused(code, reason, message)[1])

    def _answer(self, thing: Json, status: int = 200) -> None:
        self._send(status, json.dumps(thing))

    def _send(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


def refused(code: int, reason: str, message: str) -> tuple[int, str]:
    """A status and the API server's words for it."""
    status = {"kind": "Status", "status": "Failure", "message": message, "reason": reason, "code": code}
    return code, json.dumps(status)


def _version(thing: Json) -> int:
    return int(thing["metadata"]["resourceVersion"])


def _fits(thing: Json, query: Json) -> bool:
    name = query.get("fieldSelector", "").partition("metadata.name=")[2]
    if name and thing["metadata"]["name"] != name:
        return False
    labels = thing["metadata"].get("labels", {})
    for part in _SELECTOR.finditer(query.get("labelSelector", "")):
        value, values = labels.get(part["key"]), part["values"] or part["value"]
        fits = value is not None and (not values or value in re.split(r",\s*", values))
        if fits == bool(part["not"]):
            return False
    return True


@contextmanager
def cluster(
    rendered: Iterable[Json] = (), folder: Path = Path("/nonexistent")
) -> Iterator[tuple[FakeApi, Cluster]]:
    """An API server and a namespace of its cluster; `rendered` is what every bundle has (a `kubectl` in the folder)."""
    client = folder / "kubectl"
    if rendered:
        (folder / "bundle.yaml").write_text(
            "\n---\n".join(json.dumps(thing) for thing in rendered), encoding="utf-8"
        )
        client.write_text(f"#!/bin/sh\nexec cat '{folder}/bundle.yaml'\n", encoding="utf-8")
        client.chmod(0o755)
    api = FakeApi()
    try:
        yield api, Cluster(client, "lab", api, "trials", "v1.33.1")
    finally:
        api.away = True
        api.close()
