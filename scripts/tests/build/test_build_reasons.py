# SPDX-License-Identifier: Apache-2.0
"""Why git or Maven failed, in their own words: a sentence of ours about another cause sends people the wrong way."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import make_jvm

from steelyard import build
from steelyard.build import GitFailed, git, make_build, why_no_commit
from steelyard.errors import BadInput, BuildFailed
from steelyard.host.java import Jdk

OURS = {
    **os.environ,
    **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def run_git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], env=OURS, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("steelyard.processes.client.KEPT", tmp_path / "failed")
    folder = tmp_path / "repository"
    folder.mkdir()
    run_git(folder, "init", "--quiet")
    for number in range(2):
        run_git(folder, "commit", "--quiet", "--allow-empty", "-m", str(number))
    return folder


def test_a_repository_of_another_user_is_no_missing_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr(build, "ROOT", repository)
    with pytest.raises(
        BadInput, match=r"git says: detected dubious ownership in repository .*failed/git.txt"
    ):
        build.checkout("HEAD")


def test_an_unknown_commit_is_one(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "ROOT", repository)
    with pytest.raises(BadInput, match="'v9' is no commit of this checkout"):
        build.checkout("v9")


def test_a_shallow_clone_is_named(repository: Path, tmp_path: Path) -> None:
    older = git(repository, "rev-parse", "HEAD^")
    shallow = tmp_path / "shallow"
    run_git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(shallow))
    with pytest.raises(GitFailed) as failed:
        git(shallow, "rev-parse", "--verify", "--quiet", f"{older}^{{commit}}")
    assert "a shallow clone" in why_no_commit(older, failed.value, shallow)


def test_a_hook_s_repository_is_not_taken_for_ours(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    assert len(git(repository, "rev-parse", "HEAD")) == 40


def test_maven_s_first_error_is_quoted(tmp_path: Path, fake_maven: Callable[[str], Path]) -> None:
    (tmp_path / "pom.xml").write_text("<project/>", encoding="utf-8")
    maven = fake_maven(
        "printf '\\033[0m\\033[0m[ERROR] Could not create local repository at /none/.m2 -> [Help 1]\\n'\n"
        "echo '[ERROR] '\n"
        "echo '[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.'\n"
        "exit 1\n"
    )
    jdk = Jdk(Path("/java"), make_jvm("hotspot"))
    with pytest.raises(
        BuildFailed, match=r"\(Could not create local repository at /none/.m2 .*: see .*build.log"
    ):
        make_build(jdk, maven, {"ping": Path("apps/ping/target/ping.zip")}, lambda _line: None, tmp_path)
