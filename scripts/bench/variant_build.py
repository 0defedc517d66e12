# SPDX-License-Identifier: Apache-2.0
"""Copies of a packaged application in which one thing is as its original has it: a patch, compiled into the package."""

import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from steelyard.host.java import Jdk
from steelyard.paths import ROOT

PATCHES = Path(__file__).with_name("variants")
_OF = " Module: "
PACKAGES = {"apps/olio/web": "olio", "apps/daytrader7": "daytrader7"}
"""Package, server and web application that a module is made into."""


@dataclass(frozen=True)
class Variant:
    """A patch of one module."""

    path: Path
    about: str
    """What it makes otherwise, a sentence."""
    module: str
    """Below the checkout."""

    @property
    def package(self) -> str:
        """Name of the package, the server in it and its web application."""
        return PACKAGES[self.module]


def find_variants() -> dict[str, Variant]:
    """All of them by name; the first line of a patch is `What is otherwise. Module: apps/...`."""
    variants = {}
    for path in sorted(PATCHES.glob("*.patch")):
        about, _, module = path.read_text(encoding="utf-8").partition("\n")[0].partition(_OF)
        variants[path.stem] = Variant(path, about, module)
    return variants


def patched_sources(variant: Variant, folder: Path) -> Path:
    """The module's `src/main`, copied into a folder and patched (CalledProcessError where it does not apply)."""
    sources = folder / variant.module / "src" / "main"
    shutil.copytree(ROOT / variant.module / "src" / "main", sources)
    subprocess.run(["git", "apply", variant.path], cwd=folder, check=True)
    return sources


def make_variant(variant: Variant, package: Path, folder: Path, jdk: Jdk) -> Path:
    """A copy of a package with the patched module in it; the copy's folder."""
    shutil.copytree(package, folder, symlinks=True)
    (archive,) = folder.glob(f"wlp/usr/servers/*/apps/{variant.package}.war")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        sources = patched_sources(variant, work / "sources")
        with zipfile.ZipFile(archive) as war:
            war.extractall(work / "war")
        classes = work / "war" / "WEB-INF" / "classes"
        # What the server needs of the specifications' interfaces, `minify` has left in it.
        libraries = [
            *folder.glob("wlp/dev/api/spec/*.jar"),
            *(work / "war" / "WEB-INF" / "lib").glob("*.jar"),
        ]
        path = ":".join(map(str, [classes, *libraries]))
        files = sorted(map(str, (sources / "java").rglob("*.java")))
        javac = [str(jdk.javac), "--release", "17", "-parameters", "-nowarn", "-proc:none", "-cp", path]
        subprocess.run([*javac, "-d", str(classes), *files], check=True)
        for resource in (sources / "resources" / "META-INF").glob("*.xml"):
            shutil.copy(resource, classes / "META-INF")
        archive.unlink()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as war:
            for file in sorted((work / "war").rglob("*")):
                war.write(file, file.relative_to(work / "war"))
    return folder
