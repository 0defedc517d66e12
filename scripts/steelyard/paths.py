# SPDX-License-Identifier: Apache-2.0
"""Where things lie: in a checkout, or in an installed release.

A release is a wheel, which brings the parts of a checkout that are no sources in a folder of the package.
"""

import os
import re
import shlex
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
PYTHON_PATH = _PACKAGE.parent
"""What Python needs on its path to find the harness."""
_RELEASE = _PACKAGE / "_release"
IS_RELEASE = _RELEASE.is_dir()
"""Whether this is an installed release, which has no sources of the Java parts and no commits."""
ROOT = _RELEASE if IS_RELEASE else PYTHON_PATH.parent
"""Top folder of the checkout, or what stands for it."""
PROGRAM = "steelyard" if IS_RELEASE else "./steelyard"
"""How the command is typed."""
LAUNCHER = PROGRAM if IS_RELEASE else shlex.quote(str(ROOT / "steelyard"))
"""How it is typed in any folder."""
EXPERIMENTS = ROOT / "experiments"
RESULTS = Path("results") if IS_RELEASE else ROOT / "results"
CACHE = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard"
    if IS_RELEASE
    else ROOT / ".steelyard"
)
"""Builds and the Python environment; may be deleted at any time, it is made again."""


_DOCUMENT = re.compile(r"(?<![\w/])docs/(?=[\w/-]+\.md)")


def typed_launcher(folder: Path) -> str:
    """How the command is typed in a folder, which need not be the top of the checkout."""
    return PROGRAM if folder == ROOT else LAUNCHER


def name_program(text: str) -> str:
    """A text with its commands as they are typed here, and with its documents where they lie."""
    return _DOCUMENT.sub(f"{ROOT}/docs/", text.replace("./steelyard", PROGRAM)) if IS_RELEASE else text


def is_there(path: Path) -> bool:
    """Whether there is a file or a folder, as far as this user can see: where a path is too long or leads through the
    closed folder of another user, `Path.exists` raises OSError (before Python 3.14), and so do the two below."""
    return os.path.exists(path)  # noqa: PTH110


def is_folder(path: Path) -> bool:
    """Whether there is a folder, as far as this user can see."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Whether there is a file, as far as this user can see."""
    return os.path.isfile(path)  # noqa: PTH113
