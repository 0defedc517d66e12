# SPDX-License-Identifier: Apache-2.0
"""The API server through one `kubectl proxy` on a private Unix socket: pods are watched and asked without starting a
process for it, which would take CPU from what is measured.

`kubectl port-forward` would not do: it ends at the first connection that a pod refuses, as a starting server does. The
proxy outlives an API server that is away, and no other user of this host can use it.
"""

import contextlib
import http.client
import json
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from steelyard.clock import Deadline
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.errors import ServerFailed
from steelyard.processes import Child, Children
from steelyard.processes.reasons import reason

PROXY_LIMIT = 30.0
_ROUND = 30
"""Seconds after which a watch is begun anew with a list: an API server that hangs is found out."""
_AGAIN = 0.5
_POLL = 0.02

Pods = Mapping[str, Mapping[str, Any]]
"""What the API server tells of pods, by their names."""


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Proxy:
    """A running `kubectl proxy`, for the pods of one namespace alone."""

    def __init__(self, cluster: Cluster, children: Children, logs: Path) -> None:
        self._cluster, self._children, self._logs = cluster, children, logs
        # The path of a socket is short, and that of a trial need not be.
        self._folder = Path(tempfile.mkdtemp(prefix="steelyard-"))
        self._socket = str(self._folder / "api")
        self._child: Child | None = None
        self.pods = f"/api/v1/namespaces/{quote(cluster.namespace)}/pods"

    def open(self) -> None:
        """Start it, and wait until it accepts connections.

        Raises:
            ServerFailed: it does not.
        """
        self._child = self._children.spawn(
            "kubectl-proxy",
            [
                *self._cluster.command,
                *("proxy", f"--unix-socket={self._socket}", f"--accept-paths=^{self.pods}"),
                "--reject-methods=^(POST|PUT|PATCH|DELETE)$",
            ],
            console=self._logs / "kubectl-proxy.log",
            cwd=self._folder,
        )
        deadline = Deadline(PROXY_LIMIT)
        while not self._accepts():
            if self._child.exit_code() is not None or deadline.passed:
                raise ServerFailed(
                    f"kubectl proxy does not serve: {reason(self._child.printed()) or 'it says nothing'}"
                )
            deadline.sleep(_POLL)

    def connection(self, timeout: float) -> http.client.HTTPConnection:
        """A connection to the API server, with the user's rights; paths of pods alone are let through."""
        return _Connection(self._socket, timeout)

    def path_to(self, pod: str, port: int) -> str:
        """What stands before a path of a pod's own HTTP server."""
        return f"{self.pods}/{quote(pod)}:{port}/proxy"

    def ended(self) -> str | None:
        """One sentence when it has ended, which nobody asked it to."""
        if self._child is None or self._child.exit_code() is None:
            return None
        return self._child.how_it_ended()

    def close(self) -> None:
        """End it."""
        if self._child is not None:
            self._children.stop([self._child], grace=2.0)
            self._child = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accepts(self) -> bool:
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as tried:
            return tried.connect_ex(self._socket) == 0


class PodWatch:
    """What the API server tells of the pods that bear a label, as soon as it tells it; a thread of its own."""

    def __init__(self, proxy: Proxy, selector: str) -> None:
        self._proxy = proxy
        self._query = f"{proxy.pods}?labelSelector={quote(selector)}"
        self._pods: dict[str, Mapping[str, Any]] = {}
        self._last: dict[str, Mapping[str, Any]] = {}
        self._changed = threading.Condition()
        self._heard: float | None = None
        """When the last answer came, monotonic; None while a watch is open."""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def open(self) -> None:
        """Begin; what there is comes soon."""
        self._heard = time.monotonic()
        self._thread.start()

    def close(self) -> None:
        """End; the proxy, whose connection it reads, has to be closed before."""
        self._ends.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    @property
    def pods(self) -> Pods:
        """Those that are there now."""
        with self._changed:
            return dict(self._pods)

    @property
    def last(self) -> Pods:
        """What was last told of every pod that ever was there, by their uids: another one may get the name."""
        with self._changed:
            return dict(self._last)

    def silence(self) -> float:
        """Seconds since the API server has stopped to answer; 0 while it does."""
        heard = self._heard
        return 0.0 if heard is None else time.monotonic() - heard

    def wait(self, timeout: float) -> None:
        """Wait until something has changed."""
        with self._changed:
            self._changed.wait(timeout)

    def _follow(self) -> None:
        while not self._ends.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError, KeyError):
                self._round()
            self._heard = self._heard or time.monotonic()
            self._ends.wait(_AGAIN if self.silence() > _AGAIN else 0.0)

    def _round(self) -> None:
        """List, then follow what changes for a while."""
        connection = self._proxy.connection(_ROUND + 15.0)
        with contextlib.closing(connection):
            version = self._list(connection)
            self._heard = None
            connection.request(
                "GET", f"{self._query}&watch=true&timeoutSeconds={_ROUND}&resourceVersion={version}"
            )
            for line in connection.getresponse():
                if not self._take(json.loads(line)):
                    break

    def _list(self, connection: http.client.HTTPConnection) -> str:
        connection.request("GET", self._query)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        if answer.status != http.client.OK:
            raise OSError(told.get("message", answer.status))
        with self._changed:
            self._pods = {pod["metadata"]["name"]: pod for pod in told["items"]}
            self._last |= {pod["metadata"]["uid"]: pod for pod in told["items"]}
            self._changed.notify_all()
        return str(told["metadata"]["resourceVersion"])

    def _take(self, event: Mapping[str, Any]) -> bool:
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
