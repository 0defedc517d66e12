# SPDX-License-Identifier: Apache-2.0
"""A server that does not listen where it is asked is told where it listens, as soon as that is sure."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import make_component, make_spec
from e2e.driver import free_port
from waiting import TINY

from steelyard.engines.process.deployment import ProcessDeployment
from steelyard.errors import ServerFailed
from steelyard.processes import Children
from steelyard.results.spec import Artifact
from steelyard.session import deploying
from steelyard.session.deploying import Deployed
from steelyard.workload.schema import Ready

SERVER = Path(__file__).parents[1] / "fixtures" / "servers" / "one_address.py"
NEVER = 1e6
"""Seconds: a server that is waited for so long would end the test by its watchdog."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploying, "LISTENER_INTERVAL", 0.05)


def start_component(children: Children, folder: Path, words: list[str], port: int, **ready: Any) -> Deployed:
    server = make_component(
        artifact=Artifact(form="command", words=[sys.executable, str(SERVER), *words]),
        cpus=[min(os.sched_getaffinity(0))],
        port=port,
        heap_bytes=None,
        counters=None,
        info=None,
        ready=Ready.model_validate({"path": "/", "within": NEVER} | ready),
    )
    deployed = Deployed(make_spec(components=[server]), ProcessDeployment(children, folder, {}, {}))
    deployed.start(("server",))
    return deployed


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this host has no ::1")
def test_on_the_other_family_s_loopback(children: Children, tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(ServerFailed) as failed:
        start_component(children, tmp_path, ["::1", str(port)], port)
    assert f"server-1 listens on [::1]:{port}, and not on 127.0.0.1:{port}, where it is asked" in str(
        failed.value
    )
    assert str(tmp_path / "servers" / "server-1" / "logs") in str(failed.value)


def test_on_another_address(children: Children, tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(
        ServerFailed, match=rf"listens on 127\.0\.0\.2:{port}, and not on 127\.0\.0\.1:{port}"
    ):
        start_component(children, tmp_path, ["127.0.0.2", str(port)], port)


def test_on_another_port(children: Children, tmp_path: Path) -> None:
    port, other = free_port(), free_port()
    with pytest.raises(
        ServerFailed, match=rf"listens on 127\.0\.0\.1:{other}, and not on 127\.0\.0\.1:{port}"
    ):
        start_component(children, tmp_path, ["127.0.0.1", str(other)], port)


def test_a_port_beside_its_own_is_no_fault(children: Children, tmp_path: Path) -> None:
    """JMX and administration are opened first by many servers."""
    port, other = free_port(), free_port()
    assert start_component(children, tmp_path, ["127.0.0.1", str(port), str(other)], port).started


def test_one_that_opened_another_port_alone_is_waited_for_and_told_at_the_end(
    children: Children, tmp_path: Path
) -> None:
    """What does not meet its readiness check may be the first of several ports of a server that starts slowly."""
    port, other = free_port(), free_port()
    with pytest.raises(ServerFailed) as failed:
        start_component(children, tmp_path, ["127.0.0.1", "0", str(other)], port, within=20 * TINY)
    assert "did not answer within" in str(failed.value)
    assert f"(it listens on 127.0.0.1:{other}, and not on 127.0.0.1:{port}" in str(failed.value)
