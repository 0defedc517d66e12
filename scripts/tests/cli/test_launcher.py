# SPDX-License-Identifier: Apache-2.0
"""The launcher: odd environments do not reach what it starts, a tool that fails is quoted, and no error looks like one
of the gate's verdicts."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.errors import Exit
from steelyard.paths import ROOT

PYTHON = r"""#!/bin/sh
# Stands in for Python: says of itself that it is new enough, makes environments that hold it, and shows what it got.
case "$1 $2" in
"-c "*) [ -z "${PYTHONHOME-}" ] ;;
"-m venv") FAILS; mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/pip" ;;
"-m pip") echo "WARNING: slow"; PIP; echo "user:${PIP_USER-}" >"$(dirname "$0")/pip.env" ;;
"-m suite.first_build") shift 2; echo "$@" >"$(dirname "$0")/built" ;;
"-m steelyard") if [ "$3" = run ]; then until [ -e "$(dirname "$0")/built" ]; do :; done; fi; env | sort ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "Prüfstand"
    (root / "scripts/steelyard").mkdir(parents=True)
    shutil.copy(ROOT / "steelyard", root)
    for name in ("requirements.txt", "requirements-test.txt", "steelyard/__main__.py"):
        (root / "scripts" / name).write_text("x\n", encoding="utf-8")
    return root


def launch(
    root: Path, venv: str = ":", pip: str = ":", words: str = "list", **environment: str
) -> subprocess.CompletedProcess[str]:
    python = root / "python"
    python.write_text(PYTHON.replace("FAILS", venv).replace("PIP;", f"{pip};"), encoding="utf-8")
    python.chmod(0o755)
    given = {"PATH": os.environ["PATH"], "STEELYARD_PYTHON": str(python), **environment}
    return subprocess.run(
        [root / "steelyard", *words.split()], env=given, capture_output=True, text=True, check=False
    )


def test_odd_environments_reach_neither_pip_nor_the_harness(checkout: Path) -> None:
    odd = {
        **dict.fromkeys(("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX"), "/nonexistent"),
        "PIP_USER": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "HOME": "/nonexistent",
        "PIP_INDEX_URL": "https://packages.example/simple",
    }
    done = launch(checkout, **odd)
    assert done.returncode == 0, done.stderr
    told = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    assert told["LC_ALL"] == "C.UTF-8"
    assert not told.keys() & (odd.keys() - {"PYTHONPATH", "LC_ALL", "HOME", "PIP_INDEX_URL"})
    assert told["PYTHONPATH"] == f"{checkout}/scripts"
    assert told["PIP_INDEX_URL"] == odd["PIP_INDEX_URL"]
    assert told["MPLCONFIGDIR"].startswith(str(checkout))
    assert (checkout / ".steelyard/venv/bin/pip.env").read_text(encoding="utf-8") == "user:\n"


def test_pip_is_quoted_by_its_first_error_and_kept_whole(checkout: Path) -> None:
    done = launch(checkout, pip="echo ERROR: no route >&2; echo ERROR: at all >&2; exit 1")
    assert done.returncode == Exit.ENVIRONMENT
    log = checkout / ".steelyard/python.log"
    assert f"cannot install the Python packages: ERROR: no route (all that pip said: {log})" in done.stderr
    assert "at all" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("said", "hinted"), [("Error: no space", False), ("ensurepip is not available", True)]
)
def test_why_there_is_no_environment(checkout: Path, said: str, hinted: bool) -> None:
    done = launch(checkout, venv=f"echo '{said}' >&2; exit 1")
    assert done.returncode == Exit.ENVIRONMENT
    assert f"cannot make a Python environment: {said}" in done.stderr
    assert ("install python3" in done.stderr) == hinted
    assert not (checkout / ".steelyard/venv").exists()


def test_an_environment_whose_python_has_gone_is_made_again(checkout: Path) -> None:
    assert launch(checkout).returncode == 0
    python = checkout / ".steelyard/venv/bin/python"
    python.unlink()
    python.symlink_to("/nonexistent/python3")
    assert launch(checkout).returncode == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda root: shutil.rmtree(root / "scripts"),
        lambda root: (root / ".steelyard").write_text("a file", encoding="utf-8"),
        lambda root: (root / "scripts/requirements.txt").unlink(),
    ],
)
def test_no_error_ends_with_a_verdict_of_the_gate(checkout: Path, spoil: object) -> None:
    assert callable(spoil)
    spoil(checkout)
    done = launch(checkout)
    assert done.returncode == Exit.ENVIRONMENT, done.stderr
    assert done.stderr.splitlines()[-1].startswith("steelyard: ")


def test_the_java_parts_are_built_beside_pip(checkout: Path) -> None:
    lock = checkout / "scripts/requirements.txt"
    lock.write_text("pydantic==1 \\\n    --hash=a\nscipy==1 \\\n    --hash=b\n", encoding="utf-8")
    keep_words = 'shift 2; echo "$@" >>"$(dirname "$0")/pips"'
    assert launch(checkout, pip=keep_words, words="run jvm-count").returncode == 0
    first, whole = (checkout / ".steelyard/venv/bin/pips").read_text(encoding="utf-8").splitlines()
    assert "--no-deps" in first
    assert whole.endswith(str(lock))
    assert Path(first.split()[-1]).read_text(encoding="utf-8") == "pydantic==1 \\\n    --hash=a\n"
    # Whether beside it or before: the harness that stands in waits for it, and both end together.
    assert (checkout / ".steelyard/venv/bin/built").exists()

    assert launch(checkout, words="run jvm-count").stderr == ""


def test_a_command_that_builds_nothing_builds_nothing_beside_pip(checkout: Path) -> None:
    assert launch(checkout, words="plan jvm-count").returncode == 0
    assert not (checkout / ".steelyard/first.lock").exists()
