# SPDX-License-Identifier: Apache-2.0
"""The API server through one `kubectl proxy` on a private Unix socket: kubectl knows every way in which a user may be
known to a cluster (certificates, tokens, plugins, the account of a pod), and no process is started for a request, which
would take CPU from what is measured.

`kubectl port-forward` would not do: it ends at the first connection that a pod refuses, as a starting server does. The
proxy outlives an API server that is away, and no other user of this host can use it.
"""

import atexit
import contextlib
import http.client
import json
import re
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from steelyard.clock import Deadline
from steelyard.errors import ServerFailed
from steelyard.processes import Child, Children, defer_signals
from steelyard.processes.reasons import reason

Object = Mapping[str, Any]  # its schema is Kubernetes' own
"""An object as the API server has it."""
PROXY_LIMIT = 30.0
ANSWER_LIMIT = 60.0
AWAY_LIMIT = 60.0
"""Seconds that an API server may be away: it is waited for so long, and then the trial is void."""
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
_ROUND = 30
"""Seconds after which a watch is begun anew with a list: an API server that hangs is found out."""
_AGAIN = 0.5
_POLL = 0.02


class ApiError(ServerFailed):
    """A request was refused, or nobody answered; `reason` is that of the API server's own `Status` (`AlreadyExists`,
    `Conflict`, `NotFound`; Kubernetes API conventions, Response Status Kind)."""

    def __init__(self, request: str, code: int, reason: str, message: str) -> None:
        super().__init__(f"{request}: {message}")
        self.code, self.reason, self.message = code, reason, message

    @property
    def unreachable(self) -> bool:
        """Whether the API server is away or cannot answer at the moment, rather than says no."""
        return self.code == http.HTTPStatus.TOO_MANY_REQUESTS or self.code >= 500


def _no_answer(request: str, why: str, code: int = http.HTTPStatus.BAD_GATEWAY) -> ApiError:
    return ApiError(request, code, "", f"the API server does not answer ({why})")


class _Connection(http.client.HTTPConnection):
    """HTTP over the proxy's socket."""

    def __init__(self, proxy: "Proxy", timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._proxy = proxy

    def connect(self) -> None:
        path = self._proxy.start()
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(path)


class Proxy:
    """A `kubectl proxy`: started when it is first needed, and again when it has ended by itself. Thread-safe."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = [*command, "proxy"]
        self._children = Children()
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._folder = Path()
        self._closed = False

    def start(self) -> str:
        """The path of its socket, once it accepts connections (raises OSError: it does not)."""
        with self._lock:
            if self._closed:
                raise ConnectionError("it was closed")
            if self._child is None:
                # The path of a socket is short, and that of a trial need not be.
                self._folder = Path(tempfile.mkdtemp(prefix="steelyard-"))
                atexit.register(self.close)
            path = self._folder / "api"
            if self._child is None or self._child.exit_code() is not None:
                path.unlink(missing_ok=True)
                command = [*self._command, f"--unix-socket={path}"]
                log = self._folder / "proxy.log"
                try:
                    self._child = self._children.spawn(
                        "kubectl-proxy", command, console=log, cwd=self._folder
                    )
                except ServerFailed as error:
                    raise ConnectionError(str(error)) from error
                self._wait(self._child, path)
            return str(path)

    def connection(self, timeout: float) -> http.client.HTTPConnection:
        """A connection to the API server, with the user's rights; `timeout` in seconds without a byte."""
        return _Connection(self, timeout)

    def request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        content: str = "application/json",
        timeout: float = ANSWER_LIMIT,
        patient: bool = True,
    ) -> bytes:
        """What the API server answers. An interrupt waits for the answer to what makes, changes or removes something:
        what is cleaned up then holds all that was made.

        Args:
            method: of HTTP.
            path: with its query.
            body: an object.
            content: type of the body.
            timeout: seconds, for each attempt.
            patient: whether an API server that is away is waited for, `AWAY_LIMIT` seconds long. Not for what must not
                be done twice.

        Raises:
            ApiError: it was refused, or nobody answered.
        """
        deadline = Deadline(AWAY_LIMIT if patient else 0.0)
        while True:
            try:
                with contextlib.nullcontext() if method == "GET" else defer_signals():
                    return self._exchange(method, path, body, content, timeout)
            except ApiError as error:
                if not error.unreachable or deadline.is_over:
                    raise
            deadline.sleep(_AGAIN)

    def close(self) -> None:
        """End it for good. Safe to repeat."""
        with self._lock:
            self._closed = True
            if self._child is not None:
                self._children.__exit__()
                self._child = None
                shutil.rmtree(self._folder, ignore_errors=True)

    def _exchange(self, method: str, path: str, body: Object | None, content: str, timeout: float) -> bytes:
        request = f"{method} {path}"
        with contextlib.closing(self.connection(timeout)) as connection:
            try:
                data = json.dumps(body) if body is not None else None
                connection.request(method, path, data, {"Content-Type": content} if data else {})
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                raise _no_answer(request, str(error)) from error
        if response.status < 400:
            return answer
        try:
            status = json.loads(answer)
            raise ApiError(request, response.status, status.get("reason", ""), str(status["message"]))
        except (ValueError, KeyError, TypeError, AttributeError):  # not the API server's own words
            # kubectl says in its log why it does not reach one.
            log = self._child.last_lines(1) if self._child is not None else ""
            why = re.sub(r"^[EWI]\d{4} .*?\] (http: proxy error: )?", "", log)
            raise _no_answer(request, why or response.reason, response.status) from None

    def _wait(self, child: Child, path: Path) -> None:
        deadline = Deadline(PROXY_LIMIT)
        while True:
            with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
                if probe.connect_ex(str(path)) == 0:
                    return
            if child.exit_code() is not None or deadline.is_over:
                raise ConnectionError(
                    f"kubectl proxy does not serve: {reason(child.read_output()) or 'it says nothing'}"
                )
            deadline.sleep(_POLL)


class PodWatch:
    """What the API server says of the pods that have a label, as soon as it says it; a thread of its own."""

    def __init__(self, proxy: Proxy, pods: str, selector: str) -> None:
        self._proxy = proxy
        self._path = f"{pods}?{urlencode({'labelSelector': selector})}"
        self._pods: dict[str, Object] = {}
        self._last: dict[str, Object] = {}
        self._changed = threading.Condition()
        self._last_reply: float | None = time.monotonic()
        """When the last answer came, monotonic; None while a watch is open."""
        self._closed = threading.Event()
        threading.Thread(target=self._follow, daemon=True).start()

    def close(self) -> None:
        """End; its thread ends with the next answer."""
        self._closed.set()

    @property
    def pods(self) -> Mapping[str, Object]:
        """Those that are there now, by their names."""
        with self._changed:
            return dict(self._pods)

    @property
    def last(self) -> Mapping[str, Object]:
        """What was last said of every pod that ever was there, by their uids: another one may get the name."""
        with self._changed:
            return dict(self._last)

    def seconds_since_reply(self) -> float:
        """Seconds since the API server has stopped to answer; 0 while it does."""
        last = self._last_reply
        return 0.0 if last is None else time.monotonic() - last

    def wait(self, timeout: float) -> None:
        """Wait until something has changed."""
        with self._changed:
            self._changed.wait(timeout)

    def _follow(self) -> None:
        while not self._closed.is_set():
            began = time.monotonic()
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError, KeyError, ApiError):
                self._list_and_watch()
            self._last_reply = self._last_reply or time.monotonic()
            # Whatever ended it: one that lists and refuses watches would be asked hundreds of times a second.
            self._closed.wait(began + _AGAIN - time.monotonic())

    def _list_and_watch(self) -> None:
        """List, then follow what changes for a while."""
        pods = json.loads(self._proxy.request("GET", self._path, timeout=_ROUND, patient=False))
        with self._changed:
            self._pods = {pod["metadata"]["name"]: pod for pod in pods["items"]}
            self._last |= {pod["metadata"]["uid"]: pod for pod in pods["items"]}
            self._changed.notify_all()
        version = pods["metadata"]["resourceVersion"]
        with contextlib.closing(self._proxy.connection(_ROUND + 15.0)) as connection:
            self._last_reply = None
            connection.request(
                "GET", f"{self._path}&watch=true&timeoutSeconds={_ROUND}&resourceVersion={quote(version)}"
            )
            for line in connection.getresponse():
                if self._closed.is_set() or not self._take(json.loads(line)):
                    break

    def _take(self, event: Object) -> bool:
        """Take in a change; False for an error, after which all is listed again."""
        if event["type"] == "ERROR":
            return False
        pod = event["object"]
        name = pod["metadata"]["name"]
        with self._changed:
            self._last[pod["metadata"]["uid"]] = pod
            if event["type"] == "DELETED":
                self._pods.pop(name, None)
            else:
                self._pods[name] = pod
            self._changed.notify_all()
        return True
