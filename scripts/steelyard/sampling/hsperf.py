# SPDX-License-Identifier: Apache-2.0
"""Counters that HotSpot keeps in a file that it maps into memory, hsperfdata: what its JIT, class loading, safepoints
and locks did since it began. The JVM writes it whether or not anybody reads, so that reading costs the JVM nothing.

The file (jdk.internal.jvmstat, HotSpot's perfMemory.hpp) begins with the magic number 0xcafec0c0, big-endian; a byte
says in which order the rest is. Of each entry: its length, where its name and its value lie, the value's type. A JVM
has none with -XX:-UsePerfData, and OpenJ9 never.
"""

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from steelyard.sampling.procfs import ProcFile
from steelyard.units import add_known

_MAGIC, _LITTLE = 0xCAFEC0C0, 1
_HEAD, _ENTRY = "iiqii", "iiibbbbi"
_LARGEST = 1 << 20
"""Bytes; the file has 32 KiB unless the JVM was told otherwise."""
_TICKS = "sun.os.hrt.frequency"
JVM_COLUMNS: Mapping[str, str] = {
    "compilations": "sun.ci.totalCompiles",
    "invalidated": "sun.ci.totalInvalidates",
    "compile_s": "java.ci.totalTime",
    "code_bytes": "sun.ci.nmethodCodeSize",
    "classes": "java.cls.loadedClasses",
    "shared_classes": "java.cls.sharedLoadedClasses",
    "unloaded_classes": "java.cls.unloadedClasses",
    "safepoints": "sun.rt.safepoints",
    "to_safepoint_s": "sun.rt.safepointSyncTime",
    "safepoint_s": "sun.rt.safepointTime",
    "lock_waits": "sun.rt._sync_ContendedLockAttempts",
}
"""Columns of jvm.csv, each with the counter that it is of; those in seconds are counted in ticks."""
_NOT_IN_ALL = {JVM_COLUMNS["lock_waits"]}
"""Counters that HotSpot has had up to release 24 alone (JDK-8348829). It makes them before all others, so a file that
has all others and not these will never have them."""
_SECONDS = {name for name in JVM_COLUMNS if name.endswith("_s")}


class PerfFile:
    """The file of one JVM: entries are found once, their values read again and again."""

    def __init__(self, path: Path) -> None:
        self._file = ProcFile(str(path))
        self._values: dict[str, int] = {}
        """Where each value lies, by the name of its counter."""
        self._order = "<"

    def read(self) -> dict[str, float | None] | None:
        """The columns, each None where this JVM does not have it; None at all while the JVM has not written them, and
        once the file is gone."""
        data = self._file.read(_LARGEST)
        if data is None or len(data) < 32 or struct.unpack_from(">I", data)[0] != _MAGIC:
            return None
        if not self._values and not self._find(data):
            return None
        values = {
            name: struct.unpack_from(f"{self._order}q", data, at)[0] for name, at in self._values.items()
        }
        ticks = values[_TICKS]
        return {
            column: values[counter] / (ticks if column in _SECONDS else 1) if counter in values else None
            for column, counter in JVM_COLUMNS.items()
        }

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _find(self, data: bytes) -> bool:
        self._order = "<" if data[4] == _LITTLE else ">"
        *_, at, entries = struct.unpack_from(f"{self._order}{_HEAD}", data, 8)
        places: dict[str, int] = {}
        wanted = {*JVM_COLUMNS.values(), _TICKS}
        try:
            for _ in range(entries):
                length, name_at, _, data_type, _, _, _, value_at = struct.unpack_from(
                    f"{self._order}{_ENTRY}", data, at
                )
                name = data[at + name_at : data.index(b"\0", at + name_at)].decode("ascii", "replace")
                if name in wanted and data_type == ord("J"):
                    places[name] = at + value_at
                at += length
        except (struct.error, ValueError):  # it is being written
            return False
        if not wanted - _NOT_IN_ALL <= places.keys():
            return False
        self._values = places
        return True


class JvmFiles:
    """The files of the JVMs of one component, as they come and go."""

    def __init__(self) -> None:
        self._files: dict[int, PerfFile] = {}
        """By process."""

    def read(self, pids: Iterable[int]) -> dict[str, float | None] | None:
        """The columns summed over the JVMs, each None where one of them lacks it; None at all without a JVM, or of
        one that has not written them yet."""
        running = set(pids)
        for gone in self._files.keys() - running:
            self._files.pop(gone).close()
        # A process becomes a JVM, and the JVM makes its file, in their own time.
        new = ((pid, find_file(pid)) for pid in running - self._files.keys())
        self._files |= {pid: file for pid, file in new if file is not None}
        readings = [values for file in self._files.values() if (values := file.read()) is not None]
        if not readings or len(readings) < len(self._files):
            return None
        return {column: add_known(values[column] for values in readings) for column in JVM_COLUMNS}


def find_file(pid: int, proc: str = "/proc") -> PerfFile | None:
    """The file of a process that is a JVM, in its own view of files and process ids (a container's)."""
    comm = ProcFile(f"{proc}/{pid}/comm", keep=False).read(64)
    if comm is None or comm.strip() != b"java":
        return None
    status = ProcFile(f"{proc}/{pid}/status", keep=False).read(4096) or b""
    own = next(
        (line.split()[-1].decode() for line in status.splitlines() if line.startswith(b"NSpid:")), str(pid)
    )
    try:
        paths = sorted(Path(f"{proc}/{pid}/root/tmp").glob(f"hsperfdata_*/{own}"))
    except OSError:
        return None
    return PerfFile(paths[0]) if paths else None
