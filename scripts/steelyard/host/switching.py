# SPDX-License-Identifier: Apache-2.0
"""Sets host states for the plots of a session, reads them back, and puts them back at the end, however it ends.

What was there is recorded before the first change, in one file of the host: `/run/steelyard/host-states.json`. `/run`
is emptied when the host restarts, as the settings themselves are. Three may put back what is recorded, and only one
of them does, under a lock:

- the session, at its end (`HostStates.restore`);
- the guard process, when the session was killed (`Children.on_crash` runs this module, see `main`);
- the next session, when both were killed (`put_back`); until then `doctor` warns (`read_record`).

The record of a session that is alive is left alone. A resumed session therefore finds the host as it was before the
session began, or the record that says how it was, and never takes for original what a killed session had set.
"""

import fcntl
import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from steelyard.errors import Busy, Exit, MissingRequirement, NoSpace, SteelyardError
from steelyard.host import cpusets
from steelyard.host.states import STATES, find_state
from steelyard.host.system import System
from steelyard.paths import PYTHON_PATH
from steelyard.process_tree import start_ticks
from steelyard.processes import Children
from steelyard.results.store import write_atomic
from steelyard.sampling.procfs import boot_id
from steelyard.yamlfile import Scalar

RECORD = "run/steelyard/host-states.json"
_CRASH = "host-states"


@dataclass(frozen=True, slots=True)
class HostRecord:
    """What the host states were before a session changed them, and which process changed them."""

    session: str
    pid: int
    started: int
    """Start of that process in clock ticks since boot: tells it from a later one with the same id."""
    boot: str
    original: dict[str, str]

    def alive(self) -> bool:
        """Whether the process that wrote it still runs."""
        return start_ticks(self.pid) == self.started


def read_record(system: System, name: str = RECORD) -> HostRecord | None:
    """The record of a session that has not put its host states back; None without one, or from before a restart.

    One that cannot be read, or that root may not follow, raises MissingRequirement. `name`: another record than that
    of sessions.
    """
    system.require_own_records()
    path = system.path(name)
    try:
        record = HostRecord(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise MissingRequirement(
            f"{path} says how this host was before a session changed it, and cannot be read ({error}): look at"
            " `steelyard doctor`, set by hand what differs, and remove the file"
        ) from error
    return record if record.boot == boot_id() else None


def put_back(system: System, over: tuple[int, int] | None = None) -> list[str]:
    """Put back what a killed session had set, and say so: one sentence for each state; empty when there is nothing.

    Args:
        system: the host.
        over: process id and start of a session that is known to be over, though its process may not be gone yet.

    Raises:
        MissingRequirement: it cannot be done, or not by this user.
    """
    if _abandoned_record(system, over) is None:
        return []
    with record_lock(system):
        record = _abandoned_record(system, over)  # another may have put back just before
        if record is None:
            return []
        changed = {
            name: STATES[name].read(system)
            for name, value in record.original.items()
            if name in STATES and STATES[name].read(system) != value
        }
        write_back(system, record.original)
    return [
        f"host state {name} was left at {value or 'nothing'} by {record.session}, which was killed,"
        f" and is {record.original[name]} again"
        for name, value in changed.items()
    ]


def require_settable(plots: Iterable[Mapping[str, Scalar]], system: System | None = None) -> None:
    """See that this user can set what the plots of a session want, before anything is built for them.

    Raises:
        BadInput: there is no such state or value.
        MissingRequirement: the host does not have a state, or this user may not set it.
    """
    system = system or System()
    for name, value in dict.fromkeys((name, value) for plot in plots for name, value in plot.items()):
        state = find_state(name)
        if state.read(system) != state.value(system, value):
            state.require(system)


class HostStates:
    """The host states of one session; a context manager that puts them back."""

    def __init__(
        self,
        plots: Iterable[Mapping[str, Scalar]],
        children: Children,
        session: str | Path,
        system: System | None = None,
    ) -> None:
        """Resolve what is wanted against this host; needs no rights and changes nothing.

        Args:
            plots: what each arm wants, by state. A state that only some arms name is as the host has it in the others.
            children: whose guard puts the states back when this process is killed.
            session: for messages.
            system: another than this host, for trees of files.

        Raises:
            BadInput: there is no such state or value.
            MissingRequirement: the host does not have a state.
        """
        self._system = system or System()
        self._children = children
        self._session = str(session)
        self._recorded = False
        self._plot: tuple[int, int] | None = None
        wanted = [self.values(plot) for plot in plots]
        self._original = self._read_original({name for plot in wanted for name in plot})
        self._levels = {
            name: list(dict.fromkeys(plot.get(name, value) for plot in wanted))
            for name, value in self._original.items()
        }

    def __enter__(self) -> Self:
        """See that all of them can be set by this user, before anything is (raises MissingRequirement)."""
        for name, levels in self._levels.items():
            if levels != [STATES[name].read(self._system)]:
                STATES[name].require(self._system)
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def values(self, wanted: Mapping[str, Scalar]) -> dict[str, str]:
        """Wanted values as this host reads them back (raises BadInput), in the order of the table."""
        values = {name: find_state(name).value(self._system, value) for name, value in wanted.items()}
        return {name: values[name] for name in STATES if name in values}

    def enter(self, plot: tuple[int, int], wanted: Mapping[str, Scalar], cpus: Collection[int] = ()) -> None:
        """Begin a plot, or go on with it: call it before each trial.

        Every plot begins with a switch of each state that the session varies. Where a state already is as it is wanted
        (the last plot of one block and the first of the next may be the same), it is set to another of its levels
        first: two blocks that shared one switch would share its chance (how the kernel laid out the pages, say) and
        would not be independent.

        Args:
            plot: block and number of the plot.
            wanted: what its arms want.
            cpus: those of the trial, where the states say which are online.

        Raises:
            MissingRequirement: the host did not do it, or CPUs of the trial cannot be used from here; what was set so
                far is put back by `restore`.
            Busy: another session set this host's states.
        """
        if plot != self._plot:
            self._switch(plot, wanted)
        if self._levels.keys() & {"smt", "cpus_online"}:
            cpusets.require_usable(self._system, cpus)

    def _switch(self, plot: tuple[int, int], wanted: Mapping[str, Scalar]) -> None:
        self._plot = None
        target = self._complete(wanted)
        detour = {
            name: next(level for level in self._levels[name] if level != value)
            for name, value in target.items()
            if len(self._levels[name]) > 1 and STATES[name].read(self._system) == value
        }
        self._set(detour)
        self._set(target)
        self._plot = plot

    def verify(self, wanted: Mapping[str, Scalar]) -> list[str]:
        """What reads back otherwise than wanted, one sentence each; call it before and after each trial."""
        now = {name: STATES[name].read(self._system) for name in self._original}
        return [
            f"host state {name} reads back {now[name] or 'nothing'}, {value} was asked for"
            for name, value in self._complete(wanted).items()
            if now[name] != value
        ]

    def restore(self) -> None:
        """End what still runs, and put back what was there before the session; nothing when that was done, or nothing
        was changed.

        Raises:
            MissingRequirement: the host did not take a value back; the record stays, and `doctor` warns.
        """
        self._plot = None
        if not self._recorded:
            return
        # A second Ctrl-C cuts a trial's own stop short, and what it leaves may use large pages.
        self._children.stop_all()
        with record_lock(self._system):
            write_back(self._system, self._original)
        self._recorded = False
        self._children.forget_crash(_CRASH)

    def _complete(self, wanted: Mapping[str, Scalar]) -> dict[str, str]:
        return {**self._original, **self.values(wanted)}

    def _read_original(self, names: set[str]) -> dict[str, str]:
        left = _abandoned_record(self._system)
        before = left.original if left is not None else {}
        original = {}
        for name in (name for name in STATES if name in names):
            value = before.get(name, STATES[name].read(self._system))
            if value is None:
                STATES[name].require(self._system)
            original[name] = str(value)
        return original

    def _set(self, values: Mapping[str, str]) -> None:
        differing = any(STATES[name].read(self._system) != value for name, value in values.items())
        if not self._recorded and (differing or _abandoned_record(self._system) is not None):
            self._record()
        for name, value in values.items():
            STATES[name].set(self._system, value)

    def _record(self) -> None:
        """Write down what there is, and have it put back should this process be killed, before anything is changed."""
        pid, root = os.getpid(), str(self._system.root.absolute())
        started = start_ticks(pid) or 0
        module = [f"PYTHONPATH={PYTHON_PATH}", sys.executable, "-m", "steelyard.host.switching"]
        put_back(self._system)
        with record_lock(self._system):
            other = read_record(self._system)
            if other is not None:
                raise Busy(
                    f"another session ({other.session}, process {other.pid}) has set the states of this host:"
                    " wait until it has ended or stop it"
                )
            self._children.on_crash(_CRASH, ["env", *module, root, str(pid), str(started)])
            self._recorded = True
            write_record(self._system, HostRecord(self._session, pid, started, boot_id(), self._original))


def _abandoned_record(system: System, over: tuple[int, int] | None = None) -> HostRecord | None:
    """The record of a session that is over without having put back; arguments as those of `put_back`."""
    record = read_record(system)
    if record is None or (record.alive() and (record.pid, record.started) != over):
        return None
    return record


def write_record(system: System, record: HostRecord, name: str = RECORD) -> None:
    """Under the lock: write down how the host was (raises MissingRequirement)."""
    path = system.path(name)
    try:
        write_atomic(path, json.dumps(asdict(record), indent=1) + "\n")
    except NoSpace as error:
        raise MissingRequirement(
            f"{path} cannot be written, and without a record of how this host was nothing is changed: {error}"
        ) from error


def write_back(system: System, original: Mapping[str, str], name: str = RECORD) -> None:
    """Under the lock: set every state to what it was, the last one first; the record goes when all of them are.

    All of them are gone through twice: what comes online with one state has the value of another that it went with.
    """
    failures: list[str] = []
    for _ in range(2):
        failures.clear()
        for state in sorted(original, key=[*STATES, *original].index, reverse=True):
            try:
                find_state(state).set(system, original[state])
            except SteelyardError as error:
                failures.append(str(error))
    if failures:
        values = ", ".join(f"{state} {value}" for state, value in original.items())
        again = "The next session tries again" if name == RECORD else "`./steelyard host restore` tries again"
        raise MissingRequirement(
            f"this host could not be put back as it was ({values}): {'; '.join(failures)}. {again};"
            f" remove {system.path(name)} to leave the host as it is"
        )
    system.path(name).unlink(missing_ok=True)


@contextmanager
def record_lock(system: System) -> Iterator[None]:
    """One at a time reads the record and acts on it."""
    system.require_own_records()
    path = system.path(RECORD).with_suffix(".lock")
    try:
        system.make_run_folder()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise MissingRequirement(
            f"host states cannot be set or put back ({path}: {os.strerror(error.errno or 0)}): run it as root (sudo)"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def main(arguments: list[str]) -> int:
    """`python -m steelyard.host.switching ROOT PID STARTED`: put back what a session that is over had set.

    The guard process runs it, with the process that it guarded. It does nothing when there is nothing to put back, or
    when another session that is alive has set the states.
    """
    root, pid, started = arguments
    try:
        sentences = put_back(System(Path(root)), (int(pid), int(started)))
    except SteelyardError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        return error.exit_code
    sys.stdout.writelines(f"{sentence}\n" for sentence in sentences)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
