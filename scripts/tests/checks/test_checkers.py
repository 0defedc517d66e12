# SPDX-License-Identifier: Apache-2.0
"""Linters, types and formats of everything that is not Java."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.paths import ROOT

pytestmark = pytest.mark.checks
SCRIPTS = ROOT / "scripts"
BIN = Path(sys.executable).parent
PREBUILT = {"hadolint", "zizmor"}
"""Programs that their packages do not bring for every platform."""


def below_root(*patterns: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for pattern in patterns for path in sorted(ROOT.glob(pattern))]


PYTHON = (".",)
SHELL = below_root(
    *("images/**/*.sh", ".github/**/*.sh", "compose/**/*.sh", "k8s/**/*.sh"),
    *("scripts/tests/**/*.sh", "apps/testkit/**/*.sh"),
)
CHECKERS = {
    "Python format": (SCRIPTS, ["ruff", "format", "--check", *PYTHON]),
    "Python lint": (SCRIPTS, ["ruff", "check", *PYTHON]),
    "Python types": (SCRIPTS, ["mypy", "steelyard", "suite", "bench", "pages", "tests"]),
    "YAML lint": (
        ROOT,
        [
            "yamllint",
            "--strict",
            "experiments",
            "docs/examples",
            "compose",
            "k8s",
            ".github",
            ".yamllint.yaml",
            "mkdocs.yml",
        ],
    ),
    "spelling": (
        ROOT,
        [
            *("codespell", "--toml", "scripts/pyproject.toml"),
            *(".github", "compose", "docs", "experiments", "images", "k8s", "action.yml", "mkdocs.yml"),
            *("scripts/bench", "scripts/pages", "scripts/steelyard", "scripts/suite"),
            *below_root("*.md", "*/README.md", "apps/*/workload.yaml", "apps/databases/*.yaml"),
        ],
    ),
    "shell lint": (ROOT, ["shellcheck", "--external-sources", "steelyard", ".ci/run", *SHELL]),
    # DL3022 does not know that `COPY --from` may name a build context of the bake file.
    "Containerfile lint": (
        ROOT,
        ["hadolint", "--no-color", "--ignore", "DL3022", *below_root("images/*/Containerfile")],
    ),
    "workflow audit": (ROOT, ["zizmor", "--offline", "--no-progress", ".github"]),
}


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CHECKERS)
def test_checker(name: str) -> None:
    folder, (program, *arguments) = CHECKERS[name]
    if program in PREBUILT and not (BIN / program).exists():
        pytest.skip(f"{program} is not to be had for this platform")
    run(folder, str(BIN / program), *arguments)


def test_workflow_lint() -> None:
    if shutil.which("actionlint") is None and shutil.which("go") is None:
        pytest.skip("neither actionlint nor go, which compiles it, is on PATH")
    run(ROOT, ".github/scripts/lint.sh")
