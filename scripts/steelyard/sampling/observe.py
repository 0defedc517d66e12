# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard.sampling.observe`: samples a component from a container beside it, in one pod.

The two share their process ids and their user, and nothing else is needed: no privilege, nothing of the node. Rows of
the sampler, and what an injector says of itself each second, go to a file. The harness asks for them, and for all else,
by HTTP (port `PORT`), any number of times. Each path begins with the session's secret, `/TOKEN`, since whoever runs in
the cluster may reach a pod: any other request is refused.

    GET /rows/OFFSET     the rows from that byte on, and those to come, until the last
    POST /look           read everything in the next sample
    POST /last           sample a last time; answered when that is done
    POST /clock          nothing
    POST /files/NAME     write a file of the component (`start`, `stop`)
    GET /files           the component's files, a tar archive
    GET /began, /smaps   when its first process began, epoch seconds; the kernel's map of its largest one

An answer's header `Time` is this machine's clock while it was asked, `Observer` when this observer began. After the
last sample it stays, so that files can be fetched, until it is killed. The environment holds its settings (`SETTINGS`,
a JSON object): `token`; fields of `Watched` that are the same in every pod of a kind; `folder`, `work` and `port` where
those are not `FOLDER`, `WORK` and `PORT`; `marker` where the value of `MARKER` matters, as without process ids of its
own.
"""

import hmac
import io
import json
import os
import re
import socket
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from steelyard.errors import Exit
from steelyard.process_tree import environment
from steelyard.regular import read_bytes
from steelyard.sampling.config import MARKER, NAME, PORT, SETTINGS
from steelyard.sampling.output import Stream
from steelyard.sampling.procfs import CLOCK_TICKS, parse_stat
from steelyard.sampling.sampler import Sampler

FOLDER = Path("/observed")
"""Where the component's files lie, here; an injector's word to begin is written there."""
WORK = Path("/tmp")
"""Where its own files lie, the rows among them."""
_INTERVAL = 0.25
"""Seconds between looks for the component and its files."""
_WAIT = 1.0
_HEALTH, _READY = "health.jsonl", "ready"


def marked_processes(value: str = "") -> list[tuple[int, int, str]]:
    """Processes that bear the marker: start (clock ticks since boot), id, the entry of its environment. The oldest is
    the first: others are what it started, or what was started beside it later."""
    processes = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208 - names as text
        entries = [
            entry for entry in environment(pid) or () if entry.startswith(f"{MARKER}={value}".encode())
        ]
        try:
            start = parse_stat(Path(f"/proc/{pid}/stat").read_bytes()).start
        except (OSError, ValueError):  # gone
            continue
        if pid != os.getpid() and entries:
            processes.append((start, pid, entries[0].decode(errors="surrogateescape")))
    return sorted(processes)


def began(value: str = "") -> str:
    """When the first process with the marker began, epoch seconds; empty: there is none."""
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return "".join(f"{booted + start / CLOCK_TICKS:.3f}" for start, *_ in marked_processes(value)[:1])


def largest_map(value: str = "") -> str:
    """The kernel's map of the largest process with the marker; empty: there is none."""
    sizes = []
    for _, pid, _ in marked_processes(value):
        with suppress(OSError):  # gone
            sizes.append((int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]), pid))
    with suppress(OSError, ValueError):
        return Path(f"/proc/{max(sizes)[1]}/smaps").read_text(encoding="utf-8", errors="replace")
    return ""


class PodObserver:
    """What runs beside the sampler: finds the component, does as it is asked, follows the files of an injector."""

    # `settings` is JSON of the pod's environment.
    def __init__(self, settings: Mapping[str, Any], waker: int) -> None:
        self._settings = dict(settings)
        self.token = str(self._settings.pop("token"))
        self.folder = Path(self._settings.pop("folder", FOLDER))
        self.marker = self._settings.pop("marker", "")
        self._port = self._settings.pop("port", PORT)
        self._work = Path(self._settings.pop("work", WORK))
        self.config = self._work / "sampler.json"
        self.rows = self._work / "rows"
        self.stream = Stream(os.open(self.rows, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC))
        self.began = f"{time.time():.6f}"
        self.has_ended = threading.Event()
        """Set when all rows are written."""
        self._waker = waker
        self._main: tuple[int, str] | None = None
        """The component's main process, and its mark."""
        self._health_read = 0
        self._injects = settings["role"] == "injector"
        self._ready = False
        self._lock = threading.Lock()
        self.write_config()

    def serve(self) -> None:
        """Answer from now on, in threads."""
        dual = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if dual else socket.AF_INET
        listener = socket.create_server(("", self._port), family=family, dualstack_ipv6=dual)
        handler = type("Handler", (_Handler,), {"observer": self})
        server = ThreadingHTTPServer(("", 0), handler, bind_and_activate=False)
        server.socket = listener
        if self._port == 0:
            _write(self._work / "port", str(listener.getsockname()[1]))
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def follow_files(self, sampled: threading.Event) -> None:
        """Look for the component until it is there, and for what an injector has written, until the last sample."""
        while (self._injects or self._main is None) and not sampled.wait(_INTERVAL):
            self.look_at_files()

    def look_at_files(self) -> None:
        """Look for the component until it is there, and for what an injector has written."""
        if self._main is None and (marked := marked_processes(self.marker)):
            self._main = marked[0][1:]
            self.write_config()
        if self._injects and not self._ready and (self.folder / _READY).exists():
            self._ready = True
            self.stream.write("file", _READY)
        if self._injects:
            self._follow_health()

    def _follow_health(self) -> None:
        try:
            with (self.folder / _HEALTH).open("rb") as file:
                file.seek(self._health_read)
                rows, end, _ = file.read().rpartition(b"\n")
        except OSError:
            return
        self._health_read += len(rows + end)
        for line in rows.decode(errors="replace").splitlines():
            self.stream.write("health", line)

    def sample_last(self) -> None:
        """Have the sampler sample a last time, and wait for that."""
        os.write(self._waker, b".")
        self.has_ended.wait()

    def pack_files(self, file: IO[bytes]) -> None:
        """The component's folders and regular files, as they are at this moment; what goes meanwhile is not in it.

        Links and pipes are left out, since the harness refuses an archive that holds any. A file of several names is
        there under each with its content: the entry that tarfile would make of the second says only where the first is.
        """
        with tarfile.open(fileobj=file, mode="w") as archive:
            for path in sorted(self.folder.rglob("*")):
                try:
                    member = archive.gettarinfo(path, str(path.relative_to(self.folder)))
                    if member is None or not (member.isdir() or member.isreg() or member.islnk()):
                        continue
                    content = b"" if member.isdir() else read_bytes(path)
                except OSError:
                    continue
                if not member.isdir():
                    member.type, member.linkname, member.size = tarfile.REGTYPE, "", len(content)
                archive.addfile(member, io.BytesIO(content))

    def write_config(self) -> None:
        """Have the sampler read everything in its next sample."""
        with self._lock:
            entries = []
            if self._main is not None:
                entries = [{**self._settings, "name": NAME, "pid": self._main[0], "mark": self._main[1]}]
            config = {"output": "-", "interval": 1.0, "parent": os.getppid(), "processes": entries}
            _write(self.config, json.dumps(config))


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    observer: PodObserver
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Tell rows, files, or what the kernel knows of the component."""
        self._time = time.time()
        observer, path = self.observer, self._asked_path()
        if match := re.fullmatch(r"/rows/(\d+)", path):
            self._send_rows(int(match[1]))
        elif path == "/files":
            with tempfile.TemporaryFile(dir=observer.rows.parent) as file:
                observer.pack_files(file)
                self._begin(HTTPStatus.OK, file.tell())
                file.seek(0)
                while data := file.read(1 << 20):
                    self.wfile.write(data)
        elif path == "/began":
            self._answer(began(observer.marker).encode())
        elif path == "/smaps":
            self._answer(largest_map(observer.marker).encode())
        else:
            self._answer(b"", HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Do as the path says."""
        self._time = time.time()
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self._asked_path()
        if path == "/look":
            self.observer.write_config()
        elif path == "/last":
            self.observer.sample_last()
        elif match := re.fullmatch(r"/files/([a-z]+)", path):
            _write(self.observer.folder / match[1], content.decode())
        elif path != "/clock":
            self._answer(b"", HTTPStatus.NOT_FOUND)
            return
        self._answer(b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the library's
        """Requests are no news."""

    def _asked_path(self) -> str:
        """The path after the token; empty, which is no path: without the token."""
        token, _, path = self.path.removeprefix("/").partition("/")
        return f"/{path}" if hmac.compare_digest(token.encode(), self.observer.token.encode()) else ""

    def _send_rows(self, offset: int) -> None:
        """From an offset on, as they come."""
        self._begin(HTTPStatus.OK, None)
        with self.observer.rows.open("rb") as file:
            file.seek(offset)
            while True:
                is_last = self.observer.has_ended.is_set()
                if data := file.read():
                    self.wfile.write(data)
                elif is_last:
                    return
                else:
                    self.observer.stream.wait_beyond(file.tell(), _WAIT)

    def _answer(self, content: bytes, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._begin(status, len(content))
        self.wfile.write(content)

    def _begin(self, status: HTTPStatus, length: int | None) -> None:
        self.send_response(status)
        self.send_header("Time", f"{self._time:.6f}")
        self.send_header("Observer", self.observer.began)
        # Without a length the answer ends with its connection.
        self.send_header(*(("Connection", "close") if length is None else ("Content-Length", str(length))))
        self.end_headers()


def _write(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def main() -> int:
    """Observe until the last sample, then wait to be killed."""
    wake, waker = os.pipe()
    try:
        observer = PodObserver(json.loads(os.environ[SETTINGS]), waker)
        observer.serve()
    except (KeyError, ValueError, OSError) as error:
        sys.stderr.write(
            f"observer: cannot start: {SETTINGS}, a folder or its port is not as it should be: {error!r}\n"
        )
        return Exit.BAD_INPUT
    sampled = threading.Event()
    follower = threading.Thread(target=observer.follow_files, args=[sampled], daemon=True)
    sampler = Sampler(observer.config, wake, observer.stream)
    follower.start()
    sampler.run()
    # What an injector wrote last is told before the end.
    sampled.set()
    follower.join()
    observer.look_at_files()
    observer.stream.write("end", f"{time.time():.4f}")
    observer.has_ended.set()
    threading.Event().wait()
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
