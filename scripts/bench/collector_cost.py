# SPDX-License-Identifier: Apache-2.0
"""How many injectors and what collector a rate asks for: sessions with 1, 2 and 4 injectors, and more of them replayed.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/collector_cost.py FOLDER [OPTION of run ...]

Options are those of `run`: `--engine kubernetes --namespace steelyard`. The session is kept in FOLDER; a FOLDER that is
a session already is read again. Three tables, for docs/lab-notes/2026-11-23-cluster.md:

- injectors: their CPU for each request, by how many share one rate; void trials are in it, and how many there were;
- the harness beside them, by the samples of those trials, and its client (`kubectl proxy`), whose memory is read while
  they run;
- the harness alone, with the rows of one injector replayed as 1, 10 and 100 at the same time, second by second, and
  their histograms merged.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from statistics import mean
from typing import Any

import psutil

from steelyard.measure.health import read_health
from steelyard.measure.histograms import read_logs
from steelyard.paths import ROOT
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.sampling.columns import COLUMNS
from steelyard.sampling.config import NAME
from steelyard.sampling.streams import Observer, Streams
from steelyard.units import MIB

COUNTS = (1, 2, 4)
REPLAYED = (1, 10, 100)
SECONDS = 20
"""Of a replay."""
EVERY = 20.0
"""Seconds between two looks at the clients, which disturb what is measured."""
POLL = 0.2
"""Seconds between two looks at what has come, as in a trial."""
EXPERIMENT = f"""\
steelyard: 1
name: injectors
title: Injectors that share one rate
question: What do injectors cost for each request, by how many share one rate?
workload: ping
factors: {{injectors: {{levels: {list(COUNTS)}}}}}
deployment: {{cores: all, total_heap: 512m}}
load:
  model: open
  rate: 1000
  ramp: 2s
  warmup: {{until: compiled, at_least: 20s, at_most: 60s}}
  measure: 20s
metrics: {{primary: throughput}}
design: {{blocks: 3, repeats: 1}}
"""


def main() -> None:
    """Run or read the session, and print the tables."""
    folder = Path(sys.argv[1])
    if not (folder / "session.json").exists():
        folder = _run(folder, sys.argv[2:])
    directory = SessionDirectory(folder)
    measured = [one for one in directory.trials() if one.measurement is not None]
    injectors(directory, measured)
    clients(folder)
    if measured:
        one = next((each for each in measured if each.state == "valid"), measured[0])
        replay(directory.trial_path(one.block, one.arm, one.attempt))


def injectors(directory: SessionDirectory, trials: Sequence[Trial]) -> None:
    """Print what injectors used, by how many there were."""
    say("injectors  trials   void  requests/s  injectors' CPU  CPUs for 100,000/s  resident, each  harness")
    by_count: dict[int, list[Trial]] = {}
    for trial in trials:
        by_count.setdefault(sum(one.role == "injector" for one in trial.components), []).append(trial)
    for count, some in sorted(by_count.items()):
        rates, used, resident, harness = [], [], [], []
        for trial in some:
            assert trial.measurement is not None
            mine = [one for one in trial.components if one.role == "injector"]
            rates.append(trial.measurement.window_injector_rate)
            used.append(
                sum(one.value("cpu_seconds") or 0.0 for one in mine) / trial.measurement.measure_seconds
            )
            resident.append(mean(one.value("rss_mean") or 0.0 for one in mine))
            harness.append(_harness(directory.trial_path(trial.block, trial.arm, trial.attempt), trial))
        cost = [100_000 * cpus / rate for cpus, rate in zip(used, rates, strict=True)]
        say(
            f"{count:9}  {len(some):6}  {sum(one.state == 'void' for one in some):5}"
            f"  {mean(rates):10,.0f}  {mean(used):10.3f} CPU"
            f"  {mean(cost):8.2f} ({min(cost):.2f} to {max(cost):.2f})  {mean(resident) / MIB:.0f} MiB"
            f"  {mean(harness):.2%} of a CPU"
        )


def _harness(folder: Path, trial: Trial) -> float:
    """CPU seconds per second of the harness's own process while it measured."""
    start, end = trial.phases["measure"]
    with (folder / "samples" / "processes.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["process"] == "harness"]
    seen = [
        (float(row["epoch"]), float(row["user_s"]) + float(row["system_s"]))
        for row in rows
        if start <= float(row["epoch"]) <= end
    ]
    (first, before), (last, after) = seen[0], seen[-1]
    return (after - before) / (last - first)


def clients(folder: Path) -> None:
    """Print what was seen of the harness and its clients while they ran."""
    file = folder / "clients.json"
    if not file.exists():
        return
    say("\ninjectors  clients  their memory (unshared, and their share of what is shared)  the harness's")
    for count, seen in json.loads(file.read_text(encoding="utf-8")).items():
        say(f"{count:>9}  {seen['clients']:7}  {seen['pss'] / MIB:.0f} MiB  {seen['harness'] / MIB:.0f} MiB")


def _run(out: Path, options: Sequence[str]) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    experiment = out / "injectors.yaml"
    experiment.write_text(EXPERIMENT, encoding="utf-8")
    command = [str(ROOT / "steelyard"), "run", str(experiment), "--trust", "--out", str(out), *options]
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    seen: dict[int, dict[str, Any]] = {}
    while running.poll() is None:
        time.sleep(EVERY)
        found = _look(running.pid, out)
        if found is not None and found[0] in COUNTS:
            seen[found[0]] = found[1]
    folder = max(out.glob("injectors-2*"), key=lambda one: one.stat().st_mtime)
    (folder / "clients.json").write_text(json.dumps(dict(sorted(seen.items()))), encoding="utf-8")
    return folder


def _look(pid: int, out: Path) -> tuple[int, dict[str, Any]] | None:
    """How many injectors there are now, and what the harness and its clients have; None: no trial runs."""
    try:
        harness, *below = _family(pid)
        trial = max(out.glob("injectors-2*/trials/*"), key=lambda one: one.stat().st_mtime, default=out)
        named = {one: one.name() for one in below}
        mine = [one for one, name in named.items() if name == "kubectl"]
        return len(list(trial.glob("load/*"))), {
            "clients": len(mine),
            "pss": sum(one.memory_full_info().pss for one in mine),
            "harness": harness.memory_full_info().pss,
        }
    except psutil.Error:  # one has ended meanwhile
        return None


def _family(pid: int) -> list[psutil.Process]:
    """The harness, and all below it; before it there may be a shell."""
    everyone = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    harness = next((one for one in everyone if one.cmdline()[1:4] == ["-m", "steelyard", "run"]), everyone[0])
    return [harness, *harness.children(recursive=True)]


def replay(trial: Path) -> None:
    """Print what the harness uses for itself when many injectors tell what one of a trial told."""
    told = _by_second(trial)
    say("\nreplayed  lines/s  harness' CPU  memory more  merging their histograms")
    for count in REPLAYED:
        with tempfile.TemporaryDirectory() as folder:
            lines, cpu, memory = _follow(Path(folder), told, count)
        merging = time.process_time()
        read_logs([trial / "load" / "injector-1" / "latency.hlog"] * count)
        read_health([trial / "load" / "injector-1"] * count, 0.0, float("inf"))
        merged = time.process_time() - merging
        say(f"{count:8}  {lines:7,.0f}  {cpu:11.1%}  {memory / MIB:7.0f} MiB  {merged:.2f} s")


def _by_second(trial: Path) -> list[str]:
    """The rows of an injector's observer, put together by the second in which they came."""
    seconds: dict[int, list[str]] = {}
    for table in ("processes", "threads"):
        for line in (trial / "samples" / f"{table}.csv").read_text(encoding="utf-8").splitlines():
            epoch, process, rest = (*line.split(",", 2), "", "")[:3]
            if process == "injector-1":
                seconds.setdefault(int(float(epoch)), []).append(f"{table},{epoch},{NAME},{rest}\n")
    for line in (trial / "load" / "injector-1" / "health.jsonl").read_text(encoding="utf-8").splitlines():
        second = int(json.loads(line)["epochMillis"] / 1000)
        seconds.setdefault(second, []).append(f"health,{line}\n")
    return ["".join(lines) for _, lines in sorted(seconds.items())][:SECONDS]


_SERVER = """
import http.server, json, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Observer", "1")
        self.end_headers()
        for text in told:
            self.wfile.write(text.encode())
            time.sleep(1.0)
    def log_message(self, *_): pass
told = json.load(sys.stdin)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
print(server.server_port, flush=True)
server.serve_forever()
"""


def _follow(folder: Path, told: Sequence[str], count: int) -> tuple[float, float, int]:
    """Lines per second, and of this process CPU seconds per second and bytes more than before."""
    names = [f"injector-{number}" for number in range(count)]
    for name in names:
        (folder / name).mkdir()
    about = f"about,{json.dumps({'boot': 'b', 'columns': COLUMNS})}\n"
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        json.dump([about, *told], server.stdin)
        server.stdin.close()
        port = int(server.stdout.readline())
        memory = psutil.Process().memory_info().rss
        streams = Streams(folder, lambda name: folder / name)
        observers = {
            name: Observer(name, name, lambda timeout: HTTPConnection("127.0.0.1", port, timeout=timeout))
            for name in names
        }
        streams.watch(observers)
        began = time.process_time()
        for _ in _ticks(len(told)):
            streams.watch(observers)
            streams.poll()
        spent = time.process_time() - began
        streams.close()
        server.kill()
    lines = count * sum(text.count("\n") for text in told)
    return lines / len(told), spent / len(told), psutil.Process().memory_info().rss - memory


def _ticks(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(POLL)


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
