# SPDX-License-Identifier: Apache-2.0
"""Kills, stops and interrupts real sessions, resumes them, and says what was lost or left behind.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/faults.py phases
    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/faults.py random --faults 100 --seed 1

`phases` kills the harness (signal 9) in each phase of each procedure, of a search and of a session with plots.
`random` draws who is hit (harness, its guard, a server, an injector, the sampler), by which signal and when.

After each fault that ends the harness, no process of the session may be left within a minute. At the end of a session
`session.json` and every `trial.json` that was there before a fault are unchanged, each scheduled place has run, in the
scheduled order, and `analyze` gives the same bytes twice. Exit code 1 when anything of this did not hold. Sessions are
tiny, on ping, and take minutes each; they wait for other sessions on this host.
"""

import argparse
import contextlib
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from steelyard.results.schema import JournalEntry
from tests.e2e.driver import DONE, Running, call, end_all, free_port, processes_that_mention
from tests.e2e.test_procedures import EXPERIMENT, USERS

BUSY = 6
"""Exit code of a harness that finds another session on this host."""
LEFT_LIMIT = 60.0
"""Seconds that the guard has for removing what a killed harness left."""
RESUMES = 20
"""Resumes of one session before it is given up."""

CACHES = "class_cache: {levels: [none, warm]}"
THP = "thp: {levels: [always, madvise]}"
SEARCH = "search: {raise: users, within: {p99: 1ms}, most: 16, confirm: 0, trials: 3}"
KINDS = {
    # Name: procedure, factor, length of the measurement, more lines, phases (or events) in which it is killed.
    "steady": ("steady", USERS, "4s", "", ("start", "ramp", "warmup", "measure", "stop", "collect")),
    "ramp-up": ("ramp-up", USERS, "20s", "", ("prepare", "start", "measure", "stop", "collect")),
    "start-up": (
        "start-up",
        CACHES,
        "4s",
        "",
        ("populate", "prepare", "start", "measure", "stop", "collect"),
    ),
    "survive": ("survive", USERS, "4s", "", ("start", "measure", "stop", "collect")),
    "search": ("steady", "jvms: {levels: [1, 2]}", "4s", SEARCH, ("start", "measure", "collect")),
    "plots": ("steady", THP, "4s", "", ("set-host", "measure", "collect")),
}
SIGNALS = {
    "harness": (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT),
    "guard": (signal.SIGKILL,),
    "server": (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM),
    "injector": (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM),
    "sampler": (signal.SIGKILL, signal.SIGSTOP),
}


class Trouble(Exception):
    """Something was lost or left."""


class Victim:
    """One session and what must stay true of it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.out = folder / "results"
        self.out.mkdir(parents=True)
        procedure, factor, measure, more, self.phases = KINDS[kind]
        self._experiment = folder / "faults.yaml"
        self._experiment.write_text(
            EXPERIMENT.format(procedure=procedure, factor=factor, measure=measure, more=more),
            encoding="utf-8",
        )
        self._trials: dict[str, str] = {}
        self.began = 0.0
        self.running = self._begin()
        self._session = self._bytes("session.json")

    def _begin(self) -> Running:
        port = str(free_port())
        arguments = ["run", str(self._experiment), "--out", self.out.name, "--port", port, "--seed", "7"]
        while True:
            self.began = time.time()
            running = Running(*arguments, out=self.out)
            while running.process.poll() is None and not list(self.out.glob("*/journal.jsonl")):
                time.sleep(0.05)
            if running.process.poll() != BUSY:
                return running
            for path in self.out.iterdir():  # a session that was planned and not begun
                path.rename(self.out.parent / f"refused-{time.time()}")
            time.sleep(5)

    def resume(self) -> None:
        """Go on with the session, and wait until its first trial has begun."""
        while True:
            self.began = time.time()
            self.running = Running("resume", str(self.path), out=self.out)
            while self.running.process.poll() is None and not self.entries():
                time.sleep(0.05)
            if self.running.process.poll() != BUSY:
                return
            time.sleep(5)

    @property
    def path(self) -> Path:
        """Its directory."""
        return self.running.directory.path

    def entries(self) -> list[JournalEntry]:
        """What the journal has since the last start."""
        return [entry for entry in self.running.directory.journal() if entry.time > self.began]

    def wait_for(self, phase: str) -> bool:
        """Wait until a phase (or an event) of this name is written; False when the session ends without it."""
        while not any(phase in (entry.phase, entry.event) for entry in self.entries()):
            if self.running.process.poll() is not None:
                return False
            time.sleep(0.02)
        return True

    def wait_for_trials(self, number: int) -> None:
        """Wait until so many trials have ended, or the session has."""
        while (
            self.running.process.poll() is None and len(list(self.path.glob("trials/*/trial.json"))) < number
        ):
            time.sleep(0.05)

    def target(self, role: str) -> int | None:
        """Process id of the one who is hit; None when it does not run now."""
        if role == "harness":
            return self.running.process.pid
        if role == "guard":
            return next(_children_that_run("guard.py", self.running.process.pid), None)
        if role == "sampler":
            return next(_children_that_run("steelyard.sampling", self.running.process.pid), None)
        with contextlib.suppress(ValueError, IndexError, OSError):
            return self.running.running_pids(role)[0]
        return None

    def kill(self) -> None:
        """Kill the harness, and look at what that leaves."""
        self.running.process.kill()
        self.running.end()
        self.require_nothing_left()

    def require_nothing_left(self) -> None:
        """No process of an ended session.

        Raises:
            Trouble: there are some after a minute.
        """
        deadline = time.monotonic() + LEFT_LIMIT
        while left := processes_that_mention(str(self.out)):
            if time.monotonic() > deadline:
                raise Trouble(f"left running: {left}")
            time.sleep(0.1)
        self.require_kept()

    def require_kept(self) -> None:
        """The plan and all finished trials are as they were.

        Raises:
            Trouble: one was changed or lost.
        """
        if self._bytes("session.json") != self._session:
            raise Trouble("session.json changed")
        now = {
            path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.path.glob("trials/*/trial.json")
        }
        lost = [name for name, digest in self._trials.items() if now.get(name) != digest]
        if lost:
            raise Trouble(f"finished trials changed or lost: {', '.join(lost)}")
        self._trials = now

    def finish(self) -> str:
        """Let it run to its end; a summary of its trials.

        Raises:
            Trouble: something does not hold.
        """
        for _ in range(RESUMES):
            if self.running.end() in DONE:
                break
            self.resume()
        else:
            raise Trouble(f"not complete after {RESUMES} resumes: {self.running.errors.read_text()[-500:]}")
        self.require_nothing_left()
        directory = self.running.directory
        trials = directory.trials()
        places = [(place.block, place.arm) for place in directory.session().schedule]
        first = list(dict.fromkeys((trial.block, trial.arm) for trial in trials))
        if first != places:
            raise Trouble(f"ran {first}, planned {places}")
        said = []
        for _ in range(2):
            if (code := call("analyze", str(self.path)).returncode) != 0:
                raise Trouble(f"analyze ended with exit code {code}")
            said.append(self._bytes("analysis.json"))
        if said[0] != said[1]:
            raise Trouble("analyze says something else the second time")
        void = [trial for trial in trials if trial.state == "void"]
        return f"{len(trials)} trials, {len(void)} void"

    def _bytes(self, name: str) -> bytes:
        return (self.path / name).read_bytes()


def _children_that_run(what: str, parent: int) -> Iterator[int]:
    """Children of a process whose command line holds a text."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent and what.encode() in (folder / "cmdline").read_bytes():
                yield int(folder.name)


def in_each_phase(kind: str, folder: Path) -> str:
    """Kill one session in each of its phases, every second kill after one more trial."""
    victim = Victim(kind, folder)
    for number, phase in enumerate(victim.phases):
        victim.wait_for_trials(number // 2)
        if phase == "populate":
            victim.began -= 1  # what is looked for may have been the first thing
        if not victim.wait_for(phase):
            raise Trouble(f"ended with exit code {victim.running.end()} before phase {phase}")
        victim.kill()
        victim.resume()
    return f"{len(victim.phases)} kills, " + victim.finish()


def at_random(kind: str, folder: Path, draw: random.Random, faults: int) -> str:
    """Hit one session so many times."""
    victim = Victim(kind, folder)
    done = []
    for _ in range(faults):
        role = draw.choice(list(SIGNALS))
        number = draw.choice(SIGNALS[role])
        until = time.monotonic() + draw.uniform(0.0, 25.0)
        while time.monotonic() < until and victim.running.process.poll() is None:
            time.sleep(0.02)
        if victim.running.process.poll() is not None:
            break
        hit = victim.target(role)
        if hit is None:
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(hit, number)
        done.append(f"{role} {number.name}")
        if (
            role == "guard"
        ):  # alone it changes nothing; a harness killed as well has nobody to clear up after it
            time.sleep(draw.uniform(0.0, 3.0))
            victim.kill()
            victim.resume()
        elif role == "harness":
            victim.running.end()
            victim.require_nothing_left()
            victim.resume()
    return f"{len(done)} faults ({', '.join(done)}), " + victim.finish()


def main() -> None:
    """Run what was asked for and print one line for each session."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mode", choices=("phases", "random"))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--faults", type=int, default=30, help="of all sessions together (random)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    jobs: list[tuple[str, Callable[[Path], str]]]
    if options.mode == "phases":
        jobs = [(kind, lambda folder, kind=kind: in_each_phase(kind, folder)) for kind in options.kinds]  # type: ignore[misc]
    else:
        jobs = []
        for left in range(options.faults, 0, -5):
            kind, faults = draw.choice(options.kinds), min(5, left)
            jobs.append((kind, lambda folder, k=kind, n=faults: at_random(k, folder, draw, n)))  # type: ignore[misc]
    troubles = 0
    for number, (kind, job) in enumerate(jobs):
        folder = Path(tempfile.mkdtemp(prefix=f"faults-{number}-{kind}-"))
        began = time.monotonic()
        try:
            said = job(folder)
        except (Trouble, AssertionError) as trouble:
            troubles += 1
            said = f"TROUBLE: {trouble} (see {folder})"
        finally:
            end_all()
        print(f"{kind}: {said}; {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
