# SPDX-License-Identifier: Apache-2.0
"""Each file says its licence; each image holds the licences of what is in it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from steelyard.images.catalogue import read_catalogue
from steelyard.paths import ROOT
from suite.notices import NOTICES, library_name, licences_by_name

LEGAL = ROOT / "images" / "legal"
TAG = "SPDX-License-Identifier: Apache-2.0"
NO_COMMENTS = re.compile(
    r"\.(png|ico|json|sum|mod|gz|txt|xml|log|lock|csv|jar|conflist)$|(^|/)jvm\.config$|(^|/)META-INF/services/|(^|/)py\.typed$|(^|/)__init__\.py$"
)
"""Of a form that has no comments, recorded from a tool, written by one, or empty."""
RECORDED = ("scripts/tests/fixtures/", "scripts/tests/report/golden/", "docs/examples/plans/", "docs/images/")
OF_OTHERS = ("LICENSE", "images/legal/LICENSE")


def tracked() -> list[str]:
    command = ["git", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_each_file_says_its_licence() -> None:
    without = [
        name
        for name in tracked()
        if not name.startswith((*RECORDED, *OF_OTHERS))
        and not NO_COMMENTS.search(name)
        and TAG not in (ROOT / name).read_text(encoding="utf-8", errors="replace")[:500]
    ]
    assert without == []


def test_images_hold_the_licences_of_what_is_in_them() -> None:
    assert (LEGAL / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    for path in {ROOT / image.containerfile for image in read_catalogue().values()}:
        text = path.read_text(encoding="utf-8")
        assert "/opt/steelyard/legal" in text, path
    # What stands in NOTICES as a part has its sources named, and what labels say of licences is there.
    notices = NOTICES.read_text(encoding="utf-8")
    for image in read_catalogue().values():
        for licence in re.findall(r"[A-Z][\w.-]*-\d[\w.]*(?:-only|-or-later)?", image.licenses):
            assert licence in notices, licence


def labels() -> dict[str, set[str]]:
    """By target the terms that its label joins by AND."""
    bake = (ROOT / "images" / "docker-bake.hcl").read_text(encoding="utf-8")
    added = dict(re.findall(r'name = "(\w+)", title = .*, licenses = "([^"]*)"', bake))
    assert set(added) == {"hotspot", "openj9"}
    return {
        target: set(f"{image.licenses}{added.get(target.rpartition('-')[2], '')}".split(" AND "))
        for name, image in read_catalogue().items()
        for target in image.targets(name)
    }


def test_labels_state_the_licence_of_every_part() -> None:
    """Each row of the table of parts, for the images that it names."""
    terms = labels()
    images = read_catalogue()
    on = {
        f"images on {jvm}": {
            target
            for name, image in images.items()
            for target in image.targets(name)
            if target.endswith(f"-{base}") or image.base == base
        }
        for jvm, base in (("HotSpot", "hotspot"), ("OpenJ9", "openj9"))
    }
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| http", NOTICES.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) > 5
    stated: dict[str, set[str]] = {target: set() for target in terms}
    for part, where, licence in rows:
        targets = on.get(where) or {
            target for name in where.split(", ") for target in images[name].targets(name)
        }
        for target in targets:
            stated[target] |= set(licence.partition(";")[0].split(" AND "))
            assert stated[target] <= terms[target], (part, target)
    # And all that is not of a library has its row.
    assert all(stated.values())


@pytest.mark.e2e
def test_packages_hold_open_libertys_own_licence_and_notices(built: Path) -> None:
    """`server package --include=minify` leaves them out; images hold the packages as they are."""
    packages = [folder.parent for folder in built.glob("*/wlp")]
    assert len(packages) >= 4
    for package in packages:
        licence, notices = (package / "wlp" / name for name in ("LICENSE", "NOTICES"))
        assert "Eclipse Public License" in licence.read_text(encoding="utf-8"), package
        assert notices.stat().st_size > 50_000, package
        assert os.access(package / "wlp" / "bin" / "server", os.X_OK), package


def listed_libraries() -> list[tuple[str, str]]:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", NOTICES.read_text(encoding="utf-8"), re.MULTILINE)
    return [(name, stated) for name, stated in rows if name not in ("library", "---")]


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("slf4j-api-2.0.18", "slf4j-api"),
        ("jackson-annotations-2.23", "jackson-annotations"),
        ("unbescape-1.1.6.RELEASE", "unbescape"),
        ("native-linux-x86_64-1.23.0", "native-linux-x86_64"),
        (
            "netty-tcnative-boringssl-static-2.0.84.Final-osx-x86_64",
            "netty-tcnative-boringssl-static-osx-x86_64",
        ),
        ("boopickle_2.13-1.5.0", "boopickle_2.13"),  # Scala's release, of which each is another library
    ],
)
def test_an_update_of_a_library_leaves_notices_true(library: str, name: str) -> None:
    assert library_name(library) == name
    assert name in dict(listed_libraries())
    # No row has a version, which the robot's updates would make wrong.
    assert [row for row, _ in listed_libraries() if library_name(row) != row] == []


@pytest.mark.e2e
def test_every_library_of_the_build_stands_in_notices(built: Path) -> None:
    """Whatever its version is. When a library comes or changes its licence: python3 scripts/suite/notices.py BUILD."""
    assert licences_by_name(built) <= set(listed_libraries())
