# SPDX-License-Identifier: Apache-2.0
"""A release without a forge: which steps are gone through in which order, and what the table says of each platform."""

import json
from pathlib import Path

import pytest

from steelyard.images.catalogue import read_catalogue
from suite.rehearse import COLUMNS, Rehearsal

AMD64, ARM64, PPC64LE = "linux/amd64", "linux/arm64", "linux/ppc64le"
TARGETS = [target for name, image in read_catalogue().items() for target in image.targets(name)]


class Steps(Rehearsal):
    """Steps that leave what the real ones leave, and do nothing."""

    def __init__(self, definition: Path, folder: Path) -> None:
        super().__init__(definition, folder)
        self.log: list[tuple[str, list[str]]] = []

    def run(self, name: str, *command: str | Path, code: int = 0) -> str:
        del code
        self.log.append((name, [str(word) for word in command]))
        if name == "build":
            self.record.write_text(json.dumps(self.entries(AMD64, ARM64)), encoding="utf-8")
        elif name.startswith("start-"):
            platform = str(command[1])
            failed = (
                [{"target": "loadgen", "platform": ARM64, "why": "it ended"}] if platform == ARM64 else []
            )
            Path(command[3]).write_text(json.dumps({"platform": platform, "failed": failed}), "utf-8")
        elif name == "drop":
            entries = self.entries(AMD64, ARM64)
            del entries["loadgen"]["platforms"][ARM64]
            self.new_record.write_text(json.dumps(entries), encoding="utf-8")
        return ""

    def entries(self, *platforms: str) -> dict[str, dict[str, dict[str, str]]]:
        entry = {
            "image.name": "127.0.0.1:1/o/NAME:1",
            "containerimage.digest": "sha256:index",
            "platforms": dict.fromkeys(platforms, "sha256:a"),
            "missing": {PPC64LE: "no such package"},
        }
        names: list[str] = json.loads(self.definition.read_text(encoding="utf-8"))
        return {name: json.loads(json.dumps(entry).replace("NAME", name)) for name in names}


@pytest.mark.parametrize(("targets", "bundled"), [(TARGETS, "yes"), (["loadgen", "harness"], "no")])
def test_every_step_of_a_release_is_gone_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, targets: list[str], bundled: str
) -> None:
    monkeypatch.delenv("SBOM", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    definition = tmp_path / "definition.json"
    definition.write_text(json.dumps(targets), encoding="utf-8")
    rehearsal = Steps(definition, tmp_path)
    rehearsal.all_steps()
    names = [name for name, _ in rehearsal.log if not name.startswith("pull-")]
    assert names == [
        *("free", "build", "start-amd64", "start-arm64", "drop"),
        *(["bundles"] if bundled == "yes" else []),
        *("tag", "tag-again", "public", "undo", "free-again"),
    ]
    # Bundles and pulls are of the record that drop.sh wrote.
    commands = dict(rehearsal.log)
    if bundled == "yes":
        assert str(rehearsal.new_record) in commands["bundles"]
    assert commands["pull-loadgen-amd64"][-1] == "127.0.0.1:1/o/loadgen@sha256:index"
    assert "pull-harness-arm64" in commands
    assert "pull-loadgen-arm64" not in commands
    assert "pull-harness-ppc64le" not in commands
    cells = rehearsal.cells
    whole = {**dict.fromkeys(COLUMNS, "yes"), "SBOM": "no", "signed": "no", "bundled": bundled}
    assert cells["harness", ARM64] == whole
    assert cells["loadgen", ARM64] == {
        **dict.fromkeys(COLUMNS, "no"),
        "built": "yes",
        "started": "no: it ended",
    }
    assert cells["harness", PPC64LE] == {**dict.fromkeys(COLUMNS, "no"), "built": "no: no such package"}
    assert "| `harness` | linux/ppc64le | no: no such package |" in rehearsal.table()
