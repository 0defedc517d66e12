# SPDX-License-Identifier: Apache-2.0
"""Which nodes take the pods of which components, where a cluster has nodes of its own for them."""

from collections.abc import Mapping

from steelyard.results.spec import Component, Role

ROLE = "steelyard.dev/role"
"""Label of nodes: what runs on them; also the key of the one taint that pods of trials tolerate."""
TOLERATION = {"key": ROLE, "operator": "Exists"}
"""Of every pod that a session makes: nodes may keep others' pods away."""
_NODES: Mapping[Role, str] = {"database": "database", "service": "database", "injector": "injector"}


def node_role(component: Component) -> str:
    """The value of `ROLE` that the nodes of a component have."""
    return _NODES.get(component.role, "server")
