# SPDX-License-Identifier: Apache-2.0
"""A session of starts from a real checkpoint, where this host has an OpenJ9 and a CRIU that works."""

from pathlib import Path

import pytest

from steelyard.errors import MissingRequirement
from steelyard.host.checkpoints import require_checkpoints

from .driver import DONE, call, free_port, only_session, openj9, processes_that_mention
from .restored import servers_seen_restored

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]


def test_a_server_starts_from_its_checkpoint_and_is_seen_restored(out: Path) -> None:
    jdk = openj9()
    try:
        require_checkpoints()
    except MissingRequirement as missing:
        pytest.skip(str(missing))
    done = call(
        *("run", "checkpoint-start", "--quick", "--blocks", "2", "--jdk", str(jdk), "--out", str(out)),
        *("--port", str(free_port())),
    )
    assert done.returncode in DONE, done.stderr
    directory = only_session(out)
    servers_seen_restored(directory)
    assert processes_that_mention(str(directory.path)) == []
