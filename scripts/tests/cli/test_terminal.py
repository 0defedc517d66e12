# SPDX-License-Identifier: Apache-2.0
"""What is printed on terminals of every width, in colour or without, and what a shell and `man` are given."""

import re
import sys
from pathlib import Path

import pytest
from commands import Run
from rich.cells import cell_len

from pages.man import MAN, write_man
from steelyard.cli import completion
from steelyard.cli.console import is_terminal, open_console
from steelyard.paths import ROOT

_CODES = re.compile(r"\x1b\[[\d;]*m")
_COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])m")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["host", "prepare", "--help"],
        ["list"],
        ["list", "--metrics"],
        ["plan", "jvm-count", "--quick", "--seed", "1"],
        ["explain", "memory_pss"],
        ["host", "show"],
    ],
    ids=" ".join,
)
def test_lines_fit_and_words_stay_whole(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    printed: dict[int, str] = {}
    for width in (1000, 200, 120, 80, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.delenv("CI", raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        result = steelyard(*arguments)
        assert result.code == 0, result.err
        printed[width] = _CODES.sub("", result.out)
        lines = [line for line in printed[width].splitlines() if "/" not in line]  # commands, to be copied
        too_long = [line for line in lines if cell_len(line) > width]
        assert not too_long, (width, too_long)
    whole = _words(printed[1000]) | {"Commands"}  # what plain help has for its panels
    for width in (200, 120, 80, 40):
        # What is too long for a column of its own has to be folded somewhere.
        long = [text for text in printed[1000].split() if len(text) > width // 6]
        split = {word for word in _words(printed[width]) - whole if not any(word in text for text in long)}
        assert not split, (width, sorted(split))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_colours_are_left_out_and_forced(steelyard: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    plain = steelyard("plan", "jvm-count", "--quick", "--seed", "1").out
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = steelyard("plan", "jvm-count", "--quick", "--seed", "1").out
    assert "\x1b[1m" in forced
    assert _CODES.sub("", forced) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert not _COLOUR.search(steelyard("plan", "jvm-count", "--quick", "--seed", "1").out)


@pytest.mark.parametrize(
    ("variable", "terminal"), [("", True), ("false", True), ("true", False), ("1", False)]
)
def test_a_pipeline_has_no_terminal(monkeypatch: pytest.MonkeyPatch, variable: str, terminal: bool) -> None:
    monkeypatch.setenv("CI", variable)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert is_terminal(sys.stdout) is terminal
    assert open_console().is_terminal is terminal
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert not is_terminal(sys.stdout)


def test_brackets_are_no_markup(steelyard: Run) -> None:
    result = steelyard("list", "--out", "a[/b][red]c")
    assert (result.code, result.err) == (0, "")
    assert "No session in a[/b][red]c yet" in result.out


def test_no_console_reads_markup() -> None:
    folder = ROOT / "scripts" / "steelyard"
    calls = [
        call.group()
        for path in folder.rglob("*.py")
        for call in re.finditer(r"\b(?:Console|_Terminal)\([^)]+\)", path.read_text(encoding="utf-8"))
        if not call.group().endswith("(Console)")  # a base class
    ]
    assert len(calls) >= 2
    assert all("markup=False" in call for call in calls), calls


LAUNCHER = str(ROOT / "steelyard")


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".bash_completions/steelyard.sh"),
        ("zsh", ".zfunc/_steelyard"),
        ("fish", ".config/fish/completions/steelyard.fish"),
    ],
)
def test_completion_is_installed_where_the_shell_reads_it(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str, file: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(completion, "_shell_of_the_caller", lambda: shell)
    result = steelyard("--install-completion")
    assert (result.code, result.err) == (0, "")
    assert str(tmp_path / file) in result.out
    assert f"_STEELYARD_COMPLETE=complete_{shell}" in (tmp_path / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("shell", "asks"), [("bash", "$1"), ("zsh", LAUNCHER), ("fish", LAUNCHER)])
def test_completion_asks_a_command_that_is_there(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str, asks: str
) -> None:
    """`./steelyard` of a checkout is on nobody's PATH."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(completion, "_shell_of_the_caller", lambda: shell)
    steelyard("--install-completion")
    (file,) = (path for path in tmp_path.rglob("*steelyard*") if path.is_file())
    for script in (file.read_text(encoding="utf-8"), steelyard("completion", shell).out):
        called = re.findall(r"(?:complete_(?:bash|zsh)|commandline -cp\)) ([^\s)\"]+)", script)
        assert called
        assert set(called) == {asks}


def test_a_shell_that_cannot_be_completed_is_named(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(completion, "_shell_of_the_caller", lambda: "tcsh")
    result = steelyard("--install-completion")
    assert (result.code, "there is no completion for tcsh" in result.err) == (4, True)
    monkeypatch.setattr(completion, "_shell_of_the_caller", lambda: "fish")
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    result = steelyard("--install-completion")
    assert (result.code, "completion is not installed" in result.err) == (8, True)


def test_the_manual_page_is_current() -> None:
    text = MAN.read_text(encoding="utf-8")
    assert text == write_man(), "run `python -m pages.reference` in scripts/"
    requests = {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))}
    assert requests <= {'.\\"', ".TH", ".SH", ".SS", ".TP", ".PP", ".B"}
