# SPDX-License-Identifier: Apache-2.0
"""Archives of others are unpacked below a folder, or not at all."""

import io
import tarfile
from pathlib import Path

import pytest

from steelyard.archives import unpack


def archive_of(**members: bytes | str) -> tarfile.TarFile:
    """By name a file's bytes, or where a link leads."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, held in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(held, str):
                member.type, member.linkname = tarfile.SYMTYPE, held
                archive.addfile(member)
            else:
                member.size = len(held)
                archive.addfile(member, io.BytesIO(held))
    packed.seek(0)
    return tarfile.open(fileobj=packed)


def test_files_and_folders_of_those_that_are_wanted(tmp_path: Path) -> None:
    with archive_of(**{"logs/gc.log": b"abc", "start": b"x"}) as archive:
        unpack(archive, tmp_path, [archive.getmember("logs/gc.log")])
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert (tmp_path / "logs" / "gc.log").read_bytes() == b"abc"


@pytest.mark.parametrize(
    ("name", "held"), [("../out", b"x"), ("/out", b"x"), ("a/../../out", b"x"), ("link", "/etc")]
)
def test_what_leaves_the_folder_and_links_are_refused_before_anything_is_written(
    name: str, held: bytes | str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (
        archive_of(**{"good": b"x", name: held}) as archive,
        pytest.raises(tarfile.TarError, match=r"neither a file|outside of"),
    ):
        unpack(archive, folder)
    assert list(tmp_path.rglob("*")) == [folder]
