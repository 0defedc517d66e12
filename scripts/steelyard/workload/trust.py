# SPDX-License-Identifier: Apache-2.0
"""Whose commands are run: a workload file is a program, for its commands run as whoever starts them, and so are an
experiment file, which names JDKs and JVM options, and the record of a session that is resumed.

What is of the checkout, as git tracks it, is trusted as the checkout is, and so are files that `init` wrote and
sessions that were begun here. Where git keeps no files (a wheel, an image, an archive of the sources) it is the
shipped folders. Of any other, a stranger's folder within the checkout too, a person says so once, for its content as
it is then: the digest is kept, and a file that was changed is asked about again. What these files start (scripts,
jars) is not looked at.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from steelyard.errors import BadInput
from steelyard.paths import CACHE
from steelyard.regular import read_bytes
from steelyard.workload.loader import load_file

TRUSTED = CACHE / "trusted-workloads"
"""A digest a line, of workload files with what they choose between, of experiment files and of records of sessions."""


def is_trusted(path: Path, are_own: Callable[[Sequence[Path]], bool]) -> bool:
    """Whether a workload file may be run: it and the components that it chooses between are of the checkout, or
    somebody trusted this content (raises BadInput: a file cannot be read).

    Args:
        path: the file.
        are_own: whether resolved files are all of the checkout.
    """
    files = _files(path)
    return are_own(files) or is_kept(files)


def keep_trust(path: Path) -> None:
    """Note that a workload file is trusted, as it is now (raises as `keep`)."""
    keep(_files(path))


def is_kept(files: Sequence[Path]) -> bool:
    """Whether the content of these files together was trusted (raises BadInput: one cannot be read)."""
    try:
        kept = read_bytes(TRUSTED).split()
    except OSError:  # nothing was kept, or it is another user's
        return False
    return _digest(files).encode() in kept


def keep(files: Sequence[Path]) -> None:
    """Note that the content of these files together is trusted (raises BadInput: one cannot be read). Where the note
    cannot be written, a person is asked again the next time."""
    digest = _digest(files)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        TRUSTED.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(TRUSTED, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"{digest}\n")


def _files(path: Path) -> list[Path]:
    """All that holds commands of a workload: its file, and those of the components that its settings choose between."""
    choices = load_file(path.resolve()).choices
    chosen = [folder / f"{value}.yaml" for folder, values in choices.items() for value in values]
    return [file.resolve() for file in (path, *chosen)]


def _digest(files: Sequence[Path]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(_read(file)).digest() for file in files)).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({os.strerror(error.errno or 0)})") from error
