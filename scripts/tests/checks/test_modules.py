# SPDX-License-Identifier: Apache-2.0
"""Test modules whose folder is no package are imported by the name of their file alone: each needs one of its own."""

from collections import Counter

import pytest
from checks.names import SCRIPTS

pytestmark = pytest.mark.checks


def test_no_two_test_modules_are_imported_by_one_name() -> None:
    files = [path for path in (SCRIPTS / "tests").rglob("*.py") if not (path.parent / "__init__.py").exists()]
    names = Counter(path.stem for path in files if path.stem != "conftest")
    assert {name for name, times in names.items() if times > 1} == set()
