# SPDX-License-Identifier: Apache-2.0
"""Which bases images are built on: the published ones of the lock file, or those made on this machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from steelyard.errors import BadInput, MissingRequirement
from steelyard.images import registry
from steelyard.images.lock import Base, Lock, locked, read_lock
from steelyard.images.manifests import Index
from steelyard.paths import CACHE

CHOICES = ("lock", "local")
MADE_HERE = CACHE / "bases" / "roots"
"""Where `images/local/make-bases.sh` notes what it pushed: NAME.pushed begins with the reference."""


def find_bases(choice: str, made_here: Path = MADE_HERE) -> Lock:
    """The bases by name, with digests as far as they are known.

    Args:
        choice: `lock` or `local`.
        made_here: folder of the notes of make-bases.sh.

    Raises:
        BadInput: another choice, or the lock file is damaged.
        MissingRequirement: no bases were made here, or their registry does not answer.
    """
    if choice not in CHOICES:
        raise BadInput(f"unknown bases {choice!r}: there are {', '.join(CHOICES)}")
    if choice == "lock":
        return read_lock()
    references = noted(made_here)
    if not references:
        raise MissingRequirement(
            "no bases were made on this machine: run images/local/setup-engine.sh start and"
            " images/local/make-bases.sh (as root on Debian), or use --bases lock"
        )
    return Lock({name: _asked(reference) for name, reference in references.items()})


def noted(folder: Path) -> dict[str, str]:
    """References that make-bases.sh pushed, by name of the base."""
    notes = {path.stem: path.read_text(encoding="utf-8").split() for path in sorted(folder.glob("*.pushed"))}
    return {name: words[0] for name, words in notes.items() if words}


def base_references(bases: Lock, names: Sequence[str]) -> dict[str, str | None]:
    """Reference by digest of every base that the bake file may ask for; None where none is known."""
    return {name: bases.root[name].pinned if name in bases.root else None for name in names}


def require_locked(unlocked: Mapping[str, Sequence[str]], choice: str) -> None:
    """Refuse to build what takes a base without a digest.

    Args:
        unlocked: bases without a digest by target.
        choice: where the bases come from.

    Raises:
        BadInput: some target takes one.
    """
    wanting = {target: names for target, names in unlocked.items() if names}
    if not wanting:
        return
    target, names = next(iter(wanting.items()))
    if choice == "local":
        raise BadInput(
            f"{target} needs the base {names[0]}, which cannot be made from packages: build it with --bases lock,"
            " or choose --flavour hotspot"
        )
    raise BadInput(
        f"images/lock.json has no digest of the base {names[0]}, which {target} needs: run `./steelyard images lock`"
        " where the registries can be reached, or use --bases local"
    )


def ask_for_lock(lock: Lock) -> Lock:
    """The lock with digests as registries tell them now.

    Raises:
        MissingRequirement: a registry cannot be reached.
        NotPublished: a registry does not know a reference.
        BadInput: a reference is of one platform only, or lacks one that the lock names.
    """
    return locked(lock, {name: _index(base.reference) for name, base in lock.root.items()})


def _index(reference: str) -> Index:
    found = registry.ask(reference)
    if not isinstance(found, Index):
        raise BadInput(
            f"{reference} is an image of one platform, and a base has to be an index: choose another tag"
        )
    return found


def _asked(reference: str) -> Base:
    index = _index(reference)
    return Base(reference=reference, index=index.digest, platforms=dict(index.platforms))
