# SPDX-License-Identifier: Apache-2.0
"""A pod's observer packs the component's files so that the harness can unpack them, whatever the component made."""

import io
import os
import tarfile
from pathlib import Path

from steelyard.archives import unpack
from steelyard.sampling.observe import PodObserver


def test_a_link_a_pipe_or_a_second_name_loses_no_other_file(tmp_path: Path) -> None:
    """Java programs leave them in log folders: `current.log`, a link to the newest file."""
    logs, home = tmp_path / "logs", tmp_path / "home"
    (logs / "inner").mkdir(parents=True)
    (logs / "first.log").write_text("first", encoding="utf-8")
    (logs / "first2.log").hardlink_to(logs / "first.log")
    (logs / "current.log").symlink_to("first.log")
    (logs / "gone.log").symlink_to("nowhere")
    (logs / "inner2").symlink_to("inner")
    os.mkfifo(logs / "pipe")
    (logs / "inner" / "last.log").write_text("last", encoding="utf-8")
    (logs / "zz.log").write_text("zz", encoding="utf-8")
    observer = PodObserver(
        {"token": "t", "role": "server", "folder": str(logs), "work": str(tmp_path)}, waker=-1
    )
    packed = io.BytesIO()
    observer.pack_files(packed)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as archive:
        unpack(archive, home)
    texts = {
        str(file.relative_to(home)): file.read_text("utf-8") for file in home.rglob("*") if file.is_file()
    }
    assert texts == {"first.log": "first", "first2.log": "first", "inner/last.log": "last", "zz.log": "zz"}
