# SPDX-License-Identifier: Apache-2.0
"""The experiments of k8s/: what the harness may do in a cluster, what it runs, where its results stay."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from steelyard.cli.app import app
from steelyard.engines.kubernetes.cluster import RIGHTS
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS as FILES
from steelyard.paths import ROOT

from .rendering import BUNDLES, KUBECTL, Manifest, render, validate

pytestmark = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH")
EXPERIMENTS = sorted((BUNDLES / "experiments").iterdir())


@pytest.fixture(params=EXPERIMENTS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def one(manifests: Sequence[Manifest], kind: str, name: str = "") -> Manifest:
    (found,) = (each for each in manifests if each["kind"] == kind and name in each["metadata"]["name"])
    return found


def pod(manifests: Sequence[Manifest], kind: str) -> Manifest:
    found: Manifest = one(manifests, kind)["spec"]["template"]["spec"]
    return found


def granted(role: Manifest) -> list[tuple[str, str, str]]:
    """API group, resource and verb of all that a role grants."""
    return sorted(
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    )


def test_the_harness_may_do_what_a_session_does_and_no_more(folder: Path) -> None:
    manifests = render(folder)
    assert granted(one(manifests, "Role")) == sorted(RIGHTS)
    assert granted(one(manifests, "ClusterRole")) == [("", "nodes", "list")]
    for kind in ("Role", "ClusterRole"):
        binding = one(manifests, kind + "Binding")
        assert binding["roleRef"]["name"] == one(manifests, kind)["metadata"]["name"]
        account = one(manifests, "ServiceAccount")["metadata"]
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == (account["name"], account["namespace"])
    assert pod(manifests, "Job")["serviceAccountName"] == account["name"]
    assert "serviceAccountName" not in pod(manifests, "Deployment")


def test_two_experiments_in_a_cluster_share_nothing(folder: Path) -> None:
    """What belongs to the whole cluster has the namespace in its name: to remove one leaves the other its rights."""
    for manifest in render(folder):
        metadata = manifest["metadata"]
        assert metadata.get("namespace", metadata["name"]).startswith(f"steelyard-{folder.name}")


def test_what_the_harness_is_told_is_an_experiment_and_known_to_its_command(folder: Path) -> None:
    (container,) = pod(render(folder), "Job")["containers"]
    assert container["args"][0] == folder.name
    assert folder.name in experiment_files(FILES)
    assert container["command"][:3] == ["python3", "-m", "steelyard"]
    words = [*container["command"][3:], *container["args"]]
    told = CliRunner().invoke(app, [*words, "--help"])
    assert told.exit_code == 0, told.output
    assert "--resume" in words


def test_the_results_outlive_the_harness_and_are_beside_it(folder: Path) -> None:
    manifests = render(folder)
    claim = {"claimName": one(manifests, "PersistentVolumeClaim")["metadata"]["name"]}
    harness, keeper = pod(manifests, "Job"), pod(manifests, "Deployment")
    for found in (harness, keeper):
        (volume,) = (each for each in found["volumes"] if "persistentVolumeClaim" in each)
        assert volume["persistentVolumeClaim"] == claim
    (rule,) = harness["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    labels = one(manifests, "Deployment")["spec"]["template"]["metadata"]["labels"]
    assert rule["labelSelector"]["matchLabels"].items() <= labels.items()
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    # Where a cluster has nodes for what is measured, these two are on none of them.
    best = max(
        keeper["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"],
        key=lambda each: int(each["weight"]),
    )
    (expression,) = best["preference"]["matchExpressions"]
    assert expression == {
        "key": "steelyard.dev/role",
        "operator": "NotIn",
        "values": ["server", "database", "injector"],
    }


def test_a_kustomization_of_a_person_s_own_as_documented(tmp_path: Path) -> None:
    """The one of docs/how-to/harness-in-the-cluster.md: another registry, HotSpot, more options."""
    text = (ROOT / "docs" / "how-to" / "harness-in-the-cluster.md").read_text(encoding="utf-8")
    mine: dict[str, Any] = yaml.safe_load(
        text.partition("```yaml\n# mine/")[2].partition("\n")[2].partition("```")[0]
    )
    above = os.path.relpath(ROOT, tmp_path.resolve())
    for part in ("resources", "components"):
        mine[part] = [path.replace("..", above, 1) for path in mine[part]]
    mine["components"].append(f"{above}/k8s/components/openshift")
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    manifests = render(tmp_path)
    for manifest in manifests:
        validate(manifest)
    (container,) = pod(manifests, "Job")["containers"]
    settings = {each["name"]: each.get("value") for each in container["env"]}
    assert container["image"].startswith(f"{settings['STEELYARD_REGISTRY']}/harness:")
    assert not settings["STEELYARD_REGISTRY"].startswith("localhost")
    assert settings["STEELYARD_FLAVOUR"] == "hotspot"
    assert "--quick" not in container["args"]
    (rule,) = one(manifests, "NetworkPolicy", "harness-to-api-server")["spec"]["egress"]
    assert 6444 in [each["port"] for each in rule["ports"]]
    for kind in ("Job", "Deployment"):
        assert "fsGroup" not in pod(manifests, kind)["securityContext"]
