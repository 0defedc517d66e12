# SPDX-License-Identifier: Apache-2.0
"""Two processes with tests never get the same port, though nobody listens there yet."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from e2e.driver import free_port

from suite import SCRIPTS

PROGRAM = """
import itertools, sys
from e2e import driver
driver._ports = itertools.count(int(sys.argv[1]), 10)
print(driver.free_port(), flush=True)
input()
"""


@contextmanager
def port_of_another(first: int) -> Iterator[int]:
    """The port that another process gets, which looks from here on and then lives on."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(SCRIPTS), str(SCRIPTS / "tests")))}
    command = [sys.executable, "-c", PROGRAM, str(first)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.communicate("\n")


def test_neighbours_get_other_ports() -> None:
    mine = free_port()
    with port_of_another(mine) as first, port_of_another(mine) as second:
        assert mine < first < second
