# SPDX-License-Identifier: Apache-2.0
"""Names of a version: which are free, which are taken back, and whether strangers may pull."""

import json
import os
import re
from pathlib import Path

from release_steps import Registry, needs_clients, step

pytestmark = needs_clients

# All names stand for what the record says, but for those of TAKEN.
TOLD = """#!/bin/sh
case "$*" in
*"$TAKEN"*"json .Manifest"*) echo '{"digest": "sha256:other"}' ;;
*"json .Manifest"*) jq --compact-output --arg name "$4" '.[] | select(.["image.name"] | split(",") | index($name))
    | {digest: .["containerimage.digest"]}' "$RECORD" ;;
esac
"""


def told_by(folder: Path, record: Path, taken: str) -> dict[str, str]:
    """The environment of clients to whom a registry tells digests of names."""
    for name, text in (("docker", TOLD), ("skopeo", "#!/bin/sh\n")):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "RECORD": str(record), "TAKEN": taken}


def test_what_was_half_made_is_taken_back_unless_a_name_is_another_s(record: Path, tmp_path: Path) -> None:
    digests = [entry["containerimage.digest"] for entry in json.loads(record.read_text()).values()]
    refused = step("undo", record, **told_by(tmp_path, record, taken="ping"))
    assert refused.returncode == 1
    assert "nothing was taken back" in refused.stderr
    assert all(digest in Registry.kept for digest in digests)

    done = step("undo", record, **told_by(tmp_path, record, taken="nobody"))
    assert done.returncode == 0, done.stderr
    assert [line.rpartition("@")[2] for line in done.stdout.splitlines()] == [
        f"{digest} is gone" for digest in digests
    ]
    assert not any(digest in Registry.kept for digest in digests)

    refused = step("undo", record, **told_by(tmp_path, record, taken="nobody"))
    assert refused.returncode == 1
    assert "does not delete" in refused.stderr


def test_github_takes_back_by_its_own_interface(record: Path, tmp_path: Path, registry: str) -> None:
    record.write_text(record.read_text().replace(registry, "ghcr.io/somebody/steelyard"))
    asked, client = tmp_path / "asked", tmp_path / "gh"
    client.write_text(
        f'#!/bin/sh\necho "$*" >>{asked}\ncase $* in *orgs*) exit 1 ;; *DELETE*) ;; *) echo 7 ;; esac\n',
        encoding="utf-8",
    )
    client.chmod(0o755)
    done = step("undo", record, **told_by(tmp_path, record, taken="nobody"))
    assert done.returncode == 0, done.stderr
    deleted = [line for line in asked.read_text().splitlines() if "DELETE" in line]
    assert len(deleted) == len(json.loads(record.read_text()))
    assert all(
        re.fullmatch(r"api --method DELETE users/somebody/packages/container/steelyard%2F\S+/versions/7", one)
        for one in deleted
    ), deleted
