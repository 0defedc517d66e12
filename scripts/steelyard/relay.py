# SPDX-License-Identifier: Apache-2.0
"""A relay that lets TCP connections through with a delay, and measures what it really added.

    python3 relay.py LISTEN TO_HOST TO_PORT SECONDS STATUS

It stands for a longer way between two components of one host: every piece of data leaves SECONDS after it came, in each
direction, and the order and the bytes stay. It holds as much as comes, so it adds latency and takes no throughput. What
it added, from the arrival of each piece to the moment at which it was handed on, is told in Prometheus' text format at
`/metrics` of port STATUS: its own work and the waits of its threads for a CPU are in it, the kernel's work is not.

It imports nothing of the suite: a copy of this file is all that a trial needs to be repeated.
"""

import ctypes
import http.server
import math
import os
import resource
import socket
import sys
import threading
import time
from collections import Counter, deque

_TIMER_SLACK = 29
"""PR_SET_TIMERSLACK of Linux: how late a wait may end, in nanoseconds; 50,000 unless it is set."""
_STEP = math.log(1.01)
"""Width of a bucket of delays: 1 %."""
_CHUNK = 1 << 16
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Watched(ctypes.Structure):
    """`struct pollfd` of Linux."""

    _fields_ = (("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short))


class _Time(ctypes.Structure):
    """`struct timespec` of Linux."""

    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def has_data(source: socket.socket, seconds: float | None) -> bool:
    """Wait until there is something to read, or its end; at most so many seconds. False: there is nothing.

    By ppoll: select knows no descriptor from 1,024 on, and Python's poll and epoll wait for whole milliseconds.

    Raises:
        OSError: it is closed, or cannot be waited for.
    """
    if source.fileno() < 0:
        raise OSError("it is closed")
    watched = _Watched(source.fileno(), 1, 0)  # POLLIN
    limit = None
    if seconds is not None:
        limit = ctypes.byref(_Time(int(seconds), int(seconds % 1 * 1e9)))
    ready = _LIBC.ppoll(ctypes.byref(watched), 1, limit, None)
    if ready < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return bool(ready)


class Delays:
    """How long pieces of data were held, as a histogram."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        """Take in one."""
        with self._lock:
            self._buckets[math.ceil(math.log(max(seconds, 1e-7)) / _STEP)] += 1

    def quantile(self, share: float) -> float:
        """Seconds that a share of all was held at most, to 1 %; 0 before the first."""
        with self._lock:
            buckets = sorted(self._buckets.items())
        wanted = share * sum(count for _, count in buckets)
        for bucket, count in buckets:
            wanted -= count
            if wanted <= 0:
                return math.exp(bucket * _STEP)
        return 0.0

    def to_prometheus(self) -> str:
        """In Prometheus' text format."""
        shown = (f'relay_delay_seconds{{quantile="{q}"}} {self.quantile(q):.9f}\n' for q in (0.5, 0.9, 0.99))
        return "# TYPE relay_delay_seconds summary\n" + "".join(shown)


def pass_on(source: socket.socket, sink: socket.socket, delay: float, delays: Delays) -> None:
    """Hand on what comes from one socket to the other until it ends, each piece after the delay (seconds)."""
    held: deque[tuple[float, bytes]] = deque()
    open_ = True
    try:
        while open_ or held:
            left = max(0.0, held[0][0] + delay - time.perf_counter()) if held else None
            if not open_:
                time.sleep(left or 0.0)
            elif has_data(source, left):
                data = source.recv(_CHUNK)
                open_ = bool(data)
                if data:
                    held.append((time.perf_counter(), data))
            while held and held[0][0] + delay <= time.perf_counter():
                came, data = held.popleft()
                sink.sendall(data)
                delays.add(time.perf_counter() - came)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):
            end.close()


def serve(listener: socket.socket, to: tuple[str, int], delay: float, delays: Delays) -> None:
    """Take connections for ever; one whose other end does not answer is closed."""
    while True:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(to)
        except OSError:
            near.close()
            continue
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for ends in ((near, far), (far, near)):
            threading.Thread(target=pass_on, args=(*ends, delay, delays), daemon=True).start()


def main(listen: str, host: str, port: str, seconds: str, status: str) -> None:
    """Relay until the process is ended."""
    # Threads have the slack of the one that starts them.
    _LIBC.prctl(_TIMER_SLACK, 1, 0, 0, 0)
    # Each connection has two.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.setswitchinterval(0.0001)
    delays = Delays()

    class Status(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Tell the delays."""
            body = delays.to_prometheus().encode()
            self.send_response(200 if self.path == "/metrics" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    listener = socket.create_server(("127.0.0.1", int(listen)), backlog=128)
    threading.Thread(
        target=serve, args=(listener, (host, int(port)), float(seconds), delays), daemon=True
    ).start()
    http.server.ThreadingHTTPServer(("127.0.0.1", int(status)), Status).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
