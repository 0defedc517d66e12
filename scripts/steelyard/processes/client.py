# SPDX-License-Identifier: Apache-2.0
"""One command of a client (`docker`, `kubectl`), with all that it starts, to its end or its limit."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from steelyard.errors import ServerFailed


class ClientFailed(ServerFailed):
    """A command failed; the sentence holds its last words."""

    def __init__(self, what: str, said: str) -> None:
        super().__init__(f"{what}: {said}")
        self.said = said


def run_client(
    command: Sequence[str],
    failed: Callable[[str], ClientFailed],
    last_words: Callable[[str], str],
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
        failed: makes the exception of what was said.
        last_words: of what it printed, the line to pass on.
        timeout: seconds; None: no limit.
        given: its standard input.
        env: its whole environment; None: ours.
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
            env=env,
            start_new_session=True,
        )
    except OSError as error:
        raise failed(f"{command[0]} cannot be started ({error.strerror})") from error
    with process:
        try:
            printed, errors = process.communicate(given.encode() if given is not None else None, timeout)
        except subprocess.TimeoutExpired as error:
            _kill(process)
            raise failed(f"no answer within {timeout:.0f} s") from error
        except BaseException:
            _kill(process)
            raise
    if process.returncode != 0:
        said = (errors or printed).decode(errors="replace")
        raise failed(last_words(said) or f"exit code {process.returncode}")
    return printed


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
