# SPDX-License-Identifier: Apache-2.0
"""The builder of small sessions lies with the tests of the analysis."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "analysis"))
