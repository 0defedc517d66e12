# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a machine that is busy and that stops at random, as shared and virtual machines do.

    python3 scripts/bench/freeze.py --load 8 --freeze 5-20 --every 60-180 --seed 1 -- ./steelyard test

Beside the command, `--load` processes use a processor each. After a time drawn from `--every` all processes of the
command stop (SIGSTOP) for a time drawn from `--freeze`, and go on (SIGCONT); again and again until it ends. Its
processes are all that descend from it, in whatever session or process group: orphans become children of this program.

Ctrl-C and SIGTERM are passed on to the command, which is never left frozen; at a second one all its processes are
killed. The exit code is the command's, or 128 and the number of the signal that ended it.
"""

import argparse
import contextlib
import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.05
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**6): pass"
"""A busy loop that ends when its parent has, however that was."""


class Frozen:
    """Processes that were stopped; pidfds, so that none that takes over a process id is ever continued."""

    def __init__(self) -> None:
        self._handles: dict[int, int] = {}

    def stop(self, spared: set[int]) -> None:
        """Stop all our descendants; again, until none has come meanwhile. Who stands still already is not ours."""
        while new := [pid for pid in _descendants(spared) if pid not in self._handles]:
            stopped = 0
            for pid in new:
                with contextlib.suppress(OSError):  # it has ended
                    handle = os.pidfd_open(pid)
                    if _state(pid) in "tTZX":
                        os.close(handle)
                        continue
                    signal.pidfd_send_signal(handle, signal.SIGSTOP)
                    self._handles[pid] = handle
                    stopped += 1
            if not stopped:
                return

    def go_on(self) -> int:
        """Let all go on; returns how many."""
        count = len(self._handles)
        while self._handles:
            _, handle = self._handles.popitem()  # the last one first: a parent finds its children alive
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(handle, signal.SIGCONT)
            os.close(handle)
        return count


class Run:
    """The command, what stands beside it, and the freezes."""

    def __init__(self, command: Sequence[str], load: int) -> None:
        busy = [sys.executable, "-I", "-S", "-c", _BUSY]
        self._busy = [subprocess.Popen(busy, stdin=subprocess.DEVNULL) for _ in range(load)]
        self._frozen = Frozen()
        self._signals = 0
        self._status: int | None = None
        self._root: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._pass_on)
        try:
            self._root = subprocess.Popen(command, start_new_session=True).pid
        except OSError:
            self.close()
            raise
        if self._signals:
            os.killpg(self._root, signal.SIGTERM)

    @property
    def exit_code(self) -> int | None:
        """The command's; None while it runs. Orphans that have ended are reaped on the way."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._root:
                    self._status = os.waitstatus_to_exitcode(ended[1])
        return self._status

    def wait(self, seconds: float) -> bool:
        """Wait; whether the command runs on and no signal came."""
        end = time.monotonic() + seconds
        while self.exit_code is None and not self._signals:
            left = end - time.monotonic()
            if left <= 0:
                return True
            time.sleep(min(_POLL, left))
        return False

    def freeze(self, seconds: float) -> int:
        """Freeze the command for a time, shorter when a signal comes; returns how many processes."""
        try:
            self._frozen.stop(self._spared)
            self.wait(seconds)
        finally:
            count = self._frozen.go_on()
        return count

    def finish(self) -> int:
        """Wait for the end of the command, without freezes."""
        while (code := self.exit_code) is None:
            time.sleep(_POLL)
        return code

    def close(self) -> None:
        """End the busy loops; nothing stays frozen."""
        self._frozen.go_on()
        for one in self._busy:
            one.kill()
        for one in self._busy:
            one.wait()

    @property
    def _spared(self) -> set[int]:
        return {one.pid for one in self._busy}

    def _pass_on(self, number: int, _frame: object) -> None:
        self._signals += 1
        self._frozen.go_on()
        killed = list(_descendants(self._spared)) if self._signals > 1 else []
        with contextlib.suppress(ProcessLookupError):
            if self._root is not None and self._signals == 1:
                os.killpg(self._root, number)
        for pid in killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def main() -> int:
    """Run, freeze, and pass on the exit code."""
    options = _options()
    # Orphans of the command become children of this process, and stay to be found.
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    chance = random.Random(options.seed)
    freezes, began = 0, time.monotonic()
    try:
        run = Run(options.command, options.load)
    except OSError as error:
        sys.stderr.write(f"freeze.py: cannot run {options.command[0]}: {error.strerror}\n")
        return 127
    try:
        while run.wait(chance.uniform(*options.every)):
            seconds, at = chance.uniform(*options.freeze), time.monotonic() - began
            _say(options, f"after {at:.0f} s all stop for {seconds:.1f} s")
            count = run.freeze(seconds)
            freezes += 1
            _say(options, f"{count} processes go on")
        code = run.finish()
    finally:
        run.close()
    _say(options, f"{freezes} freezes in {time.monotonic() - began:.0f} s; the command ended with {code}")
    return code if code >= 0 else 128 - code


def _descendants(spared: set[int]) -> Iterator[int]:
    """Our children, theirs and so on, parents first; without some of ours."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (
                (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            )
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid for pid in children.get(os.getpid(), []) if pid not in spared]
    for pid in found:
        found += children.get(pid, [])
    return iter(found)


def _state(pid: int) -> str:
    return (
        Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    )


def _say(options: argparse.Namespace, what: str) -> None:
    if not options.quiet:
        sys.stderr.write(f"freeze.py: {what}\n")
        sys.stderr.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="freeze.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--load", type=int, default=0, metavar="N", help="busy loops beside the command (0)")
    parser.add_argument(
        "--freeze",
        default=(5.0, 20.0),
        help="seconds that a freeze lasts (5-20)",
        type=_range,
        metavar="LEAST-MOST",
    )
    parser.add_argument(
        "--every",
        default=(60.0, 180.0),
        help="seconds from one freeze to the next (60-180)",
        type=_range,
        metavar="LEAST-MOST",
    )
    parser.add_argument("--seed", type=int, help="of what is drawn")
    parser.add_argument("--quiet", action="store_true", help="say nothing of freezes")
    parser.add_argument("command", nargs="+", help="what to run, after --")
    return parser.parse_args()


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition("-")
    try:
        found = float(low), float(high or low)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of seconds, such as 5-20") from error
    if not 0 <= found[0] <= found[1]:
        raise argparse.ArgumentTypeError(f"{text!r}: the first must not be above the second")
    return found


if __name__ == "__main__":
    sys.exit(main())
