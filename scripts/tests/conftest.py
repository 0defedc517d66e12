# SPDX-License-Identifier: Apache-2.0
"""What many tests need: an experiment file to change, and JVM identities as real JVMs report them."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from builders import make_jvm
from commands import Run, run_command
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

from steelyard.jvm.identity import JvmIdentity
from steelyard.paths import EXPERIMENTS
from steelyard.processes import Children
from steelyard.workload import trust
from suite import REPORTS

# The workload files that tests write are theirs; test_trust.py asks without it.
os.environ["STEELYARD_TRUST"] = "1"
# A failed assertion of a helper says what the values were, as one of a test does.
TESTS = Path(__file__).parent
helpers = {path.stem for path in TESTS.rglob("*.py")} | {
    path.parent.name for path in TESTS.glob("*/__init__.py")
}
pytest.register_assert_rewrite(*(helpers - sys.modules.keys()))

pytest_plugins = ["one_host", "release_steps", "stages", "turns", "unlimited", "watchdog"]

# What Hypothesis draws: the same cases each time, and with `--hypothesis-profile=exhaustive` very many others. No
# deadline: what a case may take is counted in CPU time where it matters (`hostile.py`).
settings.register_profile(
    "usual",
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "exhaustive", settings.get_profile("usual"), derandomize=False, max_examples=100_000
)
settings.load_profile("usual")
set_hypothesis_home_dir(REPORTS / "hypothesis")


@pytest.fixture(autouse=True, scope="session")
def _own_list_of_trust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests trust, and the sessions that they begin, nobody else does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trust, "TRUSTED", tmp_path_factory.mktemp("trust") / "kept")
        yield


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, str], Path]:
    """The jvm-count experiment with one piece of its text replaced."""

    def edit(old: str, new: str) -> Path:
        text = (EXPERIMENTS / "jvm-count.yaml").read_text(encoding="utf-8")
        assert old in text
        path = tmp_path / "changed.yaml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return path

    return edit


@pytest.fixture
def children() -> Iterator[Children]:
    with Children() as children:
        yield children


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str]) -> Run:
    return partial(run_command, capsys)


@pytest.fixture
def hotspot() -> JvmIdentity:
    return make_jvm("hotspot")


@pytest.fixture
def openj9() -> JvmIdentity:
    return make_jvm("openj9", 21)
