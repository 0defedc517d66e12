# SPDX-License-Identifier: Apache-2.0
"""Figures on the branch `history`: a bare repository of this host stands in for the one of the project."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.paths import ROOT

LAUNCHER = r"""#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
case $2 in
add)
    [ -s "$3/session.json" ] || exit 4
    cp "$3/session.json" "$5/$(cat "$3/session.json").json" ;;
plot) cat "$4"/*.json >"$4/index.html" ;;
check) exit "$(cat "$(dirname "$0")/check")" ;;
esac
"""


class Project:
    def __init__(self, folder: Path) -> None:
        self.remote, self.tree, self.sessions = folder / "remote.git", folder / "tree", folder / "sessions"
        scripts = self.tree / ".github" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copy(ROOT / ".github" / "scripts" / "publish.sh", scripts)
        (self.tree / "steelyard").write_text(LAUNCHER)
        (self.tree / "steelyard").chmod(0o755)
        (self.tree / "check").write_text("0")
        self.git("init", "--quiet", "--bare", str(self.remote))

    def session(self, path, figures="same"):
        (self.sessions / path).mkdir(parents=True)
        (self.sessions / path / "session.json").write_text(figures)

    def git(self, *words):
        return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout

    def publish(self):
        return subprocess.run(
            [self.tree / ".github" / "scripts" / "publish.sh", self.sessions],
            env={"PATH": os.environ["PATH"], "REMOTE": f"file://{self.remote}", "GITHUB_SHA": "0123abc"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def log(self):
        return self.git("-C", str(self.remote), "log", "--format=%s", "history").splitlines()

    def kept(self):
        return self.git("-C", str(self.remote), "ls-tree", "-r", "--name-only", "history").splitlines()

    def calls(self):
        return (self.tree / "calls").read_text().splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_same_figures_once_more_are_checked_and_no_commit(project):
    project.session("steelyard-gate-0-x", "one")
    project.session("steelyard-gate-1-y/gate-1", "two")
    project.session("steelyard-gate-1-y/gate-1/confirmation", "no")
    (project.tree / "check").write_text("12")
    for _ in range(2):
        done = project.publish()
        assert done.returncode == 12, done.stderr
        assert "publish: 2 sessions" in done.stdout
        assert project.calls()[-1].startswith("history check --in ")
    assert project.log() == ["Figures of 0123abc"]
    assert project.kept() == [".nojekyll", "index.html", "one.json", "two.json"]
    project.session("steelyard-gate-2-z", "three")
    project.publish()
    assert project.log() == ["Figures of 0123abc"] * 2
    assert "three.json" in project.kept()


def test_one_artifact_alone_has_no_folder_of_its_own(project):
    project.session(".", "one")
    project.session("confirmation", "no")
    assert project.publish().returncode == 0
    assert project.kept() == [".nojekyll", "index.html", "one.json"]


def test_a_session_without_figures_loses_no_others(project):
    project.session("a", "")
    project.session("b", "two")
    project.session("c", "")
    done = project.publish()
    assert done.returncode == 0, done.stderr
    assert "publish: 1 sessions" in done.stdout
    assert project.kept() == [".nojekyll", "index.html", "two.json"]


@pytest.mark.parametrize("there", [False, True])
def test_a_night_without_sessions_publishes_nothing(project, there):
    if there:
        project.session("a", "")
    done = project.publish()
    assert done.returncode == 0, done.stderr
    assert "publish: no session below " in done.stdout
    assert project.git("ls-remote", str(project.remote)) == ""
