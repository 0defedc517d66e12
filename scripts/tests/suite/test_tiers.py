# SPDX-License-Identifier: Apache-2.0
"""Which tiers a changed path needs: every file of the repository has some, and no pattern is left without a file."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from release_steps import git

from suite import ROOT
from suite.tiers import DEFAULT, EVERY, NEEDS, changed_paths, tiers_for


@pytest.fixture(scope="module")
def files() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    return git(ROOT, "ls-files", "-z").split("\0")[:-1]


def test_each_file_of_the_repository_belongs_to_a_tier(files: list[str]) -> None:
    assert not [path for path in files if not any(fnmatchcase(path, pattern) for pattern in NEEDS)]


def test_each_pattern_has_a_file_and_each_tier_a_pattern(files: list[str]) -> None:
    assert not [pattern for pattern in NEEDS if not any(fnmatchcase(path, pattern) for path in files)]
    assert {tier for tiers in NEEDS.values() for tier in tiers} == {*EVERY}


@pytest.mark.parametrize(
    ("path", "tiers"),
    [
        ("docs/explanation/gate.md", ("checks", "unit", "site")),
        ("docs/examples/fuseki/books.ttl", ("checks", "unit", "sessions", "site", "long")),
        ("README.md", ("checks", "unit", "site")),
        ("mkdocs.yml", ("checks", "unit", "site")),
        ("scripts/pages/hooks.py", ("checks", "unit", "site")),
        ("apps/olio/web/src/test/java/dev/steelyard/olio/ContractIT.java", ("java", "servers")),
        (
            "apps/ping/src/main/java/dev/steelyard/ping/Ping.java",
            ("java", "sessions", "servers", "containers"),
        ),
        ("scripts/steelyard/analysis/paired.py", ("checks", "unit", "sessions", "long")),
        (
            "scripts/steelyard/engines/kubernetes/pods.py",
            ("checks", "unit", "sessions", "long", "containers"),
        ),
        ("k8s/base/ping/deployment.yaml", ("checks", "unit", "containers")),
        ("scripts/tests/e2e/test_sessions.py", ("checks", "unit", "sessions", "long")),
        ("scripts/suite/tiers.py", EVERY),
        ("a-new-folder/file", EVERY),
        (".ci/run", DEFAULT),
    ],
)
def test_what_a_path_needs(path: str, tiers: tuple[str, ...]) -> None:
    assert tiers_for([path]) == tiers


def test_paths_add_up_in_the_order_of_the_tiers() -> None:
    assert tiers_for(["images/harness/Containerfile", "loadgen/pom.xml"]) == (
        *("checks", "unit", "java", "containers"),
    )
    assert tiers_for([]) == ()


def test_changes_are_those_of_the_branch_and_of_the_folder(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("same", "edited", "removed", "moved"):
        (tmp_path / name).write_text(f"{name}\n" * 9, encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    git(tmp_path, "checkout", "-q", "-b", "branch")
    git(tmp_path, "rm", "-q", "removed")
    git(tmp_path, "mv", "moved", "a new name\u00e4")
    git(tmp_path, "commit", "-q", "-m", "second")
    (tmp_path / "edited").write_text("other", encoding="utf-8")
    (tmp_path / "new").touch()
    git(tmp_path, "checkout", "-q", "main")  # what others did meanwhile is not the branch's
    (tmp_path / "of-others").touch()
    git(tmp_path, "add", "of-others")
    git(tmp_path, "commit", "-q", "-m", "others")
    git(tmp_path, "checkout", "-q", "branch")
    assert changed_paths("main", tmp_path) == ["a new name\u00e4", "edited", "moved", "new", "removed"]


def test_a_reference_that_git_does_not_know_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(ValueError, match="no-such-reference"):
        changed_paths("no-such-reference", tmp_path)
