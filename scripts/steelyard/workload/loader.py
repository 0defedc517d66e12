# SPDX-License-Identifier: Apache-2.0
"""Finds and reads workload files: the project's own by name, anybody's by path."""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import BadInput
from steelyard.paths import ROOT
from steelyard.workload.schema import Workload
from steelyard.yamlfile import nearest, read_yaml

APPS = ROOT / "apps"


class Found(NamedTuple):
    """A workload and the folder that its paths start from."""

    workload: Workload
    folder: Path

    def package_path(self, name: str) -> Path:
        """Where a package's archive or folder lies."""
        package = self.workload.packages[name]
        return (self.folder / (package.archive or package.folder or "")).resolve()


def workload_names() -> list[str]:
    """Names of the project's own workloads."""
    return sorted(path.parent.name for path in APPS.glob("*/workload.yaml"))


@cache
def load_workload(name: str) -> Found:
    """A workload by name (`acmeair`) or by the path of its file.

    Raises:
        BadInput: there is no such workload, or its file is refused.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name).resolve()
        if not os.path.isfile(path):  # noqa: PTH113 - the other raises for a name that is too long
            raise BadInput(f"there is no workload file {name}: check the path")
    else:
        path = APPS / name / "workload.yaml"
        if "/" in name or not os.path.isfile(path):  # noqa: PTH113 - the same
            known = workload_names()
            raise BadInput(
                f"unknown workload {name!r}{nearest(name, known)}: there are {', '.join(known)}, or the"
                " path of a workload file (docs/workloads.md)"
            )
    workload, _ = read_yaml(path, Workload, "a workload")
    return Found(workload, path.parent)
