# SPDX-License-Identifier: Apache-2.0
"""From an address to a page, or to a file of a session. Knows nothing of HTTP but its codes."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from urllib.parse import quote, unquote

from steelyard.analysis.across import Side
from steelyard.analysis.estimates import analyse
from steelyard.errors import BadInput, SteelyardError
from steelyard.gate.history import Entry, entry_of, read_entries
from steelyard.gate.plan import CONFIRMATION
from steelyard.host.lock import is_running
from steelyard.regular import read_bytes
from steelyard.results.gate import read_result
from steelyard.results.schema import Session
from steelyard.results.store import SessionDirectory
from steelyard.serve import pages
from steelyard.serve.filters import Filters
from steelyard.serve.index import Index, SessionRow, Stamp, stamp_of
from steelyard.serve.live import LiveSession, LiveState

_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
OWN_POLICY = (
    f"{_NOTHING}; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'"
)
"""Of pages made here. Charts have their colours in `style` attributes."""
FILE_POLICY = (
    f"{_NOTHING}; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:;"
    " sandbox allow-scripts allow-downloads allow-modals"
)
"""Of files of a session, which may come from anybody: their scripts run as nobody's, and reach nothing."""
_FILES = re.compile(
    r"report\.(html|md|csv|benchstat)|(session|analysis|gate)\.json|journal\.jsonl|gate\.(md|junit\.xml)"
    r"|profiles/.+|trials/[^/]+/trial\.json"
)
"""What of a session is shown."""
_TYPES = {".html": "text/html; charset=utf-8", ".json": "application/json"}
_TEXT = {".md", ".csv", ".benchstat", ".jsonl", ".xml", ".txt", ".collapsed"}


@dataclass(frozen=True)
class Answer:
    """What a client gets."""

    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    media: str = "text/html; charset=utf-8"
    policy: str = OWN_POLICY
    more: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""


class Site:
    """The pages of a folder of sessions; asked from several threads, it answers one at a time."""

    def __init__(
        self,
        folder: Path,
        history: Path | None = None,
        kept: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            folder: of all sessions.
            history: a folder of `history add`.
            kept: the file that keeps the index between two starts.
            now: epoch seconds.
        """
        self.index = Index(folder, kept)
        self._history = history
        self._now = now
        self._turn = Lock()
        self._following: dict[str, LiveSession] = {}
        self._entries: dict[str, tuple[Stamp, Entry | None]] = {}

    def answer(self, path: str, query: Mapping[str, Sequence[str]]) -> Answer:
        """The answer to an address.

        Args:
            path: as it was asked for, percent-encoded.
            query: its values by name.
        """
        with self._turn:
            try:
                return self._answer([unquote(part) for part in path.split("/")[1:]], query)
            except SteelyardError as error:
                return _problem("This session cannot be shown", str(error), HTTPStatus.UNPROCESSABLE_ENTITY)

    def _answer(self, parts: Sequence[str], query: Mapping[str, Sequence[str]]) -> Answer:
        match parts:
            case [""]:
                rows = self.index.rows()
                filters = Filters.of_query(query)
                live = self._live(rows)
                state: LiveState | None = None
                with suppress(SteelyardError):  # its own page says why
                    state = self._state(live, is_live=True)[1] if live is not None else None
                return _page(pages.sessions_page(rows, filters, live, self.index.folder, state))
            case ["style.css" | "serve.js" as name]:
                return _asset(name)
            case ["history"]:
                return _page(pages.history_page(self._history_entries(), self._history))
            case ["compare"]:
                return self._compare(query.get("session", ()))
            case ["sessions", name, *rest]:
                if rest[:1] == [CONFIRMATION]:
                    name, rest = f"{name}/{CONFIRMATION}", rest[1:]
                row = next((row for row in self.index.rows() if row.folder == name), None)
                if row is not None:
                    return self._session(row, rest, is_live=self._is_live(row))
        return _problem("Nothing is here", "There is no page of this address.", HTTPStatus.NOT_FOUND)

    def _session(self, row: SessionRow, rest: Sequence[str], *, is_live: bool) -> Answer:
        path = self.index.folder / row.folder
        match rest:
            case [] | [""]:
                page = "report.html" if row.report and not is_live else "live"
                return Answer(
                    b"",
                    HTTPStatus.FOUND,
                    more={"Location": f"/sessions/{quote(row.folder)}/{page}"},
                )
            case ["live"] | ["live-part"]:
                session, state = self._state(row, is_live=is_live)
                if rest == ["live"]:
                    return _page(pages.live_page(row.folder, path, session, state, has_report=row.report))
                headers = {"X-Steelyard-Live": "yes" if state.is_live else "no"}
                part = pages.live_part(row.folder, path, session, state)
                return Answer(part.encode(), more=headers)
        return self._file(path, rest, is_live=is_live)

    def _state(self, row: SessionRow, *, is_live: bool) -> tuple[Session, LiveState]:
        """How far a session is (raises SteelyardError: its files cannot be read)."""
        following = self._following.get(row.folder) or LiveSession(self.index.folder / row.folder)
        self._following[row.folder] = following
        return following.session, following.state(self._now(), holds_host=is_live)

    def _file(self, session: Path, parts: Sequence[str], *, is_live: bool) -> Answer:
        content = read_file(session, parts)
        if content is None:
            return _problem("Nothing is here", "This session has no such file to show.", HTTPStatus.NOT_FOUND)
        if parts == ["report.html"]:
            content = content.replace(b"<body>", b"<body>" + pages.report_bar(is_live), 1)
        suffix = Path(parts[-1]).suffix
        media = _TYPES.get(
            suffix, "text/plain; charset=utf-8" if suffix in _TEXT else "application/octet-stream"
        )
        return Answer(content, media=media, policy=FILE_POLICY)

    def _live(self, rows: Sequence[SessionRow]) -> SessionRow | None:
        """The session that runs; None: none of these does."""
        return next(filter(self._is_live, rows), None)

    def _is_live(self, row: SessionRow) -> bool:
        return row.state == "unfinished" and is_running(self.index.folder / row.folder)

    def _compare(self, names: Sequence[str]) -> Answer:
        chosen = [row.folder for row in self.index.rows() if row.folder in names]
        if len(chosen) != 2:
            said = "Choose two sessions in the list, and compare them there."
            return _problem("Two sessions are compared", said, HTTPStatus.BAD_REQUEST)
        chosen.reverse()  # the older one first
        first, second = (self._side(name) for name in chosen)
        verdict, other = (read_result(self.index.folder / name) for name in chosen)
        return _page(pages.comparison_page(chosen, (first, second), (verdict, other)))

    def _side(self, name: str) -> Side:
        directory = SessionDirectory(self.index.folder / name)
        session, trials = directory.session(), directory.trials()
        if not trials:
            raise BadInput(f"{name} holds no finished trial yet")
        return Side(session, analyse(session, trials), trials)

    def _history_entries(self) -> list[Entry]:
        """Those of the gates among the sessions, and those that were kept before; each session once."""
        kept = read_entries(self._history) if self._history is not None else []
        entries = {entry.key: entry for entry in kept}
        for row in self.index.rows():
            if row.gate is not None and not row.confirms:
                entry = self._entry(self.index.folder / row.folder)
                if entry is not None:
                    entries.setdefault(entry.key, entry)
        return sorted(entries.values(), key=lambda entry: (entry.time, entry.session))

    def _entry(self, path: Path) -> Entry | None:
        stamp, known = stamp_of(path), self._entries.get(path.name)
        if known is not None and known[0] == stamp:
            return known[1]
        entry: Entry | None = None
        with suppress(SteelyardError):  # nothing valid of it, or damaged: the list says so
            directory = SessionDirectory(path)
            entry = entry_of(directory.session(), directory.trials(), None, None, read_result(path), None)
        self._entries[path.name] = stamp, entry
        return entry


def read_file(session: Path, parts: Sequence[str]) -> bytes | None:
    """A file of a session that may be shown; None: there is none, or it may not.

    Args:
        session: its folder.
        parts: of the path below it, decoded.
    """
    if not all(is_name(part) for part in parts) or _FILES.fullmatch("/".join(parts)) is None:
        return None
    path = session.joinpath(*parts)
    try:
        # A link must not lead out of the session.
        if not path.resolve(strict=True).is_relative_to(session.resolve(strict=True)):
            return None
        return read_bytes(path)
    except (OSError, ValueError, RuntimeError):
        return None


def is_name(part: str) -> bool:
    """Whether a part of a path is the plain name of one file or folder."""
    return bool(part) and not part.startswith(".") and not {"/", "\\", "\0"} & {*part}


def _asset(name: str) -> Answer:
    if name == "style.css":
        return Answer(pages.style_sheet().encode(), media="text/css; charset=utf-8")
    return Answer(pages.script().encode(), media="text/javascript; charset=utf-8")


def _page(text: str) -> Answer:
    return Answer(text.encode())


def _problem(heading: str, sentence: str, status: HTTPStatus) -> Answer:
    return Answer(pages.problem_page(heading, sentence).encode(), status)
