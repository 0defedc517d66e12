# SPDX-License-Identifier: Apache-2.0
"""One session at a time, and free ports."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard
from steelyard.errors import BadInput, Busy, PortInUse
from steelyard.host.lock import host_lock
from steelyard.host.ports import refuse_ephemeral, require_ports

SCRIPTS = Path(steelyard.__file__).parents[1]
HOLD = """
import sys, time
from pathlib import Path
from steelyard.host.lock import host_lock
with host_lock("results/theirs", Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "steelyard.lock"


@pytest.fixture
def other_session(lock: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], cwd=SCRIPTS, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_second_session_is_refused_and_told_who_runs(
    lock: Path, other_session: subprocess.Popen[str]
) -> None:
    with (
        pytest.raises(Busy, match=rf"\(results/theirs, process {other_session.pid}, since \d\d:"),
        host_lock("x", lock),
    ):
        raise AssertionError("two sessions at once")


def test_lock_of_a_killed_session_is_free(lock: Path, other_session: subprocess.Popen[str]) -> None:
    other_session.kill()
    other_session.wait()
    with (
        host_lock("mine", lock),
        pytest.raises(Busy, match=rf"\(mine, process {os.getpid()}, since"),
        host_lock("x", lock),
    ):
        raise AssertionError("two sessions at once")
    with host_lock("next", lock):
        pass


def test_lock_is_free_after_an_error_and_usable_by_everybody(lock: Path) -> None:
    before = os.umask(0o077)
    try:
        with pytest.raises(ZeroDivisionError), host_lock("mine", lock):
            _ = 1 / 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(lock.stat().st_mode) == 0o666
    with host_lock("again", lock):
        pass


def test_links_and_other_things_are_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to(victim)
    with pytest.raises(Busy, match="is a symbolic link"), host_lock("x", link):
        pass
    with pytest.raises(Busy, match="remove it"), host_lock("x", tmp_path):
        pass
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(Busy, match="is not a lock file"), host_lock("x", pipe):
        pass
    assert victim.read_text(encoding="utf-8") == "precious"


def test_damaged_content_still_says_busy(lock: Path, other_session: subprocess.Popen[str]) -> None:
    lock.write_text("{", encoding="utf-8")
    with pytest.raises(Busy, match="another Steelyard session is running"), host_lock("x", lock):
        pass


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_port_in_use_names_the_process(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        try:
            listening.bind((address, 0))
        except OSError:
            pytest.skip("no IPv6 here")
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(
            PortInUse, match=rf"port {port} is already in use by \S+ \(process {os.getpid()}\): "
        ):
            require_ports([port])
    require_ports([port])


def test_port_of_a_server_that_has_just_ended_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        served, _ = listening.accept()
        served.close()  # the server closes first, so its end lingers
        client.close()
    require_ports([port])


def test_a_port_of_outgoing_connections_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "range"
    source.write_text("32768\t60999\n", encoding="ascii")
    refuse_ephemeral([9080, 32767, 61000], source)
    with pytest.raises(BadInput, match=r"port 36120 lies between 32768 and 60999.*below 32768"):
        refuse_ephemeral([9080, 36120], source)
    refuse_ephemeral([36120], tmp_path / "none")
