# SPDX-License-Identifier: Apache-2.0
"""As much of HTTP/1.1 as asking a server for its counters needs, without waiting on the socket.

The standard library's client waits, and parses headers as mail does, which would be the dearest part of a sample.
"""

from typing import NamedTuple


class Response(NamedTuple):
    """A complete answer."""

    status: int
    body: bytes
    keep_open: bool


def request(host: str, path: str) -> bytes:
    """A GET request that keeps the connection open."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n\r\n".encode()


def parse_response(data: bytes, closed: bool) -> Response | None:
    """Read an answer from what has arrived so far; None while it is not complete.

    Args:
        data: everything received since the request.
        closed: whether the server closed the connection after it.

    Raises:
        ValueError: not an HTTP answer, or one that was cut off.
    """
    head, separator, rest = data.partition(b"\r\n\r\n")
    if not separator:
        if closed:
            raise ValueError("the server closed the connection without an answer")
        return None
    lines = head.split(b"\r\n")
    version, _, after = lines[0].partition(b" ")
    if not version.startswith(b"HTTP/1."):
        raise ValueError(f"not an HTTP answer: {lines[0][:40]!r}")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (x.partition(b":") for x in lines[1:])
    }
    body = _body(headers, rest, closed)
    if body is None:
        if closed:
            raise ValueError("the server closed the connection in the middle of an answer")
        return None
    keep_open = version != b"HTTP/1.0" and headers.get(b"connection", b"").lower() != b"close" and not closed
    return Response(int(after[:3]), body, keep_open)


def _body(headers: dict[bytes, bytes], rest: bytes, closed: bool) -> bytes | None:
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        return _chunks(rest)
    if b"content-length" in headers:
        length = int(headers[b"content-length"])
        return rest[:length] if len(rest) >= length else None
    return rest if closed else None


def _chunks(rest: bytes) -> bytes | None:
    parts: list[bytes] = []
    while True:
        line, separator, rest = rest.partition(b"\r\n")
        if not separator:
            return None
        size = int(line.partition(b";")[0], 16)
        if len(rest) < size + 2:
            return None
        if size == 0:
            return b"".join(parts)
        parts.append(rest[:size])
        rest = rest[size + 2 :]
