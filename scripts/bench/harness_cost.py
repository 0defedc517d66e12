# SPDX-License-Identifier: Apache-2.0
"""What the harness costs in a real session, from its directory: time, sampler CPU, agreement of the counts.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/harness_cost.py results/jvm-count-...

Time beyond start, ramp, warm-up, measurement and stop is counted from one trial's start to the next one's, so it
holds everything that the harness does in between.
"""

import json
import sys
from pathlib import Path
from statistics import median

from steelyard.results.store import SessionDirectory

USEFUL = ("start", "ramp", "warmup", "measure", "stop")


def main() -> None:
    """Print one line for each trial and the summary."""
    directory = SessionDirectory(Path(sys.argv[1]))
    trials = directory.trials()
    starts = [trial.started for trial in trials]
    ends = [*starts[1:], [entry.time for entry in directory.journal()][-1]]
    overheads, shares, apart = [], [], []
    for trial, end in zip(trials, ends, strict=True):
        useful = sum(b - a for name, (a, b) in trial.phases.items() if name in USEFUL)
        overheads.append(end - trial.started - useful)
        folder = directory.trial_path(trial.block, trial.arm, trial.attempt)
        sampler = json.loads((folder / "samples" / "sampler.json").read_text(encoding="utf-8"))
        shares.append(sampler["share_of_one_core"])
        line = f"block {trial.block} {trial.arm}: {overheads[-1]:.2f} s beyond the trial, sampler {shares[-1]:.2%}"
        measured = trial.measurement
        counted = measured.value("server_requests") if measured is not None else None
        rate = measured.value("window_server_rate") if measured is not None else None
        if measured is not None and counted is not None and rate is not None:
            sent = measured.injector_requests
            apart.append(abs(counted / sent - 1))
            window = rate / measured.window_injector_rate - 1
            line += f", counts {counted:,} and {sent:,} ({apart[-1]:.4%} apart; in the window {window:+.3%})"
        print(line)  # noqa: T201
    print(  # noqa: T201
        f"median {median(overheads):.2f} s, worst {max(overheads):.2f} s beyond the trial; sampler at worst"
        f" {max(shares):.2%} of one core; counts at worst {max(apart, default=0.0):.4%} apart"
    )


if __name__ == "__main__":
    main()
