# SPDX-License-Identifier: Apache-2.0
"""What a host has of what starts from a checkpoint need, for the doctor.

Source: Open Liberty's documentation of InstantOn (a kernel of 5.9 or newer, CRIU, `--cap-add=CHECKPOINT_RESTORE` and
`--cap-add=SETPCAP` for the container); capabilities(7) has the bits.
"""

import os
import re
from pathlib import Path

from steelyard.host.system import Seen, System

_FOLDERS = ("usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin")
_CHECKPOINT_RESTORE, _SETPCAP = 40, 8
_ENGINES = ("podman", "docker")


def checkpoints(system: System) -> Seen:
    """A server that starts from a checkpoint (InstantOn) needs CRIU, its capability and a container engine; no
    experiment measures one yet."""
    criu = _find_program(system, "criu")
    engines = [name for name in _ENGINES if _find_program(system, name) is not None]
    last, bounding = system.number("proc/sys/kernel/cap_last_cap"), _bounding_set(system)
    needs = []
    if criu is None:
        needs.append("CRIU (apt install criu)")
    if last is not None and last < _CHECKPOINT_RESTORE:
        needs.append("Linux 5.9 or newer, for CHECKPOINT_RESTORE")
    elif bounding is not None and not all(bounding >> bit & 1 for bit in (_CHECKPOINT_RESTORE, _SETPCAP)):
        needs.append("CHECKPOINT_RESTORE and SETPCAP, which are withheld from whatever is started here")
    elif last is None or bounding is None:
        needs.append("a kernel that tells its capabilities")
    if not engines:
        needs.append("a container engine")
    there = [f"/{criu}"] if criu is not None else ["no criu"]
    there.append(f"{' and '.join(engines)}" if engines else "no container engine")
    state = ", ".join(there)
    if not needs:
        return Seen(f"{state}, and the capability may be given")
    return Seen(state, "info", f"a checkpoint would need {'; '.join(needs)}   (no experiment uses one yet)")


def _find_program(system: System, name: str) -> Path | None:
    """Below the root."""
    paths = (Path(folder, name) for folder in _FOLDERS)
    return next((path for path in paths if os.access(system.path(str(path)), os.X_OK)), None)


def _bounding_set(system: System) -> int | None:
    """Capabilities that anything started here can have; None: not told."""
    match = re.search(r"^CapBnd:\s*([0-9a-f]+)$", system.text("proc/self/status") or "", re.MULTILINE)
    return int(match[1], 16) if match else None
