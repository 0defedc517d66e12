# SPDX-License-Identifier: Apache-2.0
"""Registries, asked through `skopeo` or `docker buildx imagetools`, whichever is there."""

import re
import shutil
import subprocess
from collections.abc import Sequence

from steelyard.errors import MissingRequirement, SteelyardError
from steelyard.images.manifests import Index, Manifest, parse_manifest

ANSWER_LIMIT = 120.0
INSTALL_SKOPEO = "`sudo apt install skopeo` or `sudo dnf install skopeo`"
_NOT_FOUND = re.compile(r"not found|manifest unknown|name unknown|repository name not known", re.IGNORECASE)
_DENIED = re.compile(r"unauthorized|denied|authentication required|\b40[13]\b", re.IGNORECASE)


class NotPublished(SteelyardError):
    """The registry answers and does not know the reference."""


def ask(reference: str) -> Index | Manifest:
    """What a registry holds under a reference.

    Raises:
        NotPublished: it does not know the reference.
        MissingRequirement: it cannot be reached, wants a login, or neither client is installed.
    """
    try:
        done = subprocess.run(
            inspect_command(reference),
            capture_output=True,
            timeout=ANSWER_LIMIT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingRequirement(
            f"the registry of {reference} did not answer within {ANSWER_LIMIT:.0f} s"
        ) from error
    except OSError as error:
        raise MissingRequirement(f"the registry of {reference} cannot be asked ({error.strerror})") from error
    if done.returncode != 0:
        raise explained(reference, done.stderr.decode(errors="replace"))
    try:
        return parse_manifest(done.stdout)
    except ValueError as error:
        raise MissingRequirement(
            f"the registry of {reference} did not answer with an image: {error}"
        ) from error


def inspect_command(reference: str) -> list[str]:
    """The command that prints the reference's manifest byte for byte.

    Raises:
        MissingRequirement: no client is installed.
    """
    skopeo = shutil.which("skopeo")
    if skopeo is not None:
        return [
            skopeo,
            "inspect",
            "--raw",
            *insecure(reference, "--tls-verify=false"),
            f"docker://{untagged(reference)}",
        ]
    docker = shutil.which("docker")
    if docker is not None:
        return [docker, "buildx", "imagetools", "inspect", "--raw", reference]
    raise MissingRequirement(f"no client for registries was found: install skopeo with {INSTALL_SKOPEO}")


def find_skopeo() -> str:
    """The `skopeo` on the PATH (raises MissingRequirement)."""
    found = shutil.which("skopeo")
    if found is None:
        raise MissingRequirement(f"skopeo was not found, and this needs it: install it with {INSTALL_SKOPEO}")
    return found


def insecure(reference: str, *options: str) -> Sequence[str]:
    """The options for a registry of this host, which speaks plain HTTP; none for any other."""
    host = reference.split("/", 1)[0]
    return options if re.fullmatch(r"(localhost|127(\.\d+){3}|\[::1\])(:\d+)?", host) else ()


def untagged(reference: str) -> str:
    """Without its tag where there is a digest as well, which skopeo takes one at a time."""
    digest = reference.partition("@")[2]
    return f"{repository_of(reference)}@{digest}" if digest else reference


def repository_of(reference: str) -> str:
    """Without tag and digest; the port of a registry stays."""
    head, slash, last = reference.partition("@")[0].rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"


def explained(reference: str, said: str) -> SteelyardError:
    """The error of a client, as a sentence for the user."""
    lines = [line for line in said.splitlines() if line.strip()]
    last = (
        re.sub(r"^(ERROR: |time=.*? msg=)", "", lines[-1]).strip().strip('"') if lines else "no reason given"
    )
    last = last.replace('\\"', '"')
    if _DENIED.search(last):
        return MissingRequirement(
            f"the registry refuses {reference} ({last}): log in with `docker login`, or check the name"
        )
    if _NOT_FOUND.search(last):
        return NotPublished(f"{reference} is not published ({last})")
    return MissingRequirement(
        f"the registry of {reference} cannot be reached ({last}): try again on a machine that reaches it"
    )
