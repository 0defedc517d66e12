# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard.engines.kubernetes.password SECRET`: a Secret with a password that nobody chose.

It is made in the namespace of the pod that runs this, unless it is there, and is never changed. The pod needs an
account that may create Secrets, and no other right: components/password has the Job.

A trial has no such Job, since sessions have no right to Secrets: a ConfigMap takes the Secret's place, and holds a
password of that trial.
"""

import copy
import hashlib
import http.client
import json
import os
import secrets
import ssl
import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from steelyard.engines.kubernetes.api import Object
from steelyard.errors import Exit

KEY = "database_password"
"""Under this the Secret has it."""
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where Kubernetes puts token, namespace and certificate of the pod's account."""
MAKES = "steelyard.dev/makes"
"""Annotation of the Job that runs this: the Secret's name."""
_ANSWER_LIMIT = 30.0


def secret_of(thing: Object) -> str | None:
    """The Secret that a Job of a bundle makes; None: it is no such Job."""
    name: str | None = thing["metadata"].get("annotations", {}).get(MAKES)
    return name if thing["kind"] == "Job" else None


def stand_in(secret: str) -> Object:
    """What a trial has in the place of a Secret, still without the password."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": secret, "annotations": {MAKES: secret}},
    }


def with_passwords(objects: Sequence[Object], token: str) -> Sequence[Object]:
    """Objects of a trial, with a password in each stand-in, and pods that mount those and no Secret.

    Args:
        objects: of the bundle, and stand-ins.
        token: the trial's own secret, of which the password is made.
    """
    copies = copy.deepcopy([dict(thing) for thing in objects])
    names = {
        thing["metadata"]["name"] for thing in copies if MAKES in thing["metadata"].get("annotations", {})
    }
    for thing in copies:
        if thing["kind"] == "ConfigMap" and thing["metadata"]["name"] in names:
            thing["data"] = {KEY: hashlib.sha256(f"{KEY} {token}".encode()).hexdigest()}
        for volume in thing.get("spec", {}).get("template", {}).get("spec", {}).get("volumes", ()):
            if volume.get("secret", {}).get("secretName") in names:
                volume["configMap"] = {"name": volume.pop("secret")["secretName"]}
    return copies


def make_secret(name: str, server: str, account: Path) -> bool:
    """Whether the Secret was made; False: it was there.

    Args:
        name: of the Secret.
        server: address of the API server, `https://HOST:PORT`.
        account: folder of the pod's account.

    Raises:
        OSError: the account cannot be read, or the API server refuses or does not answer (HTTPError, URLError).
        HTTPException: its address is none, or what it answers is not HTTP.
    """
    token, namespace = (
        (account / part).read_text(encoding="utf-8").strip() for part in ("token", "namespace")
    )
    thing = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "steelyard"}},
        "immutable": True,
        "stringData": {KEY: secrets.token_urlsafe(24)},
    }
    request = Request(
        f"{server}/api/v1/namespaces/{quote(namespace)}/secrets",
        json.dumps(thing).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    # Whatever proxy the environment names: it is no way to the API server.
    opener = build_opener(ProxyHandler({}), HTTPSHandler(context=trust_cluster(account)))
    try:
        with opener.open(request, timeout=_ANSWER_LIMIT):
            return True
    except HTTPError as error:
        if error.code == HTTPStatus.CONFLICT:
            return False
        raise


def trust_cluster(account: Path) -> ssl.SSLContext:
    """TLS with the cluster's authority, as kubectl takes it: Python from 3.13 on would refuse one without key usage, as
    clusters made by hand have it (raises OSError: it cannot be read)."""
    trusted = ssl.create_default_context(cafile=str(account / "ca.crt"))
    trusted.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return trusted


def main(arguments: list[str], environment: Mapping[str, str] = os.environ, account: Path = ACCOUNT) -> int:
    """The command: 0, or `Exit.ENVIRONMENT` with a sentence."""
    (name,) = arguments
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    at = f"[{host}]" if ":" in host else host
    try:
        made = make_secret(name, f"https://{at}:{environment.get('KUBERNETES_SERVICE_PORT', '443')}", account)
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(
            f"steelyard: the Secret {name} could not be made ({error}): may its account create Secrets?\n"
        )
        return Exit.ENVIRONMENT
    sys.stdout.write(f"the Secret {name} {'was made' if made else 'is there, and stays'}\n")
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
