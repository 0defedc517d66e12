# SPDX-License-Identifier: Apache-2.0
"""`up` and `down`: a workload alone, running, for a person or a foreign load driver.

A small keeper process holds the servers, so that the terminal is free again; it ends with them on `down`.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from steelyard.clock import wait_until
from steelyard.engines.compose.engine import sweep as sweep_containers
from steelyard.errors import Busy, Exit, ServerFailed
from steelyard.host.docker import Docker
from steelyard.host.lock import host_lock
from steelyard.paths import CACHE
from steelyard.process_tree import start_ticks
from steelyard.processes import child_environment, sweep
from steelyard.regular import read_text
from steelyard.results.spec import ORDER, Record, Spec
from steelyard.results.store import report_no_space
from steelyard.session.deploying import LOAD_TIMEOUT

STATE = CACHE / "up" / "state.json"
FOLDER = CACHE / "up" / "run"
STOP_PATIENCE = 60.0
"""Seconds after which `down` says that it still waits."""
_STARTER = "STEELYARD_STARTER"
"""Variable with the pipe on which the keeper hears of its starter."""
SPARE = 60.0
"""Seconds for all else: finding JDKs, first starts in a directory."""


class UpServer(Record):
    """A server that is up."""

    name: str
    url: str
    pid: int
    cpus: list[int]


class Up(Record):
    """A workload that is up."""

    workload: str
    keeper: int
    """Process id of the keeper."""
    servers: list[UpServer]
    proxy: str | None = None
    """Where requests to any of its services go; None without a proxy."""


def fresh_folder(folder: Path = FOLDER) -> Path:
    """The folder in which a workload runs, empty. It stays when a start failed, for its logs say why, until the next
    (raises NoSpace)."""
    shutil.rmtree(folder, ignore_errors=True)
    with report_no_space(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Servers in containers may run as another user, who has to reach the folders in here.
        folder.chmod(0o755)
    return folder


def longest_start(spec: Spec) -> float:
    """Seconds after which a workload has not come up: what its components may take, one role after the other, and its
    data."""
    roles = [[component.ready.within for component in spec.of(role)] for role in ORDER]
    return SPARE + sum(max(each) for each in roles if each) + LOAD_TIMEOUT * len(spec.data)


def current(state: Path = STATE) -> Up | None:
    """The workload that is up, or None. A state whose keeper has gone counts as nothing."""
    try:
        up = Up.model_validate_json(read_text(state))
    except (OSError, ValueError):
        return None
    return up if _is_keeper(up.keeper) else None


def require_idle(docker: Docker | None = None) -> None:
    """Refuse before a directory is made or a server started; the lock is taken later, for good (raises Busy).

    What a killed session left goes, for which its guard was killed too: processes, and containers of an engine.
    """
    up = current()
    if up is not None:
        raise Busy(
            f"{up.workload} is up already (process {up.keeper}) and would disturb what else runs: stop it with"
            " `./steelyard down`"
        )
    with host_lock():
        sweep()
        if docker is not None:
            sweep_containers(docker)


def start(arguments: list[str], timeout: float) -> Up:
    """Start the keeper with the arguments of `up` and wait until its servers are ready.

    Raises:
        ServerFailed: the keeper ended; its own sentence is passed on, with its exit code.
        NoSpace: its log cannot be written.
    """
    log = STATE.parent / "keeper.log"
    with report_no_space(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        output = log.open("wb")
    followed, ours = os.pipe()
    with output:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "steelyard", *arguments, "--keep"],
            env={**child_environment(), _STARTER: str(followed)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[followed],
        )
    os.close(followed)

    def own_state() -> Up | None:
        up = current()
        if up is not None and up.keeper == keeper.pid:
            return up
        if keeper.poll() is not None:
            said = log.read_text(encoding="utf-8", errors="replace").strip()
            error = ServerFailed(said.removeprefix("steelyard: "))
            with suppress(ValueError):  # a signal ended it
                error.exit_code = Exit(keeper.returncode)
            raise error
        return None

    try:
        if (up := wait_until(own_state, timeout, 0.1)) is not None:
            with suppress(BrokenPipeError):  # it has been told to end meanwhile
                os.write(ours, b".")
            return up
    except KeyboardInterrupt:
        keeper.terminate()
        keeper.wait()
        raise
    finally:
        os.close(ours)
    keeper.terminate()
    raise ServerFailed(f"the workload was not up within {timeout:.0f} s: see {log} and {FOLDER}")


def end_with_starter() -> None:
    """End this keeper (SIGTERM) when whoever started it is gone before it has taken note that the workload is up."""
    if (pipe := os.environ.pop(_STARTER, None)) is None:
        return

    def follow() -> None:
        if not os.read(int(pipe), 1):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, name="starter", daemon=True).start()


def stop(on_slow: Callable[[str], object], patience: float = STOP_PATIENCE, state: Path = STATE) -> Up | None:
    """Stop the workload that is up and wait for its end, however long that takes: no session may begin before it.

    Args:
        on_slow: gets a sentence each time that `patience` seconds have passed.

    Returns:
        What was up; None when nothing was.

    Raises:
        Busy: it is another user's.
    """
    up = current(state)
    if up is None:
        return None
    try:
        os.kill(up.keeper, signal.SIGTERM)
    except ProcessLookupError:  # it has ended meanwhile
        return up
    except PermissionError as error:
        raise Busy(
            f"{up.workload} is up, and its process {up.keeper} belongs to another user: run `down` as that user"
        ) from error
    while not wait_until(lambda: not _is_keeper(up.keeper), patience, 0.05):
        on_slow(
            f"{up.workload} is still ending: wait, or end its process {up.keeper} with `kill -9 {up.keeper}`"
        )
    return up


def _is_keeper(pid: int) -> bool:
    """Whether the process is a keeper of ours: process ids are used again."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"--keep" in command and start_ticks(pid) is not None
