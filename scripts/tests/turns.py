# SPDX-License-Identifier: Apache-2.0
"""Suites of one host take turns: a session of one would refuse to begin beside that of another.

Two checkouts, or two tiers of one, may be tested at a time. The turn is a lock as that of sessions is, with a name of
its own, so that a session which is no test's is still told of, and not waited for.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

from steelyard.errors import Busy
from steelyard.host.lock import host_lock

TURN = "steelyard-tests"


@pytest.fixture(scope="module")
def turn() -> Iterator[None]:
    """No other suite's session runs on this host during the tests of this module."""
    with take_turn():
        yield


@contextmanager
def take_turn(name: str = TURN) -> Iterator[None]:
    """Wait until nobody has the turn, and keep it."""
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(host_lock(name))
                break
            except Busy:
                _await_end(name)
        yield


def _await_end(name: str) -> None:
    """Wait until whoever has the turn gives it back, or ends: the kernel then ends what is connected to it."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as waiting:
        waiting.connect(f"\0{name}")
        waiting.recv(1)
