# SPDX-License-Identifier: Apache-2.0
"""One session at a time on a host: two would disturb each other."""

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from steelyard.errors import Busy

LOCK = Path("/tmp/steelyard.lock")


@contextmanager
def host_lock(session: str | Path, path: Path = LOCK) -> Iterator[None]:
    """Hold the lock of this host. The kernel drops it when the process ends, however it ends.

    Args:
        session: who holds it, for the message to others: the session's directory, or the workload that is up.
        path: another lock than this host's.

    Raises:
        Busy: somebody else holds it, or what lies at its place is not a lock file.
    """
    descriptor = _open(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _held(descriptor) from error
        told = {"session": str(session), "pid": os.getpid(), "since": time.strftime("%H:%M:%S")}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(told).encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        # Drops the lock. The file stays, for removing it would let two sessions lock two files.
        os.close(descriptor)


def _open(path: Path) -> int:
    """Open the lock file for all users.

    In a sticky folder the kernel may refuse to create a file that is there already and belongs to another user
    (`fs.protected_regular`), so it is opened as it is first, and created only when it is missing.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT, 0o666)
            os.fchmod(descriptor, 0o666)  # whatever the umask: the next session may be another user's
    except OSError as error:
        what = "is a symbolic link" if error.errno == errno.ELOOP else os.strerror(error.errno or 0)
        raise Busy(f"the lock file {path} cannot be opened ({what}): remove it and try again") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Busy(f"{path} is not a lock file: remove it and try again")
    return descriptor


def _held(descriptor: int) -> Busy:
    """The refusal, with who holds the lock as far as the file tells."""
    who = ""
    with suppress(OSError, ValueError, KeyError, TypeError):
        who = " ({session}, process {pid}, since {since})".format_map(
            json.loads(os.pread(descriptor, 65536, 0))
        )
    return Busy(
        f"another Steelyard session{who} is running on this host and would disturb this one: wait until it has ended"
        " or stop it"
    )
