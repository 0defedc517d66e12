# SPDX-License-Identifier: Apache-2.0
"""One session at a time in a namespace: two would disturb each other, and their objects have the same names.

The lock is a ConfigMap, which one session makes and no other can. It goes when the session ends, however it ends; one
that lost its machine leaves it, and says whose it was. Such a lock is taken over by a change that the API server
refuses when the lock is no longer as it was read (its `resourceVersion`; Kubernetes API concepts, "Resource versions"):
of two sessions that find it at once one gets it. At the end the lock is removed by its holder's mark: never another's.
"""

import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

from steelyard.engines.kubernetes.api import ApiError, Object
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.errors import Busy, MissingRequirement
from steelyard.processes import Children
from steelyard.sampling.procfs import boot_id

LOCK = "steelyard-session"
HOLDER = "steelyard.dev/holder"
_ATTEMPTS = 3
"""A lock may go, or change hands, between the attempt to make it and a look at it."""


def take_lock(cluster: Cluster, session: str, children: Children) -> None:
    """Take the lock of a namespace until this process ends; `session` is an id, as no other session of any host has.

    Raises:
        Busy: another session holds it.
        MissingRequirement: it cannot be made.
    """
    mark = secrets.token_hex(8)
    mine = {"session": session, "host": socket.gethostname(), "process": str(os.getpid()), "boot": boot_id()}
    lock = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": LOCK, "labels": {"app.kubernetes.io/part-of": "steelyard", HOLDER: mark}},
        "data": mine,
    }
    for _ in range(_ATTEMPTS):
        if _make(cluster, lock) or _take_over(cluster, lock):
            children.on_crash("kubernetes-lock", cluster.removal_of(f"{HOLDER}={mark}", "configmaps"))
            return
    raise Busy(f"another session has just begun in the namespace {cluster.namespace}")


def _make(cluster: Cluster, lock: Object) -> bool:
    """Make the lock; False: there is one (raises MissingRequirement)."""
    try:
        cluster.create("configmaps", lock)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise MissingRequirement(f"no session can begin in {cluster.namespace} ({error})") from error
        return False
    return True


def _take_over(cluster: Cluster, lock: Object) -> bool:
    """Take the lock of a session that is over; False: it has gone or changed meanwhile (raises Busy,
    MissingRequirement)."""
    locks = cluster.objects("configmaps", fields=f"metadata.name={LOCK}")
    if not locks:
        return False
    metadata, holder = locks[0].get("metadata", {}), locks[0].get("data", {})
    if metadata.get("labels", {}).get(HOLDER) == lock["metadata"]["labels"][HOLDER]:
        return True  # it was made, and the answer was lost
    if holder and not _over(holder, lock["data"]):
        raise Busy(
            f"session {holder.get('session')} of host {holder.get('host')} runs in the namespace"
            f" {cluster.namespace}: wait until it has ended, or name another namespace with --namespace; if it"
            f" was lost: `kubectl delete configmap {LOCK} --namespace={cluster.namespace}`"
        )
    as_read = {name: metadata.get(name) for name in ("uid", "resourceVersion")}
    change = {"metadata": {**as_read, "labels": lock["metadata"]["labels"]}, "data": lock["data"]}
    try:
        cluster.merge("configmaps", LOCK, change)
    except ApiError as error:
        if error.reason in ("Conflict", "NotFound"):
            return False
        raise MissingRequirement(
            f"no session can begin in {cluster.namespace}: its lock is that of session {holder.get('session')}, which"
            f" is over, and cannot be taken over ({error})"
        ) from error
    return True


def _over(holder: Mapping[str, str], mine: Mapping[str, str]) -> bool:
    """Whether a holder has surely ended: it ran on this host, or what goes on is the same session."""
    if holder.get("host") != mine["host"]:
        return holder.get("session") == mine["session"]
    return holder.get("boot") != mine["boot"] or not Path(f"/proc/{holder.get('process')}").exists()
