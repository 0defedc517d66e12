# SPDX-License-Identifier: Apache-2.0
"""A row for each session of a folder. It is read again only where one of its files has another identity (inode, size,
time of the change), and kept in a file between two starts."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field

from steelyard import __version__
from steelyard.errors import NoSpace, SteelyardError
from steelyard.escape import printable
from steelyard.gate.plan import CONFIRMATION
from steelyard.paths import is_file
from steelyard.regular import read_bytes
from steelyard.report.verdict import answer_of
from steelyard.results.gate import GateResult, read_result
from steelyard.results.schema import JournalEntry, Session
from steelyard.results.spec import Record
from steelyard.results.store import SessionDirectory, identity_of, write_record

State = Literal["ended", "unfinished", "unreadable"]
Stamp = tuple[tuple[int, int, int] | None, ...]
"""Inode, size and time of the change of each of `_FILES`; None: it is not there."""
_FILES = ("session.json", "journal.jsonl", "analysis.json", "gate.json", "report.html")


class SessionRow(Record):
    """What the list says of a session."""

    folder: str
    """Its path from the folder of all sessions: its name, of a gate's confirmation below that of the gate."""
    title: str
    state: State
    answer: list[str]
    """Sentences: the answer; of one that cannot be read, why."""
    created: float = 0.0
    """Epoch seconds."""
    experiment: str = ""
    workload: str = ""
    host: str = ""
    processor: str = ""
    commits: list[str] = Field(default_factory=list)
    """What was weighed, as far as it is known: of builds, of a gate's sides, else the suite's own."""
    arms: int = 0
    trials: int = 0
    """Those that have ended, repeats included."""
    void: int = 0
    quick: bool = False
    gate: str | None = None
    """Verdict of a gate; "" of one that has none yet, None: it is no gate."""
    confirms: bool = False
    """Whether it is the confirmation of a gate."""
    report: bool = False
    """Whether there is a report."""


class _Kept(Record):
    """The file between two starts."""

    version: str
    folder: str
    rows: dict[str, tuple[Stamp, SessionRow]]


class Index:
    """The rows of a folder."""

    def __init__(self, folder: Path, kept: Path | None) -> None:
        """`kept`: the file that holds rows between two starts; None: nothing is kept."""
        self.folder = folder.absolute()
        self._kept = kept
        self._rows: dict[str, tuple[Stamp, SessionRow]] = {}
        self._read_kept()

    def rows(self) -> list[SessionRow]:
        """Every session, the newest first."""
        rows: dict[str, tuple[Stamp, SessionRow]] = {}
        for path in self._sessions():
            stamp = stamp_of(path)
            name = str(path.relative_to(self.folder))
            known = self._rows.get(name)
            if known is None or known[0] != stamp:
                known = stamp, read_row(path).model_copy(update={"folder": name})
            rows[name] = known
        if rows != self._rows:
            self._rows = rows
            self._keep()
        return sorted(
            (row for _, row in rows.values()), key=lambda row: (row.created, row.folder), reverse=True
        )

    def _sessions(self) -> Iterator[Path]:
        with suppress(OSError):  # it was there when the server started
            for session in self.folder.iterdir():
                for path in (session, session / CONFIRMATION):
                    if not session.name.startswith(".") and is_file(path / "session.json"):
                        yield path

    def _read_kept(self) -> None:
        if self._kept is None:
            return
        with suppress(OSError, ValueError):  # then all are read again
            kept = _Kept.model_validate_json(read_bytes(self._kept))
            if (kept.version, kept.folder) == (__version__, str(self.folder)):
                self._rows = dict(kept.rows)

    def _keep(self) -> None:
        if self._kept is None:
            return
        kept = _Kept(version=__version__, folder=str(self.folder), rows=self._rows)
        with suppress(NoSpace):  # the next start takes longer
            write_record(self._kept, kept)


def stamp_of(path: Path) -> Stamp:
    """The identity of the files of a session that its row is made from."""
    return tuple(_identity(path / name) for name in _FILES)


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        return identity_of(path.stat())
    except OSError:
        return None


def read_row(path: Path) -> SessionRow:
    """The row of a session directory, whatever state it is in."""
    directory = SessionDirectory(path)
    try:
        session, journal = directory.session(), directory.journal()
        gate = read_result(path) if session.gate is not None else None
    except SteelyardError as error:
        return SessionRow(folder=path.name, title=path.name, state="unreadable", answer=[str(error)])
    answer = [gate.sentence] if gate is not None else []
    with suppress(SteelyardError):  # there is no analysis yet, or trials have ended since
        answer = answer_of(session, directory.analysis(), gate)
    ended = _outcomes(journal)
    return SessionRow(
        folder=path.name,
        title=printable(session.experiment.title),
        state="ended" if journal and journal[-1].event == "session-end" else "unfinished",
        answer=answer,
        created=session.created,
        experiment=session.experiment.name,
        workload=f"{session.workload.name} {session.workload.version}",
        host=session.host.hostname or "",
        processor=f"{session.host.cpu_model} ({session.host.architecture})",
        commits=commits_of(session),
        arms=len(session.arms),
        trials=len(ended),
        void=sum(state == "void" for state in ended.values()),
        quick=session.quick,
        gate=_outcome(session, gate),
        confirms=session.gate is not None and session.gate.confirms is not None,
        report=(path / "report.html").is_file(),
    )


def commits_of(session: Session) -> list[str]:
    """The commits that a session compares: those that its arms were built from, else the suite's own."""
    builds = [str(arm.settings["build"]) for arm in session.arms if arm.settings.get("build") is not None]
    return list(dict.fromkeys(builds)) or ([session.revision] if session.revision else [])


def _outcome(session: Session, gate: GateResult | None) -> str | None:
    if session.gate is None:
        return None
    return gate.outcome if gate is not None else ""


def _outcomes(journal: list[JournalEntry]) -> Mapping[tuple[int | None, str | None, int | None], str]:
    """State of each trial that has ended, by block, arm and attempt."""
    ended: dict[tuple[int | None, str | None, int | None], str] = {}
    for entry in journal:
        key = entry.block, entry.arm, entry.attempt
        if entry.event == "trial-start":
            ended.pop(key, None)  # it runs once more, for its partner in a duet
        elif entry.event == "trial-end":
            ended[key] = entry.state or "void"
    return ended
