# SPDX-License-Identifier: Apache-2.0
"""How long a stranger waits: from a fresh clone to the first answer, and to the last, with its parts.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/first_report.py [--runs 3] [-- run jvm-count --quick]

Each run clones the checkout's commit into a temporary folder and types the command of the README there, with the
package caches of this user (pip, Maven) as they are: warm them by a run before. It prints a table for
docs/lab-notes/. Nothing else should run on the machine: the load before each run stands in the table.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from steelyard.paths import ROOT
from steelyard.results.store import SessionDirectory

FILES = {
    "environment ready, at": ".steelyard/venv/requirements.txt.installed",
    "Java parts ready, at": ".steelyard/build.log",
}
"""Of a clone: what is written last when a part is ready. The two are made beside each other."""
LINES = {
    "first trial begins, at": "trial 1 of ",
    "**first report, at**": "note: interim, ",
    "**last report, at**": "report: ",
}
"""How the line begins that a session prints then."""

Parts = dict[str, float | str]


def run_once(words: Sequence[str], folder: Path) -> Parts:
    """Clone into the folder, run the command there; seconds of each part by name, with the load before."""
    load = os.getloadavg()[0]
    clone = folder / "steelyard"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    began, lines = time.time(), list[tuple[float, str]]()
    with listen([clone / "steelyard", *words], clone) as process:
        for line in process.stdout or ():
            lines.append((time.time() - began, line.rstrip()))
            sys.stderr.write(f"{lines[-1][0]:7.1f} {lines[-1][1]}\n")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    parts: Parts = {"load before": f"{load:.1f}"}
    parts |= {
        name: (clone / file).stat().st_mtime - began
        for name, file in FILES.items()
        if (clone / file).exists()
    }
    parts |= times_of(lines)
    sessions = sorted((clone / "results").glob("*/session.json"))
    if sessions:
        parts |= trial_parts(SessionDirectory(sessions[-1].parent))
    parts["CPU of all of it"] = usage.ru_utime + usage.ru_stime
    parts["exit code"] = str(process.returncode)
    return parts


def listen(
    words: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A command whose output and errors are read as they come, as one text."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def times_of(lines: Sequence[tuple[float, str]]) -> dict[str, float]:
    """When a session came how far, by the lines that it printed: (seconds since the start, line)."""
    first = dict[str, float]()
    for at, line in lines:
        for name, mark in LINES.items():
            if line.strip().startswith(mark):
                first.setdefault(name, at)
    return {name: first[name] for name in LINES if name in first}


def trial_parts(directory: SessionDirectory) -> dict[str, float]:
    """Median seconds of the phases of a trial, and of what lies between two trials."""
    trials = directory.trials()
    phases = dict.fromkeys(name for trial in trials for name in trial.phases)
    parts = {
        f"a trial: {name}": median(
            end - begin for trial in trials if name in trial.phases for begin, end in [trial.phases[name]]
        )
        for name in phases
    }
    steps = [after.started - before.started for before, after in pairwise(trials)]
    return {**parts, "from trial to trial": median(steps)} if steps else parts


def table(runs: Sequence[Parts]) -> str:
    """The parts of all runs as a table of Markdown, seconds."""
    names = dict.fromkeys(name for run in runs for name in run)
    head = [f"| part, s | {' | '.join(f'run {number}' for number in range(1, len(runs) + 1))} |"]
    return "\n".join([*head, "| --- |" + " --- |" * len(runs), *(_row(name, runs) for name in names)])


def _row(name: str, runs: Sequence[Parts]) -> str:
    return f"| {name} | {' | '.join(_cell(run.get(name)) for run in runs)} |"


def _cell(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:.1f}"


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("words", nargs="*", default=["run", "jvm-count", "--quick"])
    given = parser.parse_args()
    runs = []
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory(prefix="first-report-") as folder:
            runs.append(run_once(given.words, Path(folder)))
            sys.stdout.write(f"{table(runs)}\n\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
