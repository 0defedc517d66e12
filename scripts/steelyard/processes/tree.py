# SPDX-License-Identifier: Apache-2.0
"""Which processes a process has started."""

import contextlib
from pathlib import Path


def process_tree(pid: int) -> list[int]:
    """A process and all that it has started, which still run: a proxy works in processes of its own."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
            found += [int(word) for word in text.split()]
    return found
