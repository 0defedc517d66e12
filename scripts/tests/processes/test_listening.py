# SPDX-License-Identifier: Apache-2.0
"""Where processes listen, by the kernel's tables."""

import os
import socket
import sys

import pytest

from steelyard.processes.listening import Listener, listeners, parse_table

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:46A0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0
   2: 0100007F:46A0 0100007F:D5C4 01 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 20 4 31 10 -1
   3: nonsense
"""
TABLE_6 = """\
  sl  local_address                         remote_address                        st ...
   0: 00000000000000000000000001000000:46A0 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 4714 1
   1: 0000000000000000FFFF00000100007F:2382 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 4715 1
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="tables as a little-endian machine prints them")
def test_listening_sockets_are_told_from_connections_and_those_of_others() -> None:
    assert parse_table(TABLE, {4711, 4713}) == [Listener("127.0.0.1", 18080)]
    assert parse_table(TABLE, {4712}) == [Listener("0.0.0.0", 8080)]
    assert list(map(str, parse_table(TABLE_6, {4714, 4715}))) == ["[::1]:18080", "[::ffff:127.0.0.1]:9090"]
    assert parse_table("", {4711}) == parse_table("one line\nanother\n", {4711}) == []


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "0.0.0.0")],
)
def test_the_kernel_tells_where_a_process_listens(family: socket.AddressFamily, address: str) -> None:
    try:
        one = socket.socket(family, socket.SOCK_STREAM)
        one.bind((address, 0))
    except OSError:
        pytest.skip("this host has no such address")
    with one:
        expected = Listener(address, one.getsockname()[1])
        assert expected not in listeners([os.getpid()])
        one.listen()
        assert expected in listeners([os.getpid()])
    assert expected not in listeners([os.getpid()])
    assert listeners([]) == []
