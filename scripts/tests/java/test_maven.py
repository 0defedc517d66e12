# SPDX-License-Identifier: Apache-2.0
"""The Java parts: one run of Maven, whose own tests `./steelyard test` counts from the reports of its plugins."""

import pytest
from stages import Beside

pytestmark = pytest.mark.java


def test_maven_builds_tests_and_finds_every_file_formatted(beside: Beside) -> None:
    beside.finish("maven")
