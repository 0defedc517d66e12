# SPDX-License-Identifier: Apache-2.0
"""What `--json` prints is UTF-8, whatever standard output takes for text."""

import json
import os
import subprocess
import sys

import pytest

from steelyard.paths import ROOT

PRINTS = """
from steelyard.cli.options import print_json
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
