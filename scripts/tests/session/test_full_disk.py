# SPDX-License-Identifier: Apache-2.0
"""A disk that is full while a session writes ends it with a sentence, wherever it was written; it goes on later."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from planned import asked
from sessions import Bench

from steelyard.errors import NoSpace
from steelyard.results.store import no_space


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_class_caches_that_cannot_be_copied_end_the_session(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = bench.session(
        asked("ping", procedure="start-up", factors={"class_cache": {"levels": ["warm", "none"]}})
    )
    with monkeypatch.context() as disk:
        disk.setattr(shutil, "copyfile", full)
        with pytest.raises(NoSpace, match=r"No space left on device.*: free some space"):
            bench.run(directory)
    assert [trial.state for trial in bench.run(directory)] == ["valid"] * 4


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "[Errno 13] Permission denied: 'to/a'",
            r"cannot write to \(Permission denied\): choose another --out",
        ),
        ("[Errno 2] No such file: 'from/a'", None),
        ("the same file", r"cannot write to \(No space left on device\): free some space"),
    ],
)
def test_why_a_folder_was_not_copied_is_in_the_texts_of_its_files(said: str, sentence: str | None) -> None:
    error = no_space(Path("to"), shutil.Error([("from/a", "to/a", said)]))
    if sentence is None:
        assert not isinstance(error, NoSpace)
        assert said in str(error)
    else:
        with pytest.raises(NoSpace, match=sentence):
            raise error
