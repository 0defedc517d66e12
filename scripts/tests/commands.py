# SPDX-License-Identifier: Apache-2.0
"""Steelyard's command line in this process, and what it said."""

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from steelyard.cli.app import main


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What it printed with `--json`."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> Result:
    """Run a command to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["steelyard", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    output = capsys.readouterr()
    return Result(int(ended.value.code or 0), output.out, output.err)
