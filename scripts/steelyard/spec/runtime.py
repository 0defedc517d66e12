# SPDX-License-Identifier: Apache-2.0
"""What an arm's components run on, as far as this host had to be asked: JVMs, builds, images."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.results.spec import JvmIdentity


@dataclass(frozen=True)
class Runtime:
    """The artifacts of one arm."""

    server_jvm: JvmIdentity | None
    """None: an image that does not tell."""
    injector_jvm: JvmIdentity
    build: str | None
    """Fingerprint that `/bench/info` of the project's own servers must report."""
    tools: str | None
    """Fingerprint of the build that the injectors and embedded databases come from: the checkout as it is."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Process engine: where packages lie that the project's build does not make, by name."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Engines with containers: pinned image by kind of component, `injector` among them."""
    embedded: frozenset[str] = frozenset()
    """Kinds of component that stand in for something else here."""
