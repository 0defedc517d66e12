# SPDX-License-Identifier: Apache-2.0
"""Software bills of material (`syft`, SPDX) and signatures (`cosign`): which commands, what is skipped, why (pure)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.images.registry import insecure

ISSUER = "https://token.actions.githubusercontent.com"


@dataclass(frozen=True)
class Signer:
    """How images are signed: with a key pair, or by the identity of the job (keyless)."""

    key: str | None
    """Key file or key reference; None: keyless."""

    @property
    def options(self) -> list[str]:
        """A key of one's own signs without the public log, so that a lab's image names stay in the lab."""
        return ["--yes"] if self.key is None else ["--yes", "--key", self.key, "--tlog-upload=false"]


def choose_signer(
    key: str | None, cosign: str | None, environment: Mapping[str, str]
) -> tuple[Signer | None, str]:
    """The signer, or None and the reason why nothing is signed."""
    if cosign is None:
        return None, "not signed: cosign is not installed"
    if key is not None:
        return Signer(key), "signed with the key"
    if environment.get("ACTIONS_ID_TOKEN_REQUEST_URL"):
        return Signer(None), "signed as this job (keyless)"
    return None, "not signed: give a key with --key, or run where the job has an identity (id-token: write)"


def sbom_command(syft: str, repository: str, digest: str, platform: str, file: Path) -> list[str]:
    """The command that writes the SPDX document of one platform's image; it reads the registry, not the engine."""
    source = f"registry:{repository}@{digest}"
    return [syft, "scan", source, "--platform", platform, "--quiet", "--output", f"spdx-json={file}"]


def sbom_environment(repository: str) -> dict[str, str]:
    """What syft needs beside; it must not ask for newer versions of itself."""
    plain = {"SYFT_REGISTRY_INSECURE_USE_HTTP": "true"} if insecure(repository, "http") else {}
    return {"SYFT_CHECK_FOR_APP_UPDATE": "false", **plain}


def sign_command(cosign: str, signer: Signer, pinned: str) -> list[str]:
    """The command that signs an index and every image in it."""
    return [
        cosign,
        "sign",
        "--recursive",
        *signer.options,
        *insecure(pinned, "--allow-http-registry"),
        pinned,
    ]


def attest_command(cosign: str, signer: Signer, repository: str, digest: str, file: Path) -> list[str]:
    """The command that attaches an SPDX document, signed, to one platform's image."""
    options = [*signer.options, *insecure(repository, "--allow-http-registry")]
    return [
        cosign,
        "attest",
        "--type",
        "spdxjson",
        "--predicate",
        str(file),
        *options,
        f"{repository}@{digest}",
    ]


def verify_command(cosign: str, key: str | None, identity: str | None, pinned: str) -> list[str]:
    """The command that checks a signature, by public key or by the identity that signed."""
    if key is not None:
        # Signed by `Signer` with a key: there is no entry in the public log.
        by: Sequence[str] = ["--key", key, "--insecure-ignore-tlog=true"]
    else:
        by = ["--certificate-identity-regexp", identity or "", "--certificate-oidc-issuer", ISSUER]
    return [cosign, "verify", *by, *insecure(pinned, "--allow-http-registry"), pinned]


def sbom_name(target: str, platform: str) -> str:
    """File name of an SPDX document."""
    return f"{target}-{re.sub(r'[^a-z0-9]+', '-', platform)}.spdx.json"
