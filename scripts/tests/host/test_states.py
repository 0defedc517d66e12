# SPDX-License-Identifier: Apache-2.0
"""The table of host states: on trees of files, and as the one place that knows where a state lives."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from trees import PAGES, THP, Kernel, put

import steelyard
from steelyard.errors import BadInput, MissingRequirement
from steelyard.experiment.loader import experiment_files
from steelyard.host.doctor import TOPICS
from steelyard.host.huge_pages import reserved_pages
from steelyard.host.states import STATES, fill_page, find_state, read_states
from steelyard.host.system import Seen, System
from steelyard.host.tune import advise
from steelyard.paths import EXPERIMENTS, ROOT

THP_STATE, PAGES_STATE = STATES["thp"], STATES["huge_pages"]


def test_values_are_read_as_they_can_be_written_again(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    assert read_states(kernel) == {"thp": "madvise", "huge_pages": "0"}
    for name, value in (("thp", "never"), ("huge_pages", "700")):
        STATES[name].set(kernel, value)
        assert STATES[name].read(kernel) == value
    assert (kernel.text(THP), kernel.text(PAGES)) == ("always madvise [never]", "700")


def test_a_value_that_is_set_is_not_written_again(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    THP_STATE.set(kernel, "madvise")
    assert kernel.writes == []


@pytest.mark.parametrize(
    ("wanted", "pages"), [(0, "0"), (512, "512"), ("512", "512"), ("1g", "512"), ("3m", "2"), ("1gb", "512")]
)
def test_huge_pages_are_a_number_or_a_size(tmp_path: Path, wanted: str | int, pages: str) -> None:
    assert PAGES_STATE.value(Kernel(tmp_path), wanted) == pages


def test_pages_of_another_default_size(tmp_path: Path) -> None:
    """POWER's hash MMU has pages of 16 MiB."""
    put(tmp_path, "proc/meminfo", "MemTotal: 8388608 kB\nHugepagesize: 16384 kB")
    put(tmp_path, "sys/kernel/mm/hugepages/hugepages-16384kB/nr_hugepages", "3")
    put(tmp_path, "sys/kernel/mm/hugepages/hugepages-16777216kB/nr_hugepages", "1")
    system = System(tmp_path)
    assert PAGES_STATE.value(system, "1g") == "64"
    assert PAGES_STATE.read(system) == "3"
    assert reserved_pages(system) == {"16384": 3, "16777216": 1}
    assert PAGES_STATE.judge(system).state == "3 of 16 MiB, 1 of 16.0 GiB"


@pytest.mark.parametrize(
    ("name", "wanted", "reason"),
    [
        ("thp", "sometimes", "it takes always, madvise or never"),
        ("thp", True, "is no mode"),
        ("huge_pages", True, "is no number of pages"),
        ("huge_pages", 1.5, "is no number of pages"),
        ("huge_pages", -1, "is not a size"),
        ("huge_pages", "lots", "is not a size"),
        ("huge_pages", "9g", "more than this host's 8,192 MiB of memory"),
        ("huge_pages", 4097, "more than this host's"),
    ],
)
def test_what_is_no_value_is_refused(tmp_path: Path, name: str, wanted: str | float, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        STATES[name].value(Kernel(tmp_path), wanted)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("huge_pages", "node0=512 node1=0"),
        ("governor", "policy0=powersave policy2=performance"),
        ("irq_affinity", "40=0 41=1-3"),
        ("cpus_online", "0-3,8"),
        ("turbo", "on"),
    ],
)
def test_the_command_that_sets_a_state_can_be_typed(name: str, value: str) -> None:
    assert shlex.split(STATES[name].command(value)) == [
        *("sudo", "./steelyard", "host", "set"),
        f"{name}={value}",
    ]


def test_an_unknown_state_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadInput, match="no host state 'pages': known are thp, huge_pages"):
        find_state("pages")


def test_a_host_without_a_state_says_so(tmp_path: Path) -> None:
    system = System(tmp_path)
    assert read_states(system) == {}
    for state in STATES.values():
        assert state.observation(system) == Seen(state.missing(system), "info")
        with pytest.raises(MissingRequirement, match=f"this host has no {state.name} to set"):
            state.require(system)


def test_fragmented_memory_is_compacted_once(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, room=100, room_compacted=600)
    PAGES_STATE.set(kernel, "512")
    assert kernel.writes == ["nr_hugepages=512", "compact_memory=1", "nr_hugepages=512"]
    assert PAGES_STATE.read(kernel) == "512"


def test_fewer_pages_than_asked_for_are_an_error_that_says_so(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, room=100)
    with pytest.raises(MissingRequirement, match=r"provided 100 of 512 huge pages of 2 MiB.*\(fragmented\)"):
        PAGES_STATE.set(kernel, "512")


def test_more_memory_than_is_free_is_refused_before_the_kernel_tries(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    with pytest.raises(
        MissingRequirement, match=r"need 6,144 MiB more, and only 4,096 MiB of memory are free"
    ):
        PAGES_STATE.set(kernel, "3072")
    assert kernel.writes == []


def test_pages_in_use_are_waited_for_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.host.huge_pages.IN_USE", 0.1)

    class InUse(Kernel):
        def write(self, name: str, text: str) -> None:
            super().write(name, "40" if name == PAGES else text)

    put_before = InUse(tmp_path)
    put(tmp_path, PAGES, "512")
    with pytest.raises(MissingRequirement, match="40 huge pages of 2 MiB are left where 0 were asked for"):
        PAGES_STATE.set(put_before, "0")


def test_a_value_that_does_not_stay_is_an_error(tmp_path: Path) -> None:
    class Deaf(Kernel):
        def write(self, name: str, text: str) -> None:
            """As on a host where another program sets it."""

    with pytest.raises(MissingRequirement, match="thp was set to never and reads back as madvise"):
        THP_STATE.set(Deaf(tmp_path), "never")


def test_the_kernels_refusal_is_one_sentence(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.path(PAGES).unlink()
    kernel.path(PAGES).mkdir()  # what no right can write
    with pytest.raises(
        MissingRequirement, match=r"huge_pages of this host cannot be set \(Is a directory\): run it as"
    ):
        PAGES_STATE.set(kernel, "4")


NEW = '''\
"""A state as a later version may have it."""

from steelyard.host.state import sysctl

SWAP_TASTE = sysctl(
    name="swap_taste", key="vm.swappiness", allowed="0 to 200", why="Because.", most=200
)
'''
LOOK_FOR_IT = """
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from trees import Kernel, put

from steelyard.host.doctor import examine
from steelyard.host.facts import read_facts
from steelyard.host.states import fill_page
from steelyard.host.switching import HostStates
from steelyard.processes import Children
from steelyard.report.records import host
from steelyard.session.plan import host_checks

root, page = map(Path, sys.argv[1:])
put(root, "proc/sys/vm/swappiness", "60")
kernel, facts = Kernel(root), read_facts(root)
places = {
    "doctor": [seen.state for seen in examine(root, root, 0.0) if seen.topic == "swap-taste"],
    "session": facts.extra["swap_taste"],
    "report": repr(host(SimpleNamespace(session=SimpleNamespace(host=facts), trials=()))),
    "reference": fill_page(page.read_text(encoding="utf-8")),
}
try:
    host_checks()["swap_taste"]("201")
except ValueError as error:
    places["plan"] = str(error)
with Children() as children, HostStates([{"swap_taste": 1}], children, "test", kernel) as states:
    states.enter((1, 1), {"swap_taste": 1})
    places["set"] = kernel.text("proc/sys/vm/swappiness")
    put(root, "proc/sys/vm/swappiness", "7")
    places["read back"] = states.verify({"swap_taste": 1})
places["put back"] = kernel.text("proc/sys/vm/swappiness")
json.dump(places, sys.stdout)
"""


def test_a_state_is_one_file(tmp_path: Path) -> None:
    """Added to a copy of the package: plan, doctor, session, report, reference, setting, read-back and restoring know
    it, and nothing else was told."""
    copy = tmp_path / "copy"
    shutil.copytree(
        ROOT / "scripts" / "steelyard", copy / "steelyard", ignore=shutil.ignore_patterns("__pycache__")
    )
    (copy / "steelyard" / "host" / "state_swap_taste.py").write_text(NEW, encoding="utf-8")
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-P", "-c", LOOK_FOR_IT, tmp_path / "host", ROOT / "docs" / "host-states.md"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (copy, tests, tests / "host")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    places = json.loads(done.stdout)
    assert "| `swap_taste` | 0 to 200 | `/proc/sys/vm/swappiness` |" in places.pop("reference")
    assert "swap_taste" in places.pop("report")
    assert places == {
        "plan": "201 is above 200; it takes 0 to 200",
        "doctor": ["60"],
        "session": "60",
        "set": "1",
        "read back": ["host state swap_taste reads back 7, 1 was asked for"],
        "put back": "60",
    }


def test_the_table_alone_knows_where_states_live() -> None:
    package = Path(steelyard.__file__).parent
    for place, module in (("transparent_hugepage/", "states.py"), ("mm/hugepages", "huge_pages.py")):
        knowing = [path.name for path in package.rglob("*.py") if place in path.read_text(encoding="utf-8")]
        assert knowing == [module], place


def test_the_table_of_the_page_is_what_the_states_say() -> None:
    page = (ROOT / "docs" / "host-states.md").read_text(encoding="utf-8")
    assert fill_page(page) == page, "run `python -m steelyard.host.states ../docs/host-states.md`"


def test_experiments_that_states_name_are_there() -> None:
    named = {state.experiment for state in STATES.values()} - {""}
    assert named <= experiment_files(EXPERIMENTS).keys()
    assert {one.experiment for one in advise(System())} - {""} <= experiment_files(EXPERIMENTS).keys()


def test_the_doctor_begins_with_what_a_session_can_set() -> None:
    assert list(TOPICS)[: len(STATES)] == [state.topic for state in STATES.values()]


@pytest.mark.parametrize("name", list(STATES))
def test_what_this_host_has_is_a_value_that_it_takes(name: str) -> None:
    """The command that undoes a change is made of it."""
    now = STATES[name].read(System())
    if now is not None:
        assert STATES[name].value(System(), now) == now
