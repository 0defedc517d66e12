# SPDX-License-Identifier: Apache-2.0
"""Real processes: nothing may outlive the harness, however it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import is_running, wait_until

from steelyard.errors import NoSpace, ServerFailed
from steelyard.paths import ROOT
from steelyard.processes import Children, sweep
from steelyard.processes.guard import marked_processes

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 0.1; done"


def wait_for(text: str, path: Path) -> None:
    wait_until(lambda: path.exists() and text in path.read_text(encoding="utf-8"), f"{text!r} in {path.name}")


def test_a_child_is_stopped_when_the_registry_is_left(tmp_path: Path) -> None:
    with Children() as children:
        child = children.spawn("sleeper", ["sleep", "300"], console=tmp_path / "c.log", cwd=tmp_path)
        assert child.exit_code() is None
    assert child.exit_code() == -signal.SIGTERM


def test_a_child_that_ignores_sigterm_is_killed_with_its_own_children(tmp_path: Path) -> None:
    with Children() as children:
        script = f"sleep 300 & echo $! > {tmp_path}/inner; {STUBBORN}"
        child = children.spawn("stubborn", ["sh", "-c", script], console=tmp_path / "c.log", cwd=tmp_path)
        wait_for("ready", tmp_path / "c.log")
        inner = int((tmp_path / "inner").read_text(encoding="utf-8"))
        assert is_running(inner)
        children.stop([child], grace=0.2)
        assert child.exit_code() == -signal.SIGKILL
        wait_until(lambda: not is_running(inner), "the end of its own child")


def test_a_second_interrupt_kills_what_is_being_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    with Children() as children:
        child = children.spawn("stubborn", ["sh", "-c", STUBBORN], console=tmp_path / "c.log", cwd=tmp_path)
        wait_for("ready", tmp_path / "c.log")
        with monkeypatch.context() as patch:
            patch.setattr("steelyard.processes.children.wait_until", interrupt)
            with pytest.raises(KeyboardInterrupt):
                children.stop([child], grace=60)
        assert child.exit_code() == -signal.SIGKILL


def test_a_child_that_the_guard_was_not_told_of_dies_with_the_harness(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom steelyard.processes import Children\n"
        "children = Children()\n"
        "tell = children._tell_guard\n"
        "def killed(line):\n"
        "    Path(sys.argv[1]).write_text(line)\n"
        "    os.kill(os.getpid(), 9)\n"
        "children._tell_guard = killed\n"
        "children.spawn('s', ['sleep', '300'], console=Path(sys.argv[1] + '.log'), cwd=Path('/'))\n"
    )
    told = tmp_path / "told"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    subprocess.run([sys.executable, "-c", program, str(told)], env=environment, check=False)
    pid = int(told.read_text(encoding="utf-8").lstrip("+"))
    # It was killed between the start of a child and the word to the guard.
    wait_until(lambda: not is_running(pid), "the end of the child")


def test_children_die_when_the_harness_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom steelyard.processes import Children\n"
        "where = Path(sys.argv[1])\nchildren = Children()\n"
        f"child = children.spawn('stubborn', ['sh', '-c', {STUBBORN!r}], console=where / 'c.log', cwd=where)\n"
        "(where / 'pid').write_text(f'{child.pid}\\n')\ntime.sleep(300)\n"
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
    )
    wait_for("ready", tmp_path / "c.log")
    wait_for("\n", tmp_path / "pid")
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    assert is_running(pid)
    harness.kill()
    harness.wait()
    wait_until(lambda: not is_running(pid), "the end of the child")


def test_last_lines_say_why_a_child_ended(tmp_path: Path) -> None:
    with Children() as children:
        child = children.spawn(
            "talker", ["sh", "-c", "echo one; echo two; exit 3"], console=tmp_path / "c.log", cwd=tmp_path
        )
        child.process.wait()
        assert child.exit_code() == 3
        assert child.last_lines(2) == "one | two"


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with Children() as children, pytest.raises(ServerFailed, match=r"cannot start server \(/no/such/java\)"):
        children.spawn("server", ["/no/such/java"], console=tmp_path / "c.log", cwd=tmp_path)


def test_a_console_that_cannot_be_written_is_a_lack_of_space(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with Children() as children, pytest.raises(NoSpace, match="cannot write"):
        children.spawn("server", ["true"], console=blocked / "c.log", cwd=tmp_path)


def test_a_child_that_ended_keeps_its_process_id_until_it_is_stopped(tmp_path: Path) -> None:
    """Else a signal to its group could reach a stranger that was given the same id."""
    with Children() as children:
        child = children.spawn("short", ["sh", "-c", "exit 3"], console=tmp_path / "c.log", cwd=tmp_path)
        wait_until(lambda: child.exit_code() is not None, "the end of the child")
        assert child.exit_code() == 3
        assert (
            Path(f"/proc/{child.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
        )
        children.stop([child], grace=1.0)
        assert not Path(f"/proc/{child.pid}").exists()
        assert child.exit_code() == 3
        children.stop([child], grace=1.0)  # nothing is left to be signalled


def test_a_command_for_a_crash_runs_when_the_harness_is_killed_and_only_then(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from steelyard.processes import Children\n"
        "with Children() as children:\n"
        "    children.on_crash('kept', ['touch', sys.argv[1] + '/kept'])\n"
        "    children.on_crash('forgotten', ['touch', sys.argv[1] + '/forgotten'])\n"
        "    children.forget_crash('forgotten')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT / "scripts", check=False)
    wait_until((tmp_path / "kept").exists, "the command for a crash")
    assert not (tmp_path / "forgotten").exists()


def test_commands_for_a_crash_run_in_reverse_order(tmp_path: Path) -> None:
    """Containers go before the huge pages that they use are given back."""
    script = (
        "import os, signal, sys\n"
        "from steelyard.processes import Children\n"
        "with Children() as children:\n"
        "    for name in ('pages', 'container', 'done'):\n"
        "        children.on_crash(name, ['sh', '-c', f'echo {name} >> {sys.argv[1]}/order'])\n"
        "    children.forget_crash('done')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT / "scripts", check=False)
    wait_for("pages\n", tmp_path / "order")
    assert (tmp_path / "order").read_text(encoding="utf-8") == "container\npages\n"


def test_an_interrupt_while_a_child_starts_does_not_lose_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self.pid)
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with Children() as children:
        monkeypatch.setattr(subprocess, "Popen", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            children.spawn("sleeper", ["sleep", "600"], console=tmp_path / "log", cwd=tmp_path)
        monkeypatch.undo()
        assert Path(f"/proc/{started[-1]}").exists()
    assert not Path(f"/proc/{started[-1]}").exists()
    assert signal.getsignal(signal.SIGINT) is before


HARNESS = (
    "import sys, time\nfrom pathlib import Path\nfrom steelyard.processes import Children\n"
    "where = Path(sys.argv[1])\nchildren = Children()\n"
    # One that stays itself, and a script with a process of its own, as a proxy with its workers.
    "for name, script in (('server', 'exec sleep 600'), ('proxy', 'sleep 600 & sleep 600')):\n"
    "    children.spawn(name, ['sh', '-c', script], console=where / f'{name}.log', cwd=where)\n"
    # In one step: killed between emptying the file and writing it, nobody would ever know the guard.
    "def tell(guard):\n"
    "    (where / 'new').write_text(f'{guard.pid}\\n')\n"
    "    (where / 'new').replace(where / 'guard')\n"
    "tell(children._guard)\n"
    "while True:\n"
    "    guard = children._guard\n"
    "    if guard is not None: tell(guard)\n"
    "    time.sleep(0.02)\n"
)


@pytest.fixture
def harness(
    tmp_path: Path,
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], int], Callable[[], list[int]]]]:
    """A harness with two children, its guard as it is now, and what runs of its children and theirs."""
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
    )

    def guard() -> int:
        wait_until((tmp_path / "guard").exists, "guard")
        return int((tmp_path / "guard").read_text())

    def ours() -> list[int]:
        return [
            pid for pid, mark in marked_processes().items() if f"-{process.pid}-" in mark and is_running(pid)
        ]

    guard()
    wait_until(lambda: len(ours()) == 4, "children")
    yield process, guard, ours
    process.kill()
    process.wait()
    sweep()
    wait_until(lambda: not ours(), "end of all that was killed")


def test_a_guard_that_was_killed_is_replaced_and_the_next_one_knows_all(harness: Any) -> None:
    process, guard, ours = harness
    first = guard()
    os.kill(first, signal.SIGKILL)
    second = wait_until(lambda: guard() != first and guard(), "second guard")
    process.kill()
    process.wait()
    wait_until(lambda: not ours(), "end of all that the harness had started")
    wait_until(lambda: not is_running(second), "end of the guard")


def test_children_notice_themselves_when_harness_and_guard_die_at_once(harness: Any) -> None:
    """Whom a child had started itself is found by the next session."""
    process, guard, ours = harness
    process.send_signal(signal.SIGSTOP)  # so that it sees nothing of the guard's end
    os.kill(guard(), signal.SIGKILL)
    process.kill()
    process.wait()
    wait_until(lambda: len(ours()) <= 2, "end of its own children")
    sweep()  # what other harnesses left as well, of other tests
    wait_until(lambda: not ours(), "end of theirs")


def test_a_guard_that_is_stopped_keeps_no_child_alive(harness: Any) -> None:
    process, guard, ours = harness
    os.kill(guard(), signal.SIGSTOP)
    process.kill()
    process.wait()
    wait_until(lambda: len(ours()) <= 2, "end of its own children")
    os.kill(guard(), signal.SIGCONT)
    wait_until(lambda: not ours(), "end of theirs")


def test_what_another_harness_runs_is_not_swept(harness: Any) -> None:
    _, _, ours = harness
    before = ours()
    assert not set(sweep()) & set(before)
    assert ours() == before
