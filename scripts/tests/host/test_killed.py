# SPDX-License-Identifier: Apache-2.0
"""Sessions that set host states and are killed with -9, as real processes: the host must be as before."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import HOLDER, PAGES, put
from waiting import is_running, wait_until

from steelyard.errors import MissingRequirement
from steelyard.host.doctor import host_states
from steelyard.host.states import STATES
from steelyard.host.switching import HostStates, put_back, read_record
from steelyard.host.system import System
from steelyard.paths import ROOT
from steelyard.processes import Children, process_tree

SESSION = """
import sys, time
from pathlib import Path
from steelyard.host.switching import HostStates
from steelyard.host.system import System
from steelyard.processes import Children
root, name, *levels = sys.argv[1:]
plots = [{name: level} for level in levels]
with Children() as children, HostStates(plots, children, "results/killed", System(Path(root))) as states:
    for block in range(1, 1_000_000):
        for plot, wanted in enumerate(plots, start=1):
            states.enter((block, plot), wanted)
            print(block, plot, flush=True)
            while (block, plot) == (2, 1):
                time.sleep(60)
"""
"""Goes through plots, and stays in the first plot of the second block."""


@pytest.fixture
def tree(tmp_path: Path) -> System:
    put(tmp_path, PAGES, "7")
    put(tmp_path, "proc/meminfo", "MemTotal: 8388608 kB\nHugepagesize: 2048 kB")
    return System(tmp_path)


@contextlib.contextmanager
def start_session(system: System, name: str, *levels: str) -> Iterator[subprocess.Popen[str]]:
    """A session in the first plot of its second block."""
    process = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(system.root), name, *levels],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "2 1\n" in iter(process.stdout.readline, "")
        yield process
    finally:
        process.kill()
        process.communicate()


def kill_with_its_guard(process: subprocess.Popen[str]) -> None:
    guards = [pid for pid in process_tree(process.pid) if pid != process.pid]
    assert len(guards) == 1
    process.send_signal(signal.SIGSTOP)  # else it would have another guard
    os.kill(guards[0], signal.SIGKILL)
    process.kill()
    process.wait()
    wait_until(lambda: not is_running(guards[0]), "the guard's end")


def test_the_guard_puts_back_when_the_session_is_killed(tree: System) -> None:
    with start_session(tree, "huge_pages", "100", "200") as killed:
        assert tree.text(PAGES) == "100"
        killed.kill()
        wait_until(lambda: read_record(tree) is None, "what the guard puts back")
        assert tree.text(PAGES) == "7"


def test_a_session_that_is_ended_puts_back_itself(tree: System) -> None:
    with start_session(tree, "huge_pages", "100", "200") as ended:
        ended.send_signal(signal.SIGINT)
        ended.wait()
        assert (tree.text(PAGES), read_record(tree)) == ("7", None)


def test_when_the_guard_is_killed_too_the_doctor_warns_and_the_next_session_puts_back(tree: System) -> None:
    with start_session(tree, "huge_pages", "100", "200") as killed:
        kill_with_its_guard(killed)
        assert tree.text(PAGES) == "100"
        assert host_states(tree).level == "warn"
        assert put_back(tree) == [
            "host state huge_pages was left at 100 by results/killed, which was killed, and is 7 again"
        ]
        assert (tree.text(PAGES), host_states(tree).level) == ("7", "ok")


def test_a_resumed_session_restores_what_was_before_the_killed_one(tree: System) -> None:
    with start_session(tree, "huge_pages", "100", "200") as killed:
        kill_with_its_guard(killed)
    with start_session(tree, "huge_pages", "100", "200") as resumed:
        assert tree.text(PAGES) == "100"
        resumed.kill()
        wait_until(lambda: read_record(tree) is None, "what the guard puts back")
        assert tree.text(PAGES) == "7"


def test_killed_at_any_moment(tree: System) -> None:
    """A session that does nothing but switch, killed in the middle of it."""
    program = SESSION.replace("while (block, plot) == (2, 1)", "while False")
    for switches in (1, 2, 5, 12):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tree.root), "huge_pages", "100", "200"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        for _ in range(switches):
            process.stdout.readline()
        process.kill()
        process.communicate()
        wait_until(lambda: read_record(tree) is None, "what the guard puts back")
        assert tree.text(PAGES) == "7"


# On this host itself.

LEVELS = {
    "thp": ["always", "madvise", "never"],
    "smt": [2, 4] if os.uname().machine == "ppc64le" else ["off", "on"],
    "cpus_online": ["0", os.cpu_count() or 1],
    "governor": ["performance", "powersave"],
    "turbo": ["on", "off"],
    "prefetch": ["off", "on"],
    "irq_affinity": ["one", "all"],
    "numa_balancing": [0, 1],
}
"""Values to try; of other states: what there is and some more."""


def other_levels(system: System, name: str) -> tuple[str, str, str]:
    """What this host has, another level, and a third one, which is what it has where there are but two."""
    value, state = STATES[name].read(system), STATES[name]
    if value is None or not all(os.access(system.path(file), os.W_OK) for file in state.files(system)):
        pytest.skip(f"{name} cannot be set on this host")
    tried = LEVELS.get(name) or [int(value) + 2, int(value) + 4]
    others = [level for one in tried if (level := state.value(system, one)) != value]
    if not others:
        pytest.skip(f"{name} has no other level on this host")
    return value, others[0], [*others, value][1]


@pytest.mark.alone
@pytest.mark.parametrize("name", list(STATES))
def test_this_host_is_set_read_back_and_put_back(host: System, name: str) -> None:
    before, first, second = other_levels(host, name)
    plots = [{name: first}, {name: second}]
    with Children() as children, HostStates(plots, children, "results/test", host) as states:
        for plot, wanted in enumerate(plots, start=1):
            states.enter((1, plot), wanted)
            assert STATES[name].read(host) == wanted[name]
            assert states.verify(wanted) == []
        STATES[name].set(host, first)
        assert states.verify(plots[1]) == [f"host state {name} reads back {first}, {second} was asked for"]
        assert host_states(host).level == "info"
    assert STATES[name].read(host) == before
    assert host_states(host).level == "ok"


@pytest.mark.alone
@pytest.mark.parametrize("name", list(STATES))
def test_this_host_is_put_back_by_the_guard(host: System, name: str) -> None:
    before, first, second = other_levels(host, name)
    with start_session(host, name, first, second) as killed:
        assert STATES[name].read(host) == first
        killed.kill()
        wait_until(lambda: read_record(host) is None, "what the guard puts back")
        assert STATES[name].read(host) == before


@pytest.mark.alone
def test_huge_pages_of_a_program_that_is_being_killed_are_waited_for(
    host: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, more, _ = other_levels(host, "huge_pages")
    state, size = STATES["huge_pages"], host.memory("Hugepagesize")
    state.set(host, more)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    killer = threading.Timer(0.5, holder.kill)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        if before == "0":  # else the page may be one that was there
            with monkeypatch.context() as patch:
                patch.setattr("steelyard.host.huge_pages.IN_USE", 0.1)
                with pytest.raises(MissingRequirement, match=r"1 huge pages.* in use"):
                    state.set(host, before)
        killer.start()
        state.set(host, before)
        assert state.read(host) == before
    finally:
        killer.cancel()
        holder.kill()
        holder.communicate()


@pytest.mark.alone
def test_what_still_runs_is_ended_before_the_host_is_put_back(host: System, tmp_path: Path) -> None:
    before, more, _ = other_levels(host, "huge_pages")
    holds = [sys.executable, "-c", HOLDER, str(host.memory("Hugepagesize"))]
    console = tmp_path / "console.log"
    with Children() as children:
        with HostStates([{"huge_pages": more}], children, "results/test", host) as states:
            states.enter((1, 1), {"huge_pages": more})
            children.spawn("holder", holds, console=console, cwd=tmp_path, stdin=subprocess.PIPE)
            wait_until(lambda: "ready" in console.read_text(encoding="utf-8"), "a page in use")
        assert STATES["huge_pages"].read(host) == before


@pytest.mark.alone
def test_this_host_is_put_back_by_the_next_session(host: System) -> None:
    before, first, second = other_levels(host, "thp")
    with start_session(host, "thp", first, second) as killed:
        kill_with_its_guard(killed)
        assert host_states(host).level == "warn"
        assert len(put_back(host)) == 1
        assert STATES["thp"].read(host) == before
