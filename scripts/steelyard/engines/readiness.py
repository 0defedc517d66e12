# SPDX-License-Identifier: Apache-2.0
"""When a server has answered: HTTP polls that cost little beside a starting JVM."""

import http.client
import json
import re
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steelyard.errors import ServerFailed

POLL_INTERVAL = 0.02

_READY_MESSAGE = re.compile(r"^\[(\d+/\d+/\d+,? \d+:\d+:\d+:\d+) (\S+)\].*CWWKF0011I", re.MULTILINE)


def server_url(port: int) -> str:
    """Where a server that listens on this host is reached."""
    return f"http://127.0.0.1:{port}"


def get(port: int, path: str, timeout: float) -> tuple[int, bytes] | None:
    """One GET on loopback: status and body, or None when there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def says_yes(port: int, path: str) -> bool:
    """Whether the server answers 200 there."""
    answer = get(port, path, timeout=0.5)
    return answer is not None and answer[0] == 200


def server_info(port: int) -> dict[str, Any]:
    """The server's `/bench/info`; empty when it does not answer properly."""
    answer = get(port, "/bench/info", timeout=10.0)
    if answer is None or answer[0] != 200:
        return {}
    try:
        info = json.loads(answer[1])
    except ValueError:
        return {}
    return info if isinstance(info, dict) else {}


def wait_until_answered(
    ports: Mapping[str, int],
    started: Mapping[str, float],
    check: Callable[[Collection[str]], None],
    timeout: float,
    advice: str,
    path: str = "/health/ready",
) -> dict[str, float]:
    """Poll servers until each has said yes, by default that it is ready.

    Args:
        ports: port on this host by server.
        started: epoch seconds at which each was started.
        check: called in every round with the servers that have not answered; raises when waiting is in vain.
        timeout: seconds that all of them may take together.
        advice: what to look at when they take longer.
        path: what to ask for.

    Returns:
        Seconds from its start to its first answer, by server.

    Raises:
        ServerFailed: not all answered in time; and whatever `check` raises.
    """
    answered: dict[str, float] = {}
    deadline = time.monotonic() + timeout
    while late := [name for name in ports if name not in answered]:
        check(late)
        for name in late:
            if says_yes(ports[name], path):
                answered[name] = time.time() - started[name]
        if time.monotonic() > deadline:
            raise ServerFailed(f"{', '.join(late)} did not answer within {timeout:.0f} s: {advice}")
        time.sleep(POLL_INTERVAL)
    return answered


def ready_message_after(started: float, messages: Path) -> float | None:
    """Seconds from process start (epoch) to Liberty's message CWWKF0011I (server ready) in messages.log."""
    try:
        match = _READY_MESSAGE.search(messages.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    if match is None:
        return None
    try:
        stamp = datetime.strptime(match[1].replace(",", ""), "%m/%d/%y %H:%M:%S:%f").replace(tzinfo=UTC)
    except ValueError:  # the date is written as the locale has it
        return None
    # A container's clock may be in UTC while the host's is not; no other zone is told apart.
    local = stamp if match[2] == "UTC" else stamp.replace(tzinfo=None).astimezone()
    return local.timestamp() - started
