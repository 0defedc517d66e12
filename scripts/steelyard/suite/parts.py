# SPDX-License-Identifier: Apache-2.0
"""What stages of several kinds are made of."""

import shutil
import sys

from steelyard.paths import CACHE, ROOT
from steelyard.suite.runner import Stage

REPORTS = CACHE / "test"
"""Where stages leave what they found."""


def on_path(program: str) -> str | None:
    """Why a stage that needs the program cannot run; None where it can."""
    return None if shutil.which(program) else f"{program} is not on PATH"


def pytest_stage(name: str, marker: str, report: str) -> Stage:
    """Those of the Python tests that a marker expression names."""
    file = f"{report}.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--color=no",
        *("--durations=5", "--durations-min=10"),
        "-m",
        marker,
        f"--junitxml={REPORTS / file}",
    ]
    return Stage(name, command, ROOT / "scripts", REPORTS, file)
