# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steelyard.errors import BadInput
from steelyard.images.attest import (
    Signer,
    attest_command,
    choose_signer,
    sbom_command,
    sbom_name,
    sign_command,
    verify_command,
)
from steelyard.images.record import Published, Record, joined, read_record, write_record

A, B, C, D = (f"sha256:{digit * 64}" for digit in "abcd")
RUNNER = {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://token.invalid"}


def pushed(platform: str, source: str, image: str, revision: str = "c0ffee") -> Record:
    one = Published(
        target="loadgen",
        repository="g.io/s/loadgen",
        tags=["0.1.0"],
        index=None,
        sources=[source],
        platforms={platform: image},
    )
    return Record(version="0.1.0", revision=revision, fingerprint="f" * 16, images=[one])


def test_records_of_two_machines_make_one(tmp_path: Path) -> None:
    write_record(tmp_path / "a.json", pushed("linux/ppc64le", A, B))
    write_record(tmp_path / "b.json", pushed("linux/amd64", C, D))
    record = joined([read_record(tmp_path / "a.json"), read_record(tmp_path / "b.json")])
    [image] = record.images
    assert image.sources == [A, C]
    assert image.platforms == {"linux/amd64": D, "linux/ppc64le": B}
    assert image.index is None
    assert record.of("g.io/s/loadgen:0.1.0") == image
    assert record.of(f"g.io/s/loadgen@{B}") == image
    assert record.of("g.io/s/loadgen:0.2.0") is None
    assert record.of(f"g.io/s/ping@{B}") is None


def test_records_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(BadInput, match="different sources"):
        joined([pushed("linux/ppc64le", A, B), pushed("linux/amd64", C, D, revision="decaf")])
    with pytest.raises(BadInput, match="two records hold loadgen for linux/amd64"):
        joined([pushed("linux/amd64", A, B), pushed("linux/amd64", C, D)])


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"images": []}', encoding="utf-8")
    with pytest.raises(BadInput, match="no record that `images push` wrote"):
        read_record(tmp_path / "x.json")
    with pytest.raises(BadInput, match="cannot be read"):
        read_record(tmp_path / "y.json")


@pytest.mark.parametrize(
    ("key", "cosign", "environment", "signer", "why"),
    [
        ("k", None, RUNNER, None, "cosign is not installed"),
        ("k", "/cosign", RUNNER, Signer("k"), "with the key"),
        (None, "/cosign", RUNNER, Signer(None), "as this job"),
        (None, "/cosign", {}, None, "give a key with --key"),
    ],
)
def test_who_signs_and_why_not(
    key: str | None, cosign: str | None, environment: dict[str, str], signer: Signer | None, why: str
) -> None:
    found, said = choose_signer(key, cosign, environment)
    assert found == signer
    assert why in said


def test_a_lab_signs_without_the_public_log_and_verifies_so() -> None:
    lab = sign_command("cosign", Signer("cosign.key"), f"127.0.0.1:5000/s/x@{A}")
    assert {"--tlog-upload=false", "--allow-http-registry", "--recursive"} <= set(lab)
    public = sign_command("cosign", Signer(None), f"g.io/s/x@{A}")
    assert not {"--tlog-upload=false", "--allow-http-registry", "--key"} & set(public)
    assert "--insecure-ignore-tlog=true" in verify_command("cosign", "cosign.pub", None, f"g.io/s/x@{A}")
    keyless = verify_command("cosign", None, "^https://github.com/steelyard/", f"g.io/s/x@{A}")
    assert "--insecure-ignore-tlog=true" not in keyless
    assert keyless[keyless.index("--certificate-identity-regexp") + 1] == "^https://github.com/steelyard/"


def test_a_document_is_made_and_attached_per_platform() -> None:
    file = Path("/r") / sbom_name("ping-hotspot", "linux/ppc64le")
    assert file.name == "ping-hotspot-linux-ppc64le.spdx.json"
    command = sbom_command("syft", "g.io/s/ping", B, "linux/ppc64le", file)
    assert f"registry:g.io/s/ping@{B}" in command
    assert f"spdx-json={file}" in command
    attached = attest_command("cosign", Signer(None), "g.io/s/ping", B, file)
    assert attached[attached.index("--type") + 1] == "spdxjson"
    assert attached[-1] == f"g.io/s/ping@{B}"
