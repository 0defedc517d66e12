# SPDX-License-Identifier: Apache-2.0
"""A process to be sampled: named threads that burn CPU, memory, and counters over HTTP. Prints its port, then serves.

GET /metrics in Prometheus' text format; GET /bench/counters as servers answer it, with the connections as errors;
GET /kept the same, and the connection is kept; GET /lost promises that and closes it; GET /silent never answers; GET
/stop ends the process.
"""

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BURN = 0.4
MEMORY = bytearray(os.urandom(1 << 20) * 64)
ASKED = threading.Condition()
"""Told of every question."""


def burn(comm: str, seconds: float, stay: bool) -> None:
    """Use CPU for so many CPU seconds under a name, then sleep, or end once the counters were read a few times more: a
    sampler that starts late, or passes over a thread that stood still, has seen it by then."""
    Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(comm, encoding="ascii")
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1000))
    if stay:
        threading.Event().wait()
    with ASKED:
        enough = Handler.asked + 6
        ASKED.wait_for(lambda: Handler.asked >= enough)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0
    connections = 0

    def setup(self) -> None:
        super().setup()
        Handler.connections += 1

    def do_GET(self) -> None:
        if self.path == "/silent":
            threading.Event().wait()
        if self.path == "/metrics":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"# TYPE busy_threads gauge\nbusy_threads 7.000000\n")
            self.close_connection = True
            return
        if self.path == "/stop":
            os._exit(3)
        with ASKED:
            Handler.asked += 1
            ASKED.notify_all()
        figures = {
            "requests": 10 * Handler.asked,
            "errors": Handler.connections,
            "serviceTimeNanos": 5_000_000,
        }
        body = json.dumps({"epochMillis": int(time.time() * 1000), "operations": {"ping": figures}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.path in ("/kept", "/lost"):
            self.send_header("Connection", "keep-alive")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.path != "/kept"

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    for name, stays in (("Default Executo", False), ("GC Thread#0", True)):
        threading.Thread(target=burn, args=(name, BURN, stays), daemon=True).start()
    os.write(1, f"{server.server_address[1]}\n".encode())
    server.serve_forever()
