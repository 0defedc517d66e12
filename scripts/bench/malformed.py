# SPDX-License-Identifier: Apache-2.0
"""Shows Steelyard any number of malformed experiment and workload files, and says what became of them.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/malformed.py --files 100000 --seed 1

Each file follows from its number (`tests/hostile.py`), so that `--files 1 --seed N` shows one again. Exit code 12 when
one of them ended in anything but a plan or one short plain sentence that names it, or took too much CPU time.
"""

import argparse
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from steelyard.errors import Exit
from tests.hostile import one

CHUNK = 500


def shown(first: int, count: int) -> tuple[Counter[str], list[tuple[int, str]], list[tuple[float, int]]]:
    """What became of some files: how many of each kind, defects by seed, the longest CPU times by seed."""
    counts: Counter[str] = Counter()
    defects, times = [], []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        for seed in range(first, first + count):
            began = time.process_time()
            try:
                base, _, told = one(Path(folder), seed)
                kind = "workload" if base.name == "workload.yaml" else "experiment"
                counts[f"{kind} files {'refused' if told else 'accepted and planned'}"] += 1
                # Sentences that differ in names and figures alone are one.
                counts["sentence: " + re.sub(r"\S*/\S*|'[^']*'|[\d.]+", "_", told)[:60]] += bool(told)
            except Exception:
                defects.append((seed, traceback.format_exc()))
            times.append((time.process_time() - began, seed))
    counts["CPU milliseconds"] = round(1000 * sum(seconds for seconds, _ in times))
    return counts, defects, sorted(times)[-3:]


def main() -> int:
    """Draw, show, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1, help="number of the first file")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    defects: list[tuple[int, str]] = []
    times: list[tuple[float, int]] = []
    began = time.monotonic()
    last = given.seed + given.files
    starts = range(given.seed, last, CHUNK)
    with ProcessPoolExecutor(given.processes) as pool:
        parts = pool.map(shown, starts, [min(CHUNK, last - start) for start in starts])
        for found, wrong, longest in parts:
            counts += found
            defects += wrong
            times = sorted([*times, *longest])[-5:]
            shown_so_far = sum(count for name, count in counts.items() if name.startswith(("exp", "work")))
            print(f"{shown_so_far} files, {len(defects)} defects", file=sys.stderr)  # noqa: T201
    for seed, told in defects[:20]:
        print(f"--- file {seed}\n{told}")  # noqa: T201
    kinds = {name: count for name, count in counts.items() if not name.startswith("sentence: ")}
    print(f"{given.files} files in {time.monotonic() - began:.0f} s: {len(defects)} defects; {kinds}")  # noqa: T201
    print(f"different sentences: {len(counts) - len(kinds)}; longest CPU times (s, file): {times}")  # noqa: T201
    return Exit.CHECK_FAILED if defects else Exit.OK


if __name__ == "__main__":
    sys.exit(main())
