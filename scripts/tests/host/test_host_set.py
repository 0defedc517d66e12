# SPDX-License-Identifier: Apache-2.0
"""The program that root runs for a user who may not set host states: what is on its list, and nothing else."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_cpu_and_card import acpi, intel, network
from trees import CPU, CPUSETS, PAGES, Kernel, power, put

from steelyard.errors import MissingRequirement
from steelyard.host.states import STATES
from steelyard.host.system import System
from steelyard.paths import ROOT

PROGRAM = ROOT / "scripts" / "host_set.py"
SHM_GROUP = "/proc/sys/vm/hugetlb_shm_group"


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", PROGRAM, *words], env=environment, capture_output=True, text=True, check=False
    )


def forms() -> dict[str, str]:
    found: dict[str, dict[str, str]] = {}
    exec(compile(PROGRAM.read_text(encoding="utf-8"), "host_set", "exec"), {"__name__": "list"}, found)
    return found["FILES"]


def known(name: str) -> bool:
    return any(re.fullmatch(form, f"/{name}", re.ASCII) for form in forms())


TREES = (acpi, intel, network, Kernel)


def files_of_states(tmp_path: Path, tree: type[Kernel]) -> set[str]:
    """Every file that a state of the tree is set by."""
    for name in ("kernel/numa_balancing", "kernel/shmmax"):
        put(tmp_path, f"proc/sys/{name}", "0")
    put(tmp_path, "proc/sys/vm/hugetlb_shm_group", "0")
    for node in (0, 1):
        put(tmp_path, f"sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages", "0")
    tree(tmp_path)
    put(power(tmp_path, 2), f"{CPU}/dscr_default", "0")
    return {file for state in STATES.values() for file in state.files(System(tmp_path, "ppc64le"))}


@pytest.mark.parametrize("tree", TREES)
def test_the_list_has_every_file_of_every_state(tmp_path: Path, tree: type[Kernel]) -> None:
    files = files_of_states(tmp_path, tree)
    assert len(files) > 10
    assert [file for file in files if not known(file)] == []
    assert known(f"{CPU}/smt/control")
    assert known("proc/sys/vm/compact_memory")
    assert known(f"{CPUSETS}/docker/0a1b/cpuset.cpus")


def test_the_list_has_nothing_that_no_state_is_set_by(tmp_path: Path) -> None:
    """What an experiment may set and no more; the rest of the list is how states are set (docs/host-states.md)."""
    files: set[str] = set()
    for number, tree in enumerate(TREES):
        files |= files_of_states(tmp_path / str(number), tree)
    # What no tree above shows: a host without nodes, room for huge pages, SMT by the kernel's switch, CPUs of others.
    files |= {PAGES, "proc/sys/vm/compact_memory", f"{CPU}/smt/control", f"{CPUSETS}/docker/0a1b/cpuset.cpus"}
    unused = [form for form in forms() if not any(re.fullmatch(form, f"/{file}", re.ASCII) for file in files)]
    assert unused == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/etc/passwd", "1"], "not on the list"),
        (["/sys/class/net/../../kernel/queues/rx-0/rps_cpus", "1"], "not on the list"),
        ([f"{SHM_GROUP}/../drop_caches", "1"], "not on the list"),
        (["/proc/sys/vm/drop_caches", "3"], "not on the list"),
        (
            ["/proc/sys/kernel/randomize_va_space", "0"],
            "not on the list",
        ),  # random addresses: nothing measures without
        (["--check", "/proc/sys/kernel/randomize_va_space"], "not on the list"),
        ([f"/{PAGES}\n", "1"], "not on the list"),
        ([SHM_GROUP, "10; reboot"], "no value for"),
        ([SHM_GROUP, "10\n20"], "no value for"),
        ([SHM_GROUP, ""], "no value for"),
        ([SHM_GROUP, "\N{ARABIC-INDIC DIGIT ONE}"], "no value for"),
        ([SHM_GROUP], "not on the list"),
        ([SHM_GROUP, "1", "2"], "not on the list"),
        ([], "not on the list"),
        (["--check", "/etc/passwd"], "not on the list"),
    ],
)
def test_what_is_not_on_the_list_is_refused(words: list[str], told: str) -> None:
    before = Path(SHM_GROUP).read_text(encoding="ascii")
    done = run(*words)
    assert (done.returncode, told in done.stderr) == (2, True)
    assert Path(SHM_GROUP).read_text(encoding="ascii") == before


def test_what_it_would_follow_out_of_the_kernels_files_is_not_followed(tmp_path: Path) -> None:
    """A list of files below / alone: no option leads it elsewhere, no module of a user is read."""
    (tmp_path / "re.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    done = subprocess.run(
        [PROGRAM, "--check", SHM_GROUP],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]},
        check=False,
    )
    assert done.returncode == 0
    assert PROGRAM.read_text(encoding="utf-8").startswith("#!/usr/bin/python3 -I\n")


def test_what_a_user_may_not_write_the_program_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who may write nothing, and a stand-in for the program that may: the harness asks it, and only then."""
    asked = tmp_path / "asked"
    script = tmp_path / "program"
    script.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n[ "$2" != 7 ] || {{ echo "no: $2" >&2; exit 1; }}\n')
    script.chmod(0o755)
    put(tmp_path, "proc/sys/vm/hugetlb_shm_group", "60")
    state = STATES["shm_group"]
    system = System(tmp_path, program=(str(script),))
    state.set(system, "10")
    assert not asked.exists()
    open_ = os.open
    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    monkeypatch.setattr(
        "os.open", lambda path, *more: _denied(path) if "shm_group" in str(path) else open_(path, *more)
    )
    state.require(system)
    with pytest.raises(MissingRequirement, match=r"shm_group of this host cannot be set \(no: 7\)"):
        state.set(system, "7")
    with pytest.raises(MissingRequirement, match="was set to 30 and reads back as 10"):
        state.set(system, "30")
    assert asked.read_text(encoding="utf-8").splitlines() == [
        "--check /proc/sys/vm/hugetlb_shm_group",
        "/proc/sys/vm/hugetlb_shm_group 7",
        "/proc/sys/vm/hugetlb_shm_group 30",
    ]
    with pytest.raises(MissingRequirement, match="no permission to write it"):
        state.require(System(tmp_path))


def _denied(path: object) -> int:
    raise PermissionError(13, "Permission denied", str(path))


@pytest.mark.alone
def test_it_writes_a_file_of_this_host(host: System) -> None:
    before = STATES["shm_group"].read(host)
    assert before is not None
    other = "10" if before != "10" else "20"
    try:
        assert run(SHM_GROUP, other).returncode == 0
        assert STATES["shm_group"].read(host) == other
    finally:
        STATES["shm_group"].set(host, before)
    assert run("/proc/irq/0/smp_affinity_list", "0").returncode == 1  # what the kernel itself refuses


def test_a_hard_link_to_a_file_elsewhere_is_not_given_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where fs.protected_hardlinks is 0, a user can name root's files in the folder."""
    program: dict[str, Any] = {"__name__": "list"}
    exec(compile(PROGRAM.read_text(encoding="utf-8"), "host_set", "exec"), program)
    folder, elsewhere = tmp_path / "records", tmp_path / "roots"
    folder.mkdir()
    elsewhere.write_text("secret", encoding="utf-8")
    own = folder / "record.json"
    own.write_text("{}", encoding="utf-8")
    (folder / "hard").hardlink_to(elsewhere)
    (folder / "soft").symlink_to(elsewhere)
    os.mkfifo(folder / "fifo")
    program["FOLDER"] = str(folder)
    given: list[int] = []
    monkeypatch.setattr(os, "fchown", lambda file, *_: given.append(os.fstat(file).st_ino))
    monkeypatch.setattr(os, "chown", lambda *_, **_named: None)
    program["give_folder"](1000, 1000)
    assert given == [own.stat().st_ino]
