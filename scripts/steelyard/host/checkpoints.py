# SPDX-License-Identifier: Apache-2.0
"""What a host has of what starts from a checkpoint need, for the doctor and before the first trial.

Source: Open Liberty's documentation of InstantOn (a kernel of 5.9 or newer, CRIU, the capabilities CHECKPOINT_RESTORE
and SETPCAP); capabilities(7) has the bits; criu(8) has `check`.
"""

import ctypes
import os
import re
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.host.system import Seen, System
from steelyard.processes.client import first_error
from steelyard.processes.environment import ask

_FOLDERS = ("usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin")
_LIBRARY = "libcriu.so"
"""CRIU's own, by the name with which OpenJ9 opens it."""
_CHECKPOINT_RESTORE, _SETPCAP = 40, 8


def checkpoints(system: System) -> Seen:
    """A server that starts from a checkpoint (InstantOn, `checkpoint` of an experiment) needs a CRIU that works on this
    kernel, and its capabilities."""
    criu = _find_criu(system)
    needs = _needs(system, criu)
    there = f"/{criu}" if criu is not None else "no criu"
    if not needs:
        return Seen(f"{there}, which can take a checkpoint and restore it")
    return Seen(there, "info", f"a checkpoint would need {'; '.join(needs)}")


def require_checkpoints() -> None:
    """See that a server of this host can start from a checkpoint (raises MissingRequirement)."""
    host = System()
    if needs := _needs(host, _find_criu(host)):
        raise MissingRequirement(
            f"a start from a checkpoint needs {'; '.join(needs)}: see ./steelyard doctor, or leave `checkpoint` out"
        )


def _needs(system: System, criu: Path | None) -> list[str]:
    """What is missing on a host with this CRIU, or with none."""
    last, bounding = system.number("proc/sys/kernel/cap_last_cap"), _bounding_set(system)
    needs = []
    if criu is None:
        needs.append("CRIU (apt install criu, or its sources for a newer one)")
    elif said := _check(system, criu):
        needs.append(f"a CRIU that works on this kernel (`criu check`: {said})")
    if system.is_here and not _opens(_LIBRARY):
        needs.append(
            f"CRIU's library where the loader finds it as {_LIBRARY} (it comes with CRIU's sources, or in a package for"
            " developers)"
        )
    if last is not None and last < _CHECKPOINT_RESTORE:
        needs.append("Linux 5.9 or newer, for CHECKPOINT_RESTORE")
    elif bounding is not None and not all(bounding >> bit & 1 for bit in (_CHECKPOINT_RESTORE, _SETPCAP)):
        needs.append("CHECKPOINT_RESTORE and SETPCAP, which are withheld from whatever is started here")
    elif last is None or bounding is None:
        needs.append("a kernel that tells its capabilities")
    return needs


def _opens(library: str) -> bool:
    """Whether the loader finds a library by this name."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _check(system: System, criu: Path) -> str:
    """What CRIU says that it lacks on this kernel, or for this user; empty: nothing, or another host's."""
    if not system.is_here:
        return ""
    checked = ask([f"/{criu}", "check", *([] if os.geteuid() == 0 else ["--unprivileged"])])
    return "" if checked.returncode == 0 else first_error(checked.stdout + checked.stderr) or "it fails"


def _find_criu(system: System) -> Path | None:
    """Below the root."""
    paths = (Path(folder, "criu") for folder in _FOLDERS)
    return next((path for path in paths if os.access(system.path(str(path)), os.X_OK)), None)


def _bounding_set(system: System) -> int | None:
    """Capabilities that anything started here can have; None: not told."""
    match = re.search(r"^CapBnd:\s*([0-9a-f]+)$", system.text("proc/self/status") or "", re.MULTILINE)
    return int(match[1], 16) if match else None
