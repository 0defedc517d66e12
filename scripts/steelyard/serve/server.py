# SPDX-License-Identifier: Apache-2.0
"""HTTP on loopback: GET and HEAD alone, of whoever names this machine by its own name.

A page elsewhere could give its own name the address 127.0.0.1 and have the browser ask here (DNS rebinding): its
requests still carry that name in `Host`, and are refused.
"""

import re
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from steelyard.errors import PortInUse, report_crash
from steelyard.paths import CACHE
from steelyard.serve.pages import problem_page
from steelyard.serve.site import Answer, Site

LOOPBACK = "127.0.0.1"
_LOCAL = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Serves a site until it is shut down."""

    daemon_threads = True

    def __init__(self, site: Site, port: int, crashes: Path = CACHE / "crashes") -> None:
        """`port`: 0 takes a free one. `crashes`: where the traceback of a defect is kept.

        Raises:
            PortInUse: somebody else listens there.
        """
        self.site = site
        self.crashes = crashes
        try:
            super().__init__((LOOPBACK, port), _PageHandler)
        except OSError as error:
            raise PortInUse(f"port {port} is taken ({error.strerror}): choose another --port") from error

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that has gone away is nothing to speak of."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _PageHandler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "steelyard"
    sys_version = ""
    timeout = 30  # seconds that a client may say nothing

    def do_GET(self) -> None:  # the name that the library asks for
        """Answer."""
        self._send(self._answer())

    do_HEAD = do_GET  # noqa: N815 - the same

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nothing: the terminal belongs to whoever started it."""

    def _answer(self) -> Answer:
        if not is_local(self.headers.get_all("Host", [])):
            sentence = "This server answers requests to localhost alone."
            return Answer(problem_page("Another host", sentence).encode(), HTTPStatus.MISDIRECTED_REQUEST)
        try:
            parts = urlsplit(self.path)
            return self.server.site.answer(parts.path, parse_qs(parts.query, max_num_fields=50))
        except ValueError:
            page = problem_page("Nothing is here", "This is no address.")
            return Answer(page.encode(), HTTPStatus.BAD_REQUEST)
        except Exception as error:
            crash = report_crash(error, self.server.crashes)
            return Answer(problem_page("A defect", str(crash)).encode(), HTTPStatus.INTERNAL_SERVER_ERROR)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        headers = {
            **_HEADERS,
            "Content-Type": answer.media,
            "Content-Length": str(len(answer.body)),
            "Content-Security-Policy": answer.policy,
            **answer.more,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


def is_local(hosts: list[str]) -> bool:
    """Whether a request names this machine, once, as `Host`."""
    return len(hosts) == 1 and _LOCAL.fullmatch(hosts[0]) is not None
