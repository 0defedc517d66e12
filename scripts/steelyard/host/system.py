# SPDX-License-Identifier: Apache-2.0
"""What the kernel tells in small files (a missing or forbidden one is no error), and what the doctor says of it."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import Literal, NamedTuple

from steelyard.errors import MissingRequirement
from steelyard.processes.environment import ask

Level = Literal["ok", "info", "warn"]


class Seen(NamedTuple):
    """A topic's state on this host."""

    state: str
    level: Level = "ok"
    """`ok`; `info`: belongs in the report; `warn`: disturbs a measurement."""
    change: str | None = None
    """A command that changes it, or what to do; None: nothing to change."""


PROGRAM = Path("/usr/local/sbin/steelyard-host-set")
"""Where a lab installs `scripts/host_set.py`, which root runs for who may not write such files."""
RECORDS = "run/steelyard"
"""Folder of what was there before host states were changed."""
UNTOLD = Seen("cannot be told here", "info")
"""This host, or this user's rights, do not allow to tell."""


class System:
    """Files of a host of some architecture, below `root` (another than `/`, and another architecture than this host's,
    for recorded trees)."""

    def __init__(
        self,
        root: Path = Path("/"),
        machine: str = os.uname().machine,
        program: tuple[str, ...] | None = None,
    ) -> None:
        """`program`: command that writes what this user may not; None: of this host itself, by sudo, if it is there."""
        self.root = root
        self.machine = machine
        has_program = self.is_here and PROGRAM.exists()
        self._program = program or (("sudo", "-n", str(PROGRAM)) if has_program else ())

    @property
    def is_here(self) -> bool:
        """Whether it is this host, and no tree of files."""
        return self.root == Path("/")

    def path(self, name: str) -> Path:
        """A file, by its path without the leading slash."""
        return self.root / name

    def text(self, name: str) -> str | None:
        """Content without white space around it; None when it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip("\0 \n\t")
        except OSError:
            return None

    def number(self, name: str) -> int | None:
        """A whole number; None when it cannot be read or is none."""
        text = self.text(name) or ""
        return int(text) if re.fullmatch(r"-?[0-9]+", text) else None

    def choice(self, name: str) -> str | None:
        """The chosen word of a file like `always [madvise] never`."""
        match = re.search(r"\[(\S+)\]", self.text(name) or "")
        return match[1] if match else None

    def may_write(self, name: str) -> bool:
        """Whether this user may write a file, or the program that is installed for it."""
        return os.access(self.path(name), os.W_OK) or self._root_does("--check", f"/{name}") == ""

    def write(self, name: str, text: str) -> None:
        """Write a file that is there, in one piece, as the kernel wants it; OSError when it refuses."""
        try:
            descriptor = os.open(self.path(name), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        except PermissionError:
            if (refused := self._root_does(f"/{name}", text)) is None:
                raise
            if refused:
                raise OSError(errno.EACCES, refused) from None
            return
        try:
            os.write(descriptor, f"{text}\n".encode())
        finally:
            os.close(descriptor)

    def require_own_records(self) -> None:
        """See that no other user could have written what root puts back (raises MissingRequirement).

        A lab may give the folder to a user who sets host states without root (`scripts/host_set.py`). What root finds
        there is that user's word, and root would write it to files of the kernel.
        """
        folder = self.path(RECORDS)
        if os.geteuid() != 0 or not folder.exists():
            return
        seen = folder.lstat()
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != 0 or seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise MissingRequirement(
                f"root follows no record of host states in {folder}, which another user may write (user {seen.st_uid},"
                f" mode {stat.S_IMODE(seen.st_mode):o}): run Steelyard as that user, or, when that user's sessions are"
                f" over (`./steelyard host restore` as that user), `sudo rm -r {folder}`"
            )

    def make_run_folder(self) -> None:
        """The folder of records below `/run`; OSError where this user cannot have it."""
        folder = self.path(RECORDS)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return
        except PermissionError:
            if not self._program:
                raise
        self._root_does("--folder")

    def _root_does(self, *words: str) -> str | None:
        """Have the program do it: what it says when it refuses, empty when it did; None where there is none."""
        if not self._program:
            return None
        done = ask([*self._program, *words])
        return "" if done.returncode == 0 else " ".join(done.stderr.split()) or f"exit {done.returncode}"

    def glob(self, folder: str, pattern: str) -> list[Path]:
        """Files below a folder by pattern, in order of name; none when it is not there."""
        return sorted(self.path(folder).glob(pattern))

    def fields(self, name: str, separator: str = ":") -> dict[str, str]:
        """Lines `name: value`; the first of each name counts."""
        fields: dict[str, str] = {}
        for line in (self.text(name) or "").splitlines():
            key, has, value = line.partition(separator)
            if has:
                fields.setdefault(key.strip(), value.strip())
        return fields

    def memory(self, field: str) -> int | None:
        """A size of /proc/meminfo in bytes."""
        value = self.fields("proc/meminfo").get(field, "").split()
        return int(value[0]) * 1024 if re.fullmatch(r"[0-9]+ kB", " ".join(value)) else None
