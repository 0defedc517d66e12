# SPDX-License-Identifier: Apache-2.0
"""The sampler's CSV files: rows are gathered and appended once a sample, so that they can be read meanwhile."""

from pathlib import Path

COLUMNS = {
    "processes": "epoch,process,user_s,system_s,rss,pss,minor_faults,major_faults,"
    "voluntary_switches,involuntary_switches,threads,wait_s",
    "threads": "epoch,process,group,cpu_s",
    "cgroups": "epoch,process,cpu_s,throttled_s,periods,throttled_periods,memory,working_set,peak,oom_kills",
    "counters": "epoch,process,operation,requests,errors,service_s",
    "metrics": "epoch,process,metric,value",
    "host": "epoch,monotonic,busy_s,steal_s,idle_s,other_s",
    "notes": "epoch,process,note",
}
GROUP_COLUMNS = COLUMNS["cgroups"].split(",")[2:]


class Tables:
    """The files, by their names in `COLUMNS`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._files = {name: (folder / f"{name}.csv").open("ab", buffering=0) for name in COLUMNS}
        self._rows = {name: [] if file.tell() else [COLUMNS[name]] for name, file in self._files.items()}

    def add(self, name: str, row: str) -> None:
        """Add a row, already in CSV."""
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


def text(value: str) -> str:
    """A free text as one CSV field."""
    clean = " ".join(value.split())
    return '"' + clean.replace('"', '""') + '"' if any(c in clean for c in ',"') else clean
