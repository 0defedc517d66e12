# SPDX-License-Identifier: Apache-2.0
"""Which images there are: images/images.json, which bake reads as well."""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from steelyard.paths import ROOT

CATALOGUE = ROOT / "images" / "images.json"


class PublishedImage(BaseModel):
    """One entry; images/README.md says what each key means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    description: str
    role: str
    licenses: str
    """SPDX expression of what is in it in each flavour, the base's operating system left to the SBOM."""
    platforms: tuple[str, ...]
    flavours: tuple[str, ...]
    """Empty: one image, whatever JVM the servers run on."""
    base: str
    """Name of its base; empty where that is its flavour's."""
    containerfile: str
    context_root: str
    port: int
    """On which it shows that it works; 0: it has none."""
    answers: dict[str, str]
    """By path on that port a word of the answer; empty: that the port is open says it."""
    replaces: str

    def targets(self, name: str, flavour: str = "all") -> list[str]:
        """Targets of the bake file; an image without flavours has one, whatever is asked for."""
        if not self.flavours:
            return [name]
        chosen = self.flavours if flavour == "all" else (flavour,)
        return [f"{name}-{chosen_flavour}" for chosen_flavour in chosen]

    def tags(self, version: str) -> list[str]:
        """Tags of a version but for the one that openj9 has without a flavour."""
        return [f"{version}-{flavour}" for flavour in self.flavours] or [version]


def read_catalogue(path: Path = CATALOGUE) -> dict[str, PublishedImage]:
    """Every image by name."""
    entries = json.loads(path.read_text(encoding="utf-8"))["variable"]["IMAGES"]["default"]
    return {name: PublishedImage.model_validate(entry) for name, entry in entries.items()}


def all_platforms() -> list[str]:
    """Platforms that some image is made for."""
    return sorted({platform for image in read_catalogue().values() for platform in image.platforms})
