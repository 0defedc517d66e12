# SPDX-License-Identifier: Apache-2.0
"""One command of a client (`docker`, `kubectl`), with all that it starts, to its end or its limit; what a program that
failed said of it."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from steelyard.errors import ServerFailed
from steelyard.paths import CACHE
from steelyard.processes.environment import child_environment

KEPT = CACHE / "failed"
"""What programs printed that failed, a file each; the last failure's."""
_COLOURS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_ERROR = re.compile(r"\[?(error|fatal|docker)\b", re.IGNORECASE)


class ClientFailed(ServerFailed):
    """A command failed; the sentence holds its first error line, and the file that holds all that it printed."""

    def __init__(self, command: str, said: str, printed: str = "") -> None:
        kept = (
            keep_output(command.partition(" ")[0], printed) if len(printed.strip().splitlines()) > 1 else None
        )
        self.said = said
        """Its first error line."""
        self.detail = said + (f" (all that it printed: {kept})" if kept is not None else "")
        """The same, with the file that holds the rest."""
        super().__init__(f"{command}: {self.detail}")


def first_error(printed: str) -> str:
    """The first line that a program that failed marked as an error and that says something, else its last line; colours
    left out."""
    lines = [line.strip() for line in _COLOURS.sub("", printed).splitlines()]
    marked = (line for line in lines if _ERROR.match(line) and re.sub(r"\W*error\W*", "", line.lower()))
    return next(marked, next((line for line in reversed(lines) if line), ""))


def keep_output(program: str, printed: str) -> Path | None:
    """The file in which all is kept that a program printed that failed; None: it cannot be written."""
    path = KEPT / f"{program}.txt"
    try:
        KEPT.mkdir(parents=True, exist_ok=True)
        path.write_text(printed, encoding="utf-8", errors="replace")
    except OSError:
        return None
    return path


def run_client(
    command: Sequence[str],
    failed: Callable[[str, str], ClientFailed],
    error_line: Callable[[str], str],
    *,
    timeout: float | None,
    given: str | None = None,
    env: Mapping[str, str] | None = None,
    merge_errors: bool = False,
) -> bytes:
    """Run a command in a session of its own and return its standard output, with `merge_errors` its standard error too.

    A Ctrl-C of the terminal does not reach it; an exception here, a signal's among them, kills it with its plugins,
    which are processes of their own and would go on without it.

    Args:
        command: program and arguments.
        failed: makes the exception of what was said, and of all that was printed.
        error_line: of what it printed, the line to pass on.
        timeout: seconds; None: no limit.
        given: its standard input.
        env: what its environment is made of (`child_environment`); None: ours.
        merge_errors: as above.

    Raises:
        ClientFailed: it cannot be started, ended with an error, or did not end within `timeout` seconds.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge_errors else subprocess.PIPE,
            env=child_environment() if env is None else child_environment(env),
            start_new_session=True,
        )
    except OSError as error:
        raise failed(f"{command[0]} cannot be started ({error.strerror})", "") from error
    with process:
        try:
            printed, errors = process.communicate(given.encode() if given is not None else None, timeout)
        except subprocess.TimeoutExpired as error:
            _kill(process)
            raise failed(f"no answer within {timeout:.0f} s", "") from error
        except BaseException:
            _kill(process)
            raise
    if process.returncode != 0:
        said = (errors or printed).decode(errors="replace")
        raise failed(error_line(said) or f"exit code {process.returncode}", said)
    return printed


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
