# SPDX-License-Identifier: Apache-2.0
"""What `--json` prints is UTF-8, whatever standard output takes for text."""

import json
import os
import subprocess
import sys

import pytest

from steelyard.cli.console import print_json
from steelyard.paths import ROOT

PRINTS = """
from steelyard.cli.console import print_json
print_json({"title": "Gebühr 測定 \\U0001f4a1", "file": "odd\\udcff"})
"""


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_json_is_utf8_and_may_hold_anything(encoding: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "PYTHONIOENCODING": encoding}
    printed = subprocess.run([sys.executable, "-c", PRINTS], env=environment, capture_output=True, check=True)
    text = printed.stdout.decode("utf-8")
    assert '"title": "Gebühr 測定 \U0001f4a1"' in text
    assert json.loads(text) == {"title": "Gebühr 測定 \U0001f4a1", "file": "odd\udcff"}
    assert text.endswith("}\n")


def test_json_has_nothing_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON escapes the first 32 characters by itself; a terminal obeys more."""
    odd = "\x1b[31m \x9b31m \x85 \x7f \u202egnp.exe \u2066 Gebühr"
    print_json({odd: [odd]})
    text = capsys.readouterr().out
    assert text.replace("\n", "").isprintable()
    assert "Gebühr" in text
    assert json.loads(text) == {odd: [odd]}
