# SPDX-License-Identifier: Apache-2.0
"""What analysis and report of a session cost: wall time and peak memory of one process that does both.

Run from `scripts/`: `python bench/report_cost.py [blocks]` (five arms; ten blocks unless told). The limits are
10 s and 300 MB; the exit code is 1 when one is passed. The session is synthetic and is made in another process, so
that neither its time nor its memory counts.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
BLOCKS = 10
LIMIT_SECONDS, LIMIT_MB = 10.0, 300.0


def make(directory: Path, blocks: int) -> None:
    """Write the synthetic session."""
    sys.path[:0] = [str(SCRIPTS / "tests"), str(SCRIPTS / "tests" / "report")]
    import sample  # noqa: PLC0415 (lies beside the tests)

    plan = sample.study_plan()
    plan.blocks = blocks
    sample.write(directory, plan)
    (directory / "analysis.json").unlink()


def measure(directory: Path) -> None:
    """Analyse and report, imports included; prints a line of JSON."""
    started = time.perf_counter()
    from steelyard.analysis.estimates import analyse  # noqa: PLC0415 (imports are part of the cost)
    from steelyard.report import write_report  # noqa: PLC0415
    from steelyard.results.store import SessionDirectory  # noqa: PLC0415

    session = SessionDirectory(directory)
    trials = session.trials()
    session.keep(analyse(session.session(), trials))
    analysed = time.perf_counter()
    files = write_report(session)
    done = time.perf_counter()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    result = {
        "trials": len(trials),
        "analysis_s": round(analysed - started, 2),
        "report_s": round(done - analysed, 2),
        "wall_s": round(done - started, 2),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mb": round(usage.ru_maxrss / 1000, 1),
        "html_kb": round(files[0].stat().st_size / 1000),
    }
    sys.stdout.write(json.dumps(result) + "\n")


def main() -> int:
    """Make the session, measure it in a fresh process, judge."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else BLOCKS
    with tempfile.TemporaryDirectory() as folder:
        steps = []
        for step in ("--make", "--measure"):
            command = [sys.executable, __file__, step, folder, str(blocks)]
            done = subprocess.run(command, cwd=SCRIPTS, check=True, capture_output=True, text=True)
            steps.append(done.stdout)
    result = json.loads(steps[-1])
    sys.stdout.write(f"{blocks} blocks x 5 arms: {steps[-1]}")
    sys.stdout.write(f"limits: {LIMIT_SECONDS:g} s, {LIMIT_MB:g} MB\n")
    return int(result["wall_s"] > LIMIT_SECONDS or result["peak_mb"] > LIMIT_MB)


if __name__ == "__main__":
    sys.path.insert(0, str(SCRIPTS))
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]))
    else:
        sys.exit(main())
