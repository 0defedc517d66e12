# SPDX-License-Identifier: Apache-2.0
"""One session at a time in a namespace: two would disturb each other, and their objects have the same names.

The lock is a ConfigMap, which one session makes and no other can. It goes when the session ends, however it ends; one
that lost its machine leaves it, and says whose it was. Such a lock is taken over by a change that the API server
refuses when the lock is no longer as it was read (its `resourceVersion`; Kubernetes API concepts, "Resource versions"):
of two sessions that find it at once one gets it. At the end the lock is removed by its holder's mark: never another's.
"""

import json
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.engines.kubernetes.cluster import Cluster, KubectlFailed
from steelyard.errors import Busy, MissingRequirement
from steelyard.processes import Children

LOCK = "steelyard-session"
HOLDER = "steelyard.dev/holder"
_ATTEMPTS = 3
"""A lock may go, or change hands, between the attempt to make it and a look at it."""


def take_lock(cluster: Cluster, session: str, children: Children) -> None:
    """Take the lock of a namespace until this process ends.

    Raises:
        Busy: another session holds it.
        MissingRequirement: it cannot be made.
    """
    mark = secrets.token_hex(8)
    mine = {"session": session, "host": socket.gethostname(), "process": str(os.getpid()), "boot": _boot()}
    wanted = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": LOCK, "labels": {"app.kubernetes.io/part-of": "steelyard", HOLDER: mark}},
        "data": mine,
    }
    for _ in range(_ATTEMPTS):
        if _make(cluster, wanted) or _take_over(cluster, wanted):
            release = ["delete", "configmap", f"--selector={HOLDER}={mark}", "--wait=false"]
            children.on_crash("kubernetes-lock", [*cluster.command, *release])
            return
    raise Busy(f"another session has just begun in the namespace {cluster.namespace}")


def _make(cluster: Cluster, wanted: Mapping[str, Any]) -> bool:
    """Make the lock; False: there is one (raises MissingRequirement)."""
    try:
        cluster.run("create", "--filename=-", given=json.dumps(wanted), whole=True)
    except KubectlFailed as error:
        if "already exists" not in error.said and "AlreadyExists" not in error.said:
            raise MissingRequirement(f"no session can begin in {cluster.namespace} ({error})") from error
        return False
    return True


def _take_over(cluster: Cluster, wanted: Mapping[str, Any]) -> bool:
    """Take the lock of a session that is over; False: it has gone or changed meanwhile (raises Busy,
    MissingRequirement)."""
    locks = cluster.get("configmap", "--field-selector", f"metadata.name={LOCK}")
    if not locks:
        return False
    about, holder = locks[0].get("metadata", {}), locks[0].get("data", {})
    if about.get("labels", {}).get(HOLDER) == wanted["metadata"]["labels"][HOLDER]:
        return True  # it was made, and the answer was lost
    if holder and not _over(holder, wanted["data"]):
        raise Busy(
            f"session {holder.get('session')} of host {holder.get('host')} runs in the namespace"
            f" {cluster.namespace}: wait until it has ended, or name another namespace with --namespace; if it"
            f" was lost: `kubectl delete configmap {LOCK} --namespace={cluster.namespace}`"
        )
    as_read = {name: about.get(name) for name in ("uid", "resourceVersion")}
    change = {"metadata": {**as_read, "labels": wanted["metadata"]["labels"]}, "data": wanted["data"]}
    try:
        cluster.run("patch", "configmap", LOCK, "--type=merge", f"--patch={json.dumps(change)}", whole=True)
    except KubectlFailed as error:
        if any(word in error.said for word in ("Conflict", "has been modified", "NotFound", "not found")):
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


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
