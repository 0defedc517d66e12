# SPDX-License-Identifier: Apache-2.0
"""Sets the version of the project in all that must carry it: python3 scripts/suite/version.py NEW

It stands in `scripts/steelyard/__init__.py`. What cannot look it up there carries a copy: the list of images,
defaults of bundles, commands in documents, the citation, the changelog. Only such copies are replaced: the same three
numbers may be the version of something else. The sentence that no version is published goes. Needs nothing but
Python.
"""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

SOURCE = "scripts/steelyard/__init__.py"
IMAGES = "images/images.json"
CARRIERS = (
    SOURCE,
    *(IMAGES, "compose/*/compose.yaml", "k8s", ":!k8s/local", "CITATION.cff"),
    *("README.md", "SECURITY.md", "docs/*.md", "images/README.md"),
)
"""As git's pathspecs."""
CHANGELOG = "CHANGELOG.md"
UNPUBLISHED = "No version is published yet."
"""What documents say until the first, in these words alone; what stands around it holds without it."""
_VERSION = r"\d+\.\d+\.\d+(?:-rc\.\d+)?"
_BEFORE = (
    r'__version__ = "',
    r'"VERSION": \{"default": "',
    r"STEELYARD_VERSION:-",
    r"`localhost/steelyard`, `",  # the defaults of variables, in a table
    r"type: software\nversion: ",  # CITATION.cff, whose cff-version is another's
    r"steelyard-bundles-",
    r"steelyard-package-[\w-]+-",
    r"(?:refs/tags/|releases/download/|git tag --sign |git push origin )v",
)
"""What stands before a copy of the project's version, beside the names of its images."""


def current_version(root: Path) -> str:
    """The version of a checkout (raises ValueError: its file has none)."""
    match = re.search(rf'^__version__ = "({_VERSION})"$', (root / SOURCE).read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise ValueError(f"{root / SOURCE} has no line __version__")
    return match[1]


def image_targets(root: Path) -> dict[str, list[str]]:
    """The targets of each image by its name, as the list of images has them: one for each flavour, or one."""
    listed = json.loads((root / IMAGES).read_text(encoding="utf-8"))["variable"]["IMAGES"]["default"]
    return {
        name: [f"{name}-{each}" for each in image["flavours"]] or [name] for name, image in listed.items()
    }


def python_version(version: str) -> str:
    """A version as Python's packages spell it: 0.1.0-rc.1 is 0.1.0rc1."""
    return version.replace("-rc.", "rc")


def pattern_of(version: str, root: Path) -> re.Pattern[str]:
    """Where a version is the project's: group 1 is what stands before it, or group 2 in the name of the wheel."""
    images = "|".join(map(re.escape, image_targets(root)))
    before = "|".join((rf"\b(?:{images})(?::|, newTag: )", *_BEFORE))
    end = r"(?!\w|\.\d|-rc\.)"
    wheel = rf"(steelyard-){re.escape(python_version(version))}(?=-py3-)"
    return re.compile(rf"({before}){re.escape(version)}{end}|{wheel}")


def replace_version(text: str, pattern: re.Pattern[str], version: str) -> str:
    """A text with another version where the pattern finds one."""

    def new(match: re.Match[str]) -> str:
        return f"{match[2]}{python_version(version)}" if match[1] is None else f"{match[1]}{version}"

    return pattern.sub(new, text)


def carriers(root: Path) -> list[Path]:
    """Files that may hold copies."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *CARRIERS], cwd=root, capture_output=True, text=True, check=True
    )
    return [root / name for name in listed.stdout.split("\0") if name]


def drop_sentence(text: str) -> str:
    """A document without UNPUBLISHED."""
    return text.replace(f"{UNPUBLISHED} ", "").replace(f" {UNPUBLISHED}", "")


def set_version(root: Path, version: str, day: str) -> list[Path]:
    """Write another version everywhere.

    Args:
        root: the checkout.
        version: the new one.
        day: of the changelog's heading, as 2026-01-31.

    Returns:
        The files that were changed.

    Raises:
        ValueError: that is no version, or the changelog has no part `Unreleased`.
    """
    if not re.fullmatch(_VERSION, version):
        raise ValueError(f"{version!r} is no version: three numbers, as 1.2.0, or 1.2.0-rc.1")
    pattern = pattern_of(current_version(root), root)
    changed = []
    for path in carriers(root):
        text = path.read_text(encoding="utf-8")
        new = drop_sentence(replace_version(text, pattern, version))
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    log = root / CHANGELOG
    text = log.read_text(encoding="utf-8")
    if text.count("\n## Unreleased\n") != 1:
        raise ValueError(f"{log} has no heading `## Unreleased`: write what is new under it first")
    text = drop_sentence(text)
    log.write_text(text.replace("\n## Unreleased\n", f"\n## Unreleased\n\n## {version} - {day}\n"), "utf-8")
    return [*changed, log]


def main(arguments: list[str]) -> int:
    """The command; 0, or 2 with a sentence."""
    root = Path(__file__).resolve().parents[2]
    if len(arguments) != 1:
        print(f"usage: version.py NEW (now {current_version(root)})", file=sys.stderr)  # noqa: T201
        return 2
    try:
        for path in set_version(root, arguments[0], datetime.now(UTC).date().isoformat()):
            print(path.relative_to(root))  # noqa: T201
    except ValueError as error:
        print(f"version: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
