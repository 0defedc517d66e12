# SPDX-License-Identifier: Apache-2.0
"""What the harness image takes beside its base is collected anew when the recipe changed, and only then."""

import hashlib
import re
from pathlib import Path

import pytest

from steelyard.images import inputs
from steelyard.paths import ROOT

SCRIPT = ROOT / "images" / "harness" / "inputs.sh"


def key_files() -> list[Path]:
    """The files whose contents make up the key, as inputs.sh names them."""
    text = SCRIPT.read_text(encoding="utf-8")
    found = re.search(r"^key=\$\(cat (.*?)\|", text, re.MULTILINE | re.DOTALL)
    assert found
    named = found.group(1).replace("$lock", "$root/scripts/requirements.lock")
    return [ROOT / name for name in re.findall(r'"\$root/([^"]+)"', named)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Inputs as inputs.sh leaves them."""
    text = b"".join(path.read_bytes() for path in key_files())
    (tmp_path / "site.key").write_text(hashlib.sha256(text).hexdigest()[:32] + "-3.11\n")
    for name in ("site", "system", "docker"):
        (tmp_path / name).mkdir()
    for name in ("docker", "docker-compose"):
        (tmp_path / "docker" / name).touch()
    return tmp_path


def test_what_the_script_left_is_known_by_its_key(folder: Path) -> None:
    assert len(key_files()) == 4
    assert inputs._is_ready(folder)


@pytest.mark.parametrize("missing", ["site.key", "docker/docker", "docker/docker-compose"])
def test_what_is_incomplete_is_collected_again(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    assert not inputs._is_ready(folder)


def test_what_an_older_recipe_made_is_collected_again(folder: Path) -> None:
    # As it was before there were libraries beside the packages: the key of the lock file alone.
    lock = hashlib.sha256((ROOT / "scripts" / "requirements.lock").read_bytes()).hexdigest()[:32]
    (folder / "site.key").write_text(f"{lock}-3.11\n")
    assert not inputs._is_ready(folder)


def test_inputs_without_their_libraries_are_collected_again(folder: Path) -> None:
    (folder / "system").rmdir()
    assert not inputs._is_ready(folder)
