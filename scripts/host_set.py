#!/usr/bin/python3 -I
# SPDX-License-Identifier: Apache-2.0
"""Writes one file of the kernel that is on a fixed list, and nothing else: what a lab lets a user do as root.

    steelyard-host-set FILE VALUE     write the value, if the list has the file and the value is of its form
    steelyard-host-set --check FILE   whether the list has the file, and it is there
    steelyard-host-set --folder       give the user of sudo /run/steelyard, where what was there before is recorded

It trusts nobody: it imports nothing of the project, reads no configuration, follows no name that is not of the form
below, and starts nothing. Install a copy that root owns, where nobody else may write (docs/host-states.md).
Exit status: 0 done, 1 the kernel refused, 2 not on the list.
"""

import os
import re
import stat
import sys
from pathlib import Path

NUMBER, CPUS, WORD = r"\d{1,20}", r"\d+(-\d+)?(,\d+(-\d+)?)*", r"[a-z_]+"
CPU, NET = r"/sys/devices/system/cpu", r"[A-Za-z0-9][\w.@-]*"
FILES = {
    r"/sys/kernel/mm/transparent_hugepage/enabled": r"always|madvise|never",
    r"/sys/kernel/mm/hugepages/hugepages-\d+kB/nr_hugepages": NUMBER,
    r"/sys/devices/system/node/node\d+/hugepages/hugepages-\d+kB/nr_hugepages": NUMBER,
    r"/proc/sys/vm/(hugetlb_shm_group|compact_memory)": NUMBER,
    r"/proc/sys/kernel/(shmmax|numa_balancing)": NUMBER,
    rf"{CPU}/smt/control": r"on|off|[1248]",
    rf"{CPU}/cpu\d+/online": r"[01]",
    rf"{CPU}/cpufreq/policy\d+/scaling_governor": WORD,
    rf"{CPU}/cpu\d+/cpufreq/scaling_governor": WORD,
    rf"{CPU}/(intel_pstate/no_turbo|cpufreq/boost)": r"[01]",
    rf"{CPU}/dscr_default": r"[0-9a-f]{1,8}",
    r"/proc/irq/\d+/smp_affinity_list": CPUS,
    rf"/sys/fs/cgroup/cpuset(/{NET})+/cpuset\.cpus": CPUS,
}
"""The whole list: form of a file's name, and form of what may be written to it."""
FOLDER = "/run/steelyard"


def form_of(name: str) -> str | None:
    """The form of what may be written to a file; None: the list does not have it."""
    return next((value for form, value in FILES.items() if re.fullmatch(form, name, re.ASCII)), None)


def write(name: str, value: str) -> None:
    """Write a file that is there, in one piece; OSError when the kernel refuses."""
    descriptor = os.open(name, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.write(descriptor, f"{value}\n".encode("ascii"))
    finally:
        os.close(descriptor)


def give_folder(user: int, group: int) -> None:
    """Make the folder of records, and let the user of sudo write there; its own files, and no link out of it.

    A hard link is a name of the file itself: one to a file of root's elsewhere would be given away with it, where the
    kernel does not prevent such links (fs.protected_hardlinks). A file with several names is left alone.
    """
    Path(FOLDER).mkdir(mode=0o755, parents=True, exist_ok=True)
    folder = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.chown(folder, user, group)
        with os.scandir(folder) as found:
            for one in found:
                _give(folder, one.name, user, group)
    finally:
        os.close(folder)


def _give(folder: int, name: str, user: int, group: int) -> None:
    """Give away one ordinary file of the folder, by its handle: what its name stands for may change meanwhile."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:  # a link, or gone
        return
    try:
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            os.fchown(file, user, group)
    finally:
        os.close(file)


def main(words: list[str]) -> int:
    """Do what the command line says."""
    if words == ["--folder"]:
        give_folder(int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"]))
        return 0
    checks = len(words) == 2 and words[0] == "--check"
    if len(words) != 2 or (form := form_of(words[-1] if checks else words[0])) is None:
        sys.stderr.write(f"not on the list: {' '.join(words)}\n")
        return 2
    if checks:
        return 0 if Path(words[1]).exists() else 2
    if not re.fullmatch(form, words[1], re.ASCII):
        sys.stderr.write(f"no value for {words[0]}: {words[1]}\n")
        return 2
    write(*words)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        sys.stderr.write(f"{error.strerror}\n")
        sys.exit(1)
