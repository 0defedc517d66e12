# SPDX-License-Identifier: Apache-2.0
"""Finds the JDKs, Maven and programs that are needed, and asks them what they are."""

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.jvm.class_cache import CACHE_NAME
from steelyard.jvm.identity import QUESTION, JvmIdentity, parse_identity
from steelyard.paths import is_file, is_folder, is_there
from steelyard.processes.environment import ask
from steelyard.yamlfile import nearest

MINIMUM = 17
MINIMUM_MAVEN = (3, 8)
ANSWER_LIMIT = 120.0
"""Seconds within which a JVM has to say what it is; Maven has twice that. JVMs that hang are rare; hosts that stand
still for 20 s and then start a JVM at a tenth of its speed are not."""
INSTALL = "`sudo apt install default-jdk-headless` or `sudo dnf install java-17-openjdk-devel`"
INSTALL_MAVEN = "`sudo apt install maven` or `sudo dnf install maven`"
_PACKAGES = {
    "nginx": (
        "`sudo apt install nginx-light` or `sudo dnf install nginx`, or let containers bring it with --engine compose"
    ),
    "taskset": "`apt-get install util-linux` or dnf",
    "jitserver": "an OpenJ9 that was built with it, and choose that with --jdk",
}
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
        result = ask([str(java), *QUESTION], timeout)
    except subprocess.TimeoutExpired as error:
        raise _unfit(f"{java} did not say its version within {timeout:g} s") from error
    except OSError as error:
        raise _unfit(f"{java} cannot be started ({error.strerror})") from error
    # Errors first: some JVMs print them on standard output.
    printed = f"{result.stderr}\n{result.stdout}"
    if result.returncode != 0:
        lines = (line.strip() for line in printed.splitlines() if line.strip())
        raise _unfit(f'{java} dies at start ("{next(lines, f"exit status {result.returncode}")}")')
    try:
        return Jdk(java, parse_identity(printed))
    except ValueError as error:
        raise _unfit(f"{java} is not a JDK that Steelyard knows ({error})") from error


def vm_flags(home: str, pid: int) -> str:
    """Final values of the options of a running HotSpot JVM that are not as by default, by its JDK's `jcmd`; empty when
    they cannot be had."""
    text = _jcmd(home, pid, "VM.flags")
    # Without its last line end it was cut off, and an option of a shorter value is another.
    return text if text.endswith("\n") else ""


def native_memory(home: str, pid: int) -> str:
    """What a running HotSpot JVM says of its own memory (NMT), by its JDK's `jcmd`; empty when it cannot be had."""
    return _jcmd(home, pid, "VM.native_memory", "summary", "scale=KB")


def _jcmd(home: str, pid: int, *words: str) -> str:
    """What a running HotSpot JVM answers; empty when it does not."""
    try:
        result = ask([str(Path(home) / "bin" / "jcmd"), str(pid), *words], ANSWER_LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout if result.returncode == 0 else ""


def shared_cache_stats(home: str, folder: Path) -> str:
    """What OpenJ9 prints of a shared class cache that lies in a folder; it ends with status 1 though it succeeded."""
    option = f"-Xshareclasses:name={CACHE_NAME},cacheDir={folder},printStats"
    try:
        result = ask([str(Path(home) / "bin" / "java"), option], ANSWER_LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stderr + result.stdout


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
    if chosen is not None and _is_name(chosen):
        return jdk_of(str(chosen), environment)
    java, origin = _launcher(chosen, environment)
    jdk = identify(java)
    if jdk.identity.feature < MINIMUM:
        raise _unfit(
            f"{origin} is Java {jdk.identity.feature} ({java}) and Steelyard needs {MINIMUM} or newer"
        )
    return jdk


def find_hotspot(jdk: Jdk, *, environment: Mapping[str, str] = os.environ) -> Jdk:
    """A HotSpot JVM for the injectors, so that they are the same whatever JVM the servers use.

    The servers' own when it is one, else the first of this host (raises MissingRequirement).
    """
    for candidate in itertools.chain([jdk], _usable(environment)):
        if candidate.identity.kind == "hotspot":
            return candidate
    raise MissingRequirement(
        f"the servers' JVM is {jdk.identity.vm_name}, and the injectors need a HotSpot JVM {MINIMUM} or newer, which"
        f" was not found: install one with {INSTALL}"
    )


def named_jdks(environment: Mapping[str, str] = os.environ) -> dict[str, Jdk]:
    """JDKs of this host by a name that a factor can use, for example `hotspot-17`; `doctor` lists them."""
    jdks: dict[str, Jdk] = {}
    for jdk in _usable(environment):
        jdks.setdefault(f"{jdk.identity.kind}-{jdk.identity.feature}", jdk)
    return jdks


def jdk_of(text: str, environment: Mapping[str, str] = os.environ) -> Jdk:
    """The JDK of a level of the factor `jdk` or of `--jdk`: a path, or a name of `named_jdks` (raises
    MissingRequirement)."""
    if "/" in text:
        return find_jdk(Path(text), environment=environment)
    known = named_jdks(environment)
    if text not in known:
        raise MissingRequirement(
            f"this host has no JDK named {text}{nearest(text, sorted(known))}: it has {_list_names(known)}; give the"
            f" path of one, set STEELYARD_JDKS to the folder that holds it, or {_how_to_install(text)}"
        )
    return known[text]


def _list_names(known: Mapping[str, Jdk]) -> str:
    return ", ".join(sorted(known)) or "none"


def _how_to_install(name: str) -> str:
    """How a JDK of such a name comes onto a host, `kind-feature`."""
    family, _, feature = name.partition("-")
    if family == "openj9" and feature.isdecimal():
        return f"unpack an OpenJ9 {feature} (IBM Semeru Runtime) in a folder below /opt"
    if family == "hotspot" and feature.isdecimal():
        return (
            f"install it with `sudo apt install openjdk-{feature}-jdk-headless` or"
            f" `sudo dnf install java-{feature}-openjdk-devel`"
        )
    return f"install one with {INSTALL}"


def _launcher(chosen: Path | None, environment: Mapping[str, str]) -> tuple[Path, str]:
    """The `java` to ask, and how to speak of where it came from: what was chosen, else the only one of this host."""
    if chosen is not None:
        return _below(chosen.expanduser(), "--jdk"), "--jdk"
    if home := environment.get("JAVA_HOME"):
        return _below(Path(home), "JAVA_HOME"), "JAVA_HOME"
    if launcher := shutil.which("java", path=environment.get("PATH", os.defpath)):
        return Path(launcher), "the java on the PATH"
    known = named_jdks(environment)
    if len(known) == 1:
        (name, only), *_ = known.items()
        return only.java, name
    if known:
        name = min(known)
        raise MissingRequirement(
            f"no JDK was chosen (no --jdk, no JAVA_HOME, no java on the PATH), and this host has {_list_names(known)}:"
            f" choose one, for example with --jdk {name}"
        )
    raise MissingRequirement(
        f"no JDK was found (no --jdk, no JAVA_HOME, no java on the PATH, none below {_places()}): install one with"
        f" {INSTALL}"
    )


def _is_name(chosen: Path) -> bool:
    """Whether it is a name of `named_jdks` and no path."""
    return len(chosen.parts) == 1 and not str(chosen).startswith("~") and not is_there(chosen)


def _places() -> str:
    return ", ".join(str(folder) for folder in USUAL_FOLDERS if folder.parent.name != "opt")


def _below(path: Path, origin: str) -> Path:
    """The launcher of a home, or the launcher itself."""
    java = path / "bin" / "java" if is_folder(path) else path
    if not is_file(java) or not os.access(java, os.X_OK):
        raise MissingRequirement(
            f"{origin} names {path}, which is neither a JDK's home nor its java: name another, or install one with"
            f" {INSTALL}"
        )
    return java


def _usable(environment: Mapping[str, str]) -> Iterator[Jdk]:
    """Every JVM of this host that will do, each once: JAVA_HOME's, the PATH's, then those of the usual folders."""
    home = environment.get("JAVA_HOME")
    launchers = [Path(home) / "bin" / "java"] if home else []
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        launchers.append(Path(on_path))
    for folder in map(Path, filter(None, environment.get("STEELYARD_JDKS", "").split(":"))):
        launchers += [folder / "bin" / "java", *sorted(folder.glob("*/bin/java"))]
    for folder in USUAL_FOLDERS:
        launchers += sorted(folder.glob("*/bin/java"), reverse=True)
    seen: set[Path] = set()
    for java in launchers:
        if (real := java.resolve()) not in seen:
            seen.add(real)
            try:
                jdk = identify(java)
            except MissingRequirement:
                continue
            if jdk.identity.feature >= MINIMUM:
                yield jdk


def require_javac(jdk: Jdk) -> Path:
    """The JDK's compiler; raises MissingRequirement where it is a runtime without one."""
    if jdk.javac is None:
        raise MissingRequirement(
            f"{jdk.home} is a Java runtime without a compiler, and building the Java parts needs one: install a JDK"
            f" with {INSTALL}, or choose one with --jdk"
        )
    return jdk.javac


def find_maven(java_home: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The Maven on the PATH of an environment, asked on a JDK.

    Raises:
        MissingRequirement: there is none, it does not start, or it is too old.
    """
    maven = shutil.which("mvn", path=environment.get("PATH", os.defpath))
    if maven is None:
        raise MissingRequirement(
            f"Maven was not found, and building the Java parts needs it: install it with {INSTALL_MAVEN}"
        )
    try:
        result = ask([maven, "--version"], 2 * ANSWER_LIMIT, {**environment, "JAVA_HOME": str(java_home)})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingRequirement(
            f"{maven} cannot be run ({error}): install Maven again with {INSTALL_MAVEN}"
        ) from error
    version = re.search(r"Apache Maven (([0-9]+)\.([0-9]+)\S*)", re.sub(r"\x1b\[[\d;]*m", "", result.stdout))
    if version is None:
        said = (result.stderr or result.stdout).strip().partition("\n")[0]
        raise MissingRequirement(
            f'{maven} does not tell its version ("{said}"): install Maven again with {INSTALL_MAVEN}'
        )
    if (int(version[2]), int(version[3])) < MINIMUM_MAVEN:
        needed = ".".join(map(str, MINIMUM_MAVEN))
        raise MissingRequirement(
            f"{maven} is Maven {version[1]} and Steelyard needs {needed} or newer: install it with {INSTALL_MAVEN}"
        )
    return Path(maven)


def require_program(program: str) -> None:
    """Raise MissingRequirement when a program that components are started with is not installed."""
    if shutil.which(program) is None:
        how = _PACKAGES.get(Path(program).name)
        advice = f"install it with {how}" if how else "install it, or give its path in the workload file"
        raise MissingRequirement(f"{program} is missing: {advice}")
