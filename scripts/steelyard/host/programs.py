# SPDX-License-Identifier: Apache-2.0
"""Whether what a session runs is there, whole, and still what it was: packages of builds by the list of their files,
JDKs and other programs by size and time of change."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from steelyard.results.spec import Artifact

_OF_A_JDK = ("bin/java", "release", "lib/modules")


def mark_of(package: Path) -> Path:
    """The file beside a package of a build that lists what belongs to it: size and path, a line each. Written last."""
    return package.with_name(f"{package.name}.complete")


def write_mark(package: Path) -> None:
    """List the files of a package that has just been made, and force all of them to disk."""
    lines = [
        f"{path.stat().st_size} {path.relative_to(package)}\n"
        for path in package.rglob("*")
        if path.is_file()
    ]
    os.sync()  # the mark must not outlive a crash of the host that its files do not
    mark_of(package).write_text("".join(sorted(lines)), encoding="utf-8")


def is_whole(package: Path) -> bool:
    """Whether a package has a mark, and every file that it lists, as long as it was."""
    try:
        lines = [line.partition(" ") for line in mark_of(package).read_text(encoding="utf-8").splitlines()]
        return bool(lines) and all((package / name).stat().st_size == int(size) for size, _, name in lines)
    except (OSError, ValueError):
        return False


def of_artifact(artifact: Artifact, package: Path | None) -> Iterator[Path]:
    """Files that tell what a component runs from another in its place."""
    if artifact.jvm is not None:
        yield from (Path(artifact.jvm.home) / name for name in _OF_A_JDK)
    if package is not None and artifact.build is not None and artifact.path is None:
        yield mark_of(package)
    for word in artifact.words:
        if package is not None and word.startswith("${package}"):
            yield Path(word.replace("${package}", str(package)))
    if artifact.form == "command" and not artifact.words[0].startswith("${"):
        yield Path(shutil.which(artifact.words[0]) or artifact.words[0])


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells a file from another in its place: inode, size, time of change; None where there is none."""
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns


def others_of(server: str, folder: str, names: list[str]) -> list[str]:
    """Of a folder in Liberty's `usr`, what belongs to other servers than one."""
    return [name for name in names if Path(folder).name == "servers" and name != server]


def server_digest(usr: Path, server: str) -> str:
    """What tells a Liberty server with its applications from another in its place: paths, sizes and times of change in
    `usr`, without other servers and what the server writes itself."""
    digest = hashlib.sha256()
    for folder, names, files in os.walk(usr, followlinks=True):
        left_out = {
            *others_of(server, folder, names),
            *({"logs", "workarea"} if Path(folder).name == server else ()),
        }
        names[:] = sorted(set(names) - left_out)
        for path in (Path(folder, name) for name in sorted(files)):
            seen = stamp(path)
            digest.update(f"{path.relative_to(usr)} {seen and seen[1:]}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16]
