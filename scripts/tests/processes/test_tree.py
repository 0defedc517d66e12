# SPDX-License-Identifier: Apache-2.0
"""Which processes belong to a component, with real ones: however they were started, whoever is their parent by now."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import uuid4

import pytest
from waiting import is_running, wait_until

from steelyard.process_tree import Trees, process_tree
from steelyard.processes import Children

WAITS = "import sys; sys.stdin.read()"
FROM_A_THREAD = f"""
import subprocess, sys, threading
def start():
    child = subprocess.Popen([sys.executable, "-c", {WAITS!r}], stdin=subprocess.PIPE)
    print(child.pid, flush=True)
    child.wait()
thread = threading.Thread(target=start)
thread.start()
thread.join()
"""
ORPHAN = f"""
import os, subprocess, sys
read, write = os.pipe()
if os.fork() == 0:
    if "--daemon" in sys.argv:
        os.setsid()
    child = subprocess.Popen([sys.executable, "-c", {WAITS!r}], stdin=subprocess.PIPE, pass_fds=[write],
                             start_new_session="--daemon" in sys.argv)
    print(child.pid, flush=True)
    os._exit(0)
os.wait()
os.close(write)
print("ended", flush=True)
sys.stdin.read()
"""
"""A process whose child has started another one and has ended. That one reads from a pipe that ends with its parent, so
it is given the write end, which nobody else has."""
ORPHAN = ORPHAN.replace("import sys; sys.stdin.read()", "import time; time.sleep(1e6)")


class Started:
    """A process that leads a session and has told the ids of others."""

    def __init__(self, code: str, *arguments: str, mark: str = "") -> None:
        name, _, value = mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **({name: value} if mark else {})},
        )
        self.pid = self.process.pid
        self.others: list[int] = []

    def tell(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        for pid in self.others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def cleanup() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def started(cleanup: ExitStack, code: str, *arguments: str, mark: str = "") -> Started:
    one = Started(code, *arguments, mark=mark)
    cleanup.callback(one.end)
    return one


def test_a_child_that_another_thread_started_is_found(cleanup: ExitStack) -> None:
    """As Java's ProcessBuilder and Go's os/exec always start theirs."""
    launcher = started(cleanup, FROM_A_THREAD)
    child = int(launcher.tell())
    assert process_tree(launcher.pid) == [launcher.pid, child]


def test_an_orphan_is_found_by_its_session(cleanup: ExitStack) -> None:
    launcher = started(cleanup, ORPHAN)
    launcher.others.append(orphan := int(launcher.tell()))
    assert launcher.tell() == "ended"
    assert process_tree(launcher.pid) == [launcher.pid, orphan]


def test_a_daemon_is_found_by_its_mark(cleanup: ExitStack) -> None:
    """One that has left the session of those that started it, which have ended."""
    mark = f"STEELYARD_TEST={uuid4()}"
    launcher = started(cleanup, ORPHAN, "--daemon", mark=mark)
    launcher.others.append(daemon := int(launcher.tell()))
    assert launcher.tell() == "ended"
    assert process_tree(launcher.pid) == [launcher.pid], "nothing else tells of it"
    wait_until(
        lambda: process_tree(launcher.pid, mark) == [launcher.pid, daemon], "the environment of the daemon"
    )


def test_what_was_seen_in_the_moment_of_its_execve_is_seen_again(tmp_path: Path) -> None:
    """Until the new program is set up, the kernel shows an empty environment."""
    write(tmp_path, 10, 1, 10, 100)
    write(tmp_path, 11, 1, 11, 200)
    (tmp_path / "11" / "environ").touch()
    trees = Trees(str(tmp_path))
    trees.add("server", 10, "MARK=1")
    trees.update()
    assert trees.members("server") == [10]
    (tmp_path / "11" / "environ").write_bytes(b"PATH=/bin\0MARK=1\0")
    trees.update()
    assert trees.members("server") == [10, 11]


def test_a_daemon_that_was_seen_before_stays(cleanup: ExitStack) -> None:
    code = ORPHAN.replace("os._exit(0)", "sys.stdin.readline(); os._exit(0)")
    launcher = started(cleanup, code, "--daemon")
    launcher.others.append(daemon := int(launcher.tell()))
    trees = Trees()
    trees.add("server", launcher.pid)
    trees.update()
    assert trees.members("server")[0] == launcher.pid
    assert daemon in trees.members("server")
    assert launcher.process.stdin
    launcher.process.stdin.write("\n")
    launcher.process.stdin.flush()
    assert launcher.tell() == "ended"
    trees.update()
    assert trees.members("server") == [launcher.pid, daemon]


def test_components_of_one_harness_are_told_apart(cleanup: ExitStack) -> None:
    """Each is a child of this process, and in its session."""
    first, second = (started(cleanup, FROM_A_THREAD) for _ in range(2))
    ids = int(first.tell()), int(second.tell())
    trees = Trees()
    trees.add("first", first.pid)
    trees.add("second", second.pid)
    trees.update()
    assert (trees.members("first"), trees.members("second")) == ([first.pid, ids[0]], [second.pid, ids[1]])


def write(proc: Path, pid: int, parent: int, session: int, start: int) -> None:
    (proc / str(pid)).mkdir()
    fields = ["S", parent, session, session, 0, -1, *[0] * 13, start, 0]
    (proc / str(pid) / "stat").write_text(f"{pid} (a b) {' '.join(map(str, fields))}\n", encoding="ascii")


def test_a_number_that_was_given_to_a_stranger_is_the_strangers(tmp_path: Path) -> None:
    """Servers that start processes all the time use up all numbers in minutes."""
    write(tmp_path, 10, 1, 10, 100)
    write(tmp_path, 11, 10, 11, 200)
    trees = Trees(str(tmp_path))
    trees.add("server", 10)
    trees.update()
    assert trees.members("server") == [10, 11]
    (tmp_path / "11" / "stat").unlink()
    (tmp_path / "11").rmdir()
    trees.update()
    assert trees.members("server") == [10]
    write(tmp_path, 11, 1, 11, 300)
    write(tmp_path, 12, 11, 11, 301)
    trees.update()
    assert trees.members("server") == [10]


def test_a_chain_that_is_new_as_a_whole_is_found(tmp_path: Path) -> None:
    """Ids may have begun anew meanwhile, and starts are told in hundredths of a second."""
    write(tmp_path, 500, 1, 500, 100)
    trees = Trees(str(tmp_path))
    trees.add("server", 500)
    trees.update()
    write(tmp_path, 30, 40, 500, 300)
    write(tmp_path, 40, 500, 500, 300)
    trees.update()
    assert sorted(trees.members("server")) == [30, 40, 500]


@pytest.mark.parametrize("more", [[], ["--daemon"]])
def test_what_a_component_left_is_ended_with_it(tmp_path: Path, more: list[str]) -> None:
    console = tmp_path / "console.log"
    with Children() as children:
        child = children.spawn(
            "server-1", [sys.executable, "-c", ORPHAN, *more], console=console, cwd=tmp_path
        )
        wait_until(lambda: "ended" in child.read_output(), "its orphan")
        orphan = int(child.read_output().split()[0])
        wait_until(lambda: process_tree(child.pid, child.mark) == [child.pid, orphan], "its environment")
        children.stop([child], grace=0.0)
        wait_until(lambda: not is_running(orphan), "the end of the orphan")
