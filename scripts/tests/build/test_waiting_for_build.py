# SPDX-License-Identifier: Apache-2.0
"""A build that another process makes is shown as it goes on."""

import fcntl
import io
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import make_jvm
from rich.console import Console
from waiting import wait_until

from steelyard.build import make_build
from steelyard.cli.building import _progress_printer
from steelyard.host.java import Jdk

PACKAGES = {"ping": Path("apps/ping/target/ping")}
HEAD = "[INFO] Building {} 1.0                  [{}/2]\n"


@pytest.fixture
def maven(tmp_path: Path, fake_maven: Callable[[str], Path]) -> Path:
    (tmp_path / "pom.xml").write_text("<project/>", encoding="utf-8")
    (tmp_path / "cache" / "build").mkdir(parents=True)
    return fake_maven("mkdir -p apps/ping/target/ping\necho '[INFO] Building own 1.0'\n")


def test_the_modules_of_another_process_are_printed_as_they_are_built(tmp_path: Path, maven: Path) -> None:
    printed = io.StringIO()
    console = Console(file=printed)
    log = tmp_path / "cache" / "build.log"
    log.write_text(HEAD.format("of-old", 1), encoding="utf-8")
    with (tmp_path / "cache" / "build.lock").open("a+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("another checkout")
        lock.flush()
        with console.status("") as status:
            take = _progress_printer(console, status)
            jdk = Jdk(Path("/java"), make_jvm("hotspot"))
            waiter = threading.Thread(target=make_build, args=(jdk, maven, PACKAGES, take, tmp_path))
            waiter.start()
            with log.open("w", encoding="utf-8") as file:
                file.write(HEAD.format("bench", 1) + "[INFO] Buil")
                file.flush()
                wait_until(lambda: "bench" in printed.getvalue(), what="the first module is shown")
                file.write("ding ping 1.0   [2/2]\n")
                file.flush()
                wait_until(lambda: "ping" in printed.getvalue(), what="a line in two parts is whole")
            assert waiter.is_alive()
            fcntl.flock(lock, fcntl.LOCK_UN)
            waiter.join()
    assert [line.split()[0] for line in printed.getvalue().splitlines() if line.strip()] == [
        "bench",
        "ping",
        "own",
    ]


def test_a_line_tells_of_files_that_are_fetched() -> None:
    printed = io.StringIO()
    console = Console(file=printed)
    with console.status("") as status:
        take = _progress_printer(console, status)
        take("[INFO] Building ping 1.0   [1/2]")
        for number in range(250):
            take(f"[INFO] Downloaded from central: file-{number}")
    assert printed.getvalue().split("\n")[:3] == [
        "  ping 1.0",
        "  ping 1.0, 100 files fetched",
        "  ping 1.0, 200 files fetched",
    ]
