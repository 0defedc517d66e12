# SPDX-License-Identifier: Apache-2.0
"""The planted faults of `bench/mutants.py`: none is missing, each still applies, and the document says who tells it."""

import importlib
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steelyard.paths import ROOT

SCRIPTS = ROOT / "scripts"
DOCUMENT = ROOT / "docs" / "development.md"
FAULTS = {
    *(
        "baseline-swapped",
        "effect-sign",
        "pairing",
        "sd-for-variance",
        "z-for-t",
        "correction-dropped",
        "voids-counted",
    ),
    *("window-steady", "window-ramp-up", "first-look"),
    *("first-process", "main-thread", "role-swapped", "gap-ignored", "unit-factor", "milliseconds"),
    "neighbour-counter",
    *("last-bucket", "errors-as-success", "exclusive-limit"),
    *("stale-settings", "order-on-resume", "torn-journal"),
}
"""Kinds of fault that the suite has to tell. One that is taken out here is a promise given up."""
_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (.+) \| `(tests/\S+?\.py)::(\w+).*` \|$", re.MULTILINE)


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS / "bench"))
    return importlib.import_module("mutants")


def test_every_kind_of_fault_has_a_patch(mutants: Any) -> None:
    assert {fault.name for fault in mutants.faults()} == FAULTS


def test_patches_change_the_harness_alone_and_name_tests(mutants: Any) -> None:
    for fault in mutants.faults():
        changed = re.findall(r"^\+\+\+ b/(\S+)", fault.path.read_text(encoding="utf-8"), re.MULTILINE)
        assert changed, fault.name
        assert all(name.startswith("scripts/steelyard/") for name in changed), fault.name
        assert fault.tests, fault.name
        assert all((SCRIPTS / name).exists() for name in fault.tests), fault.name


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_each_patch_applies(mutants: Any, name: str) -> None:
    (fault,) = mutants.faults([name])
    done = subprocess.run(
        ["git", "apply", "--check", fault.path],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"change {fault.path.name} with the code that it is planted in: {done.stderr}"
    )


def test_the_document_says_which_test_tells_each_fault(mutants: Any) -> None:
    rows = {name: row for name, *row in _ROW.findall(DOCUMENT.read_text(encoding="utf-8"))}
    assert rows.keys() == FAULTS
    for fault in mutants.faults():
        wrong, file, function = rows[fault.name]
        assert wrong == fault.wrong
        assert f"def {function}(" in Path(SCRIPTS / file).read_text(encoding="utf-8"), fault.name


def test_a_name_that_is_no_fault_is_refused(mutants: Any) -> None:
    with pytest.raises(SystemExit, match="no fault is called nobody: see --list"):
        mutants.faults(["nobody"])
