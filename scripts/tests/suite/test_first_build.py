# SPDX-License-Identifier: Apache-2.0
"""What is built beside pip at first use: what the command line surely needs, by pydantic and PyYAML alone."""

import subprocess
import sys

import pytest

from steelyard.errors import BadInput
from steelyard.paths import PYTHON_PATH
from suite.first_build import find_packages


@pytest.mark.parametrize(
    ("line", "packages"),
    [
        ("run jvm-count --quick", ["loadgen", "ping"]),
        ("run --out x jvm-count --workload acmeair", ["loadgen"]),  # its topology says which servers
        ("run virtual-threads", ["loadgen"]),
        ("up ping", ["ping"]),
        ("up acmeair", []),
        ("plan jvm-count", []),
        ("run jvm-count --engine compose", []),
        ("run k8s-scale", []),
        ("run mine.yaml", []),
        ("run", []),
        ("up", []),
        ("", []),
    ],
)
def test_only_what_is_surely_needed(line: str, packages: list[str]) -> None:
    assert sorted(find_packages(line.split())) == packages


def test_a_wrong_name_is_left_to_the_command() -> None:
    with pytest.raises(BadInput):
        find_packages(["up", "pnig"])


def test_it_needs_no_large_package() -> None:
    large = "{'numpy', 'scipy', 'matplotlib', 'rich', 'psutil'}"
    command = f"import sys, suite.first_build; print(*{large} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=PYTHON_PATH, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"
