# SPDX-License-Identifier: Apache-2.0
"""Bad input on the command line: one sentence that says what to do, and an exit code of its own."""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from steelyard.cli.app import main
from steelyard.paths import EXPERIMENTS


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def steelyard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["steelyard", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return Result(int(ended.value.code or 0), output.out, output.err)

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["run", "nothing"], 4, "unknown experiment 'nothing'"),
        (["plan", "jvm-count", "--set", "bananas=1,2"], 4, "unknown factor 'bananas'"),
        (
            ["plan", "jvm-count", "--set", "jvms=1,many"],
            4,
            "jvms=many: jvms: Input should be a valid integer",
        ),
        (["plan", "jvm-count", "--set", "total_heap=48m"], 4, "is below the 32 MiB that Liberty needs"),
        (["plan", "jvm-count", "--set", "cores=4096"], 4, "needs 4096 cores, this host offers"),
        (["plan", "jvm-count", "--blocks", "1"], 4, "--blocks 1 is too few"),
        (["run", "jvm-count", "--jdk", "/no/such/jdk"], 3, "/no/such/jdk"),
        (["plan", "jvm-count", "--set", "class_cache=cold"], 4, "class_cache: cold needs OpenJ9"),
        (["resume", "/no/such/session"], 4, "is not there"),
        (["report", "/no/such/session"], 4, "is not there"),
        (["up", "nothing"], 4, "unknown workload 'nothing': there are ping, acmeair"),
        (
            ["up", "acmeair", "--today", "tomorrow"],
            4,
            "--today tomorrow is no day: give one such as 2026-06-15",
        ),
        (["up", "acmeair", "--today", "20260615"], 4, "--today 20260615 is no day"),
        (["up", "ping", "--today", "system"], 4, "--today means nothing to the workload ping"),
        (["schema", "nothing"], 4, "choose experiment, session"),
        (["frobnicate"], 2, "No such command"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(
    steelyard: Any, arguments: list[str], code: int, says: str
) -> None:
    result = steelyard(*arguments)
    assert result.code == code
    assert says in result.err
    assert "Traceback" not in result.err
    if code != 2:
        assert len(result.err.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["resume", "analyze", "report"])
def test_a_session_of_a_newer_version_is_refused(steelyard: Any, tmp_path: Path, command: str) -> None:
    (tmp_path / "session.json").write_text('{"format_version": 99}', encoding="utf-8")
    result = steelyard(command, str(tmp_path))
    assert result.code == 10
    assert "format version 99, this Steelyard reads up to 1: use the newer Steelyard" in result.err


def test_a_damaged_session_is_refused(steelyard: Any, tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text("{", encoding="utf-8")
    result = steelyard("analyze", str(tmp_path))
    assert result.code == 4
    assert "is damaged" in result.err


def test_plan_shows_the_split_and_runs_nothing(steelyard: Any) -> None:
    result = steelyard("plan", "jvm-count", "--seed", "1", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    assert [arm["name"] for arm in document["arms"]] == ["jvms-1", "jvms-2", "jvms-4", "jvms-6", "jvms-12"]
    assert len(document["schedule"]) == 30
    heaps = {sum(server["heap_bytes"] for server in arm["instances"]) for arm in document["arms"]}
    assert heaps == {1536 * 1024 * 1024}
    again = json.loads(steelyard("plan", "jvm-count", "--seed", "1", "--json").out)
    assert again["schedule"] == document["schedule"]
    other = json.loads(steelyard("plan", "jvm-count", "--seed", "2", "--json").out)
    assert other["schedule"] != document["schedule"]


def test_plan_for_people_names_arms_and_commands(steelyard: Any) -> None:
    result = steelyard("plan", "jvm-count", "--quick")
    assert result.code == 0
    assert "jvms-1 (baseline)" in result.out
    assert "taskset -c" in result.out


def test_the_exported_schema_accepts_the_experiments_and_refuses_a_wrong_key(steelyard: Any) -> None:
    schema = json.loads(steelyard("schema").out)
    experiment = yaml.safe_load((EXPERIMENTS / "jvm-count.yaml").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(experiment)
    experiment["load"]["usres"] = 1
    with pytest.raises(jsonschema.ValidationError, match="usres"):
        jsonschema.Draft202012Validator(schema).validate(experiment)


def test_list_and_doctor_speak_json(steelyard: Any, tmp_path: Path) -> None:
    listed = json.loads(steelyard("list", "--out", str(tmp_path), "--json").out)
    names = [row["name"] for row in listed["experiments"]]
    assert names == ["acmeair-jvm-tuning", "acmeair-scale", "acmeair-topology", "jvm-count"]
    assert listed["sessions"] == []
    findings = json.loads(steelyard("doctor", "--out", str(tmp_path), "--json").out)["findings"]
    assert {"smt", "thp", "steal"} <= {finding["topic"] for finding in findings}


def test_every_exit_code_is_documented() -> None:
    from steelyard.errors import Exit
    from steelyard.paths import ROOT

    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for code in Exit:
        assert f"| {int(code)} |" in text


def test_a_port_that_outgoing_connections_may_hold_is_refused(steelyard: Any, tmp_path: Path) -> None:
    result = steelyard("run", "jvm-count", "--quick", "--port", "40000", "--out", str(tmp_path))
    assert result.code == 4
    assert "choose one below 32768" in result.err
    assert not list(tmp_path.iterdir())


def test_a_port_in_use_is_named_before_anything_starts(steelyard: Any, tmp_path: Path) -> None:
    with socket.socket() as taken:
        port = 17000 + os.getpid() % 1000
        taken.bind(("0.0.0.0", port))
        taken.listen()
        result = steelyard("run", "jvm-count", "--quick", "--port", str(port), "--out", str(tmp_path))
    assert result.code == 5
    assert str(port) in result.err
    assert not list(tmp_path.iterdir())
