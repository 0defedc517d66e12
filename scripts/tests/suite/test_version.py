# SPDX-License-Identifier: Apache-2.0
"""The version stands in one place; one command sets all copies of it, and tests hold in a checkout of another one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from steelyard import __version__
from steelyard.images.catalogue import CATALOGUE, read_catalogue
from steelyard.paths import ROOT
from suite.version import (
    CHANGELOG,
    UNPUBLISHED,
    carriers,
    current_version,
    drop_sentence,
    pattern_of,
    python_version,
    set_version,
)

OTHER = "9.9.9"
NEXT = ("0.2.0", "1.0.0", "1.2.0", OTHER, "1.3.0-rc.1")
"""Some are versions of something else as well: of a workload, of a format."""
QUICK = (
    "tests/images/test_catalogue.py",
    "tests/images/test_verify.py",
    "tests/engine/test_compose_images.py",
)
LONG = (
    "tests/images",
    "tests/k8s",
    "tests/cli",
    "tests/report",
    "tests/engine",
    "tests/gate/test_pipeline.py",
)
NOT_OURS = re.compile(
    r"tests/(fixtures|report/golden)/|docs/results/|scripts/requirements[\w-]*\.txt$|go\.(mod|sum)$|CHANGELOG\.md$"
)
"""Recorded, or of other projects."""


def listed(root: Path) -> list[Path]:
    """Files that git knows, or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [root / name for name in done.stdout.split("\0") if name and (root / name).is_file()]


@pytest.fixture(scope="module")
def bumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout with another version."""
    copy = tmp_path_factory.mktemp("bumped") / "checkout"
    for path in listed(ROOT):
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    add_to_git(copy)
    set_version(copy, OTHER, "2030-01-31")
    return copy


def add_to_git(folder: Path) -> None:
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


@pytest.fixture
def carried(tmp_path: Path) -> Path:
    """A copy of the files that carry the version, without the sentence that the first one drops."""
    for path in (*carriers(ROOT), ROOT / CHANGELOG):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(drop_sentence(path.read_text(encoding="utf-8")), encoding="utf-8")
    add_to_git(tmp_path)
    return tmp_path


def run_tests(checkout: Path, *names: str) -> None:
    """Run tests of a copy."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "scripts"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", *names]
    done = subprocess.run(
        [*command, "-m", "not (checks or java or e2e or containers or alone or full)"],
        cwd=checkout / "scripts",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


def test_all_copies_are_of_this_version() -> None:
    assert current_version(ROOT) == __version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
    assert f'"VERSION": {{"default": "{__version__}"}}' in CATALOGUE.read_text(encoding="utf-8")
    # Every image of ours that a bundle names has a tag of this version.
    names = "|".join(read_catalogue())
    tags = re.compile(rf"\bsteelyard\}}?/(?:{names}):([^\s@\"'`]+)")
    seen = 0
    for path in carriers(ROOT):
        for tag in tags.findall(path.read_text(encoding="utf-8")):
            if "VERSION" not in tag:
                assert tag.startswith(__version__), (path, tag)
            elif ":-" in tag:
                assert tag.startswith(f"${{STEELYARD_VERSION:-{__version__}}}"), (path, tag)
            seen += 1
    assert seen > 50
    # So has every name of a file or of a tag that a document gives.
    given = re.compile(
        r"steelyard-(\d[^-\s]*)-py3|steelyard-(?:bundles|package-[a-z0-9-]+)-(\d\S*?)\.tar"
        r"|(?:refs/tags/|releases/download/|git tag --sign |git push origin )v(\d[\w.-]*\w)"
    )
    stated = {
        "".join(match) for path in carriers(ROOT) for match in given.findall(path.read_text(encoding="utf-8"))
    }
    assert stated <= {__version__, python_version(__version__)}
    assert stated


@pytest.mark.parametrize("version", NEXT)
def test_a_version_replaces_its_own_copies_alone(carried: Path, version: str) -> None:
    before = {path: path.read_text(encoding="utf-8") for path in carriers(carried)}
    copies = sum(len(pattern_of(__version__, carried).findall(text)) for text in before.values())
    assert copies > 50
    set_version(carried, version, "2030-01-31")
    after = {path: path.read_text(encoding="utf-8") for path in before}
    assert sum(len(pattern_of(version, carried).findall(text)) for text in after.values()) == copies
    cited = yaml.safe_load(after[carried / "CITATION.cff"])
    assert (cited["version"], cited["cff-version"]) == (version, "1.2.0")
    page = after[carried / "docs" / "how-to" / "install.md"]
    assert f"ADDRESS/steelyard-{python_version(version)}-py3-none-any.whl" in page
    assert f"releases/download/v{version}`" in page
    # And the next one finds them again, and nothing else.
    set_version(carried, __version__, "2030-02-28")
    assert {path: path.read_text(encoding="utf-8") for path in before} == before


@pytest.mark.parametrize("version", [__version__, *NEXT])
def test_nothing_else_names_the_version(version: str) -> None:
    known, wanted = set(carriers(ROOT)), pattern_of(version, ROOT)
    for path in listed(ROOT):
        if path in known or NOT_OURS.search(str(path.relative_to(ROOT))):
            continue
        found = [
            line
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
            if wanted.search(line)
        ]
        assert not found, (path, found)


def test_the_command_says_what_it_cannot_do(bumped: Path) -> None:
    def version(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(bumped / "scripts" / "suite" / "version.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert (version("next").returncode, version().returncode) == (2, 2)
    assert "three numbers" in version("v1.0").stderr
    assert f"now {OTHER}" in version().stderr


def test_another_version_is_in_all_that_must_carry_it(bumped: Path) -> None:
    left = pattern_of(__version__, bumped)
    assert current_version(bumped) == OTHER
    assert not [path for path in carriers(bumped) if left.search(path.read_text(encoding="utf-8"))]
    assert f"\n## Unreleased\n\n## {OTHER} - 2030-01-31\n" in (bumped / "CHANGELOG.md").read_text("utf-8")


def test_no_document_denies_a_version_that_is_there(bumped: Path) -> None:
    """Before the first, each says it in the words that the command drops; reports of a day keep theirs."""
    denied = re.compile(
        r"(?i)published yet|\b(no|none)( \w+)? (is|are|was|were|has been|have been) (published|released)\b"
        r"|no release (is|was|has)"
    )
    for root, known in ((ROOT, UNPUBLISHED), (bumped, "")):
        for path in listed(root):
            name = str(path.relative_to(root))
            if not name.startswith("scripts/") and not re.match(r"docs/(lab-notes|studies)/", name):
                text = path.read_text(encoding="utf-8", errors="replace")
                assert not denied.search(text.replace(known, "")), path


def test_quick_tests_pass_with_another_version(bumped: Path) -> None:
    run_tests(bumped, *QUICK)


@pytest.mark.full
def test_longer_tests_pass_with_another_version(bumped: Path) -> None:
    run_tests(bumped, *LONG)
