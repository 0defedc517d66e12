# SPDX-License-Identifier: Apache-2.0
"""Reading and writing of a session directory. Writes are atomic; versions newer than ours are refused, and so is what
is not as the journal has bound it (binding.py)."""

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import Altered, BadInput, NewerFormat, NoSpace
from steelyard.paths import is_there
from steelyard.regular import read_bytes
from steelyard.results.analysis import Analysis
from steelyard.results.binding import digest, find_altered
from steelyard.results.figures import count
from steelyard.results.schema import FORMAT_VERSION, JournalEntry, Session, Trial
from steelyard.yamlfile import first_error

R = TypeVar("R", bound=BaseModel)

_FULL = {errno.ENOSPC, errno.EDQUOT}
_NO_SPACE = {
    *_FULL,
    *(errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG),
    # A file in the place of a folder, or a name that is too long.
    *(errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG),
}


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a file so that it is either whole or not there: temporary file, fsync, rename.

    Raises:
        NoSpace: the disk is full or the directory cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            # By the handle: in a folder of another user the name may stand for another file by now.
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise no_space(path, error) from error


@contextmanager
def write_folder(folder: Path) -> Iterator[Path]:
    """A new folder that takes its name at the end: it is either whole or not there (raises NoSpace)."""
    new = folder.with_name(f".{folder.name}.new")
    with report_no_space(folder):
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        yield new
        new.rename(folder)


@contextmanager
def report_no_space(path: Path) -> Iterator[None]:
    """What writes to a path: where that fails, see `no_space` (raises NoSpace)."""
    try:
        yield
    except OSError as error:
        raise no_space(path, error) from error


def no_space(path: Path, error: OSError) -> Exception:
    """Turn a failed write into a sentence for the user, or hand the error back when it is another kind.

    The error of a folder's copy (shutil.Error) has no number; the text of each file that could not be copied has one.
    """
    if isinstance(error, shutil.Error):
        numbers = [int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))]
        number = next((number for number in numbers if number in _NO_SPACE), None)
        error = OSError(number or (numbers[0] if numbers else errno.ENOSPC), str(error))
    if error.errno not in _NO_SPACE:
        return error
    return _cannot_write(path, error)


def _cannot_write(path: Path, error: OSError) -> NoSpace:
    cure = "free some space or choose another --out" if error.errno in _FULL else "choose another --out"
    return NoSpace(
        f"cannot write {path} ({os.strerror(error.errno or 0)}): {cure}; what was measured so far is kept"
    )


def require_writable(folder: Path) -> None:
    """See that files can be written in a folder, which need not be there yet and is not made (raises NoSpace)."""
    there = folder.absolute()
    while not is_there(there) and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise _cannot_write(folder, error) from error


def write_record(path: Path, record: BaseModel) -> str:
    """Write a record as indented JSON, atomically; returns its digest (raises NoSpace).

    Its name is forced to disk too: the journal, which tells of it, may else outlast it in a power cut.
    """
    data = (record.model_dump_json(indent=1, by_alias=True) + "\n").encode()
    write_atomic(path, data)
    folder = os.open(path.parent, os.O_RDONLY)
    with suppress(OSError):  # a file system that cannot force a folder to disk
        os.fsync(folder)
    os.close(folder)
    return digest(data)


def read_record(path: Path, record_type: type[R]) -> R:
    """Read a record.

    Raises:
        NewerFormat: written by a newer version.
        BadInput: missing or damaged.
    """
    return _parse_record(path, _read_file(path), record_type)


def _read_file(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        why = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise BadInput(f"{path} {why}: is {path.parent} a session directory?") from error


def _parse_record(path: Path, data: bytes, record_type: type[R]) -> R:
    """A record from what its file holds (errors as `read_record`)."""
    try:
        raw: dict[str, Any] = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is damaged ({error}): restore it from a copy") from error
    version = raw.get("format_version") if isinstance(raw, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < FORMAT_VERSION:
        raise BadInput(
            f"{path} is damaged (it tells no format version that there is): restore it from a copy"
        )
    if version > FORMAT_VERSION:
        raise NewerFormat(
            f"{path} has format version {version}, this Steelyard reads up to {FORMAT_VERSION}:"
            " use the newer Steelyard that wrote it"
        )
    try:
        return record_type.model_validate(raw)
    except ValidationError as error:
        where = ": ".join(first_error(error))
        raise BadInput(f"{path} does not fit its format ({where}): restore it from a copy") from error


def _alteration(path: Path, problem: str) -> Altered:
    return Altered(
        f"{path} {problem}: nothing can be said from this session until it is restored from a copy"
    )


class Journal:
    """journal.jsonl: lines that each carry the digest of the line before (binding.py). Each is read and parsed once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = b""
        """What was parsed, up to its last end of a line."""
        self._entries: list[JournalEntry | None] = []
        self._last: str | None = None
        """Digest of the last line of these."""
        self._left: tuple[tuple[int, int, int], str] | None = None
        """How this process left the file (inode, size, time of the change), and the digest of its last line."""

    def lines(self) -> list[JournalEntry | None]:
        """Its entries; None for a line that a crash cut off.

        Raises:
            Altered: a line was changed, moved or removed.
        """
        data = self._read()
        if not data.startswith(self._data):
            self._data, self._entries, self._last = b"", [], None
        end = data.rfind(b"\n") + 1
        new, last = self._parse(data[len(self._data) : end], len(self._entries), self._last)
        torn, _ = self._parse(data[end:], len(self._entries) + len(new), last)
        self._data, self._entries, self._last = data[:end], [*self._entries, *new], last
        return [*self._entries, *torn]

    def append(self, fields: Mapping[str, object]) -> None:
        """Append an entry that is bound to the line before, and force it to disk (raises NoSpace).

        It begins a line of its own, whatever a crash left.
        """
        begin, last = b"", self._own_last()
        if last is None:
            data = self._read()
            lines = [line for line in data.split(b"\n") if line]
            last = digest(lines[-1]) if lines else None
            begin = b"\n" if data and not data.endswith(b"\n") else b""
        entry = JournalEntry.model_validate({**fields, "after": last})
        line = entry.model_dump_json(exclude_none=True).encode()
        with report_no_space(self.path), self.path.open("ab") as file:
            file.write(begin + line + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._left = identity_of(os.fstat(file.fileno())), digest(line)

    def _own_last(self) -> str | None:
        """Digest of the last line, where the file is as this process left it."""
        if self._left is None:
            return None
        stamp, last = self._left
        try:
            return last if stamp == identity_of(self.path.stat()) else None
        except OSError:
            return None

    def _read(self) -> bytes:
        try:
            return read_bytes(self.path)
        except FileNotFoundError:
            return b""
        except NotADirectoryError as error:
            raise BadInput(f"{self.path.parent} is a file: give the folder of the session") from error
        except OSError as error:
            raise BadInput(
                f"{self.path} cannot be read ({error.strerror}): restore it from a copy"
            ) from error

    def _parse(
        self, data: bytes, number: int, before: str | None
    ) -> tuple[list[JournalEntry | None], str | None]:
        """Entries of further lines, and the digest of the last one; `number` lines are before them."""
        entries: list[JournalEntry | None] = []
        for line in filter(None, data.split(b"\n")):
            number += 1
            try:
                entry = JournalEntry.model_validate_json(line)
            except ValidationError:
                entry = None
            if entry is not None and entry.after != before:
                raise _alteration(self.path, f"was changed in line {number} or before it")
            before = digest(line)
            entries.append(entry)
        return entries, before


def identity_of(status: os.stat_result) -> tuple[int, int, int]:
    """Inode, size and time of the change: what is another file, or was written to, has another identity."""
    return status.st_ino, status.st_size, status.st_mtime_ns


class SessionDirectory:
    """Paths and records of one session directory (docs/files.md).

    Every file is read whenever it is asked for, and parsed when it has another digest than before.
    """

    def __init__(self, path: Path) -> None:
        # Absolute, because servers, sampler and injectors run in folders of their own.
        self.path = path.absolute()
        self.trials_path = self.path / "trials"
        self._journal = Journal(self.path / "journal.jsonl")
        self._parsed: dict[Path, tuple[str, BaseModel]] = {}
        """Records by the path of their file, each with its digest."""

    def trial_path(self, block: int, arm: str, attempt: int) -> Path:
        """Directory of one trial: `<block>-<arm>`, repeats with `-r<attempt>`."""
        return self.trials_path / (f"{block:02d}-{arm}" + (f"-r{attempt}" if attempt else ""))

    def session(self) -> Session:
        """Read session.json (see `read_record` for errors; Altered: not what the session began with)."""
        path = self.path / "session.json"
        entries = self.journal()
        return self._record(path, Session, entries[0].digest if entries else None)

    def trials(self) -> list[Trial]:
        """Every finished trial, valid or void, in order of time: those that the journal tells of.

        A trial that ended just before a crash, so that the journal does not tell of its end, has not ended.

        Raises:
            Altered: one is not as it was recorded, or is gone, or there is one that was never recorded.
        """
        there = {*self.trials_path.glob("*/trial.json")}
        ended, running = self._bound()
        aside = {path for path in there if ".interrupted-" in path.parent.name}
        if strangers := sorted(there - aside - ended.keys() - running):
            raise _alteration(strangers[0], "is of no trial that this session ran")
        if lost := [path for path in ended if not path.exists()]:
            raise _alteration(lost[0], "is gone, which the session recorded")
        trials = [self._record(path, Trial, bound) for path, bound in ended.items()]
        return sorted(trials, key=lambda trial: trial.order)

    def doubts(self, trials: Sequence[Trial]) -> list[str]:
        """Hold the files that trials were made from against their records; sentences on what cannot be checked.

        Raises:
            Altered: such a file was changed, or added.
        """
        missing = []
        for trial in trials:
            folder = self.trial_path(trial.block, trial.arm, trial.attempt)
            changed, gone = find_altered(folder, trial.files)
            if changed:
                raise _alteration(folder / changed[0], "is not as it was when the trial ended")
            missing += [f"{folder.name}/{name}" for name in gone]
        sentences = []
        if missing:
            sentences.append(
                f"{len(missing)} files that figures of trials were made from are gone ({missing[0]}"
                f"{' and others' if len(missing) > 1 else ''}): those figures cannot be checked any more."
            )
        if torn := self._journal.lines().count(None):
            sentences.append(f"A crash cut off {count(torn, 'line')} of the journal, which tell nothing.")
        return sentences

    def profiles(self) -> dict[str, list[str]]:
        """Files in `profiles/ARM/PROFILERS/`, as paths from `profiles/ARM/`, by arm; without what is for programs."""
        folders = sorted(path for path in (self.path / "profiles").glob("[!.]*") if path.is_dir())
        return {
            folder.name: sorted(str(path.relative_to(folder)) for path in folder.glob("[!.]*/*.*"))
            for folder in folders
        }

    def analysis(self) -> Analysis:
        """Read analysis.json (see `read_record`; Altered: not what these trials give)."""
        path = self.path / "analysis.json"
        analysis = self._record(path, Analysis)
        if analysis.seal != self._seal(analysis):
            raise Altered(
                f"{path} was not made from session.json and trials/ as they are, or was edited: make it again with"
                f" `./steelyard analyze {self.path}`"
            )
        return analysis

    def keep(self, analysis: Analysis) -> Analysis:
        """Write analysis.json, sealed with what it was made from."""
        # As it will be read: numbers that JSON writes otherwise must not break the seal.
        kept = Analysis.model_validate_json(analysis.model_dump_json())
        kept = kept.model_copy(update={"seal": self._seal(kept)})
        path = self.path / "analysis.json"
        self._parsed[path] = write_record(path, kept), kept
        return kept

    def journal(self) -> list[JournalEntry]:
        """Entries of the journal; a line that a crash cut off is passed over.

        Raises:
            Altered: a line was changed, moved or removed.
        """
        return [entry for entry in self._journal.lines() if entry is not None]

    def has_ended(self) -> bool:
        """Whether its last trial is over, and nobody has gone on since."""
        entries = self.journal()
        return bool(entries) and entries[-1].event == "session-end"

    def has_journal(self) -> bool:
        """Whether the session was begun."""
        return bool(self.journal())

    def log(self, now: float, event: str, **more: object) -> None:
        """Append what happens at this time, in epoch seconds, to the journal (raises NoSpace).

        The start of a session binds session.json.
        """
        if event == "session-start":
            more["digest"] = digest(read_bytes(self.path / "session.json"))
        self._journal.append({"time": now, "event": event, **more})

    def _record(self, path: Path, record_type: type[R], bound: str | None = None) -> R:
        """A record of this session (errors as `read_record`; Altered: it has another digest than `bound`)."""
        data = _read_file(path)
        mark, parsed = digest(data), self._parsed.get(path)
        if bound not in (None, mark):
            raise _alteration(path, "is not as it was recorded")
        if parsed is not None and parsed[0] == mark and isinstance(parsed[1], record_type):
            return parsed[1]
        record = _parse_record(path, data, record_type)
        self._parsed[path] = mark, record
        return record

    def _bound(self) -> tuple[dict[Path, str], set[Path]]:
        """The trial.json of each trial that ended, with its digest; and those that have begun and not ended."""
        ended: dict[Path, str] = {}
        running: set[Path] = set()
        for entry in self.journal():
            if entry.event not in ("trial-start", "trial-end"):
                continue
            path = self.trial_path(entry.block or 0, str(entry.arm), entry.attempt or 0) / "trial.json"
            if entry.event == "trial-start":
                # What is run once more, for its partner in a duet, has not ended.
                ended.pop(path, None)
                running.add(path)
            else:
                running.discard(path)
                ended[path] = entry.digest or ""
        return ended, running

    def _seal(self, analysis: Analysis) -> str:
        content = analysis.model_copy(update={"seal": ""}).model_dump_json()
        bound = [entry.digest for entry in self.journal() if entry.digest is not None]
        return digest("\n".join([content, *bound]).encode())
