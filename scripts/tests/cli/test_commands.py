# SPDX-License-Identifier: Apache-2.0
"""Bad input on the command line: one sentence that says what to do, and an exit code of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import jsonschema
import pytest
import yaml
from commands import Result, run_command
from e2e.driver import taken_port
from planned import question, session_of, specs
from rich.console import Console

from steelyard.cli.plan import _arms_table
from steelyard.cli.run import _run
from steelyard.errors import Busy, Crashed, Exit, NoSpace, SteelyardError, report_crash
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.opening import _fresh as new_folder
from steelyard.session.plan import RunRequest, make_plan
from steelyard.workload.loader import APPS, workload_names

SOURCES = ROOT / "scripts" / "steelyard"
COMMAND = [sys.executable, "-m", "steelyard"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCES.parent)}


@pytest.fixture
def steelyard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    monkeypatch.setenv("COLUMNS", "200")
    return partial(run_command, capsys)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["run", "nothing"], 4, "unknown experiment 'nothing'"),
        (["plan", "jvm-count", "--set", "bananas=1,2"], 4, "'bananas' is not a setting"),
        (
            ["plan", "jvm-count", "--set", "jvms=1,many"],
            4,
            "jvms=many: must be a whole number",
        ),
        (
            ["plan", "jvm-count", "--set", "total_heap=48m"],
            4,
            "is below the 32 MiB that it needs to start and serve",
        ),
        (["plan", "jvm-count", "--set", "cores=4096"], 4, "needs 4096 cores, this host offers"),
        (["plan", "jvm-count", "--blocks", "1"], 4, "--blocks 1: an interval needs two blocks"),
        (["run", "jvm-count", "--jdk", "/no/such/jdk"], 3, "/no/such/jdk"),
        (
            ["plan", "jvm-count", "--set", "gc=generational", "--set", "jvms=["],
            4,
            "'[' is not a value that YAML can read",
        ),
        (["plan", "jvm-count", "--set", "gc=2024-13-45"], 4, "gc=2024-13-45: must be 'default'"),
        (["plan", "jvm-count", "--engine", ","], 4, "is not one value"),
        (
            ["plan", "jvm-count", "--engine", "podman"],
            4,
            "must be 'process', 'compose' or 'kubernetes'",
        ),
        (["plan", "jvm-count", "--seed", "-1"], 4, "--seed -1: must be at least 0"),
        (["plan", "jvm-count", "--workload", "pong"], 4, "unknown workload 'pong'"),
        (["plan", "n" * 300 + ".yaml"], 4, "there is no experiment file"),
        (["plan", "jvm-count", "--workload", "n" * 300 + ".yaml"], 4, "there is no workload file"),
        (["analyze", "/proc/version"], 4, "/proc/version"),
        (["resume", "/no/such/session"], 4, "is not there"),
        (["report", "/no/such/session"], 4, "is not there"),
        (["up", "nothing"], 4, "unknown workload 'nothing': there are acmeair, daytrader7, olio, ping"),
        (["up", "ping", "--engine", "podman"], 4, "unknown engine 'podman': there are process, compose"),
        (["up", "ping", "--set", "acmeair.today=system"], 4, "'acmeair.today' is not a setting"),
        (["schema", "nothing"], 4, "choose experiment, workload, session"),
        (["frobnicate"], 13, "there is no command 'frobnicate': see ./steelyard --help"),
        (["plan"], 13, "EXPERIMENT is missing: see ./steelyard plan --help"),
        (["plan", "jvm-count", "--blcks", "6"], 13, "there is no option --blcks (did you mean '--blocks'?)"),
        (["plan", "jvm-count", "--blocks", "many"], 13, "--blocks: must be a whole number"),
        (["plan", "\udcff"], 4, "is no valid text"),
        (["images", "nothing"], 13, "there is no command 'nothing': see ./steelyard images --help"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(
    steelyard: Any, arguments: list[str], code: int, says: str
) -> None:
    result = steelyard(*arguments)
    assert result.code == code
    assert says in result.err
    assert "Traceback" not in result.err
    assert len(result.err.splitlines()) == 1
    assert result.err[:-1].isprintable()
    assert len(result.err) <= 320


@pytest.mark.parametrize("command", ["resume", "analyze", "report"])
@pytest.mark.parametrize(
    ("record", "code", "says"),
    [
        (
            '{"format_version": 99}',
            10,
            "format version 99, this Steelyard reads up to 2: use the newer Steelyard",
        ),
        ('{"format_version": 1}', 4, "tells no format version that there is"),
        ("{", 4, "is damaged"),
    ],
)
def test_a_session_that_cannot_be_read_is_refused_with_a_sentence(
    steelyard: Any, tmp_path: Path, command: str, record: str, code: int, says: str
) -> None:
    (tmp_path / "session.json").write_text(record, encoding="utf-8")
    result = steelyard(command, str(tmp_path))
    assert (result.code, len(result.err.strip().splitlines())) == (code, 1)
    assert says in result.err


def test_plan_shows_the_split_and_runs_nothing(steelyard: Any) -> None:
    result = steelyard("plan", "jvm-count", "--seed", "1", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    assert [arm["name"] for arm in document["arms"]] == ["jvms-1", "jvms-2", "jvms-4", "jvms-6", "jvms-12"]
    assert len(document["schedule"]) == 30
    heaps = {sum(one["heap_bytes"] or 0 for one in arm["spec"]["components"]) for arm in document["arms"]}
    assert heaps == {1536 * 1024 * 1024}
    again = json.loads(steelyard("plan", "jvm-count", "--seed", "1", "--json").out)
    assert again["schedule"] == document["schedule"]
    other = json.loads(steelyard("plan", "jvm-count", "--seed", "2", "--json").out)
    assert other["schedule"] != document["schedule"]


def test_plan_says_what_the_session_will_be_able_to_detect(steelyard: Any, tmp_path: Path) -> None:
    result = steelyard("plan", "jvm-count", "--set", "jvms=1,2", "--blocks", "6", "--out", str(tmp_path))
    assert "Will detect (80 % power, all comparisons counted, 6 blocks)" in result.out
    assert "throughput, every arm: a change of 1.4 to 19 %, by published spreads" in result.out
    told = json.loads(
        steelyard("plan", "jvm-count", "--set", "jvms=1,2", "--out", str(tmp_path), "--json").out
    )
    assert [one["metric"] for one in told["detects"]] == [
        "throughput",
        "memory_rss",
        "cpu_per_1k",
        "server_cpu_share",
    ]


def test_plan_has_a_column_for_the_memory_limit_where_there_is_one() -> None:
    plan = make_plan(RunRequest("jvm-count", settings=["jvms=1,2"], seed=1))
    assert "memory limit each" not in _arms_table(plan)[0]
    limited = {
        name: spec.model_copy(
            update={
                "components": [one.model_copy(update={"memory_bytes": 3 * 2**30}) for one in spec.components]
            }
        )
        for name, spec in plan.specs.items()
    }
    columns, rows = _arms_table(replace(plan, specs=limited))
    assert "memory limit each" in columns
    assert [row["memory limit each"] for row in rows] == ["3,072 MiB"] * 2


def test_plan_for_people_names_arms_and_commands(steelyard: Any) -> None:
    result = steelyard("plan", "jvm-count", "--quick")
    assert result.code == 0
    assert "jvms-1 (baseline)" in result.out
    assert "taskset -c" in result.out


@pytest.mark.parametrize(
    ("format_", "path"),
    [("experiment", EXPERIMENTS / "jvm-count.yaml")]
    + [("workload", APPS / name / "workload.yaml") for name in workload_names()],
    ids=lambda value: value.parent.name if isinstance(value, Path) else value,
)
def test_the_exported_schema_accepts_our_files_and_refuses_a_wrong_key(
    steelyard: Any, format_: str, path: Path
) -> None:
    schema = jsonschema.Draft202012Validator(json.loads(steelyard("schema", format_).out))
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    schema.validate(document)
    for part in (document, document.get("load")):
        if part is not None:
            part["nmae"] = 1
            with pytest.raises(jsonschema.ValidationError, match="nmae"):
                schema.validate(document)
            del part["nmae"]


def test_results_cannot_be_kept_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        with pytest.raises(NoSpace, match=r"cannot write .*choose another --out"):
            new_folder(place, "session")
    assert new_folder(tmp_path, "session") != new_folder(tmp_path, "session")


def test_brackets_are_text_and_no_markup(steelyard: Any, tmp_path: Path) -> None:
    text = (EXPERIMENTS / "jvm-count.yaml").read_text(encoding="utf-8")
    path = tmp_path / "odd.yaml"
    for old, new in (("title: ", 'title: "[/x] [red]" #'), ("label: JVMs", 'label: "[/x]"')):
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    result = steelyard("plan", str(path))
    assert result.code == 0
    assert "[/x] [red]" in result.out


def test_list_and_doctor_speak_json(steelyard: Any, tmp_path: Path) -> None:
    listed = json.loads(steelyard("list", "--out", str(tmp_path), "--json").out)
    names = [row["name"] for row in listed["experiments"]]
    assert names == sorted(path.stem for path in EXPERIMENTS.glob("*.yaml"))
    assert not [row for row in listed["experiments"] if row["title"].startswith("refused")]
    assert listed["sessions"] == []
    findings = json.loads(steelyard("doctor", "--out", str(tmp_path), "--json").out)["findings"]
    assert {"smt", "thp", "steal"} <= {finding["topic"] for finding in findings}


def test_exit_codes_have_one_meaning_each() -> None:
    assert [code for code in Exit if not code.remedy] == [Exit.OK, Exit.READER_GONE]
    # The gate's two mean nothing else: no error ends with them, and no command but the gate names them.
    gate = {Exit.REGRESSION, Exit.INCONCLUSIVE}
    errors = list(_below(SteelyardError))
    assert len(errors) > 8
    assert not gate & {error.exit_code for error in errors}
    sources = [path for path in SOURCES.rglob("*.py") if path.name != "gate.py"]
    used = "Exit.REGRESSION", "Exit.INCONCLUSIVE"
    assert not [path for path in sources if any(one in path.read_text(encoding="utf-8") for one in used)]


def _below(kind: type[SteelyardError]) -> Iterator[type[SteelyardError]]:
    for below in kind.__subclasses__():
        yield below
        yield from _below(below)


def test_a_defect_is_one_sentence_and_a_code_of_its_own(
    steelyard: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("[/x] first\nsecond")

    monkeypatch.setattr("steelyard.cli.app.CACHE", tmp_path)
    monkeypatch.setattr("steelyard.cli.plan.make_plan", fail)
    result = steelyard("plan", "jvm-count")
    (kept,) = (tmp_path / "crashes").iterdir()
    assert result.code == 14
    assert result.err == (
        "steelyard: a defect of Steelyard ended this command (RuntimeError: [/x] first second): report it with its"
        f" traceback, {kept}\n"
    )
    assert "Traceback (most recent call last)" in kept.read_text(encoding="utf-8")


def test_a_defect_in_a_session_leaves_its_traceback_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise TypeError("odd")

    monkeypatch.setattr("steelyard.cli.run.make_engines", fail)
    session = session_of(question("jvm-count"), specs("jvm-count"))
    write_record(tmp_path / "session.json", session)
    with pytest.raises(Crashed, match=rf"TypeError: odd.*{tmp_path}/crash-.*txt"):
        _run(SessionDirectory(tmp_path), None, Console(stderr=True), False)  # type: ignore[arg-type]
    assert list(tmp_path.glob("crash-*.txt"))


def test_a_lock_and_labels_bear_the_id_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every confirmation of a gate lies in a folder of the same name: by that, one took the lock of another host's."""
    named = []

    def make(*arguments: object) -> None:
        named.append(arguments[-1])
        raise Busy("enough")

    monkeypatch.setattr("steelyard.cli.run.make_engines", make)
    session = session_of(question("jvm-count"), specs("jvm-count"))
    directory = SessionDirectory(tmp_path / "confirmation")
    write_record(directory.path / "session.json", session)
    with pytest.raises(Busy):
        _run(directory, None, Console(stderr=True), False)  # type: ignore[arg-type]
    assert named == [session.id]


def test_a_traceback_that_cannot_be_kept_in_its_folder_is_kept_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = str(report_crash(ValueError("x"), tmp_path / "file" / "below"))
    kept = Path(told.rpartition(" ")[2])
    assert kept.read_text(encoding="utf-8") == "ValueError: x\n"
    kept.unlink()


def test_a_damaged_environment_is_no_regression(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise SyntaxError('half a file')", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{SOURCES.parent}"}
    ended = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert "the Python environment is damaged (SyntaxError('half a file'))" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_no_command_shows_the_help(steelyard: Any) -> None:
    result = steelyard()
    assert (result.code, result.err) == (13, "")
    assert "Start with:  steelyard run jvm-count --quick" in result.out
    assert "docs/README.md" in result.out
    assert "docs/reference/exit-codes.md" in result.out


def test_help_in_a_pipe_has_the_width_of_all_that_is_printed(
    steelyard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    for words in (("--help",), ("run", "--help")):
        lines = steelyard(*words).out.splitlines()
        assert max(map(len, lines)) == 140


def test_a_reader_that_has_gone_is_told_by_the_exit_code() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        ended = subprocess.run([*COMMAND, "list"], env=ENVIRONMENT, stdout=gone, stderr=PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_output_that_has_no_space_is_told_by_the_exit_code() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([*COMMAND, "schema"], env=ENVIRONMENT, stdout=full, stderr=PIPE, check=False)
    assert ended.returncode == 8
    assert ended.stderr == b"steelyard: the output: No space left on device\n"


WAITS = """
import sys, time
from steelyard.cli import app, inspect
def wait(*_):
    try:
        print("waits", file=sys.stderr, flush=True)
        while True:
            time.sleep(0.1)
    finally:
        print("cleans up", file=sys.stderr, flush=True)
        open(sys.argv[-1] + ".clean", "w").close()
inspect.SessionDirectory = wait
sys.argv[0] = "steelyard"
app.main()
"""


def test_a_closed_terminal_is_an_interrupt_and_cleaning_up_goes_on(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    line = [sys.executable, "-c", WAITS, "report", str(tmp_path / "session")]
    # A session of its own on that terminal, as a shell's is: the kernel tells it when the terminal goes.
    child = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *line], env=ENVIRONMENT, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    while not said.endswith(
        b"waits\r\n"
    ):  # the whole line: the kernel may pass it on in pieces, and refuse the rest
        said += os.read(ours, 100)
    os.close(ours)
    assert child.wait() == 130
    assert (tmp_path / "session.clean").exists()


def test_a_port_that_outgoing_connections_may_hold_is_refused(steelyard: Any, tmp_path: Path) -> None:
    result = steelyard("run", "jvm-count", "--quick", "--port", "40000", "--out", str(tmp_path))
    assert result.code == 4
    assert "choose another with --port" in result.err
    assert not list(tmp_path.iterdir())


def test_a_port_in_use_is_named_before_anything_starts(
    steelyard: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.cli.run.require_idle", lambda _: None)  # of no matter here: it may be busy
    with taken_port() as port:
        result = steelyard("run", "jvm-count", "--quick", "--port", str(port), "--out", str(tmp_path))
    assert result.code == 5
    assert str(port) in result.err
    assert not list(tmp_path.iterdir())
