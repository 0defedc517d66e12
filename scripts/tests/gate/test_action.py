# SPDX-License-Identifier: Apache-2.0
"""The action as workflows use it: recipes of the documents give what it takes, and its script reads what it gives."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard.paths import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def recipes() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each use of the action in a page: the page, and its step."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            if "/steelyard@" not in block:
                continue
            for job in yaml.safe_load(block).get("jobs", {}).values():
                for step in job["steps"]:
                    if "/steelyard@" in step.get("uses", ""):
                        yield page.name, step


@pytest.mark.parametrize(("page", "step"), list(recipes()))
def test_a_recipe_gives_what_the_action_takes(page: str, step: dict[str, Any]) -> None:
    given, known = set(step["with"]), ACTION["inputs"]
    assert given <= set(known), page
    assert {name for name, value in known.items() if value.get("required")} <= given, page


@pytest.mark.parametrize(("keep", "whole"), [(ACTION["inputs"]["keep"]["default"], False), ("session", True)])
def test_what_a_job_uploads_has_no_secret_unless_the_session_is_asked_for(
    tmp_path: Path, keep: str, whole: bool
) -> None:
    reports = {"gate.json", "gate.md", "gate.junit.xml", "report.html", "confirmation/report.html"}
    rest = {"session.json", "workload.yaml", "confirmation/session.json", "trials/1-a/server.log"}
    for name in reports | rest:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (upload,) = (
        step["with"] for step in ACTION["runs"]["steps"] if "upload-artifact" in step.get("uses", "")
    )
    files: set[str] = set()
    for line in upload["path"].splitlines():
        pattern = line.removeprefix("${{ steps.gate.outputs.directory }}/")
        assert pattern != line
        choice = re.fullmatch(r"\$\{\{ inputs\.keep == 'session' && '(.+)' \|\| '(.+)' \}\}", pattern)
        pattern = choice[1 if keep == "session" else 2] if choice else pattern
        files |= {
            str(path.relative_to(tmp_path)) for path in tmp_path.glob("**/*" if pattern == "**" else pattern)
        }
    assert {name for name in files if (tmp_path / name).is_file()} == (reports | rest if whole else reports)


def test_what_makes_the_page_of_nights_has_whole_sessions() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))[
        "jobs"
    ]
    (gate,) = (step for step in jobs["gate"]["steps"] if step.get("uses") == "./")
    assert gate["with"]["keep"] == "session"


def test_there_is_a_recipe_of_ten_lines() -> None:
    assert any(len(yaml.safe_dump(step["with"]).splitlines()) <= 8 for _, step in recipes())


def test_each_input_is_used_and_each_variable_read() -> None:
    steps = ACTION["runs"]["steps"]
    text = yaml.safe_dump(steps) + yaml.safe_dump(ACTION["outputs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in text] == []
    (gate,) = (step for step in steps if step.get("id") == "gate")
    script = (ROOT / ".github" / "scripts" / "gate.sh").read_text(encoding="utf-8")
    assert [name for name in gate["env"] if not re.search(rf"\b{name}\b", script)] == []
    named = [str(step["run"]) for step in steps if "run" in step]
    scripts = re.findall(r"GITHUB_ACTION_PATH/([\w./-]+)", " ".join(named))
    assert scripts
    assert all((ROOT / name).exists() for name in scripts)
