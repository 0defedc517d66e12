# SPDX-License-Identifier: Apache-2.0
"""No command of somebody else's workload file is run before a person agreed."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.cli.app import main
from steelyard.paths import ROOT
from steelyard.workload import trust
from steelyard.workload.trust import is_trusted, keep_trust

WORKLOAD = """steelyard: 1
name: stranger
version: "1"
title: Somebody else's server
topologies:
  single:
    about: one server
    components:
      server:
        role: server
        replicas: jvms
        process: {java: [-cp, MARK, Stranger]}
    journey: {visits: {home: {steps: [{operation: home, path: /}]}}}
"""
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workload file outside of the checkout, whose command would leave a mark; nobody trusts it."""
    monkeypatch.delenv("STEELYARD_TRUST")
    monkeypatch.setattr(sys, "stdin", (tmp_path / "empty").open("w+", encoding="utf-8"))
    file = tmp_path / "stranger" / "workload.yaml"
    file.parent.mkdir()
    file.write_text(WORKLOAD.replace("MARK", str(tmp_path / "mark")), encoding="utf-8")
    return file


@pytest.fixture
def steelyard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["steelyard", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "verb", [("up",), ("run", "jvm-count", "--quick", "--workload"), ("certify", "--workload")]
)
def test_a_stranger_s_file_is_not_run_unasked(
    workload: Path, steelyard: Run, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    options = () if verb == ("up",) else ("--out", str(tmp_path / "results"))
    code, said = steelyard(*verb, str(workload), *options)
    assert code == 4, said
    assert (
        f"{workload} is not of this checkout, and its commands run as you: read it, then pass --trust"
        in " ".join(said.split())
    )
    assert not (tmp_path / "mark").exists()
    assert not (tmp_path / "results").exists()


def test_what_is_trusted_is_a_content(workload: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert not is_trusted(workload, kept)
    keep_trust(workload, kept)
    assert is_trusted(workload, kept)
    assert kept.stat().st_mode & 0o777 == 0o600
    moved = workload.rename(workload.with_name("moved.yaml"))
    assert is_trusted(moved, kept)
    moved.write_text(f"{moved.read_text(encoding='utf-8')}# more\n", encoding="utf-8")
    assert not is_trusted(moved, kept)


def test_the_checkout_s_own_are_trusted_and_a_link_to_another_is_not(tmp_path: Path, workload: Path) -> None:
    assert is_trusted(ROOT / "apps" / "ping" / "workload.yaml", tmp_path / "kept")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "workload.yaml").symlink_to(workload)
    assert not is_trusted(checkout / "workload.yaml", tmp_path / "kept", checkout)


def test_a_link_in_the_place_of_the_list_is_not_followed(tmp_path: Path, workload: Path) -> None:
    """Whoever may write there could have the digest appended to another file."""
    other = tmp_path / "other"
    other.touch()
    (tmp_path / "kept").symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        keep_trust(workload, tmp_path / "kept")
    assert other.read_text(encoding="utf-8") == ""


def test_trust_said_beforehand_goes_on(
    workload: Path, steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It then ends at something else: the command is not run in this test."""
    monkeypatch.setattr("steelyard.cli.workload.workload_up.require_idle", _stop)
    monkeypatch.setattr(trust, "TRUSTED", tmp_path / "kept")
    monkeypatch.setattr("steelyard.cli.options.is_trusted", lambda path: is_trusted(path, tmp_path / "kept"))
    monkeypatch.setattr("steelyard.cli.options.keep_trust", lambda path: keep_trust(path, tmp_path / "kept"))
    monkeypatch.setattr(sys, "argv", ["steelyard", "up", str(workload), "--trust"])
    with pytest.raises(_GoesOn):
        main()
    monkeypatch.setattr(sys, "argv", ["steelyard", "up", str(workload)])
    with pytest.raises(_GoesOn):  # the answer was kept
        main()


class _GoesOn(BaseException):
    """It went past the question."""


def _stop() -> None:
    raise _GoesOn
