# SPDX-License-Identifier: Apache-2.0
"""Builds the Java parts with Maven when they are missing or changed, and never otherwise; of them what is asked for.

A build is kept under the fingerprint of all sources, so that an unchanged checkout finds it and a session records
exactly what ran. It has a package for each thing that runs, made when the first session needs it.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from steelyard.errors import BadInput, BuildFailed
from steelyard.host.java import Jdk
from steelyard.host.programs import is_whole, mark_of, write_mark
from steelyard.paths import CACHE, IS_RELEASE, ROOT
from steelyard.processes import child_environment, kill_with_parent
from steelyard.processes.client import first_error, keep_output
from steelyard.processes.environment import ask
from steelyard.published import fetch_packages, read_release
from steelyard.results.store import no_space, report_no_space
from steelyard.spec.injectors import PACKAGE as INJECTOR

_SOURCES = ("pom.xml", ".mvn", "apps", "loadgen")
_NOT_SOURCES = ("/target/", "/src/test/", "/src/it/", "/apps/testkit/", "/workload.yaml")
"""Parts of paths that the build of the servers and the injector does not read, or makes itself."""


BUILDS = CACHE / "build"
"""Builds by fingerprint; each has a folder per package, a server package with its `wlp/`, and `loadgen/`."""
INJECTOR_PACKAGE = {INJECTOR: Path("loadgen/target/loadgen")}
"""The package of the injectors, which no workload names: name -> path below the checkout that Maven makes."""
_LOG_INTERVAL = 0.2
"""Seconds between two looks into the log of a build that another process makes."""
_TARGET = "target"
"""Folder of a module in which Maven makes things."""


def fingerprint(root: Path = ROOT) -> str:
    """Hash of everything that the Java build reads: 16 hexadecimal digits of SHA-256 over paths and contents; of an
    installed release that of the sources that it was built from."""
    if IS_RELEASE and root == ROOT:
        return read_release().fingerprint
    digest = hashlib.sha256()
    for path in _source_files(root):
        digest.update(f"{path.relative_to(root)}\0{path.stat().st_mode & 0o111}\0".encode())
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _source_files(root: Path) -> Iterator[Path]:
    def is_source(path: Path, end: str = "") -> bool:
        relative = f"/{path.relative_to(root)}{end}"
        return not any(part in relative for part in _NOT_SOURCES)

    for top in (root / name for name in _SOURCES):
        paths = [top]
        # What Maven has made, thousands of files, is not even listed.
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if is_source(Path(folder, name), "/")]
            paths += [Path(folder, name) for name in names if is_source(Path(folder, name))]
        yield from (path for path in sorted(paths) if path.is_file() and path.suffix != ".md")


def find_build(packages: Collection[str], root: Path = ROOT, builds: Path = BUILDS) -> Path | None:
    """The build of the sources as they are now, if these packages of it are there and whole."""
    folder = builds / fingerprint(root)
    return folder if all(is_whole(folder / name) for name in packages) else None


def fetch_build(packages: Collection[str], on_package: Callable[[str, int], None]) -> Path:
    """The packages of an installed release, those that are missing fetched.

    Args:
        packages: their names.
        on_package: called before each that is fetched, with its name and size in bytes.

    Raises:
        MissingRequirement: one cannot be fetched, or is not what was released.
        NoSpace: no room for them.
    """
    release = read_release()
    folder = BUILDS / release.fingerprint
    with report_no_space(CACHE):
        BUILDS.mkdir(parents=True, exist_ok=True)
        with (CACHE / "build.lock").open("a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            fetch_packages(packages, folder, release, on_package)
    return folder


def make_build(
    jdk: Jdk, maven: Path, packages: Mapping[str, Path], on_line: Callable[[str], None], root: Path = ROOT
) -> Path:
    """Run Maven for the packages that are missing and keep what it made; each appears whole or not at all.

    Args:
        packages: what is needed: name -> archive or folder that Maven makes, below the checkout.
        on_line: called with each line that Maven prints, also while another process has it run.

    Raises:
        BuildFailed: Maven failed; the sentence quotes its first error and names its log.
        NoSpace: no room for the build.
    """
    with report_no_space(CACHE):
        BUILDS.mkdir(parents=True, exist_ok=True)
        with (CACHE / "build.lock").open("a+", encoding="utf-8") as lock:
            # A second command waits for the first one, then finds its build. Maven holds the lock as well: what a
            # killed command has left of it must be gone before the next one runs in the same folders.
            _lock_build(lock, on_line)
            folder = BUILDS / fingerprint(root)
            missing = {name: path for name, path in packages.items() if not is_whole(folder / name)}
            if missing:
                _begin(lock, root)
                modules = sorted({_module(path) for path in missing.values()})
                _run_maven(maven, jdk, folder.name, modules, on_line, root, lock.fileno())
                _keep({name: root / path for name, path in missing.items()}, folder)
                lock.truncate(0)
    return folder


def _lock_build(lock: TextIO, on_line: Callable[[str], None]) -> None:
    """Take the lock; while another process builds, hand on what Maven prints there."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    is_free = threading.Event()
    follower = threading.Thread(target=_follow_log, args=(lock.fileno(), on_line, is_free))
    follower.start()
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        is_free.set()
        follower.join()


def _follow_log(lock: int, on_line: Callable[[str], None], is_free: threading.Event) -> None:
    read, partial = 0, ""
    while not is_free.wait(_LOG_INTERVAL):
        with contextlib.suppress(FileNotFoundError), _log().open(encoding="utf-8", errors="replace") as log:
            # A log that is older than the note in the lock (`_begin`) is of an earlier build.
            if os.fstat(log.fileno()).st_mtime_ns >= os.fstat(lock).st_mtime_ns:
                log.seek(read)
                *lines, partial = (partial + log.read()).split("\n")
                read = log.tell()
                for line in lines:
                    on_line(line.rstrip())


def _log() -> Path:
    return CACHE / "build.log"


def _module(path: Path) -> str:
    """The module of which Maven makes something."""
    return str(Path(*path.parts[: path.parts.index(_TARGET)]))


def _begin(lock: TextIO, root: Path) -> None:
    """Note in the lock which checkout is built; where a build of it did not end well, nothing of that is taken over."""
    lock.seek(0)
    if lock.read() == str(root):
        for module in (path.parent for top in _SOURCES for path in (root / top).rglob("pom.xml")):
            shutil.rmtree(module / _TARGET, ignore_errors=True)
    lock.truncate(0)
    lock.write(str(root))
    lock.flush()


def _run_maven(
    maven: Path,
    jdk: Jdk,
    mark: str,
    modules: Sequence[str],
    on_line: Callable[[str], None],
    root: Path,
    lock: int,
) -> None:
    log = _log()
    with (
        log.open("w", encoding="utf-8", buffering=1) as file,  # line by line, for those who wait
        subprocess.Popen(
            kill_with_parent(
                [
                    *(str(maven), "--batch-mode", "--threads", "2"),
                    *("--projects", ",".join(modules), "--also-make"),
                    *("-Dmaven.test.skip=true", f"-Dsteelyard.fingerprint={mark}", "package"),
                ]
            ),
            cwd=root,
            env=child_environment(JAVA_HOME=jdk.identity.home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=[lock],
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                file.write(line)
                on_line(line.rstrip())
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if process.returncode != 0:
        said = first_error(log.read_text(encoding="utf-8", errors="replace"))
        why = said.removeprefix("[ERROR]").strip() or f"exit code {process.returncode}"
        raise BuildFailed(f"Maven could not build the Java parts ({why}): see {log}")


def _keep(made: Mapping[str, Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as temporary:
        for name, path in made.items():
            package, new = folder / name, Path(temporary) / name
            (shutil.copytree if path.is_dir() else _unpack)(path, new)
            mark_of(package).unlink(missing_ok=True)
            shutil.rmtree(package, ignore_errors=True)
            new.rename(package)
            write_mark(package)


def _unpack(archive: Path, folder: Path) -> None:
    """Unzip with permissions, which `zipfile` alone would drop."""
    with zipfile.ZipFile(archive) as file:
        for entry in file.infolist():
            path = Path(file.extract(entry, folder))
            if (mode := entry.external_attr >> 16) and not entry.is_dir():
                path.chmod(mode & 0o777)
    (folder / "wlp" / "bin" / "server").chmod(0o755)


_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class GitFailed(Exception):
    """A git command failed."""

    def __init__(self, arguments: Sequence[str], said: str, printed: str) -> None:
        super().__init__(f"git {arguments[0]}: {said}" if said else f"git {arguments[0]} failed")
        self.said = said
        """Its first error line; empty: it said nothing, as where a name stands for nothing (`--quiet`)."""
        self.printed = printed


def checkout(commit: str) -> Path:
    """A work tree of another commit of this checkout, kept beside the builds (raises BadInput)."""
    try:
        full = git(ROOT, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        folder = CACHE / "checkouts" / full[:16]
        if not (folder / "pom.xml").exists():
            shutil.rmtree(folder, ignore_errors=True)
            git(ROOT, "worktree", "prune")
            git(ROOT, "worktree", "add", "--detach", "--force", str(folder), full)
    except GitFailed as error:
        raise BadInput(f"build: {why_no_commit(commit, error)}") from error
    except OSError as error:
        raise no_space(CACHE, error) from error
    return folder


def why_no_commit(commit: str, error: GitFailed, root: Path = ROOT) -> str:
    """Why git could not find a commit or make a work tree of it, in one sentence: in git's own words where it has
    some."""
    if error.said:
        kept = keep_output("git", error.printed)
        return f"{commit!r}: git says: {error.said}" + (f" (all that it printed: {kept})" if kept else "")
    try:
        is_shallow = git(root, "rev-parse", "--is-shallow-repository") == "true"
    except GitFailed:
        is_shallow = False
    if is_shallow:
        return (
            f"{commit!r} is not in this checkout, a shallow clone that holds its newest commits alone:"
            " `git fetch --unshallow` brings the others"
        )
    return f"{commit!r} is no commit of this checkout: give one that `git log` shows"


def git(root: Path, *arguments: str) -> str:
    """What git prints of a checkout (raises GitFailed)."""
    if IS_RELEASE and root == ROOT:  # what lies around it may be a checkout of something else
        raise GitFailed(arguments, "an installed release has no commits, a clone has", "")
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    # A hook of git starts its programs with the repository that it stands in.
    environment = {name: text for name, text in os.environ.items() if name not in _OF_A_HOOK}
    try:
        done = ask(command, environment=environment)
    except OSError as error:
        raise GitFailed(arguments, f"git cannot be started ({error.strerror})", "") from error
    if done.returncode != 0:
        raise GitFailed(arguments, first_error(done.stderr).removeprefix("fatal: "), done.stderr)
    return done.stdout.strip()
