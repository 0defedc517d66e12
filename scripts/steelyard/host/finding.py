# SPDX-License-Identifier: Apache-2.0
"""One thing that the doctor looked at."""

from typing import Literal, NamedTuple

Level = Literal["ok", "info", "warn"]

WHY = {
    "host-states": "What a session that was killed had set and nobody put back changes every later figure.",
    "smt": "Threads of one core share its units, so what a CPU is worth depends on whether its siblings are busy.",
    "governor": "A governor that saves power changes the clock with the load, so arms are measured at other speeds.",
    "turbo": "Turbo raises the clock as far as temperature and idle cores allow, which drifts over a session.",
    "numa": "Memory of another node is slower to reach, and the kernel may move pages in the middle of a measurement.",
    "irq-affinity": "A CPU that serves the interrupts has less time for the server that is bound to it.",
    "cgroup": "A CPU or memory limit on this session throttles servers and injectors, whatever the host could do.",
    "steal": "Time that the hypervisor takes away is missing in some trials more than in others.",
    "load": "Other processes take CPU, caches and memory bandwidth from the servers, not evenly over the arms.",
    "swap": "A page of a JVM that was swapped out comes back from disk in the middle of a request or a collection.",
    "memory": "When memory runs short the kernel reclaims pages or kills a server in the middle of a trial.",
    "disk": "A full disk ends the session: each trial keeps its samples, logs and histograms (some MiB).",
    "memlock": "Large pages need a limit on locked memory above the heap's size, or the JVM falls back to small ones.",
    "clock": "Servers and injectors read the clock for every request, and a slow source costs microseconds each time.",
    "virtualization": "In a guest, CPUs and memory are shared with neighbours that cannot be seen from inside.",
    "container": "In a container, limits and settings come from outside, and some cannot be read or changed.",
    "aslr": "Random addresses are part of why two starts of one JVM differ; fresh starts average it, a fixed layout"
    " would hide it.",
    "dscr": "POWER's data-stream register sets how far the hardware prefetches, for all that runs on the host.",
}
"""Topics beside the host states, in the order of the output, each with why it matters."""


class Finding(NamedTuple):
    """One topic's state on this host."""

    topic: str
    state: str
    level: Level
    """`ok`; `info`: belongs in the report; `warn`: disturbs a measurement."""
    why: str
    change: str | None
    """A command that changes it, or what to do; None: nothing to change."""


def finding(topic: str, state: str, level: Level = "ok", change: str | None = None) -> Finding:
    """A finding with the topic's reason."""
    return Finding(topic, state, level, WHY[topic], change)


def untold(topic: str) -> Finding:
    """A finding that this host, or this user's rights, do not allow to tell."""
    return finding(topic, "cannot be told here", "info")
