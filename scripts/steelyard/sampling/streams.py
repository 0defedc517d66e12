# SPDX-License-Identifier: Apache-2.0
"""Streams of observers (observe.py) -> `samples/` of one trial, as one sampler writes it.

Each observer is followed by a command that prints its lines from the first one on, and told words by another. Both may
end at any time, as with an API server that is away: they are started again, lines that came before are dropped by their
numbers, words that were not heard are said again. What is lost all the same ends the trial.

What counts for a whole machine (CPU of others, steal, clock) is put together from all observers on it (nodes.py).
"""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.clock import SYSTEM, Clock, wait_until
from steelyard.measure.columns import OWN_NAME
from steelyard.measure.samples import ClockOffset
from steelyard.processes import Child, Children
from steelyard.sampling.columns import COLUMNS
from steelyard.sampling.nodes import Machine, write_nodes
from steelyard.sampling.observe import NAME
from steelyard.sampling.output import WATCHED

SILENCE = 5.0
"""Seconds without a word, after which a command is started again: a broken connection may not be told."""
LOST = 60.0
"""Seconds without a word, after which an observer is lost."""
HEARD = 5.0
"""Seconds that a word may take before something is measured with it unheard."""
_AGAIN = 1.0
_PATIENCE = 4
_POLL = 0.005
_ROUNDS = 3
"""Attempts at a close reading of a clock."""
_CLOSE = 0.05
"""Seconds between a word and its answer that read a clock closely enough."""


class StreamLost(Exception):
    """Samples of a component are missing: one sentence."""


class Observer(NamedTuple):
    """How an observer is reached."""

    node: str
    """Name of the node that it runs on."""
    identity: str
    """Of its pod: a component that is started again has another one."""
    follow: Sequence[str]
    """Command that prints its stream from the beginning, and goes on."""
    tell: Sequence[str]
    """Command that takes words on its standard input. In a container one that keeps its standard output open (`tee`):
    engines take the end of that for the end of it."""


@dataclass
class _Connection:
    """A command that may end, and is started again."""

    start: Callable[[int], Child]
    """By how often it was started before."""
    child: Child | None = None
    starts: int = 0
    since: float = 0.0

    def keep(self, children: Children, now: float, heard: float) -> bool:
        """See that it runs, and was heard of lately; whether it was started anew."""
        if self.child is not None:
            ended = self.child.exit_code() is not None
            # On a busy host a command may take long to come up: each may take longer than the one before.
            patience = _AGAIN if ended else SILENCE * min(self.starts, _PATIENCE)
            if now - self.since < patience or not (ended or now - heard > SILENCE):
                return False
            children.stop([self.child], grace=0.0)
        self.child, self.since = self.start(self.starts), now
        self.starts += 1
        return True


@dataclass
class _Stream:
    """What came of one observer."""

    name: str
    observer: Observer | None
    follow: _Connection
    tell: _Connection | None
    """None: the harness's own sampler, which hears by its configuration."""
    heard_of: float
    """When its last line came, monotonic."""
    offset: int = 0
    number: int = 0
    """Of its last line."""
    boot: str = ""
    began: float = 0.0
    ended: bool = False
    words: dict[int, str] = field(default_factory=dict)
    """Said and not heard, by their ids."""
    asked: float = 0.0
    """When the oldest of them was said, monotonic."""
    host: list[list[float]] = field(default_factory=list)
    watched: list[tuple[float, float]] = field(default_factory=list)
    readings: list[tuple[float, ClockOffset]] = field(default_factory=list)
    """Of its machine's clock against this one, one for each answer, and when."""

    def read_since(self, time: float) -> bool:
        """Whether its clock was read closely since then."""
        return any(at >= time and clock.width <= _CLOSE for at, clock in self.readings)

    @property
    def called(self) -> str:
        """Its name for people."""
        return self.name or "the harness"


class Streams:
    """All observers of one trial. Not thread-safe; nothing waits but `look` and `last`, and those not for long."""

    def __init__(
        self, trial: Path, children: Children, folder: Callable[[str], Path], clock: Clock = SYSTEM
    ) -> None:
        """`folder` gives a component's folder on this host, where an injector's health and `ready` appear."""
        self._samples, self._logs = trial / "samples", trial / "logs"
        self._children = children
        self._clock = clock
        self._folder = folder
        self._streams: dict[str, _Stream] = {}
        self._ended: list[_Stream] = []
        """Of components that were stopped, and may be started again."""
        self._costs: dict[str, Any] = {}
        self._said: dict[int, float] = {}
        """When each word was first said, epoch seconds."""
        self._id = 0
        self._samples.mkdir(parents=True, exist_ok=True)
        self._files = {
            name: (self._samples / f"{name}.csv").open("a", encoding="utf-8")
            for name in COLUMNS
            if name != "host"
        }
        for name, file in self._files.items():
            file.write(f"{COLUMNS[name]}\n")
        self._flush()

    def watch(self, observers: Mapping[str, Observer]) -> None:
        """Follow these from now on; what was followed and is none of these was stopped on purpose."""
        for name, stream in list(self._streams.items()):
            if stream.observer is not None and stream.observer != observers.get(name):
                self._end(stream)
                self._ended.append(self._streams.pop(name))
        for name, one in observers.items():
            if name not in self._streams:
                follow = _Connection(self._command(f"{name}-stream", one.follow))
                tell = _Connection(self._command(f"{name}-words", one.tell, subprocess.PIPE))
                self._streams[name] = _Stream(name, one, follow, tell, self._clock.monotonic())

    def own(self, sampler: Child) -> None:
        """Take in the sampler of the harness itself, whose standard output is a stream."""
        follow = _Connection(lambda _: sampler, sampler, 1, float("inf"))
        self._streams[""] = _Stream("", None, follow, None, self._clock.monotonic())

    def poll(self) -> None:
        """Take what has come.

        Raises:
            StreamLost: lines are missing, or nothing was heard for long.
        """
        now = self._clock.monotonic()
        for one in self._streams.values():
            if one.tell is not None and not one.ended:
                self._keep(one, now)
            self._read(one)
            if now - one.heard_of > LOST and not one.ended:
                raise StreamLost(f"nothing was heard of the observer of {one.called} for {LOST:.0f} s")
        self._flush()

    def look(self) -> None:
        """Have everything read, what is dear too, and compare the clocks."""
        asked = [one for one in self._streams.values() if one.tell is not None]
        said = {self._say(one, "look") for one in asked}
        began = self._clock.time()
        for _ in range(_ROUNDS):
            self._wait(lambda: not any(one.words.keys() & said for one in asked))  # noqa: B023 - it ends here
            asked = [one for one in asked if not one.read_since(began)]
            said = {self._say(one, "clock") for one in asked}

    def tell(self, name: str, word: str) -> None:
        """Say a word to one observer; it is said again until it is heard.

        Raises:
            StreamLost: there is none of that name.
        """
        if name not in self._streams:
            raise StreamLost(f"nothing observes {name}")
        self._say(self._streams[name], word)
        self.poll()

    def last(self, timeout: float) -> None:
        """Have each sample a last time, and take all that they tell.

        Raises:
            StreamLost: one did not end in time, or lines are missing.
        """
        told = [one for one in self._streams.values() if one.tell is not None]
        for one in told:
            self._say(one, "last")
        self._wait(lambda: all(one.ended for one in told), timeout)
        if silent := [one.name for one in told if not one.ended]:
            raise StreamLost(f"the last samples of {', '.join(silent)} did not come within {timeout:.0f} s")

    def finish(self) -> None:
        """Write what counts for machines, and end the commands. What had not come by now is not in it."""
        for one in self._streams.values():
            with suppress(StreamLost):
                self._read(one)
        self.close()
        (self._samples / "sampler.json").write_text(
            json.dumps(self._costs, indent=1) + "\n", encoding="utf-8"
        )
        machines: dict[str, Machine] = {}
        for one in (*self._ended, *self._streams.values()):
            machine = machines.setdefault(one.boot, Machine())
            machine.observers.append((one.host, one.watched))
            machine.readings += one.readings
            if one.observer is not None and self._streams.get(one.name) is one:
                machine.nodes.add(one.observer.node)
                machine.components.append(one.name)
        write_nodes(self._samples, machines.values())

    def connections(self) -> list[Child]:
        """The commands that run, of all observers."""
        both = [each for one in self._streams.values() for each in (one.follow, one.tell) if each is not None]
        return [one.child for one in both if one.child is not None]

    def close(self) -> None:
        """End all commands. Safe to repeat."""
        for one in self._streams.values():
            self._end(one)
        for file in self._files.values():
            file.close()

    def _command(
        self, name: str, command: Sequence[str], stdin: int = subprocess.DEVNULL
    ) -> Callable[[int], Child]:
        def start(number: int) -> Child:
            console = self._logs / f"{name}{f'-{number + 1}' if number else ''}.log"
            return self._children.spawn(name, command, console=console, cwd=self._logs.parent, stdin=stdin)

        return start

    def _keep(self, one: _Stream, now: float) -> None:
        """Its commands run; what was not heard is said again."""
        if one.follow.keep(self._children, now, one.heard_of):
            one.offset = 0
        # One that has ended is missed once there is something to say: to start it is work, amid a measurement.
        idle = one.tell is None or (one.tell.child is not None and not one.words)
        if one.tell is not None and not idle and one.tell.keep(self._children, now, one.asked):
            one.asked = now
            for number in one.words:
                self._write(one, number)

    def _say(self, one: _Stream, word: str) -> int:
        self._id += 1
        one.asked = min(one.asked, self._clock.monotonic()) if one.words else self._clock.monotonic()
        one.words[self._id] = word
        self._write(one, self._id)
        return self._id

    def _write(self, one: _Stream, number: int) -> None:
        child = one.tell.child if one.tell is not None else None
        self._said.setdefault(number, self._clock.time())
        if child is not None and child.process.stdin is not None:
            with suppress(OSError):  # it has ended: another one will be told
                child.process.stdin.write(f"{number} {one.words[number]}\n".encode())
                child.process.stdin.flush()

    def _wait(self, done: Callable[[], bool], timeout: float | None = None) -> None:
        def heard() -> bool:
            self.poll()
            return done()

        wait_until(heard, HEARD if timeout is None else timeout, _POLL, self._clock)

    def _read(self, one: _Stream) -> None:
        """Take the lines that its command has printed meanwhile."""
        if one.follow.child is None:
            return
        try:
            with one.follow.child.console.open("rb") as file:
                file.seek(one.offset)
                whole, end, _ = file.read().rpartition(b"\n")
        except OSError:
            return
        one.offset += len(whole + end)
        for line in whole.decode(errors="replace").splitlines() if end else ():
            number, _, rest = line.partition(",")
            table, _, row = rest.partition(",")
            if number.isdigit() and row:
                self._take(one, int(number), table, row)

    def _take(self, one: _Stream, number: int, table: str, row: str) -> None:
        if table == "about":
            self._introduce(one, row)
        if number <= one.number:
            return
        if number > one.number + 1:
            raise StreamLost(f"{number - one.number - 1} lines of the observer of {one.called} were lost")
        one.number, one.heard_of = number, self._clock.monotonic()
        if table in self._files:
            self._files[table].write(f"{_named(row, one.name)}\n")
        elif table in self._takers:
            self._takers[table](one, row)

    @cached_property
    def _takers(self) -> Mapping[str, Callable[[_Stream, str], None]]:
        """What is done with the lines that are no rows of a file."""

        def health(one: _Stream, row: str) -> None:
            with (self._folder(one.name) / "health.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{row}\n")

        def file(one: _Stream, row: str) -> None:
            (self._folder(one.name) / row).touch()

        def cost(one: _Stream, row: str) -> None:
            self._costs[one.called] = json.loads(row)

        def end(one: _Stream, _: str) -> None:
            one.ended = True

        return {
            "host": lambda one, row: one.host.append([float(text) for text in row.split(",")]),
            WATCHED: lambda one, row: one.watched.append(
                (float(row.split(",")[0]), float(row.split(",")[1]))
            ),
            "health": health,
            "file": file,
            "heard": self._hear,
            "cost": cost,
            "end": end,
        }

    def _introduce(self, one: _Stream, row: str) -> None:
        about = json.loads(row)
        if one.began not in (0.0, about["epoch"]):
            raise StreamLost(f"the observer of {one.called} was restarted")
        if about["columns"] != COLUMNS:
            raise StreamLost(f"the observer of {one.called} is of another version: use images of this one")
        one.boot, one.began = about["boot"], about["epoch"]

    def _hear(self, one: _Stream, row: str) -> None:
        """An answer: its machine's clock showed that time between the word and now."""
        number, _, told = row.partition(",")
        if one.words.pop(int(number), None) is not None:
            now = self._clock.time()
            one.readings.append((now, ClockOffset(float(told) - now, float(told) - self._said[int(number)])))

    def _end(self, one: _Stream) -> None:
        connections = (one.follow, one.tell) if one.tell is not None else ()
        self._children.stop([each.child for each in connections if each.child is not None], grace=0.0)

    def _flush(self) -> None:
        for file in self._files.values():
            file.flush()


def _named(row: str, name: str) -> str:
    """A row of a component's observer with the component's name; the observer's own has one of its own."""
    if not name:
        return row
    epoch, process, rest = row.split(",", 2)
    return (
        f"{epoch},{f'observer:{name}' if process == OWN_NAME else name + process.removeprefix(NAME)},{rest}"
    )
