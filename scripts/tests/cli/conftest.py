# SPDX-License-Identifier: Apache-2.0
"""A session that the commands show."""

import pytest
from planned import question, session_of, specs_of

from steelyard.results.schema import Session


@pytest.fixture(scope="module")
def session() -> Session:
    found = question("jvm-count", quick=True)
    return session_of(found, specs_of(found), blocks=3)
