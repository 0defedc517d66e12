# SPDX-License-Identifier: Apache-2.0
"""This host, for tests that set it."""

import contextlib
import os
from collections.abc import Iterator

import pytest

from steelyard.errors import Busy
from steelyard.host.doctor import host_states
from steelyard.host.lock import host_lock
from steelyard.host.states import STATES
from steelyard.host.switching import put_back
from steelyard.host.system import System


@pytest.fixture
def host(request: pytest.FixtureRequest, turn: None) -> Iterator[System]:
    """This host, under the lock of sessions; left as it was, whatever happens. Tests that use it are marked `alone`.

    In turn: another suite's session would be refused while the lock is held here.
    """
    assert request.node.get_closest_marker("alone"), "nothing may run beside what sets this host"
    system = System()
    if os.getuid() != 0:
        pytest.skip("needs root: it sets states of this host")
    if host_states(system).level != "ok":
        pytest.skip(f"states of this host are set: {host_states(system).state}")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(host_lock())
        except Busy as error:
            pytest.skip(str(error))
        before = {name: state.read(system) for name, state in STATES.items()}
        try:
            yield system
        finally:
            put_back(system)
            for name, value in before.items():
                if value is not None and STATES[name].read(system) != value:
                    STATES[name].set(system, value)
