# SPDX-License-Identifier: Apache-2.0
"""Writes and attaches SPDX documents and signs what was pushed; says what was skipped."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.images import attest
from steelyard.images.building import OnLine
from steelyard.images.record import Published, Record

LIMIT = 900.0


class SupplyFailed(SteelyardError):
    """syft or cosign failed; what was pushed stays pushed."""


def describe_and_sign(
    record: Record, folder: Path, key: str | None, sbom: bool, sign: bool, on_line: OnLine
) -> Record:
    """The record with the names of the SPDX documents and with what was signed.

    Args:
        record: what was pushed, each image with its index.
        folder: for the documents, beside the record.
        key: private key of cosign; None: keyless where the job has an identity.
        sbom: write SPDX documents.
        sign: sign, and attach the documents that were written.
        on_line: told what is done, and plainly what is skipped and why.

    Raises:
        SupplyFailed: a tool that is there failed.
    """
    syft, cosign = shutil.which("syft"), shutil.which("cosign")
    if sbom and syft is None:
        on_line("no SBOM: syft is not installed")
    signer, why = attest.choose_signer(key, cosign, os.environ) if sign else (None, "not signed, as asked")
    on_line(why)
    images = []
    for image in record.images:
        documents = _write_documents(syft, image, folder, on_line) if sbom and syft else {}
        if signer is not None and cosign is not None:
            _run(attest.sign_command(cosign, signer, image.pinned))
            on_line(f"signed {image.pinned}")
            for platform, name in documents.items():
                digest = image.platforms[platform]
                _run(attest.attest_command(cosign, signer, image.repository, digest, folder / name))
                on_line(f"attached {name}")
        images.append(image.model_copy(update={"sbom": documents, "signed": signer is not None}))
    return record.model_copy(update={"images": images})


def signature_problem(cosign: str, key: str | None, identity: str | None, pinned: str) -> str | None:
    """None when the signature holds, else what cosign says."""
    try:
        _run(attest.verify_command(cosign, key, identity, pinned))
    except SupplyFailed as error:
        return str(error)
    return None


def _write_documents(syft: str, image: Published, folder: Path, on_line: OnLine) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    documents = {}
    for platform, digest in image.platforms.items():
        name = attest.sbom_name(image.target, platform)
        command = attest.sbom_command(syft, image.repository, digest, platform, folder / name)
        _run(command, attest.sbom_environment(image.repository))
        on_line(f"wrote {name}")
        documents[platform] = name
    return documents


def _run(command: Sequence[str], more: Mapping[str, str] | None = None) -> None:
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(more or {})},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SupplyFailed(f"{name} {command[1]} cannot be run ({error})") from error
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        said = next(
            (line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "no reason"
        )
        raise SupplyFailed(f"{name} {command[1]} failed for {command[-1]} ({said})")
