# SPDX-License-Identifier: Apache-2.0
"""Finds and reads workload files: the project's own by name, anybody's by path."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from steelyard.errors import BadInput
from steelyard.paths import ROOT
from steelyard.workload.choices import Choices, choose, read_choices
from steelyard.workload.schema import Workload
from steelyard.yamlfile import Scalar, find_file, read_yaml

APPS = ROOT / "apps"


class LoadedWorkload(NamedTuple):
    """A workload and the folder that its paths start from."""

    workload: Workload
    folder: Path
    choices: Choices = MappingProxyType({})

    def choose(
        self, topology: str | None, given: Mapping[str, Scalar], *, in_containers: bool
    ) -> "LoadedWorkload":
        """The same with the components that settings choose in a topology (raises BadInput)."""
        chosen = choose(
            self.workload, self.choices, self.folder, topology, given, in_containers=in_containers
        )
        return self._replace(workload=chosen)

    def package_path(self, name: str) -> Path:
        """Where a package's archive or folder lies."""
        package = self.workload.packages[name]
        return (self.folder / (package.archive or package.folder or "")).resolve()

    def require_text(self, path: str) -> Path:
        """A text that a path of the file names, which starts from its folder.

        Raises:
            BadInput: it is not there, or is no text.
        """
        file = (self.folder / path).resolve()
        try:
            file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{self.workload.name}: {file} is no text (UTF-8), and files are copied as texts"
            ) from error
        except OSError as error:
            raise BadInput(
                f"{self.workload.name}: files: {path}: {file} cannot be read ({os.strerror(error.errno or 0)}): paths"
                " in a workload file start from its own folder"
            ) from error
        return file


def _files() -> dict[str, Path]:
    return {path.parent.name: path for path in sorted(APPS.glob("*/workload.yaml"))}


def workload_names() -> list[str]:
    """Names of the project's own workloads."""
    return list(_files())


def workload_file(name: str) -> Path:
    """The file of a workload by name or path (raises BadInput)."""
    return find_file(
        name, _files(), "workload", ", or the path of a workload file (docs/workloads.md)"
    ).resolve()


@cache
def load_workload(name: str) -> LoadedWorkload:
    """A workload by name (`acmeair`) or by the path of its file (raises BadInput)."""
    return load_file(workload_file(name))


def load_file(path: Path) -> LoadedWorkload:
    """The workload of a file as it is now (raises BadInput)."""
    workload = read_yaml(path, Workload, "a workload")[0]
    return LoadedWorkload(workload, path.parent, read_choices(workload, path))
