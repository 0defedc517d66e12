# SPDX-License-Identifier: Apache-2.0
"""A client of a websocket that sends and takes texts (RFC 6455), as much of it as benchmarks need."""

import base64
import os
import socket

_TEXT, _PING, _PONG = 0x1, 0x9, 0xA
_FINAL, _MASKED = 0x80, 0x80
_SHORT = 126
"""Lengths below this stand in one byte."""


class TextSocket:
    """A connection, open once made."""

    def __init__(self, host: str, port: int, path: str) -> None:
        """Connect (ConnectionError where the server does not want it)."""
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]
        self._socket.sendall("\r\n".join(lines).encode())
        status = self._stream.readline()
        while self._stream.readline().strip():
            pass
        if b" 101 " not in status:
            raise ConnectionError(f"{path}: {status.decode(errors='replace').strip()}")

    def ask(self, text: str, beginning: str) -> str:
        """Send a text and wait for one that begins so; others before it are passed over."""
        self._socket.sendall(text_frame(text))
        while True:
            kind, content = self._receive()
            if kind == _PING:
                self._socket.sendall(_frame(_PONG, content))
            elif kind == _TEXT and (answer := content.decode()).startswith(beginning):
                return answer
            elif kind not in (_TEXT, _PONG):
                raise ConnectionError(f"the server sent a frame of kind {kind}")

    def _receive(self) -> tuple[int, bytes]:
        first, length = self._read(2)
        if length >= _SHORT:
            length = int.from_bytes(self._read(2 if length == _SHORT else 8))
        if not first & _FINAL:
            raise ConnectionError("the server sent a message in several frames")
        return first & 0xF, self._read(length)

    def _read(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) < count:
            raise ConnectionError("the server closed the connection")
        return data


def text_frame(text: str) -> bytes:
    """A text as a client sends it."""
    return _frame(_TEXT, text.encode())


def _frame(kind: int, content: bytes) -> bytes:
    if len(content) >= _SHORT:
        raise ValueError("no message of a benchmark is that long")
    mask = os.urandom(4)
    masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(content))
    return bytes([_FINAL | kind, _MASKED | len(content)]) + mask + masked
