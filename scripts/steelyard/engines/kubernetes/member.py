# SPDX-License-Identifier: Apache-2.0
"""A component's pod, from its start on: whether it runs as it did, how it ended, when its process began."""

from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.api import PodWatch
from steelyard.engines.kubernetes.pods import Pod
from steelyard.results.spec import Component
from steelyard.sampling.observe import MARKER

_BEGAN = """
import os, pathlib, time
starts = []
for one in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        if b"MARKER=" in (one / "environ").read_bytes():
            starts.append(int((one / "stat").read_text().rpartition(")")[2].split()[19]))
    except OSError:  # of another user, or gone
        pass
print(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + min(starts) / os.sysconf("SC_CLK_TCK"))
"""
"""When the first process with a marker in its environment began, by the kernel, epoch seconds."""


_MAP = """
import pathlib
found = []
for one in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        if b"MARKER=" in (one / "environ").read_bytes():
            found.append((int((one / "statm").read_text().split()[1]), str(one)))
    except OSError:  # of another user, or gone
        pass
print(pathlib.Path(max(found)[1], "smaps").read_text(errors="replace"), end="")
"""
"""The kernel's map of the largest process with a marker in its environment: others started it."""


def asking_for_map(marker: str = MARKER) -> list[str]:
    """A command that prints what memory a component's largest process has, where its processes are seen."""
    return ["python3", "-c", _MAP.replace("MARKER", marker)]


def asking_when_began(marker: str = MARKER) -> list[str]:
    """A command that prints when a component's process began, where its processes are seen."""
    return ["python3", "-c", _BEGAN.replace("MARKER", marker)]


class Member:
    """A component's pod, from its start on."""

    def __init__(self, component: Component, number: int, pod: Pod, watch: PodWatch) -> None:
        self.name, self.container, self.number = component.name, component.kind, number
        self.told_to_end = False
        self.mark = ""
        self.pid = None
        self.pod_name = str(pod["metadata"]["name"])
        self.uid = str(pod["metadata"]["uid"])
        self.node = pods.node(pod)
        started = pods.started(pod, self.container)
        assert started is not None
        self.started = started
        """To the second below (see `KubernetesDeployment.began`)."""
        self.fetched = False
        self._watch = watch

    @property
    def pod(self) -> Pod:
        """What was last told of it, be it gone."""
        return self._watch.last[self.uid]

    @property
    def there(self) -> bool:
        """Whether it is there, and no other in its place."""
        found = self._watch.pods.get(self.pod_name)
        return found is not None and found["metadata"]["uid"] == self.uid

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        code = pods.exit_code(self.pod, self.container)
        return -9 if code is None and not self.there else code

    def how_it_ended(self) -> str:
        """One sentence: how it ended, or was taken away."""
        pod = self.pod
        if pod["metadata"]["uid"] != self.uid:
            return (
                f"{self.name} ended because its pod was replaced (it is now on {pods.node(pod) or 'no node'})"
            )
        return (
            pods.disruption(pod, self.name)
            or pods.how_it_ended(pod, self.name, self.container)
            or f"{self.name} ended because its pod {self.pod_name} is gone"
        )

    def ended(self) -> bool:
        """Whether it does not run as it did."""
        pod = self.pod
        return not self.there or pods.disruption(pod, self.name) is not None or self.exit_code() is not None
