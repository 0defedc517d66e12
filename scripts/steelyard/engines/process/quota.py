# SPDX-License-Identifier: Apache-2.0
"""CPU quotas of processes: a control group for each, below one in which this user may make groups.

A container engine does the same: quota and period of cgroup v1 (`cpu.cfs_quota_us`, sched-bwc) or v2 (`cpu.max`), in
periods of 100 ms, the kernel's own default. A shell enters the group and becomes the component, so that nothing of it
ever ran outside of the group.
"""

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.results.spec import Component
from steelyard.sampling.cgroup import Place, find, upwards

PERIOD = 100_000
"""Microseconds."""
_NAMED = "steelyard-"
_ENTER = 'echo $$ > "$0" && exec "$@"'


def find_parent(root: str = "") -> Place:
    """The group below which groups with a quota can be made.

    Version 1: our own, so that a limit on us holds for them. Version 2: the nearest one above that passes the CPU
    controller on, for one that holds processes may not (admin-guide/cgroup-v2, No Internal Process Constraint).

    Raises:
        MissingRequirement: there is none, in one sentence.
    """
    for place in upwards(find("cpu", os.getpid(), root)):
        if place.unified and "cpu" not in _words(f"{place.folder}/cgroup.subtree_control"):
            continue
        if os.access(place.folder, os.W_OK):
            return place
    raise MissingRequirement(
        "cpus is a quota, which a process has by a control group, and this user may make none with the CPU controller"
        " here: run as root of the host, choose --engine compose, or leave cpus out"
    )


def group_of(parent: Place, component: Component) -> Path:
    """The group of a component of this command; by its port, for in a duet both sides have one of its name."""
    return Path(parent.folder) / f"{_NAMED}{os.getpid()}-{component.name}-{component.port}"


def quota_files(cpus: float, *, unified: bool) -> dict[str, str]:
    """What is written into which files of a group for a quota of so many CPUs."""
    quota = round(cpus * PERIOD)
    if unified:
        return {"cpu.max": f"{quota} {PERIOD}"}
    return {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)}


def make_group(folder: Path, cpus: float, *, unified: bool) -> None:
    """Make a group with a quota, or give one that is there another (raises MissingRequirement: the kernel refuses)."""
    try:
        folder.mkdir(exist_ok=True)
        for name, text in quota_files(cpus, unified=unified).items():
            (folder / name).write_text(text, encoding="ascii")
    except OSError as error:
        raise MissingRequirement(
            f"the kernel refuses a CPU quota of {cpus:g} in {folder} ({error.strerror}): a group above it may have less"
        ) from error


def enter(folder: str, command: Sequence[str]) -> list[str]:
    """A command that runs in a group from its first moment on."""
    return ["sh", "-c", _ENTER, f"{folder}/cgroup.procs", *command]


def script_lines(folder: Path, cpus: float, *, unified: bool) -> list[str]:
    """The same for a shell script, as a person repeats it."""
    made = [f"mkdir -p {shlex.quote(str(folder))}"]
    files = quota_files(cpus, unified=unified)
    return made + [f"echo {text} > {shlex.quote(f'{folder}/{name}')}" for name, text in files.items()]


def remove_group(folder: Path) -> None:
    """Remove a group in which no process is left."""
    with suppress(OSError):  # one of another command, or that still ends: the next session's check removes it
        folder.rmdir()


def remove_abandoned(parent: Place) -> None:
    """Remove the empty groups of commands that have ended."""
    for folder in Path(parent.folder).glob(f"{_NAMED}*"):
        owner = folder.name.removeprefix(_NAMED).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            remove_group(folder)


def _words(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return []
