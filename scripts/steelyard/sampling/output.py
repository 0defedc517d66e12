# SPDX-License-Identifier: Apache-2.0
"""The sampler's CSV files: rows are gathered and appended once a sample, so that they can be read meanwhile."""

import os
from pathlib import Path

COLUMNS = {
    "processes": "epoch,process,user_s,system_s,rss,pss,minor_faults,major_faults,"
    "voluntary_switches,involuntary_switches,threads",
    "threads": "epoch,process,group,cpu_s",
    "cgroups": "epoch,process,cpu_s,throttled_s,periods,throttled_periods,memory,working_set,peak,oom_kills",
    "counters": "epoch,process,operation,requests,errors,service_s",
    "host": "epoch,monotonic,busy_s,steal_s,idle_s,other_s",
    "notes": "epoch,process,note",
}
GROUP_COLUMNS = COLUMNS["cgroups"].split(",")[2:]


class Table:
    """One CSV file."""

    def __init__(self, folder: Path, name: str) -> None:
        self._rows: list[str] = []
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(folder / f"{name}.csv", flags, 0o644)
        if os.fstat(self._fd).st_size == 0:
            self._rows.append(COLUMNS[name])

    def add(self, row: str) -> None:
        """Add a row, already in CSV."""
        self._rows.append(row)

    def flush(self) -> None:
        """Append the rows to the file.

        Raises:
            OSError: it could not be written (disk full).
        """
        if not self._rows:
            return
        data = ("\n".join(self._rows) + "\n").encode()
        self._rows.clear()
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def text(value: str) -> str:
    """A free text as one CSV field."""
    clean = " ".join(value.split())
    return '"' + clean.replace('"', '""') + '"' if any(c in clean for c in ',"') else clean
