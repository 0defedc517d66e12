# SPDX-License-Identifier: Apache-2.0
"""Reading and writing of a session directory. Writes are atomic; versions newer than ours are refused."""

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import BadInput, NewerFormat, NoSpace
from steelyard.results.analysis import Analysis
from steelyard.results.schema import FORMAT_VERSION, JournalEntry, Session, Trial
from steelyard.yamlfile import first_error

R = TypeVar("R", bound=BaseModel)

_NO_SPACE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG),
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
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise no_space(path, error) from error


def no_space(path: Path, error: OSError) -> Exception:
    """Turn a failed write into a sentence for the user, or hand the error back when it is another kind."""
    if error.errno not in _NO_SPACE:
        return error
    return NoSpace(
        f"cannot write {path} ({os.strerror(error.errno or 0)}): free some space or choose another --out;"
        " what was measured so far is kept"
    )


def write_record(path: Path, record: BaseModel) -> None:
    """Write a record as indented JSON, atomically."""
    write_atomic(path, record.model_dump_json(indent=1) + "\n")


def read_record(path: Path, kind: type[R]) -> R:
    """Read a record.

    Raises:
        NewerFormat: written by a newer version.
        BadInput: missing or damaged.
    """
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            f"{path} is not there or cannot be read: is {path.parent} a session directory?"
        ) from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is damaged ({error}): restore it from a copy") from error
    version = raw.get("format_version") if isinstance(raw, dict) else None
    if version == 1:
        raise BadInput(
            f"{path} was written by Steelyard 0.1 in format 1, which knows no specs: read it with that version"
        )
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BadInput(f"{path} is damaged (it does not tell its format version): restore it from a copy")
    if version > FORMAT_VERSION:
        raise NewerFormat(
            f"{path} has format version {version}, this Steelyard reads up to {FORMAT_VERSION}:"
            " use the newer Steelyard that wrote it"
        )
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        where = ": ".join(first_error(error))
        raise BadInput(f"{path} does not fit its format ({where}): restore it from a copy") from error


class SessionDirectory:
    """Paths and records of one session directory (docs/files.md)."""

    def __init__(self, path: Path) -> None:
        # Absolute, because servers, sampler and injectors run in folders of their own.
        self.path = path.absolute()
        self.trials_path = self.path / "trials"
        self._journal = self.path / "journal.jsonl"

    def trial_path(self, block: int, arm: str, attempt: int) -> Path:
        """Directory of one trial: `<block>-<arm>`, repeats with `-r<attempt>`."""
        return self.trials_path / (f"{block:02d}-{arm}" + (f"-r{attempt}" if attempt else ""))

    def session(self) -> Session:
        """Read session.json (see `read_record` for errors)."""
        return read_record(self.path / "session.json", Session)

    def trials(self) -> list[Trial]:
        """Every finished trial, valid or void, in order of time."""
        found = [read_record(path, Trial) for path in sorted(self.trials_path.glob("*/trial.json"))]
        return sorted(found, key=lambda trial: trial.order)

    def analysis(self) -> Analysis:
        """Read analysis.json."""
        return read_record(self.path / "analysis.json", Analysis)

    def profiles(self) -> dict[str, list[str]]:
        """Names of the files in `profiles/ARM/`, by arm."""
        folders = sorted(one for one in (self.path / "profiles").glob("[!.]*") if one.is_dir())
        return {folder.name: sorted(one.name for one in folder.iterdir()) for folder in folders}

    def journal(self) -> Iterator[JournalEntry]:
        """Entries of the journal; a last line cut off by a crash is passed over."""
        lines = self._journal.read_text(encoding="utf-8").splitlines() if self.has_journal() else []
        for line in lines:
            with suppress(ValidationError):
                yield JournalEntry.model_validate_json(line)

    def has_journal(self) -> bool:
        """Whether the session was begun."""
        return self._journal.exists()

    def log(self, now: float, event: str, **more: object) -> None:
        """Append what happens at this time, in epoch seconds, to the journal and force it to disk (raises NoSpace)."""
        entry = JournalEntry.model_validate({"time": now, "event": event, **more})
        try:
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(entry.model_dump_json(exclude_none=True) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise no_space(self._journal, error) from error
