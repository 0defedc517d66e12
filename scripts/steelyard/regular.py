# SPDX-License-Identifier: Apache-2.0
"""Reads files of records. What is no regular file is refused: a FIFO in the place of one would never end, and a device
may not either."""

import errno
import os
import stat
from pathlib import Path


def read_bytes(path: Path) -> bytes:
    """What a regular file holds.

    Raises:
        OSError: it cannot be read, or is something else.
    """
    # A FIFO that nobody writes to would be waited for already while it is opened.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file.read()


def read_text(path: Path, errors: str = "strict") -> str:
    """The same as text in UTF-8, with the line ends of this system (raises OSError, UnicodeDecodeError)."""
    return read_bytes(path).decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")
