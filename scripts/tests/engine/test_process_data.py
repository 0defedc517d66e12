# SPDX-License-Identifier: Apache-2.0
"""What a trial of processes gets of a data set that was loaded once."""

import os
from pathlib import Path

import pytest
from planned import specs

from steelyard.engines.process.deployment import copy_data


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    for name in ("database/seg0", "files/e1.jpg", "filesystem"):
        path = tmp_path / "loaded" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path / "loaded"


def test_what_is_written_once_is_linked_and_all_else_copied(loaded: Path, tmp_path: Path) -> None:
    trial = tmp_path / "trial"
    copy_data(loaded, trial, ["files", "none"])
    linked = {
        path.relative_to(trial).as_posix(): path.samefile(loaded / path.relative_to(trial))
        for path in trial.rglob("*")
        if path.is_file()
    }
    assert linked == {"database/seg0": False, "files/e1.jpg": True, "filesystem": False}
    (trial / "files" / "e1.jpg").unlink()
    assert (loaded / "files" / "e1.jpg").read_text(encoding="utf-8") == "files/e1.jpg"


def test_a_file_system_without_links_gets_copies(
    loaded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(1, f"no link {target} to {source}")

    monkeypatch.setattr(os, "link", refuse)
    copy_data(loaded, tmp_path / "trial", ["files"])
    copied = tmp_path / "trial" / "files" / "e1.jpg"
    assert copied.read_text(encoding="utf-8") == "files/e1.jpg"
    assert not copied.samefile(loaded / "files" / "e1.jpg")


def test_olio_s_filestore_is_written_once_wherever_it_lies() -> None:
    for experiment, workload in (("olio-fixed-load", None), ("cpu-limits", "olio")):
        for spec in specs(experiment, workload=workload).values():
            (keeper,) = (component for component in spec.components if component.data)
            assert keeper.write_once == ["files"]
