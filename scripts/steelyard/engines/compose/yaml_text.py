# SPDX-License-Identifier: Apache-2.0
"""Compose files that are laid over another one, as text for people and for compose (pure)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml


class Override(NamedTuple):
    """A value that replaces that of the file below instead of being merged with it."""

    value: Any


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is the library's
        """Everything is written out: a person reads this file."""
        return True


def _represent(dumper: yaml.SafeDumper, data: Override) -> yaml.Node:
    node = dumper.represent_data(data.value)
    node.tag = "!override"
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = True
    return node


_Dumper.add_representer(Override, _represent)


# By the schema of compose files.
def to_text(document: Mapping[str, Any]) -> str:
    """The text of a document."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=10_000)
