# SPDX-License-Identifier: Apache-2.0
"""Builds the Java parts with Maven when they are missing or changed, and never otherwise.

A build is kept under the fingerprint of its sources, so that an unchanged checkout finds it and a session
records exactly what ran.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import BadInput, BuildFailed
from steelyard.host.java import Jdk
from steelyard.host.tools import Maven
from steelyard.paths import CACHE, ROOT
from steelyard.results.store import no_space

_SOURCES = ("pom.xml", ".mvn", "apps", "loadgen")
_NOT_SOURCES = ("/target/", "/src/test/", "/src/it/", "/loadgen/bench/", "/workload.yaml")
"""Parts of paths that the build of the servers and the injector does not read, or makes itself."""


@dataclass(frozen=True)
class Build:
    """A finished build."""

    fingerprint: str
    folder: Path

    @property
    def loadgen(self) -> Path:
        """Folder with `lib/` and `conf/` of the injector."""
        return self.folder / "loadgen"


BUILDS = CACHE / "build"
"""Builds by fingerprint; in each a folder per package, a server package with its `wlp/`."""


def fingerprint(root: Path = ROOT) -> str:
    """Hash of everything that the Java build reads: 16 hexadecimal digits of SHA-256 over paths and contents."""
    digest = hashlib.sha256()
    for path in _source_files(root):
        digest.update(f"{path.relative_to(root)}\0{path.stat().st_mode & 0o111}\0".encode())
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def find_build(root: Path = ROOT, cache: Path = CACHE) -> Build | None:
    """The build of the sources as they are now, if there is one."""
    mark = fingerprint(root)
    found = Build(mark, cache / "build" / mark)
    return found if (found.folder / "complete").exists() else None


def make_build(
    jdk: Jdk,
    maven: Maven,
    packages: Mapping[str, Path],
    on_line: Callable[[str], None],
    root: Path = ROOT,
    cache: Path = CACHE,
) -> Build:
    """Run Maven and unpack what it made; the result appears whole or not at all.

    Args:
        jdk: a JDK (with javac) to build with.
        maven: the Maven to run.
        packages: what to keep: name -> archive or folder that Maven makes, below the checkout.
        on_line: called with each line that Maven prints.
        root: the checkout.
        cache: where builds are kept.

    Raises:
        BuildFailed: Maven failed; the sentence quotes its first error and names its log.
        NoSpace: no room for the build.
    """
    log = cache / "build.log"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "build.lock").open("w") as lock:
            fcntl.flock(
                lock, fcntl.LOCK_EX
            )  # a second command waits for the first one's build, then finds it
            return find_build(root, cache) or _build(jdk, maven, packages, on_line, root, cache, log)
    except OSError as error:
        raise no_space(cache, error) from error


def _build(
    jdk: Jdk,
    maven: Maven,
    packages: Mapping[str, Path],
    on_line: Callable[[str], None],
    root: Path,
    cache: Path,
    log: Path,
) -> Build:
    mark = fingerprint(root)
    command = [
        str(maven.path),
        *("--batch-mode", "--define", "skipTests", "--define", f"steelyard.fingerprint={mark}", "package"),
    ]
    _run_maven(command, {**os.environ, "JAVA_HOME": jdk.identity.home}, on_line, root, log)
    build = Build(mark, cache / "build" / mark)
    build.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build.folder.parent, prefix=".new-") as temporary:
        new = Path(temporary) / "build"
        shutil.copytree(root / "loadgen" / "target" / "loadgen", new / "loadgen")
        for name, path in packages.items():
            if (root / path).is_dir():
                shutil.copytree(root / path, new / name)
            else:
                _unpack(root / path, new / name)
        (new / "complete").touch()
        shutil.rmtree(build.folder, ignore_errors=True)
        new.rename(build.folder)
    return build


def _run_maven(
    command: list[str], environment: dict[str, str], on_line: Callable[[str], None], root: Path, log: Path
) -> None:
    first_error = None
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                file.write(line)
                on_line(line.rstrip())
                if first_error is None and line.startswith("[ERROR]"):
                    first_error = line.removeprefix("[ERROR]").strip()
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise BuildFailed(
            f"Maven could not build the Java parts ({first_error or f'exit code {process.returncode}'}): see {log}"
        )


def _unpack(archive: Path, folder: Path) -> None:
    """Unzip with permissions, which `zipfile` alone would drop."""
    with zipfile.ZipFile(archive) as file:
        for entry in file.infolist():
            path = Path(file.extract(entry, folder))
            mode = entry.external_attr >> 16
            if mode and not entry.is_dir():
                path.chmod(mode & 0o777)
    (folder / "wlp" / "bin" / "server").chmod(0o755)


def _source_files(root: Path) -> Iterator[Path]:
    for name in _SOURCES:
        top = root / name
        candidates = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in candidates:
            relative = f"/{path.relative_to(root)}"
            if path.is_file() and path.suffix != ".md" and not any(part in relative for part in _NOT_SOURCES):
                yield path


def checkout(commit: str, root: Path = ROOT, cache: Path = CACHE) -> Path:
    """A work tree of another commit of this checkout, kept beside the builds.

    Raises:
        BadInput: there is no such commit, or this is no git checkout.
    """
    try:
        full = _git(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        folder = cache / "checkouts" / full[:16]
        if not (folder / "pom.xml").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _git(root, "worktree", "prune")
            _git(root, "worktree", "add", "--detach", "--force", str(folder), full)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BadInput(
            f"build: {commit!r} is no commit of this checkout: give one that `git log` shows"
        ) from error
    return folder


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
