# SPDX-License-Identifier: Apache-2.0
"""Unpacking archives of others."""

import tarfile
from collections.abc import Iterable
from pathlib import Path


def unpack(archive: tarfile.TarFile, folder: Path, members: Iterable[tarfile.TarInfo] | None = None) -> None:
    """Write an archive's files and folders below `folder`; `members`: these alone.

    `tarfile.data_filter` refuses what leaves the folder, but Python has it from 3.11.4 on and Debian 12 comes with
    3.11.2. Links are refused as well: nothing that is unpacked here needs them.

    Raises:
        tarfile.TarError: it holds something else, or a name outside of the folder; nothing is written then.
        OSError: it cannot be written.
    """
    wanted, top = list(archive if members is None else members), folder.resolve()
    for member in wanted:
        if not (member.isreg() or member.isdir()):
            raise tarfile.ExtractError(f"{member.name} is neither a file nor a folder")
        if not (top / member.name).resolve().is_relative_to(top):
            raise tarfile.ExtractError(f"{member.name} is outside of the archive's folder")
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extractall(folder, wanted)
