# SPDX-License-Identifier: Apache-2.0
"""A disk that is full while a session writes ends it with a sentence, wherever it was written; it goes on later."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import make_component
from planned import asked
from sessions import Bench, ping

from steelyard.clock import SYSTEM
from steelyard.engines.base import Running
from steelyard.errors import NoSpace
from steelyard.processes import Children
from steelyard.results.store import no_space
from steelyard.sampling.streams import Streams
from steelyard.session.counting import Counting
from steelyard.session.duet import extract_samples


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


WARM = asked("ping", procedure="start-up", factors={"class_cache": {"levels": ["warm", "none"]}})


@pytest.mark.parametrize(
    ("writes", "where"),
    [
        ("write_text", "load/injector-1/start"),
        ("write_text", "load/injector-1/stop"),
        ("mkdir", "populate-class-cache-warm/replay"),
    ],
)
def test_whatever_a_trial_writes_ends_the_session_with_a_sentence(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, writes: str, where: str
) -> None:
    plain = getattr(Path, writes)

    def write(path: Path, *arguments: Any, **options: Any) -> Any:
        return (full if str(path).endswith(where) else plain)(path, *arguments, **options)

    directory = bench.session(WARM if "warm" in where else ping())
    with monkeypatch.context() as disk:
        disk.setattr(Path, writes, write)
        with pytest.raises(NoSpace, match="No space left on device"):
            bench.run(directory)
    assert all(deployment.closed for deployment in bench.world.deployments)


def test_what_cannot_be_stopped_keeps_nothing_else_running(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Counting, "stop", full)
    with pytest.raises(OSError, match="No space"):
        bench.run(bench.session(ping()))
    deployment = bench.world.deployments[-1]
    assert not deployment.sampling
    assert deployment.closed


def test_what_is_counted_and_cut_out_of_a_duet_has_to_have_room(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    with Children() as children, pytest.raises(NoSpace, match="Not a directory"):
        Counting({"cycles": "cycles"}, blocked, children, SYSTEM).start([Running(make_component(), [1], 0.0)])
    with pytest.raises(NoSpace, match="Not a directory"):
        extract_samples(tmp_path, "side", blocked / "samples")


def test_rows_of_observers_that_cannot_be_written_are_told_and_their_files_closed(tmp_path: Path) -> None:
    streams = Streams(tmp_path, lambda name: tmp_path / name)
    files = [Path("/dev/full").open("a", encoding="utf-8") for _ in range(2)]  # noqa: SIM115 - they close them
    for file in files:
        file.write("row\n")
    streams._files = dict(zip("ab", files, strict=True))
    for writes in (streams.poll, streams.finish):
        with pytest.raises(NoSpace, match="No space left on device"):
            writes()
    assert all(file.closed for file in files)
    streams.close()
