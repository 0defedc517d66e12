# SPDX-License-Identifier: Apache-2.0
"""Finds JDKs and asks them what they are."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.jvm.identify import parse_identity
from steelyard.results.spec import JvmIdentity

MINIMUM = 17
ANSWER_LIMIT = 30.0
"""Seconds within which a JVM has to say what it is."""
INSTALL = "`sudo apt install openjdk-17-jdk-headless` or `sudo dnf install java-17-openjdk-devel`"
USUAL_FOLDERS = (Path("/usr/lib/jvm"), Path("/usr/java"), Path("/opt/java"), Path("/opt"))


@dataclass(frozen=True)
class Jdk:
    """A JVM that was asked, and where it lies."""

    java: Path
    """The launcher."""
    identity: JvmIdentity

    @property
    def home(self) -> Path:
        """The JDK's home by its own account."""
        return Path(self.identity.home)

    @property
    def javac(self) -> Path | None:
        """The compiler; None in a runtime without one."""
        path = self.home / "bin" / "javac"
        return path if os.access(path, os.X_OK) else None


def identify(java: Path, timeout: float = ANSWER_LIMIT) -> Jdk:
    """Ask a `java` launcher what it is.

    Raises:
        MissingRequirement: it is not there, dies, does not answer in time, or is no JVM that is known.
    """
    try:
        result = subprocess.run(
            [str(java), "-XshowSettings:properties", "-version"],
            capture_output=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise _unfit(f"{java} did not say its version within {timeout:g} s") from error
    except OSError as error:
        raise _unfit(f"{java} cannot be started ({error.strerror})") from error
    # Errors first: some JVMs print them on standard output.
    printed = (result.stderr + b"\n" + result.stdout).decode(errors="replace")
    if result.returncode != 0:
        lines = (line.strip() for line in printed.splitlines() if line.strip())
        raise _unfit(f'{java} dies at start ("{next(lines, f"exit status {result.returncode}")}")')
    try:
        return Jdk(java, parse_identity(printed))
    except ValueError as error:
        raise _unfit(f"{java} is not a JDK that Steelyard knows ({error})") from error


def _unfit(problem: str) -> MissingRequirement:
    return MissingRequirement(f"{problem}: choose another JDK with --jdk, or install one with {INSTALL}")


def find_jdk(chosen: Path | None = None, *, environment: Mapping[str, str] = os.environ) -> Jdk:
    """The JDK for the servers.

    Args:
        chosen: `--jdk`: a JDK's home or its `java`; else JAVA_HOME counts, else `java` on the PATH.
        environment: where JAVA_HOME and PATH are looked up.

    Raises:
        MissingRequirement: there is none, it does not start, or it is too old.
    """
    java, origin = _launcher(chosen, environment)
    jdk = identify(java)
    if jdk.identity.feature < MINIMUM:
        raise _unfit(
            f"{origin} is Java {jdk.identity.feature} ({java}) and Steelyard needs {MINIMUM} or newer"
        )
    return jdk


def find_hotspot(jdk: Jdk, *, environment: Mapping[str, str] = os.environ) -> Jdk:
    """A HotSpot JVM for the injectors, so that they are the same whatever JVM the servers use.

    Args:
        jdk: the servers' JDK, taken when it is HotSpot.
        environment: where JAVA_HOME and PATH are looked up, after which the usual folders are searched.

    Raises:
        MissingRequirement: there is none.
    """
    if jdk.identity.kind == "hotspot":
        return jdk
    for found in _usable(environment):
        if found.identity.kind == "hotspot":
            return found
    raise MissingRequirement(
        f"the servers' JVM is {jdk.identity.vm_name}, and the injectors need a HotSpot JVM {MINIMUM} or newer, which"
        f" was not found: install one with {INSTALL}"
    )


def named_jdks(environment: Mapping[str, str] = os.environ) -> dict[str, Jdk]:
    """JDKs of this host by a name that a factor can use, for example `hotspot-17`; `doctor` lists them."""
    found: dict[str, Jdk] = {}
    for jdk in _usable(environment):
        found.setdefault(f"{jdk.identity.kind}-{jdk.identity.feature}", jdk)
    return found


def jdk_of(text: str) -> Jdk:
    """The JDK of a level of the factor `jdk`: a path, or a name of `named_jdks`.

    Raises:
        MissingRequirement: there is none of that name or path.
    """
    if "/" in text:
        return find_jdk(Path(text))
    known = named_jdks()
    if text not in known:
        raise MissingRequirement(
            f"this host has no JDK named {text}: it has {', '.join(sorted(known)) or 'none'}; install one with"
            f" {INSTALL}, give its path, or set STEELYARD_JDKS to the folder that holds it"
        )
    return known[text]


def _launcher(chosen: Path | None, environment: Mapping[str, str]) -> tuple[Path, str]:
    """The `java` to ask, and how to speak of where it came from."""
    if chosen is not None:
        return _below(chosen.expanduser(), "--jdk"), "--jdk"
    if home := environment.get("JAVA_HOME"):
        return _below(Path(home), "JAVA_HOME"), "JAVA_HOME"
    if found := shutil.which("java", path=environment.get("PATH", os.defpath)):
        return Path(found), "the java on the PATH"
    raise MissingRequirement(
        f"no JDK was found (no --jdk, no JAVA_HOME, no java on the PATH): install one with {INSTALL}"
    )


def _below(path: Path, origin: str) -> Path:
    """The launcher of a home, or the launcher itself."""
    java = path / "bin" / "java" if path.is_dir() else path
    if not java.is_file() or not os.access(java, os.X_OK):
        raise MissingRequirement(
            f"{origin} names {path}, which is neither a JDK's home nor its java: name another, or install one with"
            f" {INSTALL}"
        )
    return java


def _usable(environment: Mapping[str, str]) -> Iterator[Jdk]:
    """Every JVM of this host that will do, each once: JAVA_HOME's, the PATH's, then those of the usual folders."""
    home = environment.get("JAVA_HOME")
    found = [Path(home) / "bin" / "java"] if home else []
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        found.append(Path(on_path))
    for folder in map(Path, filter(None, environment.get("STEELYARD_JDKS", "").split(":"))):
        found += [folder / "bin" / "java", *sorted(folder.glob("*/bin/java"))]
    for folder in USUAL_FOLDERS:
        found += sorted(folder.glob("*/bin/java"), reverse=True)
    seen: set[Path] = set()
    for java in found:
        if (real := java.resolve()) not in seen:
            seen.add(real)
            try:
                jdk = identify(java)
            except MissingRequirement:
                continue
            if jdk.identity.feature >= MINIMUM:
                yield jdk
