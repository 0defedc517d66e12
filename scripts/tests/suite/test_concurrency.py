# SPDX-License-Identifier: Apache-2.0
"""Which runs of a workflow wait for each other. GitHub keeps one that waits in a group, and a newer one cancels it."""

from pathlib import Path
from typing import Any

import yaml

from steelyard.paths import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
OWN = "${{ github.event_name == 'pull_request' && github.ref || github.run_id }}"
"""A group for each change, and one for each other run."""
NEWEST = {"nightly", "site"}
"""What the newest run does, those that waited for it would have done: the same branch, of an older commit."""


def groups(path: Path) -> list[dict[str, Any]]:
    """Of a workflow and of its jobs."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [part["concurrency"] for part in (read, *read["jobs"].values()) if "concurrency" in part]


def test_no_run_that_has_to_finish_is_cancelled_while_it_waits() -> None:
    finish = [
        group["group"]
        for path in WORKFLOWS.glob("*.yml")
        for group in groups(path)
        if group["cancel-in-progress"] is not True and path.stem not in NEWEST
    ]
    assert "release-${{ github.ref }}" in finish, (
        "each version once: the names that a release gives are of its tag"
    )
    others = [group for group in finish if group != "release-${{ github.ref }}"]
    assert others
    assert [group for group in others if not group.endswith(OWN)] == []
