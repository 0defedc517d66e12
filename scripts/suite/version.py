# SPDX-License-Identifier: Apache-2.0
"""Sets the version of the project in all that must carry it: python3 scripts/suite/version.py NEW

It stands in `scripts/steelyard/__init__.py`. What cannot look it up there carries a copy: the list of images, defaults
of bundles, commands in documents, the citation, the changelog. The sentence that no version is published goes. Needs
nothing but Python.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

SOURCE = "scripts/steelyard/__init__.py"
CARRIERS = (
    SOURCE,
    *("images/images.json", "compose/*/compose.yaml", "k8s", ":!k8s/local", "CITATION.cff"),
    *("README.md", "SECURITY.md", "docs/*.md", "images/README.md"),
)
"""As git's pathspecs."""
CHANGELOG = "CHANGELOG.md"
UNPUBLISHED = "No version is published yet."
"""What documents say until the first, in these words alone; what stands around it holds without it."""
_VERSION = r"\d+\.\d+\.\d+(?:-rc\.\d+)?"


def current_version(root: Path) -> str:
    """The version of a checkout (raises ValueError: its file has none)."""
    match = re.search(rf'^__version__ = "({_VERSION})"$', (root / SOURCE).read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise ValueError(f"{root / SOURCE} has no line __version__")
    return match[1]


def pattern_of(version: str) -> re.Pattern[str]:
    """Where a version is the project's: in a tag of an image or of git, a default, a value, or after `version`."""
    return re.compile(rf'(?:(?<=[:v"`-])|(?<=version )|(?<=: )){re.escape(version)}(?!\w|\.\d)')


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
    before = current_version(root)
    changed = []
    for path in carriers(root):
        text = path.read_text(encoding="utf-8")
        new = drop_sentence(pattern_of(before).sub(version, text))
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
