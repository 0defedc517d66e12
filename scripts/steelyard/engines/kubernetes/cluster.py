# SPDX-License-Identifier: Apache-2.0
"""A cluster, asked through kubectl, with whatever configuration and rights the user has.

What is asked often or while something is measured goes through `api.py`, which starts no process for it.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.clock import Deadline
from steelyard.errors import MissingRequirement
from steelyard.processes import child_environment, signals_held
from steelyard.processes.client import ClientFailed, first_error, run_client

NAMESPACE = "steelyard"
"""Where trials run, unless the user names another one."""
ANSWER_LIMIT = 60.0
AWAY_LIMIT = 60.0
"""Seconds that an API server may be away: it is waited for so long, and then the trial is void."""
MINIMUM = (1, 28)
"""From here on every pod of a StatefulSet tells its number, and overlays take what is used here."""
_AWAY = re.compile(
    r"(was refused|unable to connect|unexpected EOF|: EOF$|i/o timeout|TLS handshake timeout|connection reset|"
    r"no route to host|no such host|server is currently unable|apiserver not ready|etcdserver|"
    r"context deadline exceeded|client rate limiter|http2: client connection lost|shutting down|"
    r"network is unreachable)",
    re.IGNORECASE | re.MULTILINE,
)
_AGAIN = 1.0
RIGHTS = (
    *(("", "pods", verb) for verb in ("get", "list", "watch", "create", "delete")),
    *(("", "pods/exec", "create"), ("", "pods/log", "get"), ("", "pods/proxy", "get")),
    *(
        ("", kind, verb)
        for kind in ("services", "configmaps")
        for verb in ("get", "list", "create", "patch", "delete")
    ),
    *(
        (group, kind, verb)
        for group, kind in (("apps", "statefulsets"), ("apps", "deployments"), ("batch", "jobs"))
        for verb in ("get", "list", "create", "patch", "delete")
    ),
    *(("apps", "replicasets", verb) for verb in ("list", "delete")),
    ("", "events", "list"),
)
"""What a session does in its namespace: API group, resource, verb."""


class KubectlFailed(ClientFailed):
    """A kubectl command failed."""

    @property
    def away(self) -> bool:
        """Whether nobody answered, rather than said no."""
        return _AWAY.search(self.said) is not None


@dataclass(frozen=True)
class Cluster:
    """A namespace of a cluster, as the user's own kubectl reaches it."""

    client: Path
    context: str
    """Of the user's configuration; empty in a pod, where kubectl takes the account of that."""
    namespace: str = NAMESPACE
    version: str = "unknown"
    """Of the API server."""

    @property
    def command(self) -> list[str]:
        """What every command line begins with."""
        context = [f"--context={self.context}"] if self.context else []
        return [str(self.client), *context, f"--namespace={self.namespace}"]

    def run(
        self,
        *arguments: str,
        given: str | None = None,
        timeout: float = ANSWER_LIMIT,
        patient: bool = True,
        whole: bool = False,
    ) -> str:
        """Run `kubectl ARGUMENTS` and return its standard output.

        It runs in a session of its own, so that a Ctrl-C of the terminal does not cut it short. With `whole` an
        interrupt waits until the command has ended: what is cleaned up then holds all that it made.

        Args:
            arguments: of kubectl.
            given: its standard input.
            timeout: seconds, for each attempt.
            patient: whether an API server that is away is waited for, `AWAY_LIMIT` seconds long. Not for what must not
                be done twice.
            whole: as above.

        Raises:
            KubectlFailed: it ended with an error, or not within `timeout` seconds.
        """
        return self.run_raw(*arguments, given=given, timeout=timeout, patient=patient, whole=whole).decode(
            errors="replace"
        )

    def run_raw(
        self,
        *arguments: str,
        given: str | None = None,
        timeout: float = ANSWER_LIMIT,
        patient: bool = True,
        whole: bool = False,
    ) -> bytes:
        """The same, with its output as it is (an archive, for one)."""
        deadline = Deadline(AWAY_LIMIT if patient else 0.0)
        while True:
            try:
                with signals_held() if whole else contextlib.nullcontext():
                    return run_client(
                        [*self.command, *arguments],
                        partial(KubectlFailed, f"kubectl {arguments[0]}"),
                        error_line,
                        timeout=timeout,
                        given=given,
                    )
            except KubectlFailed as error:
                if not error.away or deadline.passed:
                    raise
            deadline.sleep(_AGAIN)

    def get(self, *arguments: str) -> list[dict[str, Any]]:
        """`kubectl get ARGUMENTS`: the objects (see `run` for errors)."""
        printed = self.run("get", *arguments, "--output=json")
        try:
            found = json.loads(printed or '{"items": []}')
        except ValueError as error:
            raise KubectlFailed("kubectl get", f"it printed no JSON ({error})", printed) from error
        listed = found.get("items", [found]) if isinstance(found, dict) else None
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise KubectlFailed("kubectl get", "it printed no objects", printed)
        return listed

    def apply(self, folder: Path, kinds: Sequence[str], label: str) -> None:
        """Apply what an overlay has of some kinds of component, by their label.

        Raises:
            KubectlFailed: the API server says no; its own words are passed on.
        """
        chosen = f"{label} in ({','.join(kinds)})"
        self.run("apply", f"--kustomize={folder}", f"--selector={chosen}", whole=True)

    def authority(self) -> str | None:
        """The first 16 digits of the SHA-256 of its certificate authority, by which a cluster is told from others.

        None: it is not told.

        Kubernetes puts the certificate into every namespace (RootCAConfigMap), so that no right beyond the
        namespace is asked for.
        """
        try:
            told = self.get("configmaps", "kube-root-ca.crt")
        except KubectlFailed:
            return None
        text = told[0].get("data", {}).get("ca.crt") if told else None
        return hashlib.sha256(text.strip().encode()).hexdigest()[:16] if text else None

    def refusals(self) -> list[str]:
        """Rights that the user lacks in the namespace, as `verb resource`."""
        reviews = [
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": _attributes(self.namespace, *right)},
            }
            for right in RIGHTS
        ]
        asked = json.dumps({"apiVersion": "v1", "kind": "List", "items": reviews})
        told = self.run("create", "--filename=-", '--output=jsonpath={.status.allowed}{"\\n"}', given=asked)
        answers = told.split()
        if len(answers) != len(RIGHTS):
            raise KubectlFailed("kubectl create", f"the API server tells no rights ({told.strip()[:100]})")
        return [
            f"{verb} {name}"
            for (_, name, verb), answer in zip(RIGHTS, answers, strict=True)
            if answer != "true"
        ]


def find_cluster(
    context: str | None = None, namespace: str = NAMESPACE, environment: Mapping[str, str] = os.environ
) -> Cluster:
    """The cluster that kubectl reaches, checked for what trials need.

    Args:
        context: a context of the user's configuration; None: the current one. In a pod without a configuration,
            kubectl takes the pod's own account.
        namespace: where trials will run.
        environment: with PATH and KUBECONFIG.

    Raises:
        MissingRequirement: no kubectl, no such context, no answer, something too old.
    """
    client = shutil.which("kubectl", path=environment.get("PATH", os.defpath))
    if client is None:
        raise MissingRequirement(
            "kubectl was not found: install it (docs/kubernetes.md), or use --engine process or compose"
        )
    cluster = Cluster(Path(client), context or _current(Path(client)), namespace)
    try:
        versions = json.loads(cluster.run("version", "--output=json", timeout=20.0, patient=False))
    except KubectlFailed as error:
        raise MissingRequirement(_why_no_answer(cluster.context, error)) from error
    except ValueError as error:
        raise MissingRequirement(f"{client} does not tell its version: install another kubectl") from error
    versions = versions if isinstance(versions, dict) else {}
    found = {
        part: str((versions.get(part) or {}).get("gitVersion", "unknown"))
        for part in ("clientVersion", "serverVersion")
    }
    for part, name in (
        ("clientVersion", "kubectl"),
        ("serverVersion", f"the cluster of context {cluster.context!r}"),
    ):
        number = re.match(r"v([0-9]+)\.([0-9]+)", found[part])
        if number is None or (int(number[1]), int(number[2])) < MINIMUM:
            raise MissingRequirement(
                f"{name} is version {found[part]}, and {'.'.join(map(str, MINIMUM))} or newer is needed"
            )
    return Cluster(cluster.client, cluster.context, namespace, found["serverVersion"])


def _current(client: Path) -> str:
    """The current context; empty where there is no configuration, as in a pod."""
    done = subprocess.run(
        [str(client), "config", "current-context"],
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    return done.stdout.strip()


def _why_no_answer(context: str, error: KubectlFailed) -> str:
    if "does not exist" in error.said:
        return f"kubectl has no context {context!r}: see `kubectl config get-contexts`, and name one with --context"
    if not context:
        return (
            f"kubectl knows no cluster ({error.said}): set KUBECONFIG, or name one of `kubectl config get-contexts`"
            " with --context"
        )
    return (
        f"the cluster of context {context!r} does not answer ({error.said}): see"
        f" `kubectl --context={context} version`"
    )


def _attributes(namespace: str, group: str, resource: str, verb: str) -> dict[str, str]:
    name, _, part = resource.partition("/")
    return {"namespace": namespace, "group": group, "resource": name, "subresource": part, "verb": verb}


def error_line(printed: str) -> str:
    """The first line of an error, without what the client puts before it."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    said = [line for line in lines if not re.match(r"[EWI]\d{4} |Warning: ", line)] or lines
    plain = re.sub(r"^(error: |Error from server( \(\w+\))?: )+", "", first_error("\n".join(said)))
    return re.sub(r'^error when creating "[^"]*": ', "", plain)
