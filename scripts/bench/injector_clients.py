# SPDX-License-Identifier: Apache-2.0
"""The clients of injector_cost.py: wrk, the injector, and injector_floor.c, each for one round on one CPU."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2] / "loadgen" / "target" / "loadgen"
USERS = 48
SPARE_SECONDS = 60
"""What an injector may take to start and to end, on a machine with other work."""
RAMP_SECONDS = 5
PROFILE_SECONDS = 12
"""A sample comes with a tick of the kernel's clock at most: 250 a second or fewer."""
JAVA_FLAGS = [
    "-Xms256m",
    "-Xmx256m",
    "-XX:+UseParallelGC",
    "-XX:+ExitOnOutOfMemoryError",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
]
JAVA_25_FLAGS = ["--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]


class RoundError(Exception):
    """A round that gives no figure; its text says why."""


@dataclass(frozen=True)
class Round:
    """What a client did in the seconds counted.

    Args:
        requests: answers that came
        cpu_seconds: what the client's process used for them
        seconds: time counted
        all_requests: requests of the whole round, its warm-up and those cut off at its end included
    """

    requests: int
    cpu_seconds: float
    seconds: float
    all_requests: int

    @property
    def per_cpu_second(self) -> float:
        """Requests per CPU-second of the client."""
        return self.requests / self.cpu_seconds


@dataclass(frozen=True)
class OpenRound:
    """What the injector did in the seconds counted of an open model; `cpu_share` of one CPU, the median in ms."""

    cpu_share: float
    cpu_seconds_per_request: float
    late: int
    dropped: int
    median_millis: float


def find_program(program: str, package: str) -> str:
    """Return the path of a program.

    Raises:
        RoundError: if it is missing, with the command that installs it
    """
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise RoundError(
            f"{program} is missing: apt-get install {package} (Debian) or dnf install {package} (Fedora, RHEL)."
        )
    return path


@dataclass(frozen=True)
class Clients:
    """The clients of one series of rounds.

    Args:
        java: the injector's JVM
        cpu: where each client runs
        folder: for files of the rounds
        seconds: counted in each round
        warmup: seconds of each injector round that are left out
    """

    java: str
    cpu: int
    folder: Path
    seconds: int
    warmup: int

    def pinned(self, command: Sequence[str]) -> list[str]:
        """Return a command that runs on the clients' CPU."""
        return ["taskset", "-c", str(self.cpu), *command]

    def wrk_round(self, url: str) -> Round:
        """Run wrk once.

        Raises:
            RoundError: if it failed, or met errors
        """
        command = [find_program("wrk", "wrk"), "-t1", f"-c{USERS}", f"-d{self.seconds}s", url]
        with subprocess.Popen(self.pinned(command), stdout=subprocess.PIPE, text=True) as process:
            text = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        counted = re.search(r"(\d+) requests in ([\d.]+)s", text)
        if process.returncode != 0 or counted is None or "Non-2xx" in text or "Socket errors" in text:
            raise RoundError(f"wrk failed: {' '.join(text.split())}")
        requests = int(counted.group(1))
        return Round(requests, usage.ru_utime + usage.ru_stime, float(counted.group(2)), requests)

    def closed_round(self, load: Mapping[str, Any], profiled: tuple[str, Path] | None = None) -> Round:
        """Run the injector's closed model once; `profiled`: by which library, and the file for the stacks.

        Raises:
            RoundError: if it failed, or met errors
        """
        model = {"model": "closed", "users": USERS}
        lines, cpu, summary = self.injector_run({**load, **model}, profiled)
        counted = sum(line["requests"] for line in lines)
        return Round(counted, cpu, sum(line["seconds"] for line in lines), all_requests(summary))

    def open_round(
        self, load: Mapping[str, Any], rate: int, profiled: tuple[str, Path] | None = None
    ) -> OpenRound:
        """Run the injector's open model once, at so many arrivals/s.

        Raises:
            RoundError: if it failed, or met errors
        """
        # A cold JVM at the full rate falls behind and then catches up in a burst of connections: hence the ramp.
        model = {"model": "open", "rate": rate, "rampSeconds": RAMP_SECONDS}
        lines, cpu, summary = self.injector_run({**load, **model}, profiled)
        seconds = sum(line["seconds"] for line in lines)
        commonest = max(summary["operations"].values(), key=lambda operation: operation["requests"])
        return OpenRound(
            cpu_share=cpu / seconds,
            cpu_seconds_per_request=cpu / (seconds * rate),
            late=sum(line["late"] for line in lines),
            dropped=sum(line["dropped"] for line in lines),
            median_millis=commonest["latencyMillis"]["p50"],
        )

    def injector_run(
        self, load: Mapping[str, Any], profiled: tuple[str, Path] | None
    ) -> tuple[list[dict[str, Any]], float, dict[str, Any]]:
        """Run the injector once; return its lines of health and CPU seconds in the time counted, and its summary."""
        # Whole intervals lie between two that are cut.
        measured = (max(self.seconds, PROFILE_SECONDS) if profiled else self.seconds) + 2
        settings = {**load, "warmupSeconds": self.warmup, "measureSeconds": measured}
        before = self.warmup + settings.get("rampSeconds", 0)
        output = new_output(self.folder)
        with start_injector(self.java, settings, output, self.cpu) as injector:
            if profiled:
                time.sleep(before)
                start_profiler(self.java, injector.pid, *profiled)
            wait_for_end(injector, before + measured + SPARE_SECONDS)
        lines = [json.loads(line) for line in (output / "health.jsonl").read_text().splitlines()]
        summary: dict[str, Any] = json.loads((output / "summary.json").read_text())
        if any(line["errors"] for line in lines):
            raise RoundError(f"the injector had errors: {summary['errorMessages']}")
        first, *counted = lines[-self.seconds - 2 : -1]
        return counted, counted[-1]["cpuSeconds"] - first["cpuSeconds"], summary

    def floor_round(self, port: int, path: str, rate: int) -> float | None:
        """Return CPU seconds a request of injector_floor.c at so many arrivals/s; None without a C compiler."""
        compiler = shutil.which("cc")
        if compiler is None:
            return None
        program = self.folder / "floor"
        source = Path(__file__).with_name("injector_floor.c")
        subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
        command = self.pinned([str(program), str(port), str(rate), str(self.seconds), path])
        requests, cpu = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return float(cpu) / int(requests)


def all_requests(summary: Mapping[str, Any]) -> int:
    """Return how many requests an injector sent, those that were cut off at its end included."""
    ended = sum(operation["requests"] for operation in summary["operations"].values())
    return int(ended + summary["abandonedRequests"])


def new_output(folder: Path) -> Path:
    """Return a folder for an injector's files, which is not there yet, in one that is."""
    return Path(tempfile.mkdtemp(dir=folder)) / "out"


def start_injector(
    java: str, settings: Mapping[str, Any], output: Path, cpu: int | None = None
) -> subprocess.Popen[str]:
    """Start an injector on a CPU, or wherever there is one."""
    file = output.parent / "settings.json"
    file.write_text(json.dumps({"output": str(output), **settings}))
    command = [java, *java_flags(java), "-cp", "lib/*", "dev.steelyard.loadgen.Main", str(file)]
    pinned = command if cpu is None else ["taskset", "-c", str(cpu), *command]
    return subprocess.Popen(pinned, cwd=PACKAGE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_end(injector: subprocess.Popen[str], seconds: float) -> None:
    """Wait until an injector has ended, at most so long.

    Raises:
        RoundError: if it failed, or went on
    """
    try:
        _, errors = injector.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        injector.kill()
        raise RoundError(f"the injector had not ended after {seconds:.0f} s") from error
    if injector.returncode != 0:
        raise RoundError(f"the injector failed ({injector.returncode}): {errors.strip()}")


def java_flags(java: str) -> list[str]:
    """Return the flags that the JVM needs: newer ones must be told to allow what Netty does."""
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    version = re.search(r'version "(\d+)', text)
    newer = version is not None and int(version.group(1)) >= 24
    return JAVA_FLAGS + (JAVA_25_FLAGS if newer else [])


def start_profiler(java: str, pid: int, library: str, stacks: Path) -> None:
    """Have async-profiler write the stacks of a running injector's CPU time into a file, at its end."""
    # In quotes: jcmd would take what has a `=` for an argument of its own.
    start = f'"start,event=ctimer,interval=1ms,file={stacks},collapsed"'
    jcmd = str(Path(java).resolve().parent / "jcmd")
    command = [jcmd, str(pid), "JVMTI.agent_load", str(Path(library).resolve()), start]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def say(text: str) -> None:
    """Print at once, also into a file."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
