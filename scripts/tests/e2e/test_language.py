# SPDX-License-Identifier: Apache-2.0
"""A session of a user whose language is another one, with results in a folder whose name is not ASCII: under `C` a JVM
could not open its logs there and aborted, and under a language with decimal commas its GC log was not read."""

from pathlib import Path

import pytest

from steelyard.results.store import SessionDirectory

from .driver import DONE, call, free_port, void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]


@pytest.mark.parametrize("language", ["C", "de_DE.UTF-8"])
def test_a_session_in_another_language_and_below_umlauts(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    for name in ("LC_ALL", "LANG", "LC_NUMERIC"):
        monkeypatch.setenv(name, language)
    monkeypatch.setenv("LANGUAGE", "de")
    out = tmp_path / "Prüfstand"
    out.mkdir()
    ended = call("run", str(experiment), "--out", str(out), "--port", str(free_port()))
    assert ended.returncode in DONE, ended.stderr
    (path,) = out.iterdir()
    trials = SessionDirectory(path).trials()
    assert not void_for_other_reasons_than_noise(trials)
    # A trial that died with its JVM has no components; how many collections fall into a window is up to the machine.
    assert all(trial.components for trial in trials)
    servers = [one for trial in trials for one in trial.components if one.role == "server"]
    assert [(one.unknown.get("gc_count"), one.value("gc_count") is not None) for one in servers] == [
        (None, True)
    ] * len(servers)
