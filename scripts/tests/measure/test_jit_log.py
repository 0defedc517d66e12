# SPDX-License-Identifier: Apache-2.0
"""The JIT's log of a client of a JITServer, as OpenJ9 21 wrote it (`fixtures/jit`)."""

import os
from pathlib import Path

import pytest

from steelyard.measure.jit_log import JitLog, read_jit_logs, why_not_remote

JIT = Path(__file__).parents[1] / "fixtures" / "jit"
CONNECTED = "#JITServer: t=   512 Connected to a server (serverUID=7963459829269949269)"
LOST = "#JITServer: t= 30123 Lost connection to the server (serverUID=7963459829269949269). Next attempt in 1000 ms."
FAILED = "#JITServer: t=   512 Could not connect to a server. Next attempt in 1000 ms."
DIFFERENT = "#JITServer: compThreadID=0 JITServer StreamVersionIncompatible: server 1.103.0, client 1.104.0"
REMOTE = "+ (AOT warm) a/B.c()V @ 00007F225EC00588-00007F225EC00A35 OrdinaryMethod - Q_SZ=20 remote deserialized t=1"
LOCAL = "+ (cold) a/B.d()V @ 00007F225EC00588-00007F225EC00A35 OrdinaryMethod - Q_SZ=20 bcsz=3"


def log_of(*lines: str) -> JitLog:
    found = JitLog()
    for line in lines:
        found.add(line)
    return found


def test_a_recorded_log_tells_where_methods_were_compiled() -> None:
    log = read_jit_logs([JIT / "verbose-client.txt", JIT / "not-there"])
    assert (log.remote, log.local, log.version) == (18, 19, "1.104.0")
    assert log.cached == 0  # all of them were compiled for it, and kept
    later = read_jit_logs([JIT / "client-21.txt"])
    assert (later.remote, later.local, later.connected, later.lost) == (10, 19, 1, 0)
    assert why_not_remote("server", later, killed=False) is None
    alone = read_jit_logs([JIT / "client-alone-21.txt"])
    assert (alone.remote, alone.local, alone.connected, alone.failed) == (0, 38, 0, 2)


def test_bytes_that_are_no_text_and_a_cut_line_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "jit.log.20261120.105756.4242"
    path.write_bytes(f"\xff\x00\n{REMOTE}\n{CONNECTED}\n+ (warm) a/B".encode("latin-1"))
    log = read_jit_logs([path])
    assert (log.remote, log.local, log.connected) == (1, 0, 1)
    os.utime(path, (1000.0, 1000.0))
    assert read_jit_logs([path], since=999.0).remote == 1
    assert read_jit_logs([path], since=1001.0).remote == 0


@pytest.mark.parametrize(
    ("lines", "killed", "says"),
    [
        ([CONNECTED, LOCAL, REMOTE], False, None),
        ([CONNECTED, REMOTE, LOST], True, None),
        ([], False, "s did not come to be connected to its JITServer"),
        ([FAILED, FAILED, LOCAL], False, "s did not come to be connected to its JITServer in 2 attempts"),
        ([CONNECTED, LOCAL], False, "s compiled 1 methods by itself and none in its JITServer"),
        ([CONNECTED, REMOTE, LOST], False, "s lost its connection to the JITServer"),
        ([FAILED, LOCAL], True, "s did not come to be connected to its JITServer in 1 attempts"),
        (
            [DIFFERENT, FAILED],
            False,
            "s and its JITServer are of different builds (server 1.103.0, client 1.104.0)",
        ),
    ],
)
def test_a_server_that_did_not_compile_remotely_is_found(
    lines: list[str], killed: bool, says: str | None
) -> None:
    assert why_not_remote("s", log_of(*lines), killed=killed) == says


def test_a_log_that_cannot_be_read_tells_no_counts(tmp_path: Path) -> None:
    (tmp_path / "jit.log").write_text(f"{CONNECTED}\n{REMOTE}\n", encoding="utf-8")
    log = read_jit_logs([tmp_path / "jit.log", tmp_path / "jit.log.2"])
    assert (log.remote, log.is_known) == (1, False)
    assert log.unreadable == ["jit.log.2: No such file or directory"]


def test_code_that_a_jitserver_had_kept_must_be_taken_where_it_was_asked_for() -> None:
    log = log_of(CONNECTED, REMOTE)
    assert log.cached == 1
    assert why_not_remote("s", log, killed=False, kept=True) is None
    log = log_of(CONNECTED, REMOTE.replace("deserialized", "deserialized aotStored"))
    says = why_not_remote("s", log, killed=False, kept=True)
    assert says == "s took none of the code that its JITServer had kept"
