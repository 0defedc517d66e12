# SPDX-License-Identifier: Apache-2.0
"""The images of a cluster, as a pod sees them: its nodes may have others than this host, or come by them otherwise.

One pod has a container for each image, which says what JVM is inside and from which sources the servers were built;
what it ran tells the digest.
"""

import contextlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.clock import Deadline
from steelyard.engines.images import DATABASE_LABEL, FINGERPRINT_LABEL, Image, by_digest
from steelyard.engines.kubernetes.api import ApiError, Object
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.engines.kubernetes.pods import SESSION, hindrance, is_final, node
from steelyard.engines.kubernetes.roles import TOLERATION
from steelyard.errors import MissingRequirement
from steelyard.jvm.identity import QUESTION

PLAN = "plan"
"""What stands for a session on what is made before there is one."""
ASK_LIMIT = 900.0
"""Seconds that a node may take to fetch images."""
_POLL = 0.5
_MARK = "dev.steelyard:"
_ASK = f"""
java {" ".join(QUESTION)} 2>&1
box=/opt/steelyard/bin/busybox
if [ -n "$STEELYARD_DATABASE" ]; then echo "{_MARK} database=$STEELYARD_DATABASE"; fi
for war in $($box find /opt/wlp/usr -name '*.war' 2>/dev/null | $box head -n 1); do
    $box unzip -p "$war" 'WEB-INF/lib/bench-*.jar' >/tmp/bench.jar
    echo "{_MARK} $($box unzip -p /tmp/bench.jar dev/steelyard/bench/build.properties | $box grep ^fingerprint=)"
done
true
"""
_LABELS = {"database": DATABASE_LABEL, "fingerprint": FINGERPRINT_LABEL}


@dataclass(eq=False)
class ClusterImages:
    """Images that pods of a cluster can run."""

    cluster: Cluster
    _printed: dict[str, str] = field(default_factory=dict)
    """By reference: what a container of the image printed."""
    _images: dict[str, Image] = field(default_factory=dict)

    def find(self, wanted: Mapping[str, str]) -> dict[str, Image]:
        """Images by reference (see `Images.find`), asked for by one pod."""
        if unknown := [reference for reference in wanted if reference not in self._images]:
            self._ask(unknown, wanted)
        return {reference: self._images[reference] for reference in wanted}

    def java(self, image: Image) -> str:
        """What the JVM inside prints (see `Images.java`)."""
        return self._printed[image.reference]

    def _ask(self, references: list[str], advice: Mapping[str, str]) -> None:
        name = f"steelyard-images-{secrets.token_hex(4)}"
        try:
            self._make(_make_pod(name, references))
            pod = self._wait(name, references, advice)
            for number, reference in enumerate(references):
                printed = self.cluster.log(name, f"image-{number}")
                self._printed[reference] = printed
                self._images[reference] = Image(
                    reference, by_digest(reference, [_known_as(pod, number)]), _labels(printed)
                )
        except ApiError as error:
            raise MissingRequirement(f"no pod can be made to ask for images ({error})") from error
        finally:
            with contextlib.suppress(ApiError):
                self.cluster.delete("pods", name, grace=0)

    def _make(self, pod: Object) -> None:
        try:
            self.cluster.create("pods", pod)
        except ApiError as error:
            if error.reason != "AlreadyExists":  # it was made, and the answer was lost
                raise

    def _wait(self, name: str, references: list[str], advice: Mapping[str, str]) -> Object:
        deadline = Deadline(ASK_LIMIT)
        while True:
            pod = self.cluster.get(self.cluster.path("pods", name))
            if pod["status"].get("phase") in ("Succeeded", "Failed"):
                return pod
            why = hindrance(pod, "a pod that asks for images", "")
            if why is not None and is_final(pod, deadline.spent):
                missing = (advice[reference] for reference in references if reference in why)
                room = "free some room on a node, or add one"
                raise MissingRequirement(f"{why}: {next(missing, 'try again' if node(pod) else room)}")
            if deadline.is_over:
                raise MissingRequirement(
                    f"no node could run {', '.join(references)} within {ASK_LIMIT:.0f} s"
                )
            deadline.sleep(_POLL)


def _make_pod(name: str, references: list[str]) -> Object:
    """The pod, as a namespace of the restricted level takes it, and one with a quota."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "steelyard", SESSION: PLAN}},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "tolerations": [TOLERATION],
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": f"image-{number}",
                    "image": reference,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sh", "-c", _ASK],
                    "resources": {
                        "requests": {"cpu": "50m", "memory": "64Mi"},
                        "limits": {"cpu": "1", "memory": "512Mi"},
                    },
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "readOnlyRootFilesystem": True,
                    },
                    "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
                }
                for number, reference in enumerate(references)
            ],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
        },
    }


def _labels(printed: str) -> dict[str, str]:
    """What the image says of itself, by the names of labels of images."""
    labels = re.findall(rf"^{_MARK} (\w+)=(\S+)$", printed, re.MULTILINE)
    return {_LABELS[name]: text for name, text in labels if name in _LABELS}


def _known_as(pod: Object, number: int) -> str:
    """What the node knows an image by: by its digest, or as it is where it was brought there without a registry."""
    listed = pod["status"].get("containerStatuses", ())
    identity: str = next(
        (each.get("imageID", "") for each in listed if each["name"] == f"image-{number}"), ""
    )
    return identity.removeprefix("docker-pullable://")
