# SPDX-License-Identifier: Apache-2.0
"""The comment on a pull request: a stand-in for gh keeps the comments in a file and says no where it is told to."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.paths import ROOT

pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="jq, which answers for gh, is not on PATH")
SCRIPT = ROOT / ".github" / "scripts" / "comment.sh"
MARK = "<!-- steelyard-gate: ci, gate, 0, , gate, ,  -->"
COMMENTS = "repos/a/b/issues/12/comments"

GH = f"""#!{sys.executable}
import json, pathlib, subprocess, sys

place = pathlib.Path(__file__).parent
words, state = sys.argv[1:], json.loads((place / "state.json").read_text())
assert words.pop(0) == "api"
method, fields, filters, paged = "GET", {{}}, ".", False
while words:
    word = words.pop(0)
    if word == "--method":
        method = words.pop(0)
    elif word == "--jq":
        filters = words.pop(0)
    elif word == "--field":
        key, _, value = words.pop(0).partition("=")
        fields[key] = pathlib.Path(value[1:]).read_text() if value.startswith("@") else value
    elif word == "--paginate":
        paged = True
    else:
        path = word
state["calls"].append(f"{{method}} {{path}}")
refused = state["refused"].get(f"{{method}} {{path}}")
if method == "POST":
    state["comments"].append({{"id": 99 + len(state["comments"]), "user": state["author"], **fields}})
elif method == "PATCH" and not refused:
    [one] = [one for one in state["comments"] if path == f"repos/a/b/issues/comments/{{one['id']}}"]
    one.update(fields)
(place / "state.json").write_text(json.dumps(state))
if refused:
    print(json.dumps({{"message": "no", "status": str(refused)}}))
    sys.exit(f"gh: no (HTTP {{refused}})")
if path == "user":
    pages = [state["author"]]
elif method == "GET":
    pages = [[one] for one in state["comments"]] if paged else [state["comments"][:1]]
else:
    pages = [{{"html_url": f"https://example.org/{{method}}"}}]
for page in pages:
    subprocess.run(["jq", "--raw-output", filters], input=json.dumps(page), text=True, check=True)
"""
BOT = {"login": "github-actions[bot]", "type": "Bot"}
PERSON = {"login": "octocat", "type": "User"}


class PullRequest:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program, self.state, self.file = folder / "gh", folder / "state.json", folder / "summary.md"
        self.program.write_text(GH)
        self.program.chmod(0o755)
        self.has([])

    def has(self, comments, author=BOT, refused=None):
        """What is there, whose the token is, and which calls are refused with which status."""
        asked = {"GET user": 403} if author == BOT else {}
        whole = {"comments": comments, "author": author, "refused": asked | (refused or {}), "calls": []}
        self.state.write_text(json.dumps(whole))

    def tell(self, text="first", mark=MARK, number="12"):
        self.file.write_text(f"{mark}\n{text}\n")
        path = f"{self.folder}:{os.environ['PATH']}"
        return subprocess.run(
            [SCRIPT, self.file],
            env={"PATH": path, "GITHUB_REPOSITORY": "a/b", "PULL_REQUEST": number},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def found(self):
        return json.loads(self.state.read_text())

    def bodies(self):
        return [one["body"].splitlines() for one in self.found()["comments"]]

    def written(self):
        return [call for call in self.found()["calls"] if not call.startswith("GET ")]


@pytest.fixture
def change(tmp_path: Path) -> PullRequest:
    return PullRequest(tmp_path)


def comment(number, user, body):
    return {"id": number, "user": user, "body": body}


def test_the_first_run_writes_it_and_every_later_one_writes_it_anew(change):
    done = change.tell("first")
    assert (done.returncode, done.stdout) == (0, "comment: https://example.org/POST\n")
    assert change.bodies() == [[MARK, "first"]]
    done = change.tell("second")
    assert (done.returncode, done.stdout) == (0, "comment: https://example.org/PATCH\n")
    assert change.bodies() == [[MARK, "second"]]
    assert change.written() == [f"POST {COMMENTS}", "PATCH repos/a/b/issues/comments/99"]


def test_it_is_found_behind_others(change):
    change.has(
        [
            comment(1, PERSON, f"{MARK}\nquoted by a person"),
            comment(2, BOT, "of another bot"),
            comment(3, BOT, f"> {MARK}"),
            comment(4, BOT, None),
            comment(5, {"login": None, "type": None}, ""),
            comment(6, BOT, f"{MARK}\r\nas a browser writes lines"),
        ]
    )
    change.tell("new")
    assert change.written() == ["PATCH repos/a/b/issues/comments/6"]


def test_gates_of_one_workflow_keep_apart(change):
    other = MARK.replace(", 0,", ", 1,")
    for text in ("first", "second"):
        change.tell(f"{text} of one")
        change.tell(f"{text} of the other", mark=other)
    assert change.bodies() == [[MARK, "second of one"], [other, "second of the other"]]


@pytest.mark.parametrize("status", [403, 500, 502])
def test_without_the_list_nothing_is_written(change, status):
    change.has([comment(1, BOT, f"{MARK}\nold")], refused={f"GET {COMMENTS}": status})
    done = change.tell()
    assert done.returncode == 0
    assert done.stdout.startswith("comment: not written, as those that are there cannot be listed: ")
    assert f"HTTP {status}" in done.stdout
    assert change.written() == []


def test_a_persons_token_finds_its_own_comment(change):
    there = [comment(1, BOT, f"{MARK}\nof a bot"), comment(2, PERSON, f"{MARK}\nold")]
    change.has(there, author=PERSON)
    change.tell("new")
    assert change.bodies() == [[MARK, "of a bot"], [MARK, "new"]]
    change.has([comment(1, {"login": "hubber", "type": "User"}, f"{MARK}\nof another person")], author=PERSON)
    change.tell("new")
    assert change.written() == [f"POST {COMMENTS}"]


def test_without_the_owner_of_the_token_nothing_is_written(change):
    change.has([], author=PERSON, refused={"GET user": 502})
    done = change.tell()
    assert done.returncode == 0
    assert done.stdout.startswith("comment: not written, as the token's owner is not known: ")
    assert change.written() == []


@pytest.mark.parametrize("there", [False, True])
def test_a_token_that_may_not_write_is_said_and_fails_nothing(change, there):
    call = "PATCH repos/a/b/issues/comments/1" if there else f"POST {COMMENTS}"
    change.has([comment(1, BOT, MARK)] if there else [], refused={call: 403})
    done = change.tell()
    assert done.returncode == 0
    assert done.stdout.startswith("comment: not written: ")
    assert "HTTP 403" in done.stdout
    assert change.written() == [call]


def test_what_is_no_pull_request_is_told_nothing(change):
    done = change.tell(number="")
    assert (done.returncode, done.stdout) == (0, "comment: this run is of no pull request\n")
    assert change.found()["calls"] == []


def test_another_file_is_refused(change):
    done = change.tell(mark="<!-- anything -->")
    assert done.returncode == 1
    assert change.found()["calls"] == []
