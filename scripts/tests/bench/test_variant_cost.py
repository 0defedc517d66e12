# SPDX-License-Identifier: Apache-2.0
"""Parts of `bench/variant_cost.py`: patches that apply, the load's chain and names, frames, the table's cells."""

import re
import subprocess
from pathlib import Path

import pytest
from variant_browser import NEXT, PERSONS, TAGS, USERS, name_of
from variant_build import find_variants, patched_sources
from variant_cost import _cells
from variant_loads import LOADS
from variant_socket import text_frame

from steelyard.paths import ROOT

STEPS = ROOT / "loadgen/src/main/java/dev/steelyard/loadgen/journey/olio/OlioStep.java"


@pytest.mark.parametrize("name", sorted(find_variants()))
def test_each_patch_applies_to_the_module_that_it_names(name: str, tmp_path: Path) -> None:
    variant = find_variants()[name]
    changed = re.findall(r"^\+\+\+ b/(\S+)", variant.path.read_text(encoding="utf-8"), re.MULTILINE)
    assert changed
    assert all(path.startswith(f"{variant.module}/src/main/") for path in changed)
    assert variant.about.endswith("as in the original.")
    assert variant.package in LOADS
    before = {path: (ROOT / path).read_bytes() for path in changed if (ROOT / path).exists()}
    patched_sources(variant, tmp_path)
    assert all((tmp_path / path).read_bytes() != before.get(path) for path in changed)


def test_a_patch_that_does_not_apply_ends_the_program(tmp_path: Path) -> None:
    variant = find_variants()["daytrader7-json"]
    other = tmp_path / "other.patch"
    text = variant.path.read_text(encoding="utf-8")
    other.write_text(
        text.replace("-    JsonObjectBuilder json", "-    JsonObjectBuilder other"), encoding="utf-8"
    )
    with pytest.raises(subprocess.CalledProcessError):
        patched_sources(type(variant)(other, variant.about, variant.module), tmp_path / "sources")


def test_users_go_through_the_published_chain() -> None:
    rows = re.findall(
        r'^  [A-Z_]+\("([a-z-]+)", \d+, ([\d, ]+)\)', STEPS.read_text(encoding="utf-8"), re.MULTILINE
    )
    names = [name for name, _ in rows]
    chain = {
        name: {
            other: int(share) for other, share in zip(names, shares.split(", "), strict=True) if share != "0"
        }
        for name, shares in rows
    }
    assert chain == NEXT


def test_names_and_rows_are_those_of_the_data_set() -> None:
    assert name_of(1) == "b00lp4smo"
    page = (ROOT / "docs/reference/olio.md").read_text(encoding="utf-8")
    assert f"| {USERS} | {PERSONS:,} | {3 * TAGS:,} |" in page


def test_a_text_is_sent_in_one_masked_frame() -> None:
    frame = text_frame('{"action":"update"}')
    assert frame[0] == 0x81
    assert frame[1] == 0x80 | 19
    mask, content = frame[2:6], frame[6:]
    assert bytes(byte ^ mask[i % 4] for i, byte in enumerate(content)) == b'{"action":"update"}'
    with pytest.raises(ValueError, match="no message of a benchmark is that long"):
        text_frame("x" * 126)


def test_ratios_are_geometric_means_with_an_interval() -> None:
    values = {"present": [0.002, 0.002, 0.004], "variant": [0.001, 0.001, 0.002]}
    assert _cells(values, 1e3, 3) == "2.520 | 1.260 | 0.500 (0.500 to 0.500)"
    assert _cells({"present": [], "variant": []}, 1, 1) == "- | - | -"
    assert _cells({"present": [1.0, -1.0], "variant": [1.0, 1.0]}, 1, 1) == "- | - | -"
