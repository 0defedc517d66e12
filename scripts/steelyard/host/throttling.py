# SPDX-License-Identifier: Apache-2.0
"""CPU throttling of our own control group (a CI runner's or a container's CPU limit)."""

from pathlib import Path


def throttled_seconds(root: Path = Path("/")) -> float | None:
    """Seconds that our cgroup has been throttled so far; None where the kernel does not tell.

    Source: `cpu.stat` of cgroup v2 (throttled_usec) or v1 (throttled_time, nanoseconds).
    """
    try:
        memberships = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in memberships:
        _, controllers, path = line.split(":", 2)
        top = "sys/fs/cgroup" if controllers == "" else "sys/fs/cgroup/cpu"
        if controllers and "cpu" not in controllers.split(","):
            continue
        for candidate in (root / top / path.lstrip("/") / "cpu.stat", root / top / "cpu.stat"):
            found = _read(candidate)
            if found is not None:
                return found
    return None


def _read(path: Path) -> float | None:
    try:
        fields = dict(line.split() for line in path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return None
    if "throttled_usec" in fields:
        return int(fields["throttled_usec"]) / 1e6
    if "throttled_time" in fields:
        return int(fields["throttled_time"]) / 1e9
    return None
