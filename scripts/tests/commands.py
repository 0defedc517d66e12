# SPDX-License-Identifier: Apache-2.0
"""Steelyard's command line in this process, and what it said."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steelyard.cli.app import main


class Result(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What it printed with `--json`."""
        document: dict[str, Any] = json.loads(self.out)
        return document


Run = Callable[..., Result]


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Result:
    """Run a command to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["steelyard", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    output = capsys.readouterr()
    return Result(int(ended.value.code or 0), output.out, output.err)
