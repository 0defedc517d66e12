# SPDX-License-Identifier: Apache-2.0
"""Arguments are checked before anything is built, which takes minutes; what fails to come up leaves its log."""

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import Result, run_command
from e2e.driver import free_port, taken_port

from steelyard.cli import run, workload
from steelyard.errors import MissingRequirement
from steelyard.host import java
from steelyard.session import workload_up

FAILS = """
steelyard: 1
name: fails
version: "1"
title: A server that says in its first line why it does not start
packages: {app: {folder: .}}
topologies:
  one:
    about: one server
    components:
      server:
        role: server
        process:
          command:
            [PROGRAM, -c, "echo the reason: no licence file; for i in 0 1 2 3 4 5; do echo frame $i; done; exit 3"]
          package: app
        ready: {path: /, within: 10s}
    journey: {visits: {look: {steps: [{operation: look, path: /}]}}}
"""


class Built(Exception):
    """Something was built."""


@pytest.fixture
def steelyard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Result]:
    def build(*_: object) -> None:
        raise Built

    for module in (run, workload):
        monkeypatch.setattr(module, "ensure_builds", build)
    monkeypatch.setattr(run, "require_idle", lambda _: None)
    monkeypatch.setattr(workload_up, "require_idle", lambda: None)
    monkeypatch.setattr(workload_up, "STATE", tmp_path / "up" / "state.json")
    return partial(run_command, capsys)


PLAIN = """
steelyard: 1
name: plain
title: One server as it is
question: Does it run?
workload: ping
factors: {users: {levels: [4, 8]}}
baseline: {users: 4}
deployment: {cores: all}
load: {model: closed, users: 8, injectors: 1, ramp: 1s, warmup: 4s, measure: 4s}
metrics: {primary: throughput, report: [memory_rss, cpu_per_1k]}
design: {blocks: 2}
"""


def own(folder: Path, program: str = "sh") -> str:
    path = folder / f"{Path(program).name}.yaml"
    path.write_text(FAILS.replace("PROGRAM", program), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["up", "ping", "--set", "bananas=1"], 4, "'bananas' is not a setting"),
        (["up", "ping", "--heap", "1m"], 4, "is below the 32 MiB"),
        (["up", "ping", "--heap", "4000g"], 4, "lower it"),
        (["up", "ping", "--port", "40000"], 4, "choose another with --port"),
        (["up", "ping", "--listen", "192.0.2.1"], 4, "choose 127.0.0.1, or 0.0.0.0"),
        (["up", "ping", "--listen", "0.0.0.0", "--engine", "compose"], 4, "--listen is for engine process"),
        (["up", "ping", "--topology", "none"], 4, "has no topology none"),
        (["journey", "try", "ping", "--topology", "none"], 4, "has no topology none"),
        (["up", "ping", "--jdk", "/no/such/jdk"], 3, "/no/such/jdk"),
        (["up", "ping", "--jdk", "hotspot-99"], 3, "this host has no JDK named hotspot-99"),
        (["run", "jvm-count", "--quick", "--jdk", "hotspot-99"], 3, "openjdk-99-jdk-headless"),
        (["run", "jvm-count", "--quick", "--out", "/proc/none"], 8, "cannot write /proc/none"),
        (["certify", "--out", "/proc/none"], 8, "cannot write /proc/none"),
    ],
)
def test_what_is_refused_is_refused_at_once(
    steelyard: Any, arguments: list[str], code: int, says: str
) -> None:
    result = steelyard(*arguments)
    assert (result.code, len(result.err.strip().splitlines())) == (code, 1)
    assert says in result.err


@pytest.mark.parametrize("verb", ["up", "run"])
def test_a_program_that_is_missing_and_a_port_that_is_taken(
    steelyard: Any, tmp_path: Path, verb: str
) -> None:
    def arguments(program: str, port: int) -> list[str]:
        named = [own(tmp_path, program)]
        if verb == "run":
            (tmp_path / "plain.yaml").write_text(PLAIN, encoding="utf-8")
            named = [str(tmp_path / "plain.yaml"), "--workload", *named]
        out = ["--out", str(tmp_path / "out")] if verb == "run" else []
        return [verb, *named, "--port", str(port), *out]

    result = steelyard(*arguments("/no/such/program", free_port()))
    assert (result.code, "/no/such/program is missing" in result.err) == (3, True), result.err
    with taken_port() as port:
        result = steelyard(*arguments("sh", port))
    assert (result.code, f"port {port} is already in use" in result.err) == (5, True), result.err


def test_a_workload_that_does_not_come_up_says_why_and_keeps_its_log(
    steelyard: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keeper itself, in this process; it needs no injector and so no class archive of one."""
    folder = tmp_path / "up" / "run"
    monkeypatch.setattr(workload, "ensure_builds", lambda *_: None)
    monkeypatch.setattr(workload_up, "fresh_folder", partial(workload_up.fresh_folder, folder))
    monkeypatch.setattr(workload, "host_lock", contextlib.nullcontext)
    result = steelyard("up", own(tmp_path), "--port", str(free_port()), "--keep")
    log = folder / "servers" / "server" / "logs" / "console.log"
    assert result.code == 7
    assert f"exit code 3 after printing: the reason: no licence file ... frame 5: see {log}" in result.err
    assert log.read_text(encoding="utf-8").startswith("the reason: no licence file\nframe 0\n")
    assert not [path.name for path in (folder / "replay").glob("injector*")]
    # The next one begins with an empty folder.
    assert list(workload_up.fresh_folder().iterdir()) == []


def test_a_jdk_is_taken_by_the_name_that_doctor_lists() -> None:
    known = java.named_jdks()
    name, jdk = next(iter(known.items()))
    assert java.find_jdk(Path(name)).home == jdk.home


def test_jdks_that_are_there_are_named_where_none_was_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = java.find_jdk().home
    monkeypatch.setattr(java, "USUAL_FOLDERS", (tmp_path / "jvm",))
    (tmp_path / "jvm").mkdir()
    with pytest.raises(MissingRequirement, match="no JDK was found"):
        java.find_jdk(environment={"PATH": ""})
    (tmp_path / "jvm" / "one").symlink_to(home)
    only = java.find_jdk(environment={"PATH": ""})
    assert only.home == home
    two = dict.fromkeys(["hotspot-17", "openj9-21"], only)
    monkeypatch.setattr(java, "named_jdks", lambda *_: two)
    with pytest.raises(
        MissingRequirement,
        match=r"no JDK was chosen .*this host has hotspot-17, openj9-21: choose one, for example with --jdk hotspot-17",
    ):
        java.find_jdk(environment={"PATH": ""})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("openj9-21", "unpack an OpenJ9 21 (IBM Semeru Runtime) in a folder below /opt"),
        (
            "hotspot-25",
            "`sudo apt install openjdk-25-jdk-headless` or `sudo dnf install java-25-openjdk-devel`",
        ),
        ("zing", "install one with"),
    ],
)
def test_the_hint_installs_what_is_missing(monkeypatch: pytest.MonkeyPatch, name: str, hint: str) -> None:
    monkeypatch.setattr(java, "named_jdks", lambda *_: {})
    with pytest.raises(MissingRequirement) as missing:
        java.jdk_of(name)
    assert hint in str(missing.value)
    assert "default-jdk" not in str(missing.value) or name == "zing"
