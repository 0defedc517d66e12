# SPDX-License-Identifier: Apache-2.0
"""A host is prepared for large pages by one command and put back by another; sessions look before they start."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import planned
import pytest
from builders import make_jvm
from trees import FREE, HOLDER, PAGES, Kernel, put
from typer.testing import CliRunner

from steelyard.cli.host import app
from steelyard.errors import BadInput, Busy, MissingRequirement, SteelyardError
from steelyard.host.doctor import host_states
from steelyard.host.preparing import (
    RECORD,
    PageNeed,
    need_of,
    prepare,
    require_large_pages,
    restore,
    wanted_states,
)
from steelyard.host.states import STATES
from steelyard.host.switching import HostStates
from steelyard.host.system import System
from steelyard.processes import Children
from steelyard.results.spec import Spec
from steelyard.units import MIB

GROUP, SHMMAX = "proc/sys/vm/hugetlb_shm_group", "proc/sys/kernel/shmmax"
PROMISED = "sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages"
NODES = "sys/devices/system/node/node{}/hugepages/hugepages-2048kB"
HEAP = 1024 * MIB


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    """A host with memory for 2,048 pages, of which it has reserved none."""
    found = Kernel(tmp_path)
    put(tmp_path, FREE, "0")
    put(tmp_path, GROUP, "0")
    put(tmp_path, SHMMAX, str(64 * MIB))
    put(tmp_path, "proc/self/status", "CapEff:\t0000000000000000")
    return found


def prepared(kernel: Kernel, heap: int = HEAP, jvms: int = 1, group: int | None = None) -> None:
    need = need_of([heap] * jvms, kernel)
    prepare(kernel, wanted_states(need, kernel, None, group), need)


def test_a_prepared_host_is_as_before_when_it_is_restored(kernel: Kernel) -> None:
    prepared(kernel, group=1000)
    assert (kernel.text(PAGES), kernel.text(GROUP), kernel.text(SHMMAX)) == ("672", "1000", str(HEAP))
    assert host_states(kernel).state == (
        "prepared by `host prepare` (before: huge_pages 0, shm_group 0, shmmax 67108864)"
    )
    prepared(kernel, 2 * HEAP)  # what was there stays what it was before the first of them
    assert kernel.text(PAGES) == "1216"
    assert restore(kernel) == {"huge_pages": "0", "shm_group": "0", "shmmax": str(64 * MIB)}
    assert (kernel.text(PAGES), kernel.text(GROUP), kernel.text(SHMMAX)) == ("0", "0", str(64 * MIB))
    assert restore(kernel) == {}
    assert host_states(kernel).level == "ok"


def test_what_others_use_is_beside_what_is_needed(kernel: Kernel) -> None:
    kernel.taken = 100
    kernel.write(PAGES, "300")
    prepared(kernel)
    assert kernel.text(PAGES) == "772"
    prepared(kernel)
    assert kernel.text(PAGES) == "772"  # those are free: nothing more is needed


def test_pages_of_one_numa_node(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    for node, (count, free) in enumerate(((10, 4), (0, 0))):
        put(tmp_path, f"{NODES.format(node)}/nr_hugepages", str(count))
        put(tmp_path, f"{NODES.format(node)}/free_hugepages", str(free))
    state, need = STATES["huge_pages"], need_of([HEAP], kernel)
    assert state.read(kernel) == "node0=10 node1=0"
    assert wanted_states(need, kernel, 0, None) == {"huge_pages": "node0=678 node1=0"}
    assert wanted_states(need, kernel, 1, None) == {"huge_pages": "node0=10 node1=672"}
    assert wanted_states(need, kernel, None, None) == {"huge_pages": "node0=344 node1=334"}
    assert state.value(kernel, 5) == "node0=3 node1=2"
    assert state.value(kernel, "node1=1g") == "node0=0 node1=512"
    state.set(kernel, "node0=3 node1=512")
    assert kernel.writes == ["nr_hugepages=3", "nr_hugepages=512"]
    with pytest.raises(BadInput, match=r"no NUMA node 2 .* it has 0, 1"):
        wanted_states(need, kernel, 2, None)
    with pytest.raises(BadInput, match=r"names what is no NUMA node of this host \(node0, node1\)"):
        state.value(kernel, "node2=1g")
    with pytest.raises(BadInput, match="more than this host's"):
        wanted_states(need_of([8 * HEAP], kernel), kernel, 1, None)


def test_what_is_missing_comes_on_top_of_what_each_numa_node_has(tmp_path: Path) -> None:
    """Pages in use cannot be given back, and a node without memory has none to give."""
    kernel = Kernel(tmp_path)
    for node, (count, free) in enumerate(((1000, 100), (0, 0), (0, 0))):
        put(tmp_path, f"{NODES.format(node)}/nr_hugepages", str(count))
        put(tmp_path, f"{NODES.format(node)}/free_hugepages", str(free))
    need = PageNeed(264, 2 * MIB, 0)
    assert wanted_states(need, kernel, None, None) == {"huge_pages": "node0=1055 node1=55 node2=54"}
    put(tmp_path, "sys/devices/system/node/has_memory", "0,2")
    assert wanted_states(need, kernel, None, None) == {"huge_pages": "node0=1082 node1=0 node2=82"}
    assert STATES["huge_pages"].value(kernel, 5) == "node0=3 node1=0 node2=2"
    enough = PageNeed(100, 2 * MIB, 0)
    assert wanted_states(enough, kernel, None, None) == {"huge_pages": "node0=1000 node1=0 node2=0"}


def test_pages_that_were_promised_are_not_free_on_a_host_with_several_nodes(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    put(tmp_path, PROMISED, "900")
    for node in (0, 1):
        put(tmp_path, f"{NODES.format(node)}/nr_hugepages", "500")
        put(tmp_path, f"{NODES.format(node)}/free_hugepages", "500")
    need = need_of([HEAP], kernel)
    assert wanted_states(need, kernel, None, None) == {"huge_pages": "node0=786 node1=786"}
    # Which node will have to keep the promise nobody knows.
    assert wanted_states(need, kernel, 1, None) == {"huge_pages": "node0=500 node1=1572"}
    with pytest.raises(MissingRequirement, match="100 of the 672 huge pages"):
        prepare(kernel, {}, need)


def test_too_fragmented_a_host_is_left_as_it_was(kernel: Kernel) -> None:
    kernel.room = 100
    with pytest.raises(MissingRequirement, match=r"provided 100 of 672 huge pages .*fragmented"):
        prepared(kernel, group=1000)
    assert (kernel.text(PAGES), kernel.text(GROUP)) == ("0", "0")
    assert not kernel.path(RECORD).exists()


def test_a_second_preparation_that_fails_leaves_the_first(kernel: Kernel) -> None:
    prepared(kernel)
    kernel.room = 700
    with pytest.raises(MissingRequirement, match="provided 700 of 1216"):
        prepared(kernel, 2 * HEAP)
    assert kernel.text(PAGES) == "672"
    assert restore(kernel)["huge_pages"] == "0"


def test_pages_that_another_program_takes_meanwhile_are_missed(kernel: Kernel) -> None:
    class Taking(Kernel):
        def write(self, name: str, text: str) -> None:
            self.taken = 30
            super().write(name, text)

    with pytest.raises(MissingRequirement, match=r"642 of the 672 huge pages .* another program took"):
        prepared(Taking(kernel.root))
    assert kernel.text(PAGES) == "0"


def test_a_host_without_huge_pages_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="has no huge pages"):
        need_of([HEAP], System(tmp_path))


def test_a_session_that_sets_the_host_is_not_disturbed(kernel: Kernel) -> None:
    plots = [{"thp": "never"}, {"thp": "always"}]
    with Children() as children, HostStates(plots, children, "results/s", kernel) as states:
        states.enter((1, 1), plots[0])
        for act in (lambda: prepared(kernel), lambda: restore(kernel)):
            with pytest.raises(Busy, match="results/s runs and has set the states"):
                act()


# What a session looks at before its first trial.


def spec_of(kind: str, *settings: str) -> Spec:
    jvm = make_jvm("openj9", 21) if kind == "openj9" else make_jvm("hotspot")
    given = ("pages=large", "jvms=1,2", "total_heap=2g", *settings)
    return planned.specs("jvm-count", *given, runtime=planned.processes(jvm))["jvms-2"]


def test_a_session_needs_the_pages_of_all_its_jvms(kernel: Kernel) -> None:
    kernel.write(PAGES, "1343")
    with pytest.raises(MissingRequirement) as caught:
        require_large_pages([spec_of("hotspot")], kernel)
    assert "needs 1344 large pages of 2 MiB" in str(caught.value)
    assert "and 1343 are free" in str(caught.value)
    assert "`sudo ./steelyard host prepare large-pages --heap 1024m --jvms 2`" in str(caught.value)
    kernel.write(PAGES, "1344")
    require_large_pages([spec_of("hotspot")], kernel)
    kernel.taken = 1
    kernel.write(PAGES, "1344")
    with pytest.raises(MissingRequirement, match="1343 are free"):
        require_large_pages([spec_of("hotspot")], kernel)


def test_pages_that_the_session_itself_will_reserve_count(kernel: Kernel) -> None:
    require_large_pages([spec_of("hotspot", "huge_pages=1344")], kernel)
    with pytest.raises(MissingRequirement, match="1000 are free"):
        require_large_pages([spec_of("hotspot", "huge_pages=1000")], kernel)


def test_openj9_needs_shared_memory_and_the_right_to_it(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.setrlimit", lambda _what, pair: limits.append(pair))
    limits: list[tuple[int, int]] = []
    spec = spec_of("openj9")
    kernel.write(PAGES, "1344")
    with pytest.raises(
        MissingRequirement, match=r"one piece of shared memory, of which this host allows 64 MiB"
    ):
        require_large_pages([spec], kernel)
    put(kernel.root, SHMMAX, str(HEAP))
    put(kernel.root, GROUP, "4242")
    for most, enough in ((8 * MIB, False), (1344 * 2 * MIB, True)):
        monkeypatch.setattr("resource.getrlimit", lambda _what, most=most: (0, most))
        if enough:
            require_large_pages([spec], kernel)
        else:
            with pytest.raises(MissingRequirement, match=r"may lock 8 MiB of 2,688 MiB \(memlock\)"):
                require_large_pages([spec], kernel)
    assert limits == [(1344 * 2 * MIB,) * 2]
    monkeypatch.setattr("resource.getrlimit", lambda _what: (0, 0))
    put(kernel.root, GROUP, str(os.getegid()))
    require_large_pages([spec], kernel)
    put(kernel.root, GROUP, "4242")
    put(kernel.root, "proc/self/status", "CapEff:\t0000000000004000")
    require_large_pages([spec], kernel)


# On this host itself.


def steelyard(*words: str) -> tuple[str, SteelyardError | None]:
    """What a `host` command prints, and how it ends."""
    done = CliRunner().invoke(app, [*words])
    assert isinstance(done.exception, SteelyardError | None), done.exception
    return done.output, done.exception


@contextmanager
def holding(size: int) -> Iterator[None]:
    """A program that has huge pages."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            holder.kill()


@pytest.mark.alone
def test_this_host_is_prepared_and_restored(host: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.host.host_lock", nullcontext)  # the fixture has it
    state = STATES["huge_pages"]
    before = state.read(host)
    words = ("prepare", "large-pages", "--heap", "16m", "--group", "2")
    told, asked = steelyard(*words)
    assert isinstance(asked, BadInput)
    assert "pass --yes" in str(asked)
    assert f"  huge_pages: {before} -> " in told
    assert state.read(host) == before
    told, failed = steelyard(*words, "--yes")
    if failed is not None:
        pytest.skip(str(failed))
    assert STATES["shm_group"].read(host) == "2"
    with holding(2 * MIB), monkeypatch.context() as patch:
        patch.setattr("steelyard.host.huge_pages.IN_USE", 0.1)
        _, refused = steelyard("restore")
        assert isinstance(refused, MissingRequirement)
        assert "in use" in str(refused)
        assert host_states(host).level == "info"
    assert steelyard("restore")[1] is None
    assert (state.read(host), host_states(host).level) == (before, "ok")
    assert steelyard("restore") == ("nothing to put back: this host is as it was\n", None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["large-pages", "--heap", "x"], "'x' is not a size"),
        (["large-pages", "--heap", "0"], "a heap has a size above zero"),
        (["smt", "--heap", "1g"], "prepared for large-pages, not for 'smt'"),
        (["large-pages", "--heap", "1g", "--group", "no-such-group"], "no such group"),
        (["large-pages", "--heap", "1g", "--group", "\N{SUPERSCRIPT TWO}"], "no such group"),
    ],
)
def test_what_is_no_preparation_is_refused(words: list[str], told: str) -> None:
    printed, refused = steelyard("prepare", *words, "--yes")
    assert isinstance(refused, BadInput)
    assert (told in str(refused), printed) == (True, "")
