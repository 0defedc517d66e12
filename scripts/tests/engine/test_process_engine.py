# SPDX-License-Identifier: Apache-2.0
"""Components as processes: how they start, what it means that they end, how they are stopped, what stays."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builders import make_component, make_jvm, make_spec
from waiting import wait_until

from steelyard.engines.process.deployment import ProcessDeployment
from steelyard.engines.process.engine import ProcessEngine
from steelyard.errors import MissingRequirement, PortInUse, ProgramGone, ServerFailed
from steelyard.host.programs import write_mark
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.results.spec import Artifact, Component, Role

# As Open Liberty 26.0.0.3 printed it.
BIND_FAILED = (
    "0000001f com.ibm.ws.tcpchannel.internal.TCPPort                       E CWWKO0221E: TCP Channel"
    " defaultHttpEndpoint initialization did not succeed.  The socket bind did not succeed for host * and port"
    " 17999.  The port might already be in use.  Exception Message: Address already in use"
)
LIBERTY = Artifact(form="liberty", package="p", build="b", words=["s"])
SLEEPS = "import time; print('up', flush=True); time.sleep(600)"


def process(name: str, script: str = SLEEPS, role: Role = "server", **more: Any) -> Component:
    """A Python script as a component."""
    fields: dict[str, Any] = {
        "name": name,
        "artifact": Artifact(form="command", words=[sys.executable, "-c", script]),
        "cpus": [min(os.sched_getaffinity(0))],
        "port": 17999,
        "heap_bytes": None,
        "counters": None,
    }
    return make_component(role, **(fields | more))


@pytest.fixture
def deployment(tmp_path: Path, children: Children) -> ProcessDeployment:
    return ProcessDeployment(children, tmp_path, {}, {})


def test_a_component_runs_in_its_folder_with_its_files_and_cpus(
    tmp_path: Path, deployment: ProcessDeployment
) -> None:
    script = (
        "import os, json; json.dump([os.getcwd(), open('note.txt').read(), sorted(os.sched_getaffinity(0)),"
        " os.environ['MARK'], os.environ.get('SECRET')], open('told', 'w'))"
    )
    os.environ["SECRET"] = "ours"
    try:
        one = process("server-1", script, files={"note.txt": "text"}, environment={"MARK": "m"})
        deployment.start([one])
    finally:
        del os.environ["SECRET"]
    wait_until(lambda: deployment.exit_code("server-1") is not None, "end")
    folder = tmp_path / "servers" / "server-1"
    assert json.loads((folder / "told").read_text(encoding="utf-8")) == [
        str(folder),
        "text",
        one.cpus,
        "m",
        None,
    ]
    assert deployment.logs("server-1") == folder / "logs"
    assert (folder / "logs" / "console.log").exists()


def test_one_that_is_killed_on_purpose_has_not_failed(deployment: ProcessDeployment) -> None:
    deployment.start([process("jitserver", role="compiler"), process("server-1")])
    deployment.kill("jitserver")
    wait_until(lambda: deployment.exit_code("jitserver") is not None, "end")
    assert deployment.exit_code("jitserver") == -signal.SIGKILL
    assert deployment.failure("jitserver") is None
    assert [one.name for one in deployment.started_components()] == ["server-1"]
    assert deployment.stop() == []


def test_a_program_of_a_jdk_that_has_it_not_is_refused_before_the_first_trial(
    tmp_path: Path, children: Children
) -> None:
    jvm = make_jvm("openj9").model_copy(update={"home": str(tmp_path)})
    artifact = Artifact(form="command", words=["${jdk}/bin/jitserver", "${jvm_options}"], jvm=jvm)
    says = r"bin/jitserver is missing: install it with an OpenJ9 that was built with it"
    with pytest.raises(MissingRequirement, match=says):
        ProcessEngine(children, tmp_path).check(
            [make_spec(components=[process("jitserver", artifact=artifact)])]
        )


UNPACKS = """#!/bin/sh
for option; do case $option in -Djava.io.tmpdir=*) touch "${option#*=}/library.so" ;; esac; done
exec sleep 600
"""
"""Stands for `java`: leaves a temporary file, as JVMs do that unpack native libraries and are killed."""


@pytest.mark.parametrize(("role", "place"), [("server", "servers"), ("injector", "load")])
def test_what_a_killed_jvm_leaves_goes_with_its_trial(
    tmp_path: Path, deployment: ProcessDeployment, role: Role, place: str
) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(UNPACKS, encoding="utf-8")
    java.chmod(0o755)
    jvm = make_jvm("hotspot").model_copy(update={"home": str(tmp_path / "jdk")})
    component = process("it", role=role, artifact=Artifact(form="java", words=["Main"], jvm=jvm))
    deployment.start([component])
    left = tmp_path / place / "it" / "tmp"
    wait_until((left / "library.so").exists, "its temporary file")
    deployment.kill("it")
    deployment.close()
    assert not left.exists()
    assert (left.parent / "logs" if place == "servers" else left.parent).exists()


def test_an_injector_gets_its_settings_and_its_folder(tmp_path: Path, deployment: ProcessDeployment) -> None:
    deployment.start([process("injector-1", role="injector", port=None, settings={"users": 3})])
    folder = tmp_path / "load" / "injector-1"
    assert json.loads((folder / "settings.json").read_text(encoding="utf-8")) == {
        "users": 3,
        "output": str(folder),
    }
    assert deployment.logs("injector-1") == folder


def test_what_runs_is_told_with_its_processes(deployment: ProcessDeployment) -> None:
    forks = (
        f"import subprocess, sys; print('up', flush=True); subprocess.run([sys.executable, '-c', {SLEEPS!r}])"
    )
    before = time.time()
    deployment.start([process("server-1", forks), process("database", role="database")])
    running = wait_until(
        lambda: (found := deployment.started_components()) and len(found[0].pids) == 2 and found, "child"
    )
    assert [one.name for one in running] == ["server-1", "database"]
    assert before <= running[0].started <= time.time()
    assert not running[0].contained
    os.kill(running[0].pids[0], 0)


def test_a_component_that_ends_is_named_with_its_last_words(deployment: ProcessDeployment) -> None:
    deployment.start([process("server-2", "print('no such option'); raise SystemExit(3)")])
    wait_until(lambda: deployment.exit_code("server-2") is not None, "end")
    assert deployment.failure("server-2") == "server-2 ended with exit code 3 after printing: no such option"
    assert deployment.exit_code("server-2") == 3


def test_a_signal_is_told_as_one(deployment: ProcessDeployment) -> None:
    deployment.start([process("server-1")])
    assert deployment.failure("server-1") is None
    os.kill(deployment.started_components()[0].pids[0], signal.SIGKILL)
    wait_until(lambda: deployment.exit_code("server-1") is not None, "end")
    assert "server-1 ended with signal 9" in str(deployment.failure("server-1"))


@pytest.mark.parametrize(
    ("script", "more"),
    [
        ("raise SystemExit(5)", {"port_taken": 5}),
        ("print('bind() to 0.0.0.0:1 failed (98: Address already in use)')", {}),
    ],
)
def test_a_port_that_was_taken_meanwhile_is_told(
    deployment: ProcessDeployment, script: str, more: Any
) -> None:
    deployment.start([process("database", script, role="database", **more)])
    wait_until(lambda: deployment.exit_code("database") is not None, "end")
    with pytest.raises(PortInUse, match=r"database could not open port 17999.*--port"):
        deployment.failure("database")


def without_port(folder: Path, children: Children, said: str) -> ProcessDeployment:
    """A Liberty server that says something of a port and lives."""
    package, primed = folder / "p", folder / "primed"
    (package / "wlp" / "bin").mkdir(parents=True)
    (primed / "servers").mkdir(parents=True)
    script = package / "wlp" / "bin" / "server"
    script.write_text(f"#!/bin/sh\necho '{said}'\nexec sleep 600\n", encoding="utf-8")
    script.chmod(0o755)
    deployment = ProcessDeployment(children, folder / "t", {"server-2": str(package)}, {"server-2": primed})
    deployment.start([process("server-2", artifact=LIBERTY)])
    return deployment


def test_a_liberty_server_that_lives_without_its_port_is_not_waited_for(
    tmp_path: Path, children: Children
) -> None:
    deployment = without_port(tmp_path, children, BIND_FAILED)

    def told() -> bool:
        try:
            return deployment.failure("server-2") is not None
        except PortInUse as error:
            return "server-2 could not open port 17999" in str(error)

    assert wait_until(told, "sentence")
    assert (tmp_path / "t" / "servers" / "server-2" / "usr" / "servers").is_dir()
    shared = tmp_path / "t" / "servers" / "shared"
    shared.mkdir()
    deployment.close()
    assert not shared.exists()
    assert not (tmp_path / "t" / "servers" / "server-2" / "usr").exists()
    assert (tmp_path / "t" / "servers" / "server-2" / "logs" / "console.log").exists()


def test_a_port_that_a_liberty_server_has_besides_is_named(tmp_path: Path, children: Children) -> None:
    """As of a server with TLS, of which each instance opens 9443: no --port helps."""
    said = BIND_FAILED.replace("defaultHttpEndpoint", "defaultHttpEndpoint-ssl").replace("17999", "9443")
    deployment = without_port(tmp_path, children, said)
    console = deployment.logs("server-2") / "console.log"
    wait_until(lambda: "9443" in console.read_text(encoding="utf-8"), "its line")
    with pytest.raises(
        ServerFailed, match=r"server-2 could not open port 9443, .* `httpsPort=-1`, or a port"
    ):
        deployment.failure("server-2")


def test_components_end_before_what_they_need_and_may_start_again(
    tmp_path: Path, deployment: ProcessDeployment
) -> None:
    says = (
        "import signal, sys, time\n"
        "def end(*_):\n"
        "    open('../../ended', 'a').write(ROLE + ' ')\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    roles: list[Role] = ["database", "service", "compiler", "server", "proxy"]
    components = [process(role, says.replace("ROLE", repr(role)), role=role) for role in roles]
    deployment.start(components)
    for role in roles:
        console = deployment.logs(role) / "console.log"
        wait_until(lambda console=console: "up" in console.read_text(encoding="utf-8"), "start")
    assert deployment.stop() == []
    assert (tmp_path / "ended").read_text(encoding="utf-8").split() == [
        "proxy",
        "server",
        "compiler",
        "service",
        "database",
    ]
    assert deployment.started_components() == []
    assert deployment.stop() == []
    deployment.start(components[3:4])
    assert [one.name for one in deployment.started_components()] == ["server"]


def test_what_does_not_stop_is_killed_and_told(deployment: ProcessDeployment) -> None:
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPS}"
    deployment.start([process("server-1", deaf)])
    console = deployment.logs("server-1") / "console.log"
    wait_until(lambda: "up" in console.read_text(encoding="utf-8"), "start")
    (problem,) = deployment.stop(["server-1"], grace=0.2)
    assert (problem.component, problem.cause) == ("server-1", "not-stopped")
    assert problem.detail == "server-1 did not stop and was killed"


def test_the_engine_refuses_what_cannot_work(tmp_path: Path, children: Children) -> None:
    engine = ProcessEngine(children, tmp_path)
    missing = process("proxy", artifact=Artifact(form="command", words=["no-such-program"]), role="proxy")
    with pytest.raises(MissingRequirement, match="no-such-program"):
        engine.check([make_spec(components=[missing])])
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} is already in use"):
            engine.check([make_spec(components=[process("server-1", port=port)])])
    nowhere = process("server-1", artifact=Artifact(form="java", package="p", words=["-version"]))
    with pytest.raises(MissingRequirement, match="nothing says where the package p lies"):
        engine.package(nowhere.artifact)


def a_build(folder: Path) -> Path:
    """A whole one, of an injector that is a program."""
    (folder / "loadgen").mkdir(parents=True)
    (folder / "loadgen" / "run").write_text("#!/bin/sh\nexec sleep 300\n", encoding="utf-8")
    (folder / "loadgen" / "run").chmod(0o755)
    write_mark(folder / "loadgen")
    return folder


def test_opening_writes_the_replay_and_starts_nothing(tmp_path: Path, children: Children) -> None:
    engine = ProcessEngine(children, tmp_path / "builds")
    a_build(tmp_path / "builds" / "b")
    components = [
        process("server-1", port=None),
        process(
            "injector-1",
            role="injector",
            port=None,
            settings={"users": 2, "awaitStart": True},
            artifact=Artifact(form="command", package="loadgen", build="b", words=["true"]),
        ),
    ]
    found = make_spec(components=components)
    deployment = engine.open(found, tmp_path / "trial")
    assert deployment.started_components() == []
    replay = tmp_path / "trial" / "replay"
    assert sorted(path.name for path in replay.iterdir()) == ["deployment.sh", "injector-1.json", "load.sh"]
    assert os.access(replay / "deployment.sh", os.X_OK)
    told = json.loads((replay / "injector-1.json").read_text(encoding="utf-8"))
    assert told == {"users": 2, "awaitStart": False, "output": "@OUTPUT@"}
    assert engine.package(found.injectors[0].artifact) == tmp_path / "builds" / "b" / "loadgen"


@pytest.mark.parametrize(
    "fault", ["build removed", "file removed", "build replaced", "jdk removed", "jdk replaced"]
)
def test_a_program_that_is_gone_is_told_and_goes_on_when_it_is_back(
    tmp_path: Path, children: Children, fault: str
) -> None:
    """Between two trials, and of what has just ended because of it."""
    build = a_build(tmp_path / "builds" / "b")
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n", encoding="utf-8")
    jvm = make_jvm("hotspot").model_copy(update={"home": str(home)})
    artifact = Artifact(form="command", package="loadgen", build="b", words=["${package}/run"], jvm=jvm)
    one = make_spec(components=[process("injector-1", role="injector", port=None, artifact=artifact)])
    engine = ProcessEngine(children, tmp_path / "builds")
    engine.check([one])
    deployment = engine.open(one, tmp_path / "trial-1")
    deployment.start(one.components)
    program = Path(f"/proc/{deployment._handles['injector-1'].pid}/comm")
    wait_until(lambda: program.read_text(encoding="utf-8") == "sleep\n", "program that runs")
    lost = build if "build" in fault else home if "jdk" in fault else build / "loadgen" / "run"
    lost.rename(tmp_path / "away")
    if fault == "build replaced":
        a_build(build)
    elif fault == "jdk replaced":
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "java").write_text("#!/bin/sh\n", encoding="utf-8")
    deployment._handles["injector-1"].signal(signal.SIGKILL)
    wait_until(lambda: deployment.exit_code("injector-1") is not None, "end")
    tries = (
        lambda: engine.open(one, tmp_path / "trial-2"),
        lambda: deployment.failure("injector-1"),
        deployment.require_programs,
    )
    for tried in tries:
        with pytest.raises(
            ProgramGone, match=f"{lost}.*, which injector-1 runs, was removed, damaged or replaced"
        ):
            tried()
    if lost.exists():
        lost.rename(tmp_path / "other")
    (tmp_path / "away").rename(lost)
    assert "signal 9" in str(deployment.failure("injector-1"))
    engine.open(one, tmp_path / "trial-3").close()


def test_a_program_that_goes_between_the_look_and_the_start_is_told(
    tmp_path: Path, children: Children
) -> None:
    build = a_build(tmp_path / "builds" / "b")
    artifact = Artifact(form="command", package="loadgen", build="b", words=["${package}/run"])
    one = make_spec(components=[process("injector-1", role="injector", port=None, artifact=artifact)])
    deployment = ProcessEngine(children, tmp_path / "builds").open(one, tmp_path / "trial")
    (build / "loadgen" / "run").unlink()
    deployment.start(one.components)
    wait_until(lambda: deployment.exit_code("injector-1") is not None, "end")
    with pytest.raises(ProgramGone, match="which injector-1 runs, was removed"):
        deployment.failure("injector-1")


def test_a_killed_harness_leaves_no_keys_of_the_application(tmp_path: Path) -> None:
    """Copies of server folders may hold them, the folder that servers share does; both are of no use any more. Those
    of both sides of a duet, whose components have the same names, and whatever was closed meanwhile."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom types import SimpleNamespace\n"
        "from steelyard.engines.process.deployment import ProcessDeployment\nfrom steelyard.processes import Children\n"
        "from test_process_engine import process\n"
        "folder = Path(sys.argv[1])\n"
        "one, children, primed = process('server-1'), Children(), {'server-1': folder / 'primed'}\n"
        "sides = [ProcessDeployment(children, folder / side, {}, primed) for side in ('a', 'b', 'closed')]\n"
        "for side in sides: side.start([one])\n"
        "sides[-1].close()\n"
        "print('started', flush=True)\nsys.stdin.read()\n"
    )
    (tmp_path / "primed").mkdir()
    (tmp_path / "primed" / "key.pem").write_text("secret", encoding="utf-8")
    path = os.pathsep.join(
        [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(ROOT / "scripts")]
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == "started\n"
        servers = [tmp_path / side / "servers" for side in ("a", "b")]
        secret = [folder / name for folder in servers for name in ("server-1/usr", "shared")]
        for folder in servers:
            assert (folder / "server-1" / "usr" / "key.pem").exists()
            (folder / "shared").mkdir()
            (folder / "shared" / "auth.pem").write_text("secret", encoding="utf-8")
        harness.kill()
    wait_until(lambda: not any(path.exists() for path in secret), "end of the copies")
    assert all((folder / "server-1" / "logs" / "console.log").exists() for folder in servers)
