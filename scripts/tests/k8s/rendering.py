# SPDX-License-Identifier: Apache-2.0
"""What kubectl makes of a kustomization, and the API's strict schemas of it."""

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import referencing
import yaml
from kubernetes_validate.utils import schema_contents

from steelyard.paths import ROOT

BUNDLES = ROOT / "k8s"
Manifest = dict[str, Any]
KUBECTL = shutil.which("kubectl")
_SCHEMAS = "kubernetes-json-schema/v1.33.0-local-strict"
_VERSION = "1.33"
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of C takes a tenth of the time."""


def render(folder: Path) -> list[Manifest]:
    """The objects of a kustomization; kubectl has no word to say about it."""
    assert KUBECTL is not None
    done = subprocess.run([KUBECTL, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [found for found in yaml.load_all(done.stdout, Loader=_Loader) if found]


def render_with(bundle: str, components: Sequence[str], folder: Path) -> list[Manifest]:
    """The objects of a bundle with components, as a person's own kustomization puts them together."""
    above = os.path.relpath(BUNDLES, folder.resolve())
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": f"steelyard-{bundle}",
        "labels": [
            {
                "pairs": {"app.kubernetes.io/part-of": "steelyard", "app.kubernetes.io/instance": bundle},
                "includeTemplates": True,
            }
        ],
        "resources": [f"{above}/{bundle}"],
        "components": [f"{above}/components/{name}" for name in components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
    return render(folder)


def validate(manifest: Manifest) -> None:
    """Hold an object against the schema of its kind; a field that the API does not know is an error.

    Not those of an API that a cluster is given by others: Gateway, OpenShift.
    """
    group, _, version = manifest["apiVersion"].rpartition("/")
    if group.endswith((".openshift.io", "gateway.networking.k8s.io")):
        return
    name = "-".join(part for part in (manifest["kind"].lower(), group.partition(".")[0], version) if part)
    _validator(name).validate(manifest)


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = schema_contents(f"{_SCHEMAS}/{name}.json", _VERSION)
    return jsonschema.Draft202012Validator(schema, registry=_definitions())


@functools.cache
def _definitions() -> referencing.Registry[Any]:
    definitions = referencing.Resource.from_contents(
        schema_contents(f"{_SCHEMAS}/_definitions.json", _VERSION)
    )
    return definitions @ referencing.Registry()


def pods(manifests: Sequence[Manifest]) -> Iterator[tuple[Manifest, Manifest]]:
    """Every object that makes pods, with the pod's specification."""
    for manifest in manifests:
        if manifest["kind"] in {"StatefulSet", "Deployment", "Job"}:
            yield manifest, manifest["spec"]["template"]["spec"]


def containers(pod: Manifest) -> list[Manifest]:
    """All of a pod, those that prepare it first."""
    return [*pod.get("initContainers", []), *pod["containers"]]


def same(manifests: Sequence[Manifest]) -> set[str]:
    """Objects as texts, to compare sets of them."""
    return {json.dumps(manifest, sort_keys=True) for manifest in manifests}
