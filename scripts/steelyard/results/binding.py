# SPDX-License-Identifier: Apache-2.0
"""Digests by which an edit of a session directory is found out (docs/files.md).

Files that a trial's figures were made from -> their digests in trial.json -> its digest in the journal, whose lines
each carry the digest of the line before. It is against mistakes and casual edits: who makes all of them anew is not
found out.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MEASURED = (
    *("sampler.json", "replay/*", "samples/*"),
    *("load/*/*.json", "load/*/*.jsonl", "load/*/*.hlog"),
    *("servers/*/logs/gc*.log*", "servers/*/logs/messages.log", "servers/*/logs/jit.log*"),
    "servers/*/logs/native-memory.txt",
)
"""What a trial's figures are made from, and how it was deployed; dumps and other logs may be removed at any time."""


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Digest of each file that the figures of a trial are made from, by its path in the trial's folder; without those
    that cannot be read, which no figure was made from either."""
    sums = {}
    for path in sorted(path for pattern in MEASURED for path in folder.glob(pattern)):
        if path.is_file():
            with suppress(OSError), path.open("rb") as file:
                sums[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


def find_altered(folder: Path, recorded: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Files of a trial that are not as its record says: what was changed or added, and what is gone."""
    now = digests(folder)
    changed = [name for name, own in now.items() if recorded.get(name) != own]
    return changed, [name for name in recorded if name not in now]
