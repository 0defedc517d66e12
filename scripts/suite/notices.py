# SPDX-License-Identifier: Apache-2.0
"""The third-party libraries of a finished build with their licences: python3 scripts/suite/notices.py BUILD

Writes the table of images/legal/NOTICES anew. BUILD is a folder of .steelyard/build; licences are what the libraries'
own POMs in Maven's local repository state. Versions are left out, so that an update changes nothing there unless a
library comes, goes or has another licence; the SBOM beside each image has them. Ends with 2 and a sentence where one
states none. Needs nothing but Python.
"""

import io
import re
import sys
import xml.etree.ElementTree as ET
import zipfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTICES = ROOT / "images" / "legal" / "NOTICES"
REPOSITORY = Path.home() / ".m2" / "repository"
_NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"
_BEGIN = "| library | licence |\n| --- | --- |\n"
_SPDX = {
    "apache": "Apache-2.0",
    "apl2": "Apache-2.0",
    "mozilla public license version 2": "MPL-2.0",
    "mpl-2.0": "MPL-2.0",
    "eclipse public license - v 2": "EPL-2.0",
    "eclipse public license - v 1": "EPL-1.0",
    "lesser general public": "LGPL-2.1-only",
    "bsd 3": "BSD-3-Clause",
    "bsd-3": "BSD-3-Clause",
    "bsd-2": "BSD-2-Clause",
    "bsd 2": "BSD-2-Clause",
    "new bsd": "BSD-3-Clause",
    "bsd license": "LicenseRef-BSD",  # which of them, the POM does not say
    "mit": "MIT",
    "cc0": "CC0-1.0",
    "public domain": "CC0-1.0",
}
"""By a part of what a POM calls a licence."""


def libraries(build: Path) -> set[str]:
    """Names of all libraries of others in a build, as NAME-VERSION, those within applications too."""
    jars: set[str] = set()
    for path in build.rglob("*"):
        if path.suffix == ".jar" and "lib" in path.parts and "wlp" not in path.parts:
            jars.add(path.stem)
        elif path.suffix == ".jar" and "resources" in path.parts:
            jars.add(f"{path.stem}-{_driver_version(path.stem)}")
        elif path.suffix == ".war":
            with zipfile.ZipFile(path) as archive:
                jars |= {Path(name).stem for name in archive.namelist() if name.endswith(".jar")}
    return {name for name in jars if not name.endswith("-SNAPSHOT")}


def library_name(name: str) -> str:
    """A library without its version, with what follows that: netty-transport-native-epoll-linux-x86_64."""
    return re.sub(r"-\d+(?:\.\w+)*", "", name, count=1)


def licences_by_name(build: Path) -> set[tuple[str, str]]:
    """Each library of a build, with its licences (raises ValueError: one states none)."""
    return {(library_name(name), " OR ".join(licences(name))) for name in libraries(build)}


def _driver_version(driver: str) -> str:
    """Of a database's driver, whose file has no version in its name."""
    known = "derby" if driver.startswith("derby") else f"{driver}-driver"
    match = re.search(rf"<version\.{known}>([^<]+)<", (ROOT / "pom.xml").read_text(encoding="utf-8"))
    return match[1] if match else "unknown"


def licences(name: str, repository: Path = REPOSITORY) -> list[str]:
    """What a library's POM, or its parent's, states, as SPDX identifiers (raises ValueError: nothing, or unknown)."""
    poms = [path for path in _poms(repository) if name == path.stem or name.startswith(f"{path.stem}-")]
    for pom in sorted(poms, key=lambda path: -len(path.stem)):
        names = read_licences(pom, repository)
        if names and not any("?" in each for each in names):
            return names
    raise ValueError(f"{name} states no licence that is known here ({', '.join(map(str, poms)) or 'no POM'})")


@cache
def _poms(repository: Path) -> list[Path]:
    return list(repository.rglob("*.pom"))


def read_licences(pom: Path, repository: Path) -> list[str]:
    """What a POM, or the first above it that says something, states; one that is not known in `?`."""
    project = ET.parse(io.BytesIO(pom.read_bytes())).getroot()
    space = _NAMESPACE if project.tag.startswith("{") else ""
    names = [name.text or "" for name in project.findall(f"{space}licenses/{space}license/{space}name")]
    identifiers = {_identify(name) for name in names}
    parent = project.find(f"{space}parent")
    if identifiers or parent is None:
        return sorted(identifiers)
    group, artifact, version = (
        (parent.findtext(f"{space}{key}") or "").strip() for key in ("groupId", "artifactId", "version")
    )
    above = repository / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom"
    return read_licences(above, repository) if above.exists() else []


def _identify(name: str) -> str:
    if name.strip() in _SPDX.values():
        return name.strip()
    words = " ".join(name.lower().split())
    return next((spdx for part, spdx in _SPDX.items() if part in words), f"?{name}?")


def main(arguments: list[str]) -> int:
    """The command; 0, or 2 with a sentence."""
    if len(arguments) != 1:
        print("usage: notices.py BUILD", file=sys.stderr)  # noqa: T201
        return 2
    try:
        rows = [f"| {name} | {stated} |" for name, stated in sorted(licences_by_name(Path(arguments[0])))]
    except (OSError, ValueError) as error:
        print(f"notices: {error}", file=sys.stderr)  # noqa: T201
        return 2
    head, columns, _ = NOTICES.read_text(encoding="utf-8").partition(_BEGIN)
    NOTICES.write_text(f"{head}{columns}" + "\n".join(rows) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
