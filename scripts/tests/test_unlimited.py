# SPDX-License-Identifier: Apache-2.0
"""No time limit of the product ends what a test met while the machine stood still."""

import http.client
import itertools
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from fake_site import answers
from waiting import TINY

from steelyard.host.docker import ANSWER_LIMIT, Docker


@pytest.mark.parametrize(("limit", "holds"), [(10.0, None), (TINY, TINY)])
def test_a_connection_waits_for_its_answer(limit: float, holds: float | None) -> None:
    with answers(b"HTTP/1.0 200 OK\r\n\r\n") as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), None, limit)
        with closing(connection):
            connection.connect()
            assert connection.sock.gettimeout() == holds


def test_a_program_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stalls = itertools.count(0.0, 2 * ANSWER_LIMIT)
    monkeypatch.setattr(subprocess, "_time", lambda: next(stalls))
    assert Docker(Path("/bin/echo"), "26", "2.26").run("done") == "done\n"
