# SPDX-License-Identifier: Apache-2.0
"""What HotSpot says of its own memory (Native Memory Tracking): `jcmd PID VM.native_memory summary scale=KB`.

It keeps account where it was started with `-XX:NativeMemoryTracking=summary` or `detail`. Lines of it (JDK 17, 25):

    Total: reserved=7844120KB, committed=487416KB
    -                 Java Heap (reserved=6172672KB, committed=397312KB)
    -                      Code (reserved=247758KB, committed=7618KB)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

OPTION = "-XX:NativeMemoryTracking="
FILE = "native-memory.txt"
"""In a server's log folder."""
HEAP, CODE = "Java Heap", "Code"
"""Parts that each JVM names."""
_TOTAL = re.compile(r"^Total: reserved=\d+KB, committed=(\d+)KB\s*$", re.MULTILINE)
_PART = re.compile(r"^- +(\S.*?) \(reserved=\d+KB, committed=(\d+)KB\b", re.MULTILINE)


@dataclass(frozen=True)
class NativeMemory:
    """Committed memory of a JVM, bytes."""

    total: int | None = None
    parts: Mapping[str, int] = field(default_factory=dict)
    """By what it is for, as the JVM calls it."""

    @property
    def is_known(self) -> bool:
        """Whether its total, its heap and its code are."""
        return self.total is not None and {HEAP, CODE} <= self.parts.keys()


def keeps_account(options: list[str]) -> bool:
    """Whether a JVM with these options does; the last one counts."""
    given = [option.removeprefix(OPTION) for option in options if option.startswith(OPTION)]
    return bool(given) and given[-1] in ("summary", "detail")


def parse_native_memory(text: str) -> NativeMemory:
    """What `jcmd` printed; nothing of another text."""
    total = _TOTAL.search(text)
    parts = {name: int(committed) * 1024 for name, committed in _PART.findall(text)}
    return NativeMemory(int(total[1]) * 1024 if total is not None else None, parts)
