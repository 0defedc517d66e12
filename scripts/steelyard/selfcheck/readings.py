# SPDX-License-Identifier: Apache-2.0
"""What a simulated session does not go through: real processes that the sampler's own functions read, and the second in
which a window begins."""

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from steelyard.measure.samples import Samples
from steelyard.processes import child_environment
from steelyard.sampling.process import read_usage
from steelyard.selfcheck.trials import SECONDS, Truth, make_samples
from steelyard.session.procedures import ramp_up_start, steady_start

WORKER_BYTES = 24 * 2**20
"""Memory that each worker touches."""
WORKERS = 2
_SERVER = f"""
import os, sys
for _ in range({WORKERS}):
    ready, told = os.pipe()
    if os.fork() == 0:
        memory = bytearray(os.urandom(1)) * {WORKER_BYTES}
        os.write(told, b".")
        os.read(0, 1)
        os._exit(0)
    os.read(ready, 1)
print("up", flush=True)
sys.stdin.read(1)
"""
"""A server whose work is done by processes that it started, as gunicorn's and nginx's are. They end with its input."""


@contextmanager
def server_of_processes() -> Iterator[int]:
    """A real server of several processes; gives the id of the first."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _SERVER],
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.stdin.close()


def run_process_readings(readings: int, _rng: np.random.Generator) -> Counter[str]:
    """Whether the memory of a server is that of all its processes."""
    tally: Counter[str] = Counter(sessions=readings)
    with server_of_processes() as pid:
        for _ in range(readings):
            _cpu, rss = read_usage(pid)
            tally["memory of all"] += rss is not None and rss >= WORKERS * WORKER_BYTES
    return tally


def run_window_readings(trials: int, rng: np.random.Generator) -> Counter[str]:
    """Whether a window holds the seconds that it should, under a load of which every second has another count."""
    tally: Counter[str] = Counter(sessions=trials)
    seconds = int(SECONDS)
    rates = np.round(1000 * np.sqrt(np.arange(1.0, 3 * seconds)))
    for _ in range(trials):
        second = 1e6 + int(rng.integers(1000))
        samples = make_samples(second, rates, Truth(1000.0, 4e-4, 5e8, 5.0))

        def requests_from(start: float, samples: Samples = samples) -> float:
            counts = samples.requests("server-1", start, start + SECONDS)
            return counts.requests if counts is not None else math.nan

        part = float(rng.uniform(0.01, 0.99))
        warm = int(rng.integers(10, seconds))
        curve, window = (
            requests_from(ramp_up_start(second + part)),
            requests_from(steady_start(second + warm - part)),
        )
        tally["holds the first second of load"] += math.isclose(curve, rates[:seconds].sum())
        tally["holds the first second after the warm-up"] += math.isclose(
            window, rates[warm : warm + seconds].sum()
        )
    return tally
