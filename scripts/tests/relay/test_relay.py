# SPDX-License-Identifier: Apache-2.0
"""The relay: what goes through it stays what it was, comes later, and by how much is told."""

import fcntl
import http.client
import resource
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from e2e.driver import free_port
from waiting import wait_until

from steelyard import relay
from steelyard.relay import Delays, has_data, pass_on
from steelyard.sampling.counters import parse_metrics

DELAY = 0.05


@pytest.fixture
def echo() -> Iterator[int]:
    """A port that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def send_back(connection: socket.socket) -> None:
        while data := connection.recv(65536):
            connection.sendall(data)
        connection.close()

    def serve() -> None:
        with suppress(OSError):  # it is closed
            while True:
                threading.Thread(target=send_back, args=listener.accept()[:1], daemon=True).start()

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


def test_descriptors_beyond_those_that_select_knows() -> None:
    """More than about 500 connections have them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        (near, low), (sink, far) = socket.socketpair(), socket.socketpair()
        source = socket.socket(fileno=fcntl.fcntl(low, fcntl.F_DUPFD, 2200))
        low.close()
        threading.Thread(target=pass_on, args=(source, sink, DELAY, Delays()), daemon=True).start()
        near.sendall(b"question")
        assert far.recv(100) == b"question"
        near.close()
        assert far.recv(100) == b""
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_connections_than_the_process_had_descriptors_for(echo: int) -> None:
    listen, status = free_port(), free_port()
    arguments = [sys.executable, relay.__file__, *map(str, (listen, "127.0.0.1", echo, 0, status))]
    command = ["sh", "-c", f"ulimit -Sn 40; exec {shlex.join(arguments)}"]
    with ExitStack() as stack, subprocess.Popen(command) as process:
        try:
            clients = [stack.enter_context(_connect(listen, process)) for _ in range(60)]
            for client in clients:
                client.sendall(b"question")
                assert client.recv(100) == b"question"
        finally:
            process.kill()


def test_what_there_is_to_read() -> None:
    near, far = socket.socketpair()
    assert not has_data(near, 0.0001)
    far.sendall(b"answer")
    assert has_data(near, None)
    assert near.recv(100) == b"answer"
    far.close()
    assert has_data(near, None), "its end"
    near.close()
    with pytest.raises(OSError, match="closed"):
        has_data(near, None)


def test_quantiles_of_delays() -> None:
    delays = Delays()
    assert delays.quantile(0.5) == 0.0
    for milliseconds in range(1, 101):
        delays.add(milliseconds / 1000)
    assert [delays.quantile(share) for share in (0.5, 0.9, 0.99)] == [
        pytest.approx(seconds, rel=0.011) for seconds in (0.050, 0.090, 0.099)
    ]
