# SPDX-License-Identifier: Apache-2.0
"""The scripts of a pipeline, in a tree of their own: what they call is a stand-in that says what it was told to say."""

import json
import os
import shutil
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from steelyard.paths import ROOT

SCRIPTS = ROOT / ".github" / "scripts"
ANSWERS = {"0": "pass", "1": "regression", "2": "inconclusive"}
KINDS = {"0": "notice", "1": "error", "2": "warning"}
SENTENCE = r"CPU 4 % worse: A\nB, `x`"
MARK = "<!-- steelyard-gate: night, gate, 0, , gate, ,  -->"

LAUNCHER = r"""#!/bin/sh
for word in "$@"; do printf '%s|' "$word"; done >>"$STAND_IN/calls"
echo >>"$STAND_IN/calls"
case $1 in
certify) exit "$(cat "$STAND_IN/certify" 2>/dev/null || echo 0)" ;;
gate) cat "$STAND_IN/answer" 2>/dev/null; exit "$(cat "$STAND_IN/gate")" ;;
esac
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Pipeline:
    """A checkout with the scripts and a stand-in for the launcher, and a job's folder."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.job, self.told = folder / "tree", folder / "job", folder / "told"
        for one in (self.job, self.told, self.tree / ".github" / "scripts"):
            one.mkdir(parents=True)
        shutil.copytree(SCRIPTS, self.tree / ".github" / "scripts", dirs_exist_ok=True)
        program(self.tree / "steelyard", LAUNCHER)
        self.summary, self.output = folder / "summary.md", folder / "output"

    def answers(
        self, code, certify="0", session="steelyard-results/gate-1", files=("gate.md", "gate.annotations")
    ):
        """Let the gate end with this code, and leave what it leaves."""
        (self.told / "gate").write_text(code)
        (self.told / "certify").write_text(certify)
        if code not in ANSWERS:
            return
        answer = {"directory": session, "outcome": ANSWERS[code], "sides": {"outcome": "no"}}
        (self.told / "answer").write_text(json.dumps(answer, indent=1, ensure_ascii=False), encoding="utf-8")
        folder = self.job / session
        folder.mkdir(parents=True)
        texts = {
            "gate.md": f"<!-- steelyard-gate: app cpu -->\n### {ANSWERS[code]}\n\n<sub>small</sub>\n",
            "gate.annotations": f"::{KINDS[code]} title=Gate%3A x::{SENTENCE.replace('%', '%25')}\n",
        }
        for name in files:
            (folder / name).write_text(texts[name])

    def environment(self, **changes):
        basis = {"PATH": os.environ["PATH"], "STAND_IN": str(self.told), "LC_ALL": "C"}
        return {key: value for key, value in (basis | changes).items() if value is not None}

    def gate(self, stdout=subprocess.PIPE, **changes):
        """Run gate.sh as a step on GitHub does."""
        basis = {
            "BASELINE": "HEAD~1",
            "CANDIDATE": "checkout",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKFLOW": "night",
            "GITHUB_JOB": "gate",
            "JOB_INDEX": "0",
            "GITHUB_SHA": "0123456789abcdef",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }
        return subprocess.run(
            [self.tree / ".github" / "scripts" / "gate.sh"],
            cwd=self.job,
            env=self.environment(**basis | changes),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )

    def calls(self):
        return [line.split("|")[:-1] for line in (self.told / "calls").read_text().splitlines()]

    def outputs(self):
        return dict(line.split("=", 1) for line in self.output.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return Pipeline(tmp_path)


@pytest.mark.parametrize(
    ("code", "fails", "ends"), [("0", "true", 0), ("1", "false", 1), ("2", "false", 0), ("2", "true", 2)]
)
def test_a_verdict_is_told_everywhere(pipeline, code, fails, ends):
    pipeline.answers(code)
    done = pipeline.gate(UNSURE_FAILS=fails)
    assert done.returncode == ends
    assert pipeline.outputs() == {
        "verdict": ANSWERS[code],
        "sentence": SENTENCE,
        "directory": "steelyard-results/gate-1",
        "session": "gate-1",
        "summary": "steelyard-results/summary.md",
    }
    assert done.stdout == f"::{KINDS[code]} title=Gate%3A x::{SENTENCE.replace('%', '%25')}\n"
    told = f"{MARK}\n### {ANSWERS[code]}\n\n<sub>small</sub>\n<sub>commit 012345678</sub>\n"
    assert pipeline.summary.read_text() == told
    assert (pipeline.job / "steelyard-results" / "summary.md").read_text() == told
    folders = ["--out", "steelyard-results", "--certificates", "steelyard-results/certificates"]
    sides = ["--baseline", "HEAD~1", "--candidate", "checkout"]
    assert pipeline.calls() == [["gate", "gate", *folders, *sides, "--json"]]


def test_no_verdict_is_told_as_well(pipeline):
    pipeline.answers("7")
    done = pipeline.gate(
        CANDIDATE="a`b\n::error::c",
        COMMIT="fedcba9876543",
        GITHUB_SERVER_URL="https://example.org",
        GITHUB_REPOSITORY="a/b",
        GITHUB_RUN_ID="12",
    )
    assert done.returncode == 7
    assert pipeline.outputs() == {"verdict": "none", "summary": "steelyard-results/summary.md"}
    assert done.stdout == (
        "::error title=Performance gate%3A no verdict::exit code 7 (docs/commands.md); the log says why\n"
    )
    told = pipeline.summary.read_text()
    assert told == (pipeline.job / "steelyard-results" / "summary.md").read_text()
    # The same first line as with a verdict: the old comment is what it replaces.
    assert told.splitlines()[:2] == [MARK, "### &#9888; No verdict: `ab ::error::c` against `HEAD~1`"]
    assert "exit code 7 " in told
    assert "(https://example.org/a/b/actions/runs/12)" in told
    assert told.endswith("\n<sub>commit fedcba987</sub>\n")


def test_both_commands_are_given_the_same(pipeline):
    pipeline.answers("0")
    pipeline.gate(
        CERTIFY="10",
        EXPERIMENT="mine.yaml",
        WORKLOAD="my server/workload.yaml",
        MARGIN="5%",
        METRIC="throughput",
        TIME="15m",
        CERTIFICATES="/certificates",
        OPTIONS="--set\n  shop.options=-Da=b  c\\t*\n\n--quick\n",
    )
    both = ["mine.yaml", "--out", "steelyard-results", "--certificates", "/certificates"]
    both += ["--workload", "my server/workload.yaml", "--set", "  shop.options=-Da=b  c\\t*", "--quick"]
    only = ["--margin", "5%", "--metric", "throughput", "--time", "15m"]
    assert pipeline.calls() == [
        ["certify", *both, "--baseline", "HEAD~1", "--blocks", "10"],
        ["gate", *both, *only, "--baseline", "HEAD~1", "--candidate", "checkout", "--json"],
    ]


@pytest.mark.parametrize(
    ("certify", "gated", "ends"), [("9", True, 0), ("7", False, 7), ("1", False, 14), ("2", False, 14)]
)
def test_without_a_certificate_the_gate_abstains(pipeline, certify, gated, ends):
    pipeline.answers("2", certify=certify)
    done = pipeline.gate(CERTIFY="10")
    assert done.returncode == ends
    assert [call[0] for call in pipeline.calls()] == ["certify", "gate"][: 1 + gated]
    assert pipeline.outputs()["verdict"] == ("inconclusive" if gated else "none")
    assert ("### inconclusive" if gated else "No verdict") in pipeline.summary.read_text()


@pytest.mark.parametrize("side", ["BASELINE", "CANDIDATE"])
@pytest.mark.parametrize("value", [None, ""])
def test_two_sides_are_needed(pipeline, side, value):
    pipeline.answers("0")
    done = pipeline.gate(**{side: value, "CERTIFY": "10"})
    assert done.returncode == 4
    assert done.stderr.startswith("gate.sh: a gate weighs two sides: set BASELINE and CANDIDATE")
    assert not (pipeline.told / "calls").exists()
    assert pipeline.outputs()["verdict"] == "none"


@pytest.mark.parametrize("code", ["0", "1", "2"])
@pytest.mark.parametrize("left", [(), ("gate.md",), ("gate.annotations",)])
def test_a_gate_that_leaves_nothing_gave_no_verdict(pipeline, code, left):
    pipeline.answers(code, files=left)
    done = pipeline.gate(UNSURE_FAILS="true")
    assert done.returncode == 14
    assert "left no gate." in done.stderr
    assert pipeline.outputs()["verdict"] == "none"


@pytest.mark.parametrize("code", ["0", "1", "2"])
def test_a_code_without_its_answer_is_no_verdict(pipeline, code):
    """As a launcher ends that fails before the command begins."""
    pipeline.answers(code)
    (pipeline.told / "answer").unlink()
    assert pipeline.gate(UNSURE_FAILS="true").returncode == 14
    pipeline.answers(str((int(code) + 1) % 3), session="steelyard-results/gate-2")
    (pipeline.told / "gate").write_text(code)
    assert pipeline.gate(UNSURE_FAILS="true").returncode == 14


@pytest.mark.parametrize("code", ["0", "1", "2", "7"])
@pytest.mark.parametrize("name", ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "TMPDIR", "steelyard-results"])
def test_what_cannot_be_written_is_no_verdict(pipeline, code, name):
    """Not even where a shell would end with 1 or 2 by itself."""
    if name == "steelyard-results":
        pipeline.answers(code, session="elsewhere/gate-1")
        (pipeline.job / "steelyard-results").write_text("")
        done = pipeline.gate(UNSURE_FAILS="true")
    else:
        pipeline.answers(code)
        done = pipeline.gate(UNSURE_FAILS="true", **{name: str(pipeline.job / "gone" / "file")})
    assert done.returncode == (7 if code == "7" and name != "TMPDIR" else 8)


def test_a_path_may_hold_any_letters(pipeline):
    session = "steelyard-results/Prüfstand é/gate-1"
    pipeline.answers("0", session=session)
    assert pipeline.gate().returncode == 0
    assert pipeline.outputs()["directory"] == session


@pytest.mark.parametrize("code", ["1", "7"])
def test_elsewhere_the_summary_is_printed(pipeline, code):
    """To whatever standard output is: a socket cannot be opened by a name."""
    pipeline.answers(code)
    away = dict.fromkeys(("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_SHA"))
    done = pipeline.gate(**away)
    assert done.returncode == int(code)
    assert done.stdout == (pipeline.job / "steelyard-results" / "summary.md").read_text()
    assert (
        done.stdout.splitlines()[1]
        == {
            "1": "### regression",
            "7": "### &#9888; No verdict: `checkout` against `HEAD~1`",
        }[code]
    )
    assert "commit" not in done.stdout
    ours, theirs = socket.socketpair()
    with ours, theirs:
        again = pipeline.gate(stdout=theirs, **away)
        theirs.close()
        assert again.returncode == int(code)
        assert ours.makefile(encoding="utf-8").read() == done.stdout


def test_each_gate_of_a_workflow_has_a_mark_of_its_own(pipeline):
    pipeline.answers("0")
    marks = []
    for changes in (
        {},
        {"COMMIT": "another", "BASELINE": "v2"},
        {"GATE_NAME": "two --> <b>"},
        {"GITHUB_JOB": "other"},
        {"JOB_INDEX": "1"},
        {"GITHUB_WORKFLOW": "day"},
        {"METRIC": "throughput"},
        {"WORKLOAD": "ping"},
        {"EXPERIMENT": "other"},
    ):
        pipeline.gate(**changes)
        marks.append((pipeline.job / "steelyard-results" / "summary.md").read_text().splitlines()[0])
    assert marks[0] == marks[1] == MARK
    assert len(set(marks)) == len(marks) - 1
    assert all(mark.index("-->") == len(mark) - 3 for mark in marks)
