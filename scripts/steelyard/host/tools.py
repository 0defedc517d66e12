# SPDX-License-Identifier: Apache-2.0
"""The tools that building the Java parts needs: Maven and a Java compiler."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.host.java import INSTALL, Jdk

MINIMUM_MAVEN = (3, 8)
INSTALL_MAVEN = "`sudo apt install maven` or `sudo dnf install maven`"
ANSWER_LIMIT = 60.0


@dataclass(frozen=True)
class Maven:
    """A Maven that was asked."""

    path: Path
    version: str


def find_maven(*, environment: Mapping[str, str] = os.environ, java_home: Path | None = None) -> Maven:
    """The Maven on the PATH.

    Args:
        environment: where PATH is looked up, and what Maven is run with.
        java_home: JDK that Maven is to run on; left out, its own choice.

    Raises:
        MissingRequirement: there is none, it does not start, or it is too old.
    """
    found = shutil.which("mvn", path=environment.get("PATH", os.defpath))
    if found is None:
        raise MissingRequirement(
            f"Maven was not found, and building the Java parts needs it: install it with {INSTALL_MAVEN}"
        )
    java = {"JAVA_HOME": str(java_home)} if java_home else {}
    try:
        result = subprocess.run(
            [found, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWER_LIMIT,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**environment, **java},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingRequirement(
            f"{found} cannot be run ({error}): install Maven anew with {INSTALL_MAVEN}"
        ) from error
    version = re.search(r"Apache Maven (\d+)\.(\d+)(\S*)", re.sub(r"\x1b\[[\d;]*m", "", result.stdout))
    if version is None:
        said = (result.stderr or result.stdout).strip().partition("\n")[0]
        raise MissingRequirement(
            f'{found} does not tell its version ("{said}"): install Maven anew with {INSTALL_MAVEN}'
        )
    text = f"{version[1]}.{version[2]}{version[3]}"
    if (int(version[1]), int(version[2])) < MINIMUM_MAVEN:
        needed = ".".join(map(str, MINIMUM_MAVEN))
        raise MissingRequirement(
            f"{found} is Maven {text} and Steelyard needs {needed} or newer: install it with {INSTALL_MAVEN}"
        )
    return Maven(Path(found), text)


def require_javac(jdk: Jdk) -> Path:
    """The JDK's compiler.

    Raises:
        MissingRequirement: it is a runtime without one.
    """
    if jdk.javac is None:
        raise MissingRequirement(
            f"{jdk.home} is a Java runtime without a compiler, and building the Java parts needs one: install a JDK"
            f" with {INSTALL}, or choose one with --jdk"
        )
    return jdk.javac


_PACKAGES = {
    "nginx": (
        "`sudo apt install nginx-light` or `sudo dnf install nginx`, or let containers bring it with --engine compose"
    ),
    "taskset": "`apt-get install util-linux` or dnf",
}


def require_program(program: str) -> None:
    """Raise MissingRequirement when a program that components are started with is not installed."""
    if shutil.which(program) is None:
        how = _PACKAGES.get(program)
        advice = f"install it with {how}" if how else "install it, or give its path in the workload file"
        raise MissingRequirement(f"{program} is missing: {advice}")
