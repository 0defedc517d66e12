# SPDX-License-Identifier: Apache-2.0
"""What sessions make in a namespace, and how it is removed: by the labels that all of it bears."""

MADE = "statefulsets,deployments,jobs,services"
"""What bundles have, and a trial takes of them."""
MAKERS = "statefulsets,deployments,replicasets,jobs"
"""What makes a pod anew that is gone."""


def removal_of(selector: str) -> list[str]:
    """Arguments of kubectl that remove everything with a label, and do not wait until it is gone."""
    return [
        "delete",
        f"{MADE},pods,configmaps",
        f"--selector={selector}",
        "--ignore-not-found",
        "--wait=false",
    ]
