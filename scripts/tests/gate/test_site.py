# SPDX-License-Identifier: Apache-2.0
"""The documents on the branch `pages`: a bare repository of this host stands in for the one of the project."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.paths import ROOT


class Project:
    """A repository, a checkout with the script, and a site that is built already."""

    def __init__(self, folder: Path) -> None:
        self.remote, self.tree, self.site = folder / "remote.git", folder / "tree", folder / "built"
        scripts = self.tree / ".github" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copy(ROOT / ".github" / "scripts" / "site.sh", scripts)
        self.site.mkdir()
        self.git("init", "--quiet", "--bare", str(self.remote))

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout

    def publish(self) -> None:
        subprocess.run(
            [self.tree / ".github" / "scripts" / "site.sh"],
            env={
                "PATH": os.environ["PATH"],
                "REMOTE": f"file://{self.remote}",
                "GITHUB_SHA": "0123abc",
                "SITE": str(self.site),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )

    def published(self) -> list[str]:
        return self.git("-C", str(self.remote), "ls-tree", "-r", "--name-only", "pages").splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_branch_is_one_commit_with_the_last_site(project: Project) -> None:
    (project.site / "index.html").write_text("one")
    (project.site / "gone.html").write_text("one")
    project.publish()
    (project.site / "gone.html").unlink()
    (project.site / "index.html").write_text("two")
    project.publish()
    assert project.published() == [".nojekyll", "index.html"]
    assert project.git("-C", str(project.remote), "show", "pages:index.html") == "two"
    assert len(project.git("-C", str(project.remote), "log", "--format=%s", "pages").splitlines()) == 1


def test_the_page_of_the_history_is_part_of_it(project: Project, tmp_path: Path) -> None:
    (project.site / "index.html").write_text("one")
    history = tmp_path / "history"
    project.git("init", "--quiet", "--initial-branch", "history", str(history))
    (history / "index.html").write_text("figures")
    project.git("-C", str(history), "add", "--all")
    identity = ("-c", "user.name=x", "-c", "user.email=x@invalid")
    project.git("-C", str(history), *identity, "commit", "--quiet", "--message", "figures")
    project.git("-C", str(history), "push", "--quiet", str(project.remote), "history")
    project.publish()
    assert project.published() == [".nojekyll", "history/index.html", "index.html"]
