# SPDX-License-Identifier: Apache-2.0
"""The lab's machine: no workflow that a change brings along may ask for it, and only what was looked at runs."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest
import release_steps
import yaml

from steelyard.paths import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def steps():
    read = yaml.safe_load((WORKFLOWS / "lab.yml").read_text(encoding="utf-8"))
    return {step["name"]: step for step in read["jobs"]["gate"]["steps"]}


def run(name, folder, **told):
    return subprocess.run(
        ["bash", "-e", "-c", steps()[name]["run"]],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **told},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_machine_is_asked_for_by_hand_alone() -> None:
    asking = [path for path in WORKFLOWS.glob("*.yml") if "steelyard-lab" in path.read_text(encoding="utf-8")]
    assert [path.name for path in asking] == ["lab.yml"]
    read = yaml.safe_load(asking[0].read_text(encoding="utf-8"))
    assert list(read["on"]) == ["workflow_dispatch"]
    assert read["permissions"] == {}
    assert read["jobs"]["gate"]["permissions"] == {"contents": "read"}
    # What was told is looked at before anything is fetched by it, and what was fetched before anything of it runs.
    assert list(steps()) == ["A number and a commit", "Check out", "It is what was looked at", "Gate"]


@pytest.mark.parametrize(
    ("change", "commit", "fine"),
    [
        ("12", COMMIT, True),
        ("", COMMIT, False),
        ("0", COMMIT, False),
        ("12/head", COMMIT, False),
        ("1\n2", COMMIT, False),
        ("$(id)", COMMIT, False),
        ("12", "", False),
        ("12", COMMIT[:12], False),
        ("12", COMMIT + "0", False),
        ("12", "g" + COMMIT[1:], False),
        ("12", COMMIT.upper(), False),
    ],
)
def test_it_takes_a_number_and_a_whole_commit(tmp_path, change, commit, fine):
    done = run("A number and a commit", tmp_path, CHANGE=change, COMMIT=commit)
    assert (done.returncode == 0) == fine
    assert ("::error::" in done.stdout) != fine


def test_what_was_pushed_after_the_look_does_not_run(tmp_path: Path):
    git = partial(release_steps.git, tmp_path)
    git("init", "--quiet", "--initial-branch", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "before")
    git("checkout", "--quiet", "-b", "change")
    git("commit", "--quiet", "--allow-empty", "--message", "looked at")
    looked_at = git("rev-parse", "HEAD").strip()
    git("checkout", "--quiet", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "meanwhile")
    git("merge", "--quiet", "--no-ff", "--message", "merged", "change")
    assert run("It is what was looked at", tmp_path, COMMIT=looked_at).returncode == 0
    for other in git("rev-parse", "HEAD", "HEAD^1").split():
        done = run("It is what was looked at", tmp_path, COMMIT=other)
        assert done.returncode == 1
        assert f"the change is at {looked_at} by now" in done.stdout
    # A ref that is no merge: nothing can be said of it.
    git("checkout", "--quiet", "change")
    assert run("It is what was looked at", tmp_path, COMMIT=looked_at).returncode != 0
