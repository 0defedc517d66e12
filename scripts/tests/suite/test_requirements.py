# SPDX-License-Identifier: Apache-2.0
"""Python's packages: what is asked for (.in) and what is locked (.txt) agree, as pairs that the update robot sees."""

import re
from pathlib import Path

import pytest

from steelyard.paths import ROOT

ASKED = sorted((ROOT / "scripts").glob("requirements*.in"))


def packages_in(path: Path) -> dict[str, str]:
    """By package, in the spelling that all agree on, the version; "" where there is none."""
    lines = re.findall(r"^([A-Za-z][\w.-]*)(?:==([\w.]+))?", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in lines}


def test_each_has_its_pair() -> None:
    locked = sorted(path.with_suffix(".txt") for path in ASKED)
    assert locked == sorted((ROOT / "scripts").glob("requirements*.txt"))
    assert len(ASKED) == 3


@pytest.mark.parametrize("asked", ASKED, ids=lambda path: path.stem)
def test_what_is_asked_for_is_what_is_locked(asked: Path) -> None:
    lock = asked.with_suffix(".txt")
    locked = packages_in(lock)
    assert locked
    assert all(locked.values())
    for name, version in packages_in(asked).items():
        assert locked[name] == (version or locked[name]), name
    # The robot compiles a pair anew by this line; with another name it would change the one and not the other.
    assert f" --output-file={lock.name} " in lock.read_text(encoding="utf-8")
    assert re.search(rf" {re.escape(asked.name)}$", lock.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_tests_run_on_what_users_run_on() -> None:
    used, tested = (
        packages_in(ROOT / "scripts" / f"{name}.txt") for name in ("requirements", "requirements-test")
    )
    assert used.items() <= tested.items()
