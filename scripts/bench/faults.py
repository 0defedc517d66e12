# SPDX-License-Identifier: Apache-2.0
"""Kills, stops, interrupts and edits real sessions, resumes them, and says what was lost, left or claimed falsely.

    PYTHONPATH=scripts:scripts/tests .steelyard/venv/bin/python scripts/bench/faults.py phases
    PYTHONPATH=scripts:scripts/tests .steelyard/venv/bin/python scripts/bench/faults.py random --faults 100 --seed 1

`phases` kills the harness (signal 9) in each phase of each procedure, of a search and of a session with plots.
`random` draws which session is hit, when, and what happens: the harness, its guard, both at once, a server, an injector
or the sampler is killed, or stopped for some seconds; the build is moved away for a while; the directory is edited.

After each fault that ends the harness, no process of the session may be left within a minute. An edited copy must be
refused by `analyze`, `report` and `resume`. At the end of a session `session.json` and every trial that had ended
before a fault are unchanged, each scheduled place has run, in the scheduled order, no trial is valid and steady whose
server or injector stood still for half of its measurement, the host is as it was, and `analyze` gives the same bytes
twice. Exit code 1 when anything of this did not hold. Sessions are tiny, on ping, and take a minute or two each; they
wait for other sessions on this host.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from e2e.driver import DONE, Running, call, end_all, free_port, processes_that_mention
from e2e.test_procedures import EXPERIMENT, USERS

from steelyard.build import BUILDS
from steelyard.errors import Exit
from steelyard.results.schema import JournalEntry, Trial
from steelyard.results.store import SessionDirectory

BUSY = 6
"""Exit code of a harness that finds another session on this host."""
LEFT_LIMIT = 60.0
"""Seconds that the guard has for removing what a killed harness left."""
EACH = 8
"""Faults of one session, at most."""
RESUMES = 20
"""Resumes of one session before it is given up."""

CACHES = "class_cache: {levels: [none, warm]}"
THP = "thp: {levels: [always, madvise]}"
SEARCH = "search: {raise: users, within: {p99: 1ms}, maximum: 16, confirm: 0, trials: 3}"
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
ROLES = ("harness", "guard", "server", "injector", "sampler")
FAULTS = (
    *(("kill", role, signal.SIGKILL) for role in (*ROLES, "harness and guard")),
    *(("end", "harness", number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)),
    *(("end", role, signal.SIGTERM) for role in ("server", "injector")),
    *(("stop", role, signal.SIGSTOP) for role in ROLES),
    *(("edit", what, signal.SIGINT) for what in ("number", "line", "bytes", "copy", "exchange", "cut")),
    ("move", "build", signal.SIGINT),
)
"""What happens, to whom, and the signal."""
REFUSED = (Exit.BAD_INPUT, Exit.NEWER_FORMAT, Exit.ALTERED)
THP_FILE = Path("/sys/kernel/mm/transparent_hugepage/enabled")


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
        self.struck: list[tuple[float, float]] = []
        """From when to when a server or an injector was stopped or gone, epoch seconds."""
        self._host = THP_FILE.read_text(encoding="ascii") if THP_FILE.exists() else ""
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
            return next(children_that_run("guard.py", self.running.process.pid), None)
        if role == "sampler":
            return next(children_that_run("steelyard.sampling", self.running.process.pid), None)
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
        directory = SessionDirectory(self.path)
        ended = [e for e in directory.journal() if e.event == "trial-end"]
        folders = [directory.trial_path(e.block or 0, str(e.arm), e.attempt or 0) for e in ended]
        now = {
            folder.name: hashlib.sha256((folder / "trial.json").read_bytes()).hexdigest()
            for folder in folders
            if (folder / "trial.json").exists()
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
        if self._host != (THP_FILE.read_text(encoding="ascii") if THP_FILE.exists() else ""):
            raise Trouble("the host is not as it was")
        if false := [trial for trial in trials if self._claims_falsely(trial)]:
            raise Trouble(
                f"valid and steady though something stood still: {[(t.block, t.arm) for t in false]}"
            )
        void = [trial for trial in trials if trial.state == "void"]
        return f"{len(trials)} trials, {len(void)} void"

    def _claims_falsely(self, trial: Trial) -> bool:
        """Whether it passed although something of it did not run for half of its measurement."""
        if (
            trial.state != "valid"
            or trial.steady is False
            or trial.survived is False
            or self.kind == "start-up"
        ):
            return False
        start, end = trial.phases["measure"]
        lost = sum(max(0.0, min(end, until) - max(start, since)) for since, until in self.struck)
        return lost > (end - start) / 2

    def require_refusal(self, edit: Callable[[Path], object]) -> None:
        """Edit a copy of the session that has just ended.

        Raises:
            Trouble: a command goes on with it.
        """
        copy = self.path.with_name("edited")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.path, copy)
        edit(copy)
        for command in ("analyze", "report", "resume"):
            done = call(command, str(copy))
            if done.returncode not in REFUSED or "Traceback" in done.stderr:
                raise Trouble(
                    f"{command} of an edited session: exit code {done.returncode}: {done.stderr[-300:]}"
                )
        shutil.rmtree(copy)

    def _bytes(self, name: str) -> bytes:
        return (self.path / name).read_bytes()


def children_that_run(what: str, parent: int) -> Iterator[int]:
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


def at_random(kind: str, folder: Path, draw: random.Random, most: int, hits: list[str]) -> str:
    """Hit one session, at most so many times; adds what happened."""
    victim = Victim(kind, folder)
    before = len(hits)
    while len(hits) < before + most:
        what, whom, number = draw.choice(FAULTS)
        until = time.monotonic() + draw.uniform(0.0, 8.0)
        while time.monotonic() < until and victim.running.process.poll() is None:
            time.sleep(0.02)
        if (code := victim.running.process.poll()) is not None:
            if code in DONE:
                break
            victim.resume()  # servers that were hit twice in a row count as servers that do not start
        if what in ("edit", "move"):
            hit = _edit(victim, draw, whom) if what == "edit" else _move_build(victim)
        elif whom in ("harness", "harness and guard") and what != "stop":
            hit = _end(victim, whom, number)
        else:
            hit = _strike(victim, whom, number, draw.uniform(1.0, 6.0))
        hits += [f"{what} {whom} {number.name}"] * hit
    return f"{len(hits) - before} faults ({', '.join(hits[before:])}), " + victim.finish()


def _end(victim: Victim, whom: str, number: signal.Signals) -> bool:
    """The harness ends, with its guard or without."""
    if whom == "harness and guard" and (guard := victim.target("guard")) is not None:
        victim.running.process.send_signal(signal.SIGSTOP)  # else it would have another one
        os.kill(guard, number)
    victim.running.process.send_signal(number)
    victim.running.end()
    victim.require_nothing_left()
    victim.resume()
    return True


def _strike(victim: Victim, role: str, number: signal.Signals, seconds: float) -> bool:
    """One process ends, or stands still for a while."""
    hit = victim.target(role)
    began = time.time()
    if hit is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(hit, number)
        if number == signal.SIGSTOP:
            time.sleep(seconds)
            os.kill(hit, signal.SIGCONT)
    if role in ("server", "injector"):
        victim.struck.append((began, time.time()))
    return True


def _move_build(victim: Victim) -> bool:
    """The build is away until the session has noticed, which has to be before its second trial from now."""
    away = BUILDS.with_name("build-away")
    ended = len(list(victim.path.glob("trials/*/trial.json")))
    BUILDS.rename(away)
    try:
        while victim.running.process.poll() is None:
            if len(list(victim.path.glob("trials/*/trial.json"))) > ended + 2:
                raise Trouble("trials go on without a build")
            time.sleep(0.05)
    finally:
        shutil.rmtree(BUILDS, ignore_errors=True)  # what a server that was on its way made anew
        away.rename(BUILDS)
    if (code := victim.running.end()) not in (*DONE, Exit.PROGRAM_GONE):
        raise Trouble(f"the build was away, and the session ended with {code}")
    victim.require_nothing_left()
    if code == Exit.PROGRAM_GONE:
        victim.resume()
    return True


def _edit(victim: Victim, draw: random.Random, what: str) -> bool:
    """The session is interrupted, and a copy of it edited."""
    victim.running.process.send_signal(signal.SIGINT)
    victim.running.end()
    victim.require_nothing_left()
    trials = sorted(victim.path.glob("trials/[0-9]*/trial.json"))
    there = [path.relative_to(victim.path) for path in trials if ".interrupted-" not in path.parent.name]
    if there and (len(there) > 1 or what != "exchange"):
        seed = draw.random()
        victim.require_refusal(lambda copy: _spoil(copy, there, random.Random(seed), what))
    victim.resume()
    return bool(there)


def _spoil(copy: Path, trials: list[Path], draw: random.Random, what: str) -> None:
    one = copy / draw.choice(trials)
    if what == "exchange":
        one, other = (copy / path for path in draw.sample(trials, 2))
        for source, target in ((one, copy / "between"), (other, one), (copy / "between", other)):
            source.rename(target)
    elif what == "copy":
        shutil.copytree(one.parent, one.parent.with_name("77-jvms-1"))
    elif what == "line":
        path = copy / "journal.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        del lines[draw.randrange(len(lines) - 1)]
        path.write_bytes(b"".join(lines))
    elif what == "number":
        path = draw.choice([copy / "session.json", one])
        words = path.read_text(encoding="utf-8").split(" ")
        places = [number for number, word in enumerate(words) if word.strip(",\n").isdecimal()]
        place = draw.choice(places)
        words[place] = f"1{words[place]}"
        path.write_text(" ".join(words), encoding="utf-8")
    else:
        names = sorted(json.loads(one.read_text(encoding="utf-8"))["files"])
        path = draw.choice([copy / "session.json", one, *(one.parent / name for name in names)])
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * 2 // 3] + (b"x" if what == "bytes" or not data else b""))


def main() -> None:
    """Run what was asked for and print one line for each session."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mode", choices=("phases", "random"))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--faults", type=int, default=30, help="of all sessions together (random)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # A shell has commands in the background ignore it, and sessions would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    troubles = number = 0
    hits: list[str] = []
    while (len(hits) < options.faults) if options.mode == "random" else (number < len(options.kinds)):
        kind = options.kinds[number % len(options.kinds)]
        folder = Path(tempfile.mkdtemp(prefix=f"faults-{number}-{kind}-"))
        began = time.monotonic()
        try:
            if options.mode == "phases":
                said = in_each_phase(kind, folder)
            else:
                draw = random.Random(f"{options.seed} {number}")
                said = at_random(kind, folder, draw, min(EACH, options.faults - len(hits)), hits)
        except (Trouble, AssertionError) as trouble:
            troubles += 1
            said = f"TROUBLE: {trouble} (see {folder})"
        finally:
            end_all()
        number += 1
        print(f"{kind}: {said}; {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
