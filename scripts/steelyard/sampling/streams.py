# SPDX-License-Identifier: Apache-2.0
"""Rows of observers (observe.py) -> `samples/` of one trial, as one sampler writes it.

Each observer is asked for its rows from an offset on, and sent commands, by a thread for either. A connection may break
at any time, as with an API server that is away: the rest is asked for again, and a command is sent again until it is
acknowledged; each does the same when it is done twice.

What counts for a whole machine (CPU of others, steal, clock) is put together from all observers on it (nodes.py).
"""

import http.client
import json
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.clock import SYSTEM, Clock, wait_until
from steelyard.measure.columns import KEYS, OWN_NAME
from steelyard.measure.samples import ClockOffset
from steelyard.processes import Child
from steelyard.results.store import report_no_space
from steelyard.sampling import output
from steelyard.sampling.columns import COLUMNS
from steelyard.sampling.config import NAME
from steelyard.sampling.nodes import MachineSamples, write_nodes

SILENCE = 5.0
"""Seconds without a byte, after which a connection is given up: that it is broken may not be told."""
LOST = 60.0
"""Seconds without a row, after which an observer is lost."""
ACKNOWLEDGED = 5.0
"""Seconds that a command may take before something is measured without it."""
_RETRY = 1.0
_POLL = 0.005
_ROUNDS = 2
"""More attempts at a close reading of a clock."""
_CLOSE = 0.05
"""Seconds between a command and its answer that read a clock closely enough."""
_LOOK = "/look"
_RESTARTED = b"restarted,\n"


class StreamLost(Exception):
    """Samples of a component are missing: one sentence."""


@dataclass(frozen=True)
class Observer:
    """How an observer is reached."""

    node: str
    """Name of the node that it runs on."""
    identity: str
    """Of its pod: a component that is started again has another one."""
    connect: Callable[[float], http.client.HTTPConnection] = field(compare=False)
    """A connection that is given up after so many seconds without a byte."""
    root: str = ""
    """What stands before its paths."""


@dataclass(eq=False)
class _Stream:
    """What came of one observer."""

    name: str
    observer: Observer | None
    """None: the harness's own sampler, whose rows are in a file of this host."""
    clock: Clock
    lines: "queue.SimpleQueue[bytes]" = field(default_factory=queue.SimpleQueue)
    commands: "queue.SimpleQueue[tuple[str, str]]" = field(default_factory=queue.SimpleQueue)
    """Paths and contents, to be sent in order."""
    last_row: float = 0.0
    """When it came, monotonic."""
    offset: int = 0
    """Bytes of whole rows that have come."""
    boot: str = ""
    began: str | None = None
    ended: bool = False
    sent: int = 0
    """Commands so far."""
    acknowledged: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
    host: list[list[float]] = field(default_factory=list)
    watched: list[tuple[float, float]] = field(default_factory=list)
    readings: list[tuple[float, ClockOffset]] = field(default_factory=list)
    """Of its machine's clock against this one, one for each acknowledgement, and when."""

    def __post_init__(self) -> None:
        self.last_row = self.clock.monotonic()
        for work in (self._follow, self._send) if self.observer is not None else ():
            threading.Thread(target=work, daemon=True).start()

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name or "the harness"

    def send(self, path: str, content: str = "") -> None:
        """Have a command sent, until it is acknowledged."""
        self.sent += 1
        self.commands.put((path, content))

    def read_file(self, path: Path) -> None:
        """Take the rows that have come to a file meanwhile."""
        with suppress(OSError), path.open("rb") as file:
            file.seek(self.offset)
            for line in file:
                self._take(line)

    def close(self) -> None:
        """End the threads: with the next answer, or when there is none."""
        self.closed.set()
        self.commands.put(("", ""))

    def _take(self, line: bytes) -> bool:
        """Take a row; False: it is not whole."""
        if not line.endswith(b"\n"):
            return False
        self.offset += len(line)
        self.lines.put(line)
        return True

    def _follow(self) -> None:
        while not self.closed.is_set():
            with suppress(OSError, http.client.HTTPException):
                self._read_rows()
            self.closed.wait(_RETRY)

    def _read_rows(self) -> None:
        assert self.observer is not None
        with closing(self.observer.connect(SILENCE)) as connection:
            connection.request("GET", f"{self.observer.root}/rows/{self.offset}")
            response = connection.getresponse()
            if response.status != http.HTTPStatus.OK:
                return
            self.began = self.began or response.headers["Observer"]
            if response.headers["Observer"] != self.began:
                self.lines.put(_RESTARTED)
                return
            for line in response:
                if self.closed.is_set() or not self._take(line):
                    return

    def _send(self) -> None:
        while True:
            path, content = self.commands.get()
            while not self.closed.is_set() and not self._is_acknowledged(path, content):
                self.closed.wait(_RETRY)
            if self.closed.is_set():
                return
            for _ in range(_ROUNDS if path == _LOOK else 0):
                if self.readings[-1][1].width > _CLOSE:
                    self._is_acknowledged("/clock", "")
            self.acknowledged += 1

    def _is_acknowledged(self, path: str, content: str) -> bool:
        """Send a command. The observer's clock showed the time of its answer between the sending and now."""
        assert self.observer is not None
        began = self.clock.time()
        with (
            suppress(OSError, http.client.HTTPException),
            closing(self.observer.connect(SILENCE)) as connection,
        ):
            connection.request("POST", f"{self.observer.root}{path}", content.encode())
            response = connection.getresponse()
            response.read()
            now = self.clock.time()
            if response.status == http.HTTPStatus.OK:
                time = float(response.headers["Time"])
                self.readings.append((now, ClockOffset(time - now, time - began)))
                return True
        return False


class Streams:
    """All observers of one trial. Not thread-safe; nothing waits but `read_everything` and `last`, and those not for
    long."""

    def __init__(self, trial: Path, folder: Callable[[str], Path], clock: Clock = SYSTEM) -> None:
        """`folder` gives a component's folder on this host, where an injector's health and `ready` appear."""
        self._samples = trial / "samples"
        self._clock = clock
        self._folder = folder
        self._streams: dict[str, _Stream] = {}
        self._ended: list[_Stream] = []
        """Of components that were stopped, and may be started again."""
        self._own: Path | None = None
        self._costs: dict[str, object] = {}
        with report_no_space(self._samples):
            self._samples.mkdir(parents=True, exist_ok=True)
            self._files = {
                name: (self._samples / f"{name}.csv").open("a", encoding="utf-8")
                for name in COLUMNS
                if "process" in KEYS[name]
            }
            for name, file in self._files.items():
                file.write(f"{COLUMNS[name]}\n")
                file.flush()

    def watch(self, observers: Mapping[str, Observer]) -> None:
        """Follow these from now on; what was followed and is none of these was stopped on purpose."""
        for stream in self._remote():
            if stream.observer != observers.get(stream.name):
                stream.close()
                self._ended.append(self._streams.pop(stream.name))
        for name, observer in observers.items():
            if name not in self._streams:
                self._streams[name] = _Stream(name, observer, self._clock)

    def watch_own(self, sampler: Child) -> None:
        """Take in the sampler of the harness itself, whose standard output are rows."""
        self._own = sampler.console
        self._streams[""] = _Stream("", None, self._clock)

    def poll(self) -> None:
        """Take what has come.

        Raises:
            StreamLost: rows are missing, or none came for long.
            NoSpace: they cannot be written.
        """
        with report_no_space(self._samples):
            for stream in self._streams.values():
                self._drain(stream)
                if self._clock.monotonic() - stream.last_row > LOST and not stream.ended:
                    raise StreamLost(f"nothing was heard of the observer of {stream.label} for {LOST:.0f} s")
            for file in self._files.values():
                file.flush()

    def read_everything(self) -> None:
        """Have everything read, what is dear too, and compare the clocks."""
        streams = self._remote()
        for stream in streams:
            stream.send(_LOOK)
        self._wait(lambda: all(stream.acknowledged == stream.sent for stream in streams), ACKNOWLEDGED)

    def write_file(self, name: str, file: str, content: str) -> None:
        """Have an observer write a file of its component.

        Raises:
            StreamLost: there is none of that name.
        """
        if name not in self._streams:
            raise StreamLost(f"nothing observes {name}")
        self._streams[name].send(f"/files/{file}", content)
        self.poll()

    def last(self, timeout: float) -> None:
        """Have each sample a last time, and take all that they tell.

        Raises:
            StreamLost: one did not end in time, or rows are missing.
        """
        streams = self._remote()
        for stream in streams:
            stream.send("/last")
        self._wait(lambda: all(stream.ended for stream in streams), timeout)
        if silent := [stream.name for stream in streams if not stream.ended]:
            raise StreamLost(f"the last samples of {', '.join(silent)} did not come within {timeout:.0f} s")

    def finish(self) -> None:
        """Write what counts for machines (raises NoSpace). What had not come by now is not in it."""
        with report_no_space(self._samples):
            self._finish()

    def _finish(self) -> None:
        for stream in self._streams.values():
            with suppress(StreamLost):
                self._drain(stream)
        self.close()
        (self._samples / "sampler.json").write_text(
            json.dumps(self._costs, indent=1) + "\n", encoding="utf-8"
        )
        machines: dict[str, MachineSamples] = {}
        for stream in (*self._ended, *self._streams.values()):
            machine = machines.setdefault(stream.boot, MachineSamples())
            machine.observers.append((stream.host, stream.watched))
            machine.readings += stream.readings
            if stream.observer is not None and self._streams.get(stream.name) is stream:
                machine.nodes.add(stream.observer.node)
                machine.components.append(stream.name)
        write_nodes(self._samples, machines.values())

    def close(self) -> None:
        """Follow no observer any more (raises NoSpace: what came last cannot be written). Safe to repeat."""
        for stream in self._streams.values():
            stream.close()
        with report_no_space(self._samples), ExitStack() as files:
            for file in self._files.values():
                files.callback(file.close)

    def _remote(self) -> list[_Stream]:
        return [stream for stream in self._streams.values() if stream.observer is not None]

    def _wait(self, holds: Callable[[], bool], timeout: float) -> None:
        def poll() -> bool:
            self.poll()
            return holds()

        wait_until(poll, timeout, _POLL, self._clock)

    def _drain(self, stream: _Stream) -> None:
        if stream.observer is None and self._own is not None:
            stream.read_file(self._own)
        while not stream.lines.empty():
            line = stream.lines.get()
            stream.last_row = self._clock.monotonic()
            table, _, row = line.decode(errors="replace").rstrip("\n").partition(",")
            if table in self._files:
                self._files[table].write(f"{_name(row, stream.name)}\n")
            else:
                self._take_other(stream, table, row)

    def _take_other(self, stream: _Stream, table: str, row: str) -> None:
        """A line that is no row of a file; one of a table that is not known is passed over."""
        match table:
            case "about":
                _introduce(stream, row)
            case "host":
                stream.host.append([float(text) for text in row.split(",")])
            case output.WATCHED:
                at, used = map(float, row.split(","))
                stream.watched.append((at, used))
            case "health":
                with (self._folder(stream.name) / "health.jsonl").open("a", encoding="utf-8") as file:
                    file.write(f"{row}\n")
            case "file":
                (self._folder(stream.name) / row).touch()
            case "cost":
                self._costs[stream.label] = json.loads(row)
            case "end":
                stream.ended = True
            case "restarted":
                raise StreamLost(f"the observer of {stream.label} was restarted")


def _introduce(stream: _Stream, row: str) -> None:
    about = json.loads(row)
    if about["columns"] != COLUMNS:
        raise StreamLost(f"the observer of {stream.label} is of another version: use images of this one")
    stream.boot = about["boot"]


def _name(row: str, name: str) -> str:
    """A row of a component's observer with the component's name; the observer's own has one of its own."""
    if not name:
        return row
    epoch, process, rest = row.split(",", 2)
    return (
        f"{epoch},{f'observer:{name}' if process == OWN_NAME else name + process.removeprefix(NAME)},{rest}"
    )
