# SPDX-License-Identifier: Apache-2.0
"""Starts and stops child processes, each in a process group of its own. What ends them when the harness cannot:

- the guard, a process that sees the harness go (guard.py); one that was killed is replaced at once;
- the kernel, which kills each child itself when its parent is lost: nobody is left when both were killed together;
- the next session (`sweep`), for what those children had started, which bears their harness's mark.
"""

import contextlib
import errno
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from steelyard.clock import wait_until
from steelyard.errors import ServerFailed
from steelyard.process_tree import process_tree, start_ticks
from steelyard.processes.environment import ask, child_environment
from steelyard.processes.guard import CHILD, OWNER, marked_processes
from steelyard.processes.reasons import read_log, reason
from steelyard.results.store import report_no_space

_STOP_POLL = 0.02
_GUARD = Path(__file__).with_name("guard.py")
_ROUNDS = 100
_GUARDS = 20
"""Guards of one command, after which it goes on without: something kills each."""


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Signals that end this process by an exception take effect afterwards.

    In between, a process has been started and nobody knows of it yet: neither would stop it. A blocked mask would do as
    well, but the started process would inherit it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread alone
        return
    caught: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in held:
        signal.signal(number, lambda caught_number, _frame: caught.append(caught_number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(caught):
            signal.raise_signal(late)


def kill_with_parent(command: Sequence[str]) -> list[str]:
    """A command such that the kernel kills its process, however this one ends.

    The kernel means the thread that starts it, so nothing is changed for another thread than the main one; nor where
    util-linux has no `setpriv`, or only that of busybox is there.
    """
    notices = threading.current_thread() is threading.main_thread() and _can_notice()
    return [*(["setpriv", "--pdeathsig", "KILL", "--"] if notices else []), *command]


def sweep() -> list[int]:
    """Kill what a harness left that was killed together with its guard; returns the process ids.

    For a moment in which no other session of this host runs, though one that does is left alone.
    """
    left = []
    for pid, mark in marked_processes().items():
        space, owner, *_ = [*mark.split("-"), ""]
        if space == _space() and not mark.startswith(f"{_identity(owner)}-"):
            left.append(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    return left


def _space() -> str:
    """Where process ids count: one of another container means another process here."""
    with contextlib.suppress(OSError):  # one that has given up its rights may not ask
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    return "0"


def _identity(pid: str) -> str:
    """A process as its children's mark tells it: where its id counts, id, start in clock ticks since boot; it has no
    start where it does not run."""
    start = start_ticks(pid)
    return f"{_space()}-{pid}-{'gone' if start is None else start}"


@dataclass
class Child:
    """A running child process."""

    name: str
    process: subprocess.Popen[bytes]
    started: float
    """Epoch seconds just before it was started."""
    console: Path
    """File that holds its standard output and error."""
    mark: str = ""
    """An entry of the environment that it and what it starts have, and no other process."""
    stop_requested: bool = False
    creation: float | None = None
    """It has no container."""

    @property
    def pid(self) -> int:
        """Process id; also the id of its process group."""
        return self.process.pid

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs.

        A child that has ended is looked at but not reaped: its process id, which is also its group's, stays taken
        until `Children.stop`, so that a signal to the group can never reach a stranger with a recycled id.
        """
        if self.process.returncode is not None:
            return self.process.returncode
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def describe_end(self) -> str:
        """One sentence for a child that has ended: its name, how, why by its own words, and where all of them are."""
        return describe_exit(self.name, self.exit_code(), self.read_output(), self.console)

    def last_lines(self, count: int) -> str:
        """Its last output lines in one line."""
        return " | ".join(line.strip() for line in self.read_output().splitlines()[-count:] if line.strip())

    def read_output(self) -> str:
        """Its output so far; of a long one the beginning and the end."""
        return read_log(self.console)

    def signal(self, number: int) -> None:
        """Send a signal to the whole process group, and to what it has started and is in another group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)
        for pid in process_tree(self.pid, self.mark)[1:]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(pid) != self.pid:
                    os.kill(pid, number)


@cache
def _can_notice() -> bool:
    """Whether there is a `setpriv` that knows parents: that of busybox does not."""
    try:
        return ask(["setpriv", "--pdeathsig", "KILL", "true"]).returncode == 0
    except OSError:
        return False


def describe_exit(name: str, code: int | None, printed: str, log: Path | None = None) -> str:
    """One sentence: how something ended, and why by its own words.

    Args:
        name: of it.
        code: its exit code, negative for a signal; None: it is not told.
        printed: what it printed.
        log: the file that holds all of that, which stays.
    """
    return f"{name} ended with {_code_in_words(code)}{own_words(printed, log)}"


def _code_in_words(code: int | None) -> str:
    if code is None:
        return "an exit code that is not told"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def own_words(printed: str, log: Path | None) -> str:
    """The end of such a sentence; empty for what said nothing."""
    said = reason(printed)
    where = f": see {log}" if log is not None and len(printed.strip().splitlines()) > 1 else ""
    return f" after printing: {said}{where}" if said else ""


class Children:
    """All child processes of one command; a context manager that leaves none behind."""

    def __init__(self) -> None:
        self._running: list[Child] = []
        self._commands: dict[str, str] = {}
        """For a crash, by name: the line that told the guard."""
        self._mark = f"{_identity(str(os.getpid()))}-{secrets.token_hex(8)}"
        self._spawned = 0
        self._guard: subprocess.Popen[bytes] | None = None
        self._guards = 0
        self._lock = threading.RLock()

    @property
    def owner(self) -> dict[str, str]:
        """The variable by which the guard knows whose a process is, for the environment of one that is not spawned
        here but must not outlive this command: a client that is making something."""
        return {OWNER: self._mark}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_all()
        with self._lock:
            guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                guard.stdin.close()
            guard.wait()

    def spawn(
        self,
        name: str,
        command: Sequence[str],
        *,
        console: Path,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> Child:
        """Start a command in a process group of its own; its output goes to `console`.

        Args:
            name: for messages.
            command: program and arguments.
            console: file for standard output and error.
            cwd: working directory.
            env: the whole environment; None: `child_environment`.
            stdin: PIPE for one that is told something.

        Raises:
            ServerFailed: the program cannot be started.
            NoSpace: the console file cannot be written.
        """
        with report_no_space(console):
            console.parent.mkdir(parents=True, exist_ok=True)
            output = console.open("wb")
        with output, defer_signals():
            with self._lock:
                self._start_guard()
            if shutil.which(command[0]) is None:
                raise ServerFailed(f"cannot start {name} ({command[0]}): {os.strerror(errno.ENOENT)}")
            started = time.time()
            with self._lock:
                self._spawned += 1
                mark = f"{self._mark}-{self._spawned}"
            try:
                process = subprocess.Popen(
                    kill_with_parent(command),
                    stdin=stdin,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env={
                        **(child_environment() if env is None else env),
                        **self.owner,
                        CHILD: mark,
                    },
                    start_new_session=True,
                )
            except OSError as error:
                raise ServerFailed(f"cannot start {name} ({command[0]}): {error.strerror}") from error
            child = Child(name, process, started, console, f"{CHILD}={mark}")
            self._running.append(child)
            self._tell_guard(f"+{child.pid}\n")
        return child

    def stop(self, children: Sequence[Child], grace: float) -> None:
        """Stop children: SIGTERM to all, SIGKILL to whatever is left after `grace` seconds, at once where a signal to
        this process ends the wait. Safe to repeat."""
        registered = [child for child in children if child in self._running]
        for child in registered:
            if child.exit_code() is None:
                child.signal(signal.SIGTERM)
        try:
            wait_until(lambda: all(child.exit_code() is not None for child in registered), grace, _STOP_POLL)
        finally:
            self._kill(registered)

    def stop_all(self) -> None:
        """Stop whatever still runs."""
        self.stop(list(self._running), grace=5.0)

    def _kill(self, children: Sequence[Child]) -> None:
        for child in children:
            # There may be processes of its own even when it has ended; one may start another before it is killed.
            for _ in range(_ROUNDS):
                child.signal(signal.SIGKILL)
                if all(start_ticks(pid) is None for pid in process_tree(child.pid, child.mark)):
                    break
            child.process.wait()
            self._running.remove(child)
            self._tell_guard(f"-{child.pid}\n")

    def on_crash(self, name: str, command: Sequence[str]) -> None:
        """Have a command run should this process end before `forget_crash` (for what is no child, as containers).

        Args:
            name: without spaces.
            command: program and arguments; must do no harm when there is nothing to remove.
        """
        self._commands[name] = f"!{name} {json.dumps(list(command))}\n"
        self._tell_guard(self._commands[name])

    def forget_crash(self, name: str) -> None:
        """Take back `on_crash`."""
        self._commands.pop(name, None)
        self._tell_guard(f"~{name}\n")

    def _start_guard(self) -> None:
        """Under the lock, before the first child: there must be no moment in which a child has no guard."""
        if self._guard is not None or self._guards == _GUARDS:
            return
        self._guards += 1
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARD), self._mark],
            stdin=subprocess.PIPE,
            env=child_environment(),
            start_new_session=True,
        )
        threading.Thread(target=self._replace, args=[self._guard], daemon=True).start()
        for line in (*(f"+{child.pid}\n" for child in self._running), *self._commands.values()):
            self._tell_guard(line)

    def _replace(self, guard: subprocess.Popen[bytes]) -> None:
        """Have another guard when this one was killed, which knows all that it knew."""
        guard.wait()
        with self._lock:
            if self._guard is guard:
                self._guard = None
                self._start_guard()

    def _tell_guard(self, line: str) -> None:
        with self._lock:
            self._start_guard()
            if self._guard is not None and self._guard.stdin is not None:
                with contextlib.suppress(BrokenPipeError):  # the one after it will be told
                    self._guard.stdin.write(line.encode())
                    self._guard.stdin.flush()
