# SPDX-License-Identifier: Apache-2.0
"""A component's pod, from its start on: whether it runs as it did, how it ended, when its process began."""

from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.api import Object, PodWatch
from steelyard.results.spec import Component


class Member:
    """A component's pod, from its start on."""

    def __init__(self, component: Component, number: int, pod: Object, watch: PodWatch) -> None:
        self.name, self.container, self.number = component.name, component.kind, number
        self.stop_requested = False
        self.mark = ""
        self.pid = None
        self.pod_name = str(pod["metadata"]["name"])
        self.uid = str(pod["metadata"]["uid"])
        self.node = pods.node(pod)
        started = pods.start_time(pod, self.container)
        assert started is not None
        self.started = started
        """To the second below (see `KubernetesDeployment.began`)."""
        self.fetched = False
        self._watch = watch

    @property
    def pod(self) -> Object:
        """What was last told of it, be it gone."""
        return self._watch.last[self.uid]

    @property
    def there(self) -> bool:
        """Whether it is there, and no other in its place."""
        pod = self._watch.pods.get(self.pod_name)
        return pod is not None and pod["metadata"]["uid"] == self.uid

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        code = pods.exit_code(self.pod, self.container)
        return -9 if code is None and not self.there else code

    def describe_end(self) -> str:
        """One sentence: how it ended, or was taken away."""
        pod = self.pod
        if pod["metadata"]["uid"] != self.uid:
            return (
                f"{self.name} ended because its pod was replaced (it is now on {pods.node(pod) or 'no node'})"
            )
        return (
            pods.disruption(pod, self.name)
            or pods.describe_end(pod, self.name, self.container)
            or f"{self.name} ended because its pod {self.pod_name} is gone"
        )

    def has_ended(self) -> bool:
        """Whether it does not run as it did."""
        pod = self.pod
        return not self.there or pods.disruption(pod, self.name) is not None or self.exit_code() is not None
