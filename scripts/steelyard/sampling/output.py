# SPDX-License-Identifier: Apache-2.0
"""Where the sampler's rows go: CSV files, or one file of lines. Rows are gathered and written once a sample, so that
they can be read meanwhile.
"""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from steelyard.sampling.columns import COLUMNS
from steelyard.sampling.procfs import boot_id

STREAM = Path("-")
"""In place of a folder: standard output, as a stream."""

WATCHED = "watched"
"""Told in a stream alone: `epoch,watched_s`, CPU seconds of all watched processes together since the first sample."""


class Tables:
    """The files, by their names in `COLUMNS`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._files = {name: (folder / f"{name}.csv").open("ab", buffering=0) for name in COLUMNS}
        self._rows = {name: [] if file.tell() else [COLUMNS[name]] for name, file in self._files.items()}

    def add(self, name: str, row: str) -> None:
        """Add a row, already in CSV; what only a stream tells is left out."""
        if name in self._rows:
            self._rows[name].append(row)

    def flush(self) -> None:
        """Append the rows to their files.

        Raises:
            OSError: they could not be written (disk full).
        """
        for name, rows in self._rows.items():
            data = "".join(f"{row}\n" for row in rows).encode()
            rows.clear()
            while data:
                data = data[self._files[name].write(data) :]

    def finish(self, cost: Mapping[str, object]) -> None:
        """Write what sampling has cost beside the tables."""
        (self._folder / "sampler.json").write_text(json.dumps(cost, indent=1) + "\n", encoding="utf-8")


class Stream:
    """Lines `TABLE,ROW` on a file that is already open. Thread-safe.

    The first line says who this is, and the columns of the tables.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._lines: list[str] = []
        self._size = 0
        self._written = threading.Condition()
        self.write("about", json.dumps({"boot": boot_id(), "columns": COLUMNS}))

    def add(self, name: str, row: str) -> None:
        """Add a row of a table, already in CSV, or another text in one line."""
        with self._written:
            self._lines.append(f"{name},{row}\n")

    def wait_beyond(self, offset: int, timeout: float) -> None:
        """Wait until more bytes than these are written, so many seconds at most."""
        with self._written:
            self._written.wait_for(lambda: self._size > offset, timeout)

    def flush(self) -> None:
        """Write what was added, whole lines only, in order."""
        with self._written:
            data = "".join(self._lines).encode()
            self._lines.clear()
            while data:
                written = os.write(self._file, data)
                self._size += written
                data = data[written:]
            self._written.notify_all()

    def write(self, name: str, row: str) -> None:
        """Add and write."""
        self.add(name, row)
        self.flush()

    def finish(self, cost: Mapping[str, object]) -> None:
        """Say what sampling has cost."""
        self.write("cost", json.dumps(cost))


Output = Tables | Stream
"""Takes the rows of all tables."""


def output(folder: Path) -> Output:
    """Tables in a folder, or a stream on standard output for `STREAM`."""
    return Stream(1) if folder == STREAM else Tables(folder)


def text(value: str) -> str:
    """A free text as one CSV field."""
    clean = " ".join(value.split())
    return '"' + clean.replace('"', '""') + '"' if any(c in clean for c in ',"') else clean
