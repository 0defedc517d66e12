# SPDX-License-Identifier: Apache-2.0
"""A namespace of a cluster: its objects by the API server's own verbs (api.py), with whatever configuration and rights
the user has. What kubectl itself does is to know the user and to render bundles.

No client library: lightkube is not in Debian, of whose packages the harness's image is made, reads no KUBECONFIG of
several files and asks a pod's own server only through its internals; errors of the official client are texts to parse.
"""

import functools
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

import yaml

from steelyard.clock import Deadline
from steelyard.engines.kubernetes.api import ANSWER_LIMIT, APPLY, MERGE, ApiError, Object, Proxy
from steelyard.errors import MissingRequirement
from steelyard.processes.client import ClientFailed, first_error, run_client

NAMESPACE = "steelyard"
"""Where trials run, unless the user names another one."""
MINIMUM = (1, 28)
"""From here on every pod of a StatefulSet tells its number, and overlays take what is used here."""
RIGHTS = (
    *(("", "pods", verb) for verb in ("get", "list", "watch", "create", "delete")),
    *(("", "pods/log", "get"), ("", "pods/proxy", "get"), ("", "pods/proxy", "create")),
    *(
        ("", resource, verb)
        for resource in ("services", "configmaps")
        for verb in ("get", "list", "create", "patch", "delete")
    ),
    *(
        (group, resource, verb)
        for group, resource in (("apps", "statefulsets"), ("apps", "deployments"), ("batch", "jobs"))
        for verb in ("get", "list", "create", "patch", "delete")
    ),
    *(("apps", "replicasets", verb) for verb in ("list", "delete")),
    ("", "events", "list"),
)
"""What a session does in its namespace: API group, resource, verb."""
_GROUPS = {resource: group for group, resource, _ in RIGHTS}
_WIDE = ("nodes", "namespaces")
MADE = ("statefulsets", "deployments", "jobs", "services")
"""What bundles have, and a trial takes of them."""
MAKERS = ("statefulsets", "deployments", "replicasets", "jobs")
"""What makes a pod anew that is gone."""
OURS = (*MADE, "pods", "configmaps")
"""All that sessions make in a namespace."""
GONE_LIMIT = 60.0
"""Seconds that what was removed may take to be gone."""
_POLL = 0.2


@dataclass(frozen=True)
class Cluster:
    """A namespace of a cluster, as the user's own kubectl reaches it."""

    client: Path
    context: str
    """Of the user's configuration; empty in a pod, where kubectl takes the account of that."""
    proxy: Proxy
    namespace: str = NAMESPACE
    version: str = "unknown"
    """Of the API server."""

    def path(self, resource: str, name: str = "") -> str:
        """The path of a resource, or of one object of it; of the namespace, but for what is in none (`_WIDE`)."""
        space = "" if resource in _WIDE else f"/namespaces/{quote(self.namespace)}"
        return f"{_prefix(_GROUPS.get(resource, ''))}{space}/{resource}{name and f'/{quote(name)}'}"

    def objects(self, resource: str, labels: str = "", fields: str = "") -> list[Object]:
        """Objects of a resource by selectors of labels and fields (raises ApiError)."""
        path = self.path(resource)
        items = self.get(f"{path}?{urlencode({'labelSelector': labels, 'fieldSelector': fields})}").get(
            "items"
        )
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise ApiError(f"GET {path}", 0, "", "no objects were listed")
        return items

    def get(self, path: str, *, patient: bool = True) -> Object:
        """What is at a path (raises ApiError)."""
        return _parse(self.proxy.request("GET", path, patient=patient))

    def create(self, resource: str, thing: Object, *, dry_run: bool = False, patient: bool = True) -> Object:
        """Make an object, and return it as it was made (raises ApiError)."""
        query = "?dryRun=All" if dry_run else ""
        return _parse(self.proxy.request("POST", f"{self.path(resource)}{query}", thing, patient=patient))

    def merge(self, resource: str, name: str, change: Object) -> None:
        """Change an object (JSON merge patch); one whose `resourceVersion` is another is refused (raises ApiError)."""
        self.proxy.request("PATCH", self.path(resource, name), change, MERGE)

    def apply(self, things: Iterable[Object]) -> None:
        """Make objects, or make what there is like them (server-side apply; raises ApiError)."""
        for thing in things:
            path = self.path(api_resource(thing), thing["metadata"]["name"])
            self.proxy.request("PATCH", f"{path}?fieldManager=steelyard&force=true", thing, APPLY)

    def delete(
        self, resource: str, name: str, *, grace: int | None = None, cascade: str = "Background"
    ) -> None:
        """Remove an object; one that is not there is no error (raises ApiError).

        A pod has `grace` seconds to end (None: its own number); `cascade` is Kubernetes' `propagationPolicy`.
        """
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": cascade}
        if grace is not None:
            options = {**options, "gracePeriodSeconds": grace}
        try:
            self.proxy.request("DELETE", self.path(resource, name), options)
        except ApiError as error:
            if error.reason != "NotFound":
                raise

    def remove(self, resources: Sequence[str], labels: str, cascade: str = "Background") -> None:
        """Remove all objects of some resources that have labels (raises ApiError)."""
        for resource in resources:
            for thing in self.objects(resource, labels):
                self.delete(resource, thing["metadata"]["name"], cascade=cascade)

    def wait_until_gone(self, resources: Sequence[str], labels: str, within: float = GONE_LIMIT) -> None:
        """Wait until no such objects are there (raises ApiError, also when some are still there in the end)."""
        deadline = Deadline(within)
        while left := [
            f"{resource}/{thing['metadata']['name']}"
            for resource in resources
            for thing in self.objects(resource, labels)
        ]:
            if deadline.is_over:
                raise ApiError("DELETE", 0, "", f"{', '.join(left)} not gone within {within:.0f} s")
            deadline.sleep(_POLL)

    def log(self, pod: str, container: str, *, timeout: float = ANSWER_LIMIT, **query: str) -> str:
        """What a container printed (raises ApiError); `query`: `limitBytes`, `previous` (before its restart)."""
        path = f"{self.path('pods', pod)}/log?{urlencode({'container': container, **query})}"
        return self.proxy.request("GET", path, timeout=timeout, patient=False).decode(errors="replace")

    def path_to(self, pod: str, port: int) -> str:
        """What stands before a path of a pod's own HTTP server."""
        return f"{self.path('pods')}/{quote(pod)}:{port}/proxy"

    def has_api(self, group: str) -> bool:
        """Whether the API server has a group of resources; no where it does not tell."""
        try:
            groups = self.get("/apis").get("groups", [])
        except ApiError:
            return False
        return any(each.get("name") == group for each in groups)

    def authority(self) -> str | None:
        """The first 16 digits of the SHA-256 of its certificate authority, by which a cluster is told from others.

        None: it is not told.

        Kubernetes puts the certificate into every namespace (RootCAConfigMap), so that no right beyond the
        namespace is asked for.
        """
        try:
            text = self.get(self.path("configmaps", "kube-root-ca.crt")).get("data", {}).get("ca.crt")
        except ApiError:
            return None
        return hashlib.sha256(text.strip().encode()).hexdigest()[:16] if text else None

    def refusals(self) -> list[str]:
        """Rights that the user lacks in the namespace, as `verb resource` (raises ApiError)."""
        return [
            f"{verb} {resource}" for group, resource, verb in RIGHTS if not self._may(group, resource, verb)
        ]

    def render(self, folder: Path) -> Sequence[Object]:
        """The objects of a bundle, as kustomize renders them (raises ApiError)."""
        failed = functools.partial(ClientFailed, "kubectl kustomize")
        command = [str(self.client), "kustomize", str(folder)]
        try:
            printed = run_client(command, failed, first_error, timeout=ANSWER_LIMIT)
        except ClientFailed as error:
            raise ApiError("kubectl kustomize", 0, "", error.detail) from error
        return [thing for thing in yaml.safe_load_all(printed) if thing]

    def removal_of(self, labels: str, *resources: str) -> list[str]:
        """A command that removes objects by their labels when the harness no longer can."""
        context = [f"--context={self.context}"] if self.context else []
        action = ["delete", ",".join(resources or OURS), f"--selector={labels}"]
        options = ["--ignore-not-found", "--wait=false"]
        return [str(self.client), *context, f"--namespace={self.namespace}", *action, *options]

    def _may(self, group: str, resource: str, verb: str) -> bool:
        name, _, part = resource.partition("/")
        right = {
            "namespace": self.namespace,
            "group": group,
            "resource": name,
            "subresource": part,
            "verb": verb,
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": right},
        }
        path = f"{_prefix('authorization.k8s.io')}/selfsubjectaccessreviews"
        status = _parse(self.proxy.request("POST", path, review)).get("status")
        if not isinstance(status, dict) or "allowed" not in status:
            raise ApiError(f"POST {path}", 0, "", "no rights are reported")
        return status["allowed"] is True


def api_resource(thing: Object) -> str:
    """The resource that an object is of, as it stands in paths: `statefulsets`."""
    return f"{thing['kind'].lower()}s"


def _prefix(group: str) -> str:
    return f"/apis/{group}/v1" if group else "/api/v1"


def _parse(answer: bytes) -> Object:
    try:
        parsed = json.loads(answer)
    except ValueError as error:
        raise ApiError("the API server", 0, "", f"answered no JSON ({error})") from error
    if not isinstance(parsed, dict):
        raise ApiError("the API server", 0, "", "answered no object")
    return parsed


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
    program = shutil.which("kubectl", path=environment.get("PATH", os.defpath))
    if program is None:
        raise MissingRequirement(
            "kubectl was not found: install it (docs/how-to/cluster.md), or use --engine process or compose"
        )
    client = Path(program)
    _require_version(
        "kubectl", str(_ask_client(client, "version", "--client").get("clientVersion", {}).get("gitVersion"))
    )
    config = _ask_client(client, "config", "view")
    contexts = [entry["name"] for entry in config.get("contexts") or ()]
    context = context or config.get("current-context") or ""
    if context and context not in contexts:
        raise MissingRequirement(
            f"kubectl has no context {context!r}: see `kubectl config get-contexts`, and name one with --context"
        )
    proxy = Proxy([program, *([f"--context={context}"] if context else [])])
    try:
        version = str(_parse(proxy.request("GET", "/version", timeout=20.0, patient=False)).get("gitVersion"))
    except ApiError as error:
        proxy.close()
        raise MissingRequirement(_why_no_answer(context, error)) from error
    _require_version(f"the cluster of context {context!r}", version)
    return Cluster(client, context, proxy, namespace, version)


def _ask_client(client: Path, *arguments: str) -> Object:
    """What kubectl says of itself (raises MissingRequirement)."""
    failed = functools.partial(ClientFailed, f"kubectl {arguments[0]}")
    try:
        return _parse(
            run_client([str(client), *arguments, "--output=json"], failed, first_error, timeout=20.0)
        )
    except (ClientFailed, ApiError) as error:
        raise MissingRequirement(f"{client} cannot be used ({error}): install another kubectl") from error


def _require_version(name: str, version: str) -> None:
    number = re.match(r"v([0-9]+)\.([0-9]+)", version)
    if number is None or (int(number[1]), int(number[2])) < MINIMUM:
        raise MissingRequirement(
            f"{name} is version {version}, and {'.'.join(map(str, MINIMUM))} or newer is needed"
        )


def _why_no_answer(context: str, error: ApiError) -> str:
    if not context:
        return (
            f"kubectl knows no cluster ({error.message}): set KUBECONFIG, or name one of `kubectl config get-contexts`"
            " with --context"
        )
    return (
        f"the cluster of context {context!r} does not answer ({error.message}): see"
        f" `kubectl --context={context} version`"
    )
