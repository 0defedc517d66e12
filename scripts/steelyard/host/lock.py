# SPDX-License-Identifier: Apache-2.0
"""One session at a time on a host: two would disturb each other.

The lock is no file but a name in the host's network, that of an abstract Unix socket. The kernel gives it to one
process and takes it back when that process ends, however it ends. It is the same for every user and for every
container on the host's network, as that of the harness has to be. Nobody can put anything in its place, and who holds
it is told by the kernel.

Which session it is, its folder tells: that is locked too, and a reader may ask as often as it likes.
"""

import errno
import fcntl
import os
import pwd
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from steelyard.errors import Busy

LOCK = "steelyard"
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group of a socket's other end, as SO_PEERCRED gives them."""


@contextmanager
def host_lock(name: str = LOCK) -> Iterator[None]:
    """Hold the lock of this host; `name`: another lock than that one.

    Raises:
        Busy: somebody else holds it.
    """
    with socket.socket(socket.AF_UNIX) as held:
        try:
            held.bind(f"\0{name}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise Busy(
                f"another Steelyard session{_holder(name)} is running on this host and would disturb this one: wait"
                " until it has ended or stop it"
            ) from error
        # Nobody is answered: others connect only for the kernel to tell them who this is. Each stays in the queue.
        held.listen(socket.SOMAXCONN)
        yield


@contextmanager
def running_session(folder: Path) -> Iterator[None]:
    """Mark the folder of a session as that of one that this process runs, until it ends in whatever way."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks: it runs as well, and nobody sees that it does
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_running(folder: Path) -> bool:
    """Whether a process of this host runs the session of a folder, as far as the kernel tells."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _holder(name: str) -> str:
    """Who holds a lock, as far as the kernel tells."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)
        asking.connect(f"\0{name}")
        credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, uid, _ = _CREDENTIALS.unpack(credentials)
        user = str(uid)
        with suppress(KeyError):
            user = pwd.getpwuid(uid).pw_name
        if pid == 0:
            return f" (in a container, as user {user})"
        command = ""
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            command = " ".join(words[words.index("steelyard") :] if "steelyard" in words else words)
        return f" (process {pid} of user {user}: {command.strip()[:120]})"
    return ""
