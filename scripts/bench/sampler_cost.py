# SPDX-License-Identifier: Apache-2.0
"""What the sampler costs: CPU in percent of one core while it watches N real server JVMs at 1 Hz.

    python bench/sampler_cost.py [--jvms 12] [--threads 40] [--working 4] [--seconds 120] [--cgroups]

Each JVM (`SampledServer.java`) has `--threads` application threads of which `--working` wake 50 times a second, the
JVM's own threads on top (about 20), 64 MiB of live heap, and serves counters over HTTP. The figure is taken by the
kernel (`wait4`) for the sampler's whole life, start of Python and the last full sample included; the breakdown is the
sampler's own. 120 s is about its life in the shortest trial of 12 JVMs: half a minute of starts, as much of warm-up, a
window of a minute. What is read at the start and at the end alone (PSS, switches) weighs less in a longer one.
Exit status 1 when the cost is above the limit.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 0.01


def start_servers(options: argparse.Namespace, folder: Path) -> list[tuple[subprocess.Popen[str], int]]:
    """Compile once, start the JVMs, and wait until each has told its port."""
    subprocess.run(["javac", "-d", str(folder), str(HERE / "SampledServer.java")], check=True)
    command = [*("java", "-Xmx128m", "-XX:+UseG1GC", "-cp", str(folder), "SampledServer")]
    command += [str(options.threads), str(options.working), "64"]
    servers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(options.jvms)
    ]
    return [(server, int(server.stdout.readline()) if server.stdout else 0) for server in servers]


def sample(
    servers: list[tuple[subprocess.Popen[str], int]], seconds: float, folder: Path, cgroups: bool
) -> tuple[float, float]:
    """Run the sampler over the servers; its CPU seconds by the kernel's account, and how long it lived."""
    config = {
        "output": str(folder / "samples"),
        "interval": 1.0,
        "processes": [
            {
                "name": f"server-{i + 1}",
                "pid": server.pid,
                "role": "server",
                "counters_url": f"http://127.0.0.1:{port}/bench/counters",
                "cgroup": cgroups,
            }
            for i, (server, port) in enumerate(servers)
        ],
    }
    path = folder / "sampler-config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    begin = time.monotonic()
    sampler = subprocess.Popen([sys.executable, "-m", "steelyard.sampling", str(path)], cwd=HERE.parent)
    time.sleep(seconds)
    sampler.send_signal(signal.SIGTERM)
    _, status, usage = os.wait4(sampler.pid, 0)
    sampler.returncode = os.waitstatus_to_exitcode(status)
    if sampler.returncode != 0:
        raise SystemExit(f"the sampler failed with {sampler.returncode}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jvms", type=int, default=12)
    parser.add_argument("--threads", type=int, default=40)
    parser.add_argument("--working", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument(
        "--cgroups", action="store_true", help="read each JVM's control group too, as in containers"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        servers = start_servers(options, folder)
        try:
            time.sleep(5)
            threads = [len(list(Path(f"/proc/{server.pid}/task").iterdir())) for server, _ in servers]
            cpu, elapsed = sample(servers, options.seconds, folder, options.cgroups)
        finally:
            for server, _ in servers:
                server.kill()
                server.wait()
        own = json.loads((folder / "samples" / "sampler.json").read_text(encoding="utf-8"))
        rows = len((folder / "samples" / "counters.csv").read_text(encoding="utf-8").splitlines()) - 1
    share = cpu / elapsed
    write = sys.stdout.write
    write(f"{options.jvms} JVMs, {statistics.mean(threads):.0f} threads each, {elapsed:.0f} s, ")
    write(f"{own['samples']} samples ({own['missed_samples']} missed), {rows} answers of counters\n")
    write(f"sampler: {100 * share:.2f} % of one core (limit {100 * LIMIT:.0f} %), start of Python included\n")
    for part, seconds in sorted(own["parts_s"].items(), key=lambda item: -item[1]):
        write(f"  {part:<10} {100 * seconds / own['elapsed_s']:.3f} %\n")
    write(
        f"  {'start':<10} {100 * (cpu - own['cpu_s']) / elapsed:.3f} %  ({cpu - own['cpu_s']:.3f} s, once)\n"
    )
    return 0 if share <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
