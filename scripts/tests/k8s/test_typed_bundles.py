# SPDX-License-Identifier: Apache-2.0
"""What documents tell people to type to docker compose and kubectl, against the bundles that there are."""

import os
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from steelyard.paths import ROOT

from .rendering import KUBECTL, containers, pods, render, validate

DOCUMENTS = [
    ROOT / "README.md",
    *(path for path in ROOT.glob("docs/**/*.md") if "lab-notes" not in path.parts),
    *(ROOT / top / "README.md" for top in ("compose", "images", "k8s")),
    *ROOT.glob("compose/*/compose.yaml"),
    *ROOT.glob("k8s/[!l]*/**/kustomization.yaml"),
]
# As it is typed, up to what ends it in prose or in a block: a back-quote, a comment, a pipe, a full stop.
_TYPED = re.compile(r"(docker compose|kubectl)((?: +[^\s`#|>&();]+)+)")
_GO_THERE = re.compile(r"\bcd compose/([a-z0-9-]+)")
_CONTINUED = re.compile(r"\\\n\s*")
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OF_A_PERSON = ("mine", "results/")
"""Folders that pages have their reader make."""


class Typed(NamedTuple):
    document: Path
    program: str
    words: list[str]
    bundle: str | None
    """Of compose/, where the line or the page's block goes there first."""

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}: {self.program} {' '.join(self.words)}"


def typed(program: str) -> Iterator[Typed]:
    for document in DOCUMENTS:
        text = _CONTINUED.sub(" ", document.read_text(encoding="utf-8"))
        own = document.parent.name if document.name == "compose.yaml" else None
        for block in text.split("\n\n"):
            bundle = own
            for line in block.splitlines():
                if there := _GO_THERE.search(line):
                    bundle = there[1]
                for match in _TYPED.finditer(line):
                    if match[1] == program:
                        words = [word.rstrip(",.:") for word in shlex.split(match[2].replace("'", ""))]
                        yield Typed(document, program, words, bundle)


@cache
def services(bundle: str | None) -> Mapping[str, Sequence[str]]:
    """Services of a bundle, or of all, with their profiles."""
    found: dict[str, Sequence[str]] = {}
    for path in ROOT.glob(f"compose/{bundle or '*'}/compose.yaml"):
        content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_YAML)
        for name, service in content["services"].items():
            found[name] = [*found.get(name, ()), *service.get("profiles", ())]
    return found


@cache
def objects() -> frozenset[tuple[str, str]]:
    """Kind and name, in small letters, of every object of k8s/."""
    found = set()
    for path in ROOT.glob("k8s/[!l]*/**/*.yaml"):
        for one in yaml.load_all(path.read_text(encoding="utf-8"), Loader=_YAML):
            if isinstance(one, dict) and "name" in one.get("metadata", {}):
                found.add((str(one["kind"]).lower(), str(one["metadata"]["name"])))
    return frozenset(found)


@cache
def namespaces() -> frozenset[str]:
    """Namespaces that kustomizations of k8s/ put their objects into."""
    texts = (path.read_text(encoding="utf-8") for path in ROOT.glob("k8s/[!l]*/**/kustomization.yaml"))
    return frozenset(name for text in texts for name in re.findall(r"^namespace: (\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("example", [pytest.param(one, id=str(one)) for one in typed("docker compose")])
def test_compose_knows_each_service_and_profile(example: Typed) -> None:
    known, words = services(example.bundle), example.words
    assert known, f"there is no compose/{example.bundle}"
    profiles = {profile for given in known.values() for profile in given}
    for option, value in pairwise(words):
        if option == "--profile":
            assert value in profiles, value
        if option == "--exit-code-from":
            assert value in known, value
        if option == "--scale":
            assert value.partition("=")[0] in known, value
    named = next((at for at, word in enumerate(words) if word in ("run", "exec", "build", "restart")), None)
    if named is not None:
        service = next((word for word in words[named + 1 :] if not word.startswith("-")), None)
        assert service in known, service


@pytest.mark.parametrize("example", [pytest.param(one, id=str(one)) for one in typed("kubectl")])
def test_kubectl_is_given_folders_objects_and_namespaces_that_are_there(example: Typed) -> None:
    words = example.words
    kinds = {kind for kind, _ in objects()}
    for option, value in pairwise(words):
        if (option in ("-k", "kustomize")) and not value.startswith(_OF_A_PERSON) and "NAME" not in value:
            assert (ROOT / value / "kustomization.yaml").exists(), value
        if option == "-n":
            assert value in namespaces(), value
    for word in words:
        kind, slash, name = word.partition("/")
        if slash and kind in kinds:
            assert (kind, name) in objects(), word


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH")
def test_the_folder_of_the_ten_minutes_takes_every_image_from_the_reader_s_registry(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / "kubernetes-bundles.md").read_text(encoding="utf-8")
    mine: dict[str, Any] = yaml.safe_load(textwrap.dedent(text.partition("```yaml\n")[2].partition("```")[0]))
    above = os.path.relpath(ROOT, tmp_path.resolve())
    for part in ("resources", "components"):
        mine[part] = [path.replace("..", above, 1) for path in mine[part]]
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    manifests = render(tmp_path)
    for manifest in manifests:
        validate(manifest)
    images = [container["image"] for _, pod in pods(manifests) for container in containers(pod)]
    assert images
    assert all(image.startswith("registry.example/steelyard/") for image in images)
