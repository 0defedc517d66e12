# SPDX-License-Identifier: Apache-2.0
"""The relay: what goes through it stays what it was, comes later, and by how much is told."""

import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from e2e.driver import free_port
from waiting import wait_until

from steelyard import relay
from steelyard.relay import Delays, pass_on
from steelyard.sampling.counters import parse_metrics

DELAY = 0.05


@pytest.fixture
def echo() -> Iterator[int]:
    """A port that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        while data := connection.recv(65536):
            connection.sendall(data)
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def _connect(port: int, relay: subprocess.Popen[bytes]) -> socket.socket:
    def connection() -> socket.socket | None:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            return None

    connected = wait_until(
        connection, "the relay's port", lambda: None if relay.poll() is None else "it has ended"
    )
    assert connected is not None
    return connected


def test_a_connection_is_delayed_both_ways_and_the_delay_is_told(echo: int) -> None:
    listen, status = free_port(), free_port()
    command = [sys.executable, relay.__file__, *map(str, (listen, "127.0.0.1", echo, DELAY, status))]
    with subprocess.Popen(command) as process:
        try:
            with _connect(status, process):
                pass
            with _connect(listen, process) as client:
                begun = time.time()
                client.sendall(b"question")
                assert client.recv(100) == b"question"
                assert time.time() - begun >= 2 * DELAY
                client.shutdown(socket.SHUT_WR)
                assert client.recv(100) == b""
            asked = http.client.HTTPConnection("127.0.0.1", status)
            asked.request("GET", "/metrics")
            told = dict(parse_metrics(asked.getresponse().read())[1])
        finally:
            process.kill()
    # Buckets are 1 % wide.
    assert told['relay_delay_seconds{quantile="0.5"}'] * 1.01 >= DELAY


def test_much_data_comes_through_whole_and_in_order() -> None:
    """A delay adds latency and takes no throughput: 200 pieces of a megabyte together are held at once."""
    near, source = socket.socketpair()
    sink, far = socket.socketpair()
    delays, sent = Delays(), bytes(range(256)) * 4096
    threading.Thread(target=pass_on, args=(source, sink, DELAY, delays), daemon=True).start()

    def send() -> None:
        for piece in range(200):
            near.sendall(sent[piece * 5243 : (piece + 1) * 5243])
        near.shutdown(socket.SHUT_WR)

    threading.Thread(target=send, daemon=True).start()
    got = b""
    while data := far.recv(65536):
        got += data
    assert got == sent
    assert delays.quantile(0.01) * 1.01 >= DELAY


def test_quantiles_of_delays() -> None:
    delays = Delays()
    assert delays.quantile(0.5) == 0.0
    for milliseconds in range(1, 101):
        delays.add(milliseconds / 1000)
    assert [delays.quantile(share) for share in (0.5, 0.9, 0.99)] == [
        pytest.approx(seconds, rel=0.011) for seconds in (0.050, 0.090, 0.099)
    ]
