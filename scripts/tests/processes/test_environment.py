# SPDX-License-Identifier: Apache-2.0
"""Everything is started in one language, whatever that of the user's session is."""

import ast
from functools import partial
from pathlib import Path

import pytest

import steelyard
from steelyard.processes import Children, child_environment
from steelyard.processes.client import ClientFailed, first_error, run_client

PACKAGE = Path(steelyard.__file__).parent
STARTS = {"Popen", "run", "call", "check_call", "check_output"}
GERMAN = {"LANG": "de_DE.UTF-8", "LANGUAGE": "de", "LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "fr_FR.UTF-8"}
MAVEN = (
    "\x1b[0m\x1b[0m[ERROR] Could not create local repository at /nonexistent/.m2/repository -> [Help 1]\n"
    "[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n"
)
SHOW = ["sh", "-c", 'echo "$LC_ALL/${LANG-}/${LANGUAGE-}/${LC_NUMERIC-}/$KEPT"']


@pytest.fixture
def _in_german(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (*GERMAN.items(), ("KEPT", "kept")):
        monkeypatch.setenv(name, text)


def test_one_language_and_everything_else_as_it_was() -> None:
    assert child_environment({**GERMAN, "PATH": "/bin"}) == {"PATH": "/bin", "LC_ALL": "C.UTF-8"}
    assert child_environment({}, JAVA_HOME="/jdk") == {"LC_ALL": "C.UTF-8", "JAVA_HOME": "/jdk"}


@pytest.mark.usefixtures("_in_german")
def test_children_and_clients_are_started_in_it(tmp_path: Path) -> None:
    with Children() as children:
        child = children.spawn("one", SHOW, console=tmp_path / "console", cwd=tmp_path)
        child.process.wait()
    assert child.read_output() == "C.UTF-8////kept\n"
    told = run_client(
        SHOW, partial(ClientFailed, "sh"), first_error, timeout=None, env={**GERMAN, "KEPT": "own"}
    )
    assert told == b"C.UTF-8////own\n"


def test_nothing_is_started_without_an_environment() -> None:
    """By the source: whoever starts a program says in which environment."""
    without, whole = [], []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "subprocess":
                assert node.func.attr in STARTS, f"{path}:{node.lineno}"
                if not any(keyword.arg == "env" for keyword in node.keywords):
                    without.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
        if "**os.environ" in text:
            whole.append(str(path.relative_to(PACKAGE)))
    # The guard runs by itself, in the environment that it was given.
    assert [one for one in without if not one.startswith("processes/guard.py:")] == []
    assert whole == []


def test_a_program_that_fails_is_quoted_by_its_first_error_and_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.processes.client.KEPT", tmp_path / "failed")
    script = "echo one; echo 'Error: the disk is gone' >&2; echo 'Error: so is all else' >&2; exit 3"
    with pytest.raises(ClientFailed) as failed:
        run_client(["sh", "-c", script], partial(ClientFailed, "docker rm"), first_error, timeout=None)
    kept = tmp_path / "failed" / "docker.txt"
    assert str(failed.value) == f"docker rm: Error: the disk is gone (all that it printed: {kept})"
    assert "so is all else" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        (
            MAVEN,
            "[ERROR] Could not create local repository at /nonexistent/.m2/repository -> [Help 1]",
        ),
        ("[ERROR]\nERROR: the second\n", "ERROR: the second"),
        ("fatal: detected dubious ownership\nTo add an exception\n", "fatal: detected dubious ownership"),
        ("nothing is marked\nthe last one\n\n", "the last one"),
        ("", ""),
    ],
)
def test_the_first_line_of_an_error(printed: str, line: str) -> None:
    assert first_error(printed) == line
