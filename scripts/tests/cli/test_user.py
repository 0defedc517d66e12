# SPDX-License-Identifier: Apache-2.0
"""What a person at a terminal meets: narrow screens, closed outputs, help, completion, plain words."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from commands import Run
from pydantic import BaseModel, Field, ValidationError
from rich.console import Console

from steelyard.cli.app import app
from steelyard.cli.listing import print_listing
from steelyard.errors import plain_words
from steelyard.paths import ROOT
from steelyard.workload.loader import workload_names

SOURCES = ROOT / "scripts"
COMMAND = [sys.executable, "-m", "steelyard"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{SOURCES}:{os.environ.get('PYTHONPATH', '')}"}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
@pytest.mark.parametrize("arguments", [["list"], ["list", "--metrics"], ["plan", "jvm-count", "--quick"]])
def test_names_stay_in_one_piece_at_every_width(
    steelyard: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = steelyard(*arguments)
    assert result.code == 0
    named = {"list": r"^olio-fixed-load-per-jvm\b", "plan": r"^jvms-1 \(baseline\)"}[arguments[0]]
    if "--metrics" in arguments:
        named = r"^memory_pss\b"
    assert re.search(named, result.out, re.MULTILINE)


@pytest.mark.parametrize("width", [20, 40, 80, 99])
def test_narrow_listings_hold_everything_within_the_screen(width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    row = {
        "name": "an-experiment",
        "factors": "jvms: 1, 2, 4 and many others " * 3,
        "title": "A title [of words]",
    }
    print_listing(console, "Rows", ["name", "factors", "none", "title"], [row], headline="title")
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(len(line) <= width for line in text.splitlines())
    assert (
        " ".join(text.split())
        == f"Rows an-experiment A title [of words] factors {' '.join(row['factors'].split())}"
    )


def test_columns_that_fit_are_a_table() -> None:
    console = Console(file=io.StringIO(), width=40)
    print_listing(console, None, ["name", "title"], [{"name": "a", "title": "b c"}])
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert [line.split() for line in text.splitlines()] == [["name", "title"], ["a", "b", "c"]]


@pytest.mark.parametrize(("closed", "code"), [(">&-", 8), ("2>&-", 0), ("<&-", 0)])
def test_a_closed_stream_is_no_defect(closed: str, code: int) -> None:
    line = f'exec "$@" {closed}'
    ended = subprocess.run(
        ["sh", "-c", line, "sh", *COMMAND, "schema"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    told = "steelyard: nothing can be printed: standard output is closed; redirect it to a file, or to /dev/null\n"
    assert ended.stderr == (told if code else "")


def commands(group: typer.Typer = app, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    for one in group.registered_commands:
        name = one.name or one.callback.__name__  # type: ignore[union-attr]
        if name != "test":  # the launcher answers it: test_docs.py and test_launcher.py
            found.append((*path, name.rstrip("_")))
    for below in group.registered_groups:
        found += commands(below.typer_instance, (*path, str(below.name)))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_help_by_its_letter(steelyard: Run, command: tuple[str, ...]) -> None:
    result = steelyard(*command, "-h")
    assert (result.code, result.err) == (0, "")
    assert "Usage: ./steelyard " + " ".join(command) in result.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(steelyard: Run, shell: str) -> None:
    result = steelyard("completion", shell)
    assert result.code == 0
    assert f"_STEELYARD_COMPLETE=complete_{shell}" in result.out
    assert re.search(r"\bsteelyard\b", result.out)


def test_a_shell_that_is_not_known(steelyard: Run) -> None:
    result = steelyard("completion", "cmd")
    assert (result.code, "there is one for bash, zsh, fish" in result.err) == (4, True)


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("steelyard pl", {"plan"}),
        ("steelyard run jvm-c", {"jvm-compare", "jvm-count"}),
        ("steelyard up da", {"daytrader7"}),
        ("steelyard run jvm-count --workload ", set(workload_names())),
    ],
)
def test_bash_is_told_what_may_follow(line: str, offers: set[str]) -> None:
    words = line.split(" ")
    asks = {"_STEELYARD_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    told = subprocess.run(COMMAND, env={**ENVIRONMENT, **asks}, capture_output=True, text=True, check=False)
    assert set(told.stdout.split()) == offers, told.stderr


class Checked(BaseModel):
    """Every kind of check that files and options use."""

    whole: int = Field(0, ge=2, le=9)
    share: float = Field(0.5, gt=0, lt=1)
    listed: list[int] = Field([1], min_length=1, max_length=2)
    keys: dict[str, int] = {}
    inner: "Checked | None" = None
    text: str = Field("a", min_length=1, pattern="^[a-z]*$")
    truth: bool = False


@pytest.mark.parametrize(
    "given",
    [
        {"whole": "x"},
        {"whole": 1.5},
        {"whole": 1},
        {"whole": 10},
        {"share": "x"},
        {"share": 0},
        {"share": 1},
        {"share": float("nan")},
        {"listed": 3},
        {"listed": []},
        {"listed": [1, 2, 3]},
        {"keys": []},
        {"inner": 3},
        {"text": 3},
        {"text": ""},
        {"text": "A"},
        {"truth": "maybe"},
    ],
)
def test_refusals_are_in_plain_words(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        Checked.model_validate(given)
    for error in refused.value.errors():
        told = plain_words(error["msg"])
        assert not re.search(r"Input|valid|should|instance|dictionary|parse|String|List", told), told


def test_a_plan_is_asked_for_profilers_as_a_run_is(steelyard: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = steelyard("plan", "jvm-count", "--quick", "--profile", "jfr")
    assert result.code == 0, result.err
    assert "then a trial of each arm watched by jfr, in no average" in result.out
    assert steelyard("plan", "jvm-count", "--quick", "--profile", "none").code == 4


def test_the_documents_name_no_command_or_option_that_there_is_not() -> None:
    known = {" ".join(command): command for command in commands()}
    listed = re.findall(
        r"^\| (`.*?) \|", (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    named = []
    for row in listed:
        group = ""
        for words in re.findall(r"`([a-z]+(?: [a-z-]+)?)", row):
            whole = words if words in known or not group else f"{group} {words}"
            first = words.partition(" ")[0]
            group = first if first in ("images", "host", "history", "journey") else group
            named.append(whole)
    assert {"run", "plan", "images build", "images verify"} <= {*named}
    assert [one for one in named if one not in known and one != "test"] == []


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").glob("**/*.md")), ROOT / "README.md"], ids=lambda page: page.name
)
def test_a_command_of_a_page_survives_copy_and_paste(page: Path) -> None:
    """What a shell would take for arguments: words behind several blanks that no `#` stands before."""
    text = page.read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines() if re.match(r"^( {4})?\s*\./steelyard ", line)]
    for line in lines:
        assert not re.search(r" {2,}(?![#|\\&>])\S", line), line
