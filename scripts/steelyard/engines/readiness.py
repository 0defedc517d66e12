# SPDX-License-Identifier: Apache-2.0
"""When a server has answered: HTTP polls that cost little beside a starting JVM."""

import errno
import html
import http.client
import json
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steelyard.results.spec import Component

POLL_INTERVAL = 0.02

_READY_MESSAGE = re.compile(r"^\[(\d+/\d+/\d+,? \d+:\d+:\d+:\d+) (\S+)\].*CWWKF0011I", re.MULTILINE)


def get(
    port: int, path: str, timeout: float, on_line: Callable[[str], None] | None = None
) -> tuple[int, bytes] | None:
    """One GET on loopback (see `ask`).

    Args:
        port: of this host.
        path: what is asked for.
        timeout: seconds without a word from the server.
        on_line: as `ask`.
    """
    return ask(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout), path, on_line)


def ask(
    connection: http.client.HTTPConnection, path: str, on_line: Callable[[str], None] | None = None
) -> tuple[int, bytes] | None:
    """One GET: status and body, or None when there is no answer.

    Args:
        connection: which is closed afterwards.
        path: what is asked for.
        on_line: is given each line of text as it comes, without its marks; what begins with a mark is a page's own.
    """
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        lines = []
        for line in response:
            lines.append(line)
            if on_line is not None and (text := _text(line)):
                on_line(text)
        return response.status, b"".join(lines)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _text(line: bytes) -> str:
    text = line.decode("utf-8", errors="replace")
    return "" if text.startswith("<") else html.unescape(re.sub("<[^>]*>", " ", text)).strip()


def answers(component: Component) -> bool:
    """Whether a component serves, by its own readiness check; one that is not reached from here counts as serving."""
    if component.port is None:
        return True
    if component.ready.path is None:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            return probe.connect_ex(("127.0.0.1", component.port)) == 0
    answer = get(component.port, component.ready.path, timeout=0.5)
    return answer is not None and answer[0] == component.ready.status


def is_open(port: int) -> bool:
    """Whether somebody listens on a port of 127.0.0.1; one that does not say so in half a second counts as well."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) != errno.ECONNREFUSED


def answers_at(address: str, port: int, component: Component) -> bool:
    """Whether its readiness check is met at another address of this host."""
    assert component.ready.path is not None
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    answer = ask(http.client.HTTPConnection(host, port, timeout=0.5), component.ready.path)
    return answer is not None and answer[0] == component.ready.status


# A user's own application may answer anything.
def read_info(answer: tuple[int, bytes] | None) -> dict[str, Any]:
    """What a component says of itself, by its answer; empty when it does not, or not properly."""
    try:
        info = json.loads(answer[1]) if answer is not None and answer[0] == 200 else None
    except ValueError:
        return {}
    return info if isinstance(info, dict) else {}


def ready_message_after(started: float, messages: Path) -> float | None:
    """Seconds from process start (epoch) to Liberty's message CWWKF0011I (server ready) in messages.log."""
    try:
        match = _READY_MESSAGE.search(messages.read_text(encoding="utf-8", errors="replace"))
        if match is None:
            return None
        stamp = datetime.strptime(match[1].replace(",", ""), "%m/%d/%y %H:%M:%S:%f").replace(tzinfo=UTC)
    except (OSError, ValueError):  # no such file, or the date is written as the locale has it
        return None
    # A container's clock may be in UTC while the host's is not; no other zone is told apart.
    local = stamp if match[2] == "UTC" else stamp.replace(tzinfo=None).astimezone()
    return local.timestamp() - started
