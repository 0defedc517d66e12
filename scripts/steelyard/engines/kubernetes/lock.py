# SPDX-License-Identifier: Apache-2.0
"""One session at a time in a namespace: two would disturb each other, and their objects have the same names.

The lock is a ConfigMap, which one session makes and no other can. It goes when the session ends, however it ends; one
that lost its machine leaves it, and says whose it was.
"""

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from steelyard.engines.kubernetes.cluster import Cluster, KubectlFailed
from steelyard.errors import Busy, MissingRequirement
from steelyard.processes import Children

LOCK = "steelyard-session"


def take_lock(cluster: Cluster, session: str, children: Children) -> None:
    """Take the lock of a namespace until this process ends.

    Raises:
        Busy: another session holds it.
        MissingRequirement: it cannot be made.
    """
    mine = {"session": session, "host": socket.gethostname(), "process": str(os.getpid()), "boot": _boot()}
    for _ in range(2):
        try:
            cluster.run("create", "--filename=-", given=json.dumps(_object(mine)), whole=True)
        except KubectlFailed as error:
            if "already exists" not in error.said and "AlreadyExists" not in error.said:
                raise MissingRequirement(f"no session can begin in {cluster.namespace} ({error})") from error
            holder = _holder(cluster)
            if holder and not _over(holder, mine):
                raise Busy(
                    f"session {holder.get('session')} of host {holder.get('host')} runs in the namespace"
                    f" {cluster.namespace}: wait until it has ended, or name another namespace with --namespace; if it"
                    f" was lost: `kubectl delete configmap {LOCK} --namespace={cluster.namespace}`"
                ) from error
            cluster.run("delete", "configmap", LOCK, "--ignore-not-found")
        else:
            children.on_crash("kubernetes-lock", [*cluster.command, *_RELEASE])
            return
    raise Busy(f"another session has just begun in the namespace {cluster.namespace}")


_RELEASE = ("delete", "configmap", LOCK, "--ignore-not-found", "--wait=false")


def _object(data: Mapping[str, str]) -> Mapping[str, object]:
    labels = {"app.kubernetes.io/part-of": "steelyard"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": LOCK, "labels": labels},
        "data": data,
    }


def _holder(cluster: Cluster) -> Mapping[str, str]:
    found = cluster.get("configmap", "--field-selector", f"metadata.name={LOCK}")
    return found[0].get("data", {}) if found else {}


def _over(holder: Mapping[str, str], mine: Mapping[str, str]) -> bool:
    """Whether a holder has surely ended: it ran on this host, or what goes on is the same session."""
    if holder.get("host") != mine["host"]:
        return holder.get("session") == mine["session"]
    return holder.get("boot") != mine["boot"] or not Path(f"/proc/{holder.get('process')}").exists()


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
