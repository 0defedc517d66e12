# SPDX-License-Identifier: Apache-2.0
"""The wheel of a release and the packages that it fetches: python3 -m suite.wheel BUILD ADDRESS FOLDER

BUILD is a complete build of the checkout (`./steelyard images build --print` makes one in .steelyard/build), ADDRESS
where the packages will be published. FOLDER gets an archive for each package and the wheel. The same commit and build
give the same bytes. In scripts/; needs git and nothing but Python.
"""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from suite.version import current_version, python_version

NAME = "steelyard"
_CONTENT = (
    *("LICENSE", "images/images.json", "images/legal", "experiments", "compose", "k8s", ":!k8s/local"),
    *("apps/*/workload.yaml", "apps/databases", "scripts/bench/planted", "scripts/host_set.py", "docs/*.md"),
    "scripts/requirements.txt",
)
"""Of the checkout, in the folder `_release` of the package: as git's pathspecs."""
_PACKAGE = "scripts/steelyard"
_MAN = ("docs/steelyard.1", "share/man/man1/steelyard.1")
_EPOCH = (2020, 1, 1, 0, 0, 0)
"""Time of all files in the wheel: the same bytes at any time."""


def write_package(folder: Path, archive: Path) -> dict[str, str | int]:
    """Pack a package of a build; what `release.json` says of it."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            entry = tar.gettarinfo(path, str(path.relative_to(folder)))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if path.is_dir() or entry.mode & 0o100 else 0o644
            if path.is_file():
                with path.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    content = archive.read_bytes()
    return {"file": archive.name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def git_files(root: Path, *specs: str) -> list[str]:
    """Files of the checkout that git has under pathspecs."""
    command = ["git", "ls-files", "-z", "--", *specs]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return sorted(filter(None, done.stdout.split("\0")))


def requirements(root: Path) -> list[str]:
    """What the harness needs at run time, pinned as it was tested."""
    lines = (root / "scripts" / "requirements.in").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if re.match(r"[A-Za-z]", line)]


def wheel_files(root: Path, version: str, release: Mapping[str, object]) -> dict[str, bytes]:
    """What the wheel holds, by name, but for its own list."""
    info = f"{NAME}-{version}.dist-info"
    files = {
        name.removeprefix("scripts/"): (root / name).read_bytes()
        for name in git_files(root, _PACKAGE)
        if not name.endswith(".pyc")
    }
    files |= {f"{NAME}/_release/{name}": (root / name).read_bytes() for name in git_files(root, *_CONTENT)}
    files[f"{NAME}/_release/release.json"] = (json.dumps(release, indent=1) + "\n").encode()
    files[f"{NAME}-{version}.data/data/{_MAN[1]}"] = (root / _MAN[0]).read_bytes()
    needs = "".join(f"Requires-Dist: {line}\n" for line in requirements(root))
    about = "Weighs one way of running a Java server against another, and says how sure it is."
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\nSummary: {about}\nLicense: Apache-2.0\n"
        f"Requires-Python: >=3.11\n{needs}"
    ).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: steelyard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nsteelyard = steelyard.cli.app:main\n"
    return files


def write_wheel(target: Path, files: Mapping[str, bytes], version: str) -> None:
    """Write a wheel with its list of files."""
    record = f"{NAME}-{version}.dist-info/RECORD"
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
        for name, data in files.items()
    ]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**files, record: ("".join(rows) + f"{record},,\n").encode()}.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def write_release(root: Path, build: Path, address: str, folder: Path) -> Path:
    """Packages and wheel of a checkout.

    Args:
        root: the checkout.
        build: folder with a folder for each package and a mark beside it, named by the fingerprint of the sources.
        address: where the packages will be.
        folder: where all is written.

    Returns:
        The wheel.

    Raises:
        ValueError: the build has no whole package.
    """
    version = current_version(root)
    names = sorted(path.name.removesuffix(".complete") for path in build.glob("*.complete"))
    if not names:
        raise ValueError(f"{build} holds no package: build with `./steelyard images build --print`")
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    )
    folder.mkdir(parents=True, exist_ok=True)
    release = {
        "version": version,
        "commit": commit.stdout.strip(),
        "fingerprint": build.name,
        "address": address.rstrip("/"),
        "packages": {
            name: write_package(build / name, folder / f"steelyard-package-{name}-{version}.tar.gz")
            for name in names
        },
    }
    wheel_version = python_version(version)
    wheel = folder / f"{NAME}-{wheel_version}-py3-none-any.whl"
    write_wheel(wheel, wheel_files(root, wheel_version, release), wheel_version)
    return wheel


def main(arguments: Sequence[str]) -> int:
    """The command; 0, or 2 with a sentence."""
    if len(arguments) != 3:
        print("usage: wheel.py BUILD ADDRESS FOLDER", file=sys.stderr)  # noqa: T201
        return 2
    build, address, folder = arguments
    try:
        wheel = write_release(
            Path(__file__).resolve().parents[2], Path(build).resolve(), address, Path(folder)
        )
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"wheel: {error}", file=sys.stderr)  # noqa: T201
        return 2
    print(wheel)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
