# SPDX-License-Identifier: Apache-2.0
"""How a container's end is told, from what the engine says of it; a real process stands for the container's."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from builders import make_component, make_spec
from waiting import TINY, is_running, wait_until

from steelyard.engines.compose import project as compose_project
from steelyard.engines.compose.engine import ComposeDeployment, ComposeEngine
from steelyard.engines.compose.project import Project, RunningContainer
from steelyard.engines.container import NOT_TOLD
from steelyard.errors import MissingRequirement, PortInUse, ServerFailed, SteelyardError
from steelyard.host.docker import Docker, DockerFailed
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.processes import client as process_client
from steelyard.processes.listening import Listener
from steelyard.workload.schema import ContainerPlace

ID = "5f" * 32
"""As long as an engine's own: a short one is part of the names of what it has mounted here."""
LIMIT = 150 << 20


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen(["sleep", "120"])
    yield running
    running.kill()
    running.wait()


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Processes stand for those of containers, but for tests on just that."""
    if "is_real" not in request.fixturenames:
        monkeypatch.setattr(compose_project, "is_process_of", lambda _pid, container: container == ID)


@pytest.fixture
def is_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are what they are; an engine that knows of no end is not waited for."""
    monkeypatch.setattr(compose_project, "NOTICE_LIMIT", TINY)


def container(folder: Path, pid: int, state: dict[str, Any] | None, **more: str) -> RunningContainer:
    """A container whose engine answers with this state (None: not at all)."""
    client = folder / "docker"
    answer = json.dumps([{"State": state}])
    client.write_text(
        f"#!/bin/sh\ncase $1 in wait) exit 0;; container) echo '{answer}';; logs) echo its last words;; esac\n"
        if state is not None
        else "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n",
        encoding="utf-8",
    )
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    described = {
        "Id": ID,
        "Created": "2026-11-21T08:59:59.5Z",
        "State": {"Pid": pid, "StartedAt": "2026-11-21T09:00:00.123456789Z"},
        "HostConfig": {"Memory": LIMIT, **more},
    }
    return RunningContainer(Docker(client, "26", "2.26"), "server-1", described, folder / "console.log")


def test_where_a_container_listens_is_told_by_the_kernel(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    """On its own loopback nobody outside reaches it, and the engine's proxy takes every connection all the same."""
    with socket.create_server(("127.0.0.1", 0)) as inside, socket.create_server(("0.0.0.0", 0)) as outside:
        ports = inside.getsockname()[1], outside.getsockname()[1]
        unit = container(tmp_path, process.pid, None)
        engine = ComposeEngine(Children(), Docker(tmp_path / "docker", "26", "2.26"), "s")
        deployment = ComposeDeployment(engine, make_spec(), tmp_path)
        deployment._handles["server-1"] = unit
        own, other = (
            make_component(port=40000, container=ContainerPlace.model_validate({"port": port}))
            for port in ports
        )
        assert Listener("127.0.0.1", ports[0]) in deployment.listens_elsewhere(own)
        assert deployment.listens_elsewhere(other) == []
        assert deployment.expected_address(own)[1].startswith(
            f"0.0.0.0:{ports[0]} of its container, where it is asked"
        )
    hosts = container(tmp_path, process.pid, None, NetworkMode="host")
    assert hosts.listeners() == []
    end(process)
    assert unit.listeners() == []


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.parametrize(
    ("is_rootless", "uid", "inside"), [(False, 1000, "1000:1000"), (False, 0, "1001:0"), (True, 1000, "0:0")]
)
def test_containers_write_as_the_harness_does(
    monkeypatch: pytest.MonkeyPatch, is_rootless: bool, uid: int, inside: str
) -> None:
    """Inside of an engine without root its own user is root, and 1000 is another user of this host."""
    monkeypatch.setattr(os, "getuid", lambda: uid)
    monkeypatch.setattr(os, "getgid", lambda: uid)
    docker = Docker(Path("docker"), "26", "2.26", is_rootless)
    assert str(ComposeEngine(Children(), docker, "s").user) == inside


def test_when_a_container_was_made_and_when_it_began_is_the_engine_s_own_account(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    unit = container(tmp_path, process.pid, None)
    deployment = ComposeDeployment(
        ComposeEngine(Children(), Docker(tmp_path / "docker", "26", "2.26"), "s"), make_spec(), tmp_path
    )
    deployment._handles["server-1"], deployment._components["server-1"] = unit, make_component()
    (running,) = deployment.started_components()
    assert running.creation is not None
    assert running.started - running.creation == pytest.approx(0.623456)


def test_a_running_container_has_no_exit_code_and_costs_no_question(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    running = container(tmp_path, process.pid, None)
    assert running.exit_code() is None
    assert running.started == pytest.approx(1795251600.123456789)


def unused_pid() -> int:
    """A number that no process has: one above the largest that the kernel gives."""
    return int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii")) + 1


@pytest.mark.usefixtures("is_real")
@pytest.mark.parametrize("is_there", [True, False])
def test_an_engine_whose_containers_run_elsewhere_is_refused(
    tmp_path: Path, process: subprocess.Popen[bytes], is_there: bool
) -> None:
    """Its numbers are those of another host: here nobody has them, or a process that is none of ours."""
    pid = process.pid if is_there else unused_pid()
    with pytest.raises(MissingRequirement, match="not among this host's processes"):
        container(tmp_path, pid, {"Running": True})
    assert not [link for link in Path("/proc/self/fd").iterdir() if is_handle_of(link, process.pid)]


def is_handle_of(link: Path, pid: int) -> bool:
    """Whether an open file watches a process."""
    try:
        return f"Pid:\t{pid}\n" in Path(f"/proc/self/fdinfo/{link.name}").read_text(encoding="ascii")
    except OSError:
        return False


@pytest.mark.usefixtures("is_real")
def test_a_container_that_has_ended_may_have_left_its_number_to_another(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    for pid in (process.pid, unused_pid()):
        ended = container(tmp_path, pid, {"Running": False, "ExitCode": 3})
        assert ended.exit_code() == 3
    assert is_running(process.pid)


@pytest.mark.usefixtures("is_real")
@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("cgroup", "0::/system.slice/docker-{}.scope\n"),
        ("cgroup", "0::/../../user.slice/libpod-{}.scope/container\n"),
        ("cgroup", "12:memory:/docker/{}\n0::/\n"),
        (
            "mountinfo",
            "731 716 8:1 /var/lib/docker/containers/{}/hostname /etc/hostname rw - ext4 /dev/a rw\n",
        ),
    ],
)
def test_a_process_is_known_by_its_container(monkeypatch: pytest.MonkeyPatch, file: str, line: str) -> None:
    identity = "4f" * 32
    monkeypatch.setattr(
        Path, "read_text", lambda path, **_: line.format(identity) if path.name == file else "0::/\n"
    )
    assert compose_project.is_process_of(1, identity)
    assert not compose_project.is_process_of(1, ID)


@pytest.mark.parametrize(
    ("state", "code", "sentence"),
    [
        (
            {"ExitCode": 137, "OOMKilled": True},
            -9,
            r"server-1 was killed because memory ran out \(its limit is 150 MiB\)",
        ),
        (
            {"ExitCode": 137, "OOMKilled": False},
            -9,
            r"server-1 ended with signal 9 after printing: its last words",
        ),
        (
            {"ExitCode": 22, "OOMKilled": False},
            22,
            r"server-1 ended with exit code 22 after printing: its last words",
        ),
        ({"ExitCode": 143, "OOMKilled": False}, 143, r"server-1 ended with exit code 143"),
        (
            {"OOMKilled": False},
            NOT_TOLD,
            r"server-1 ended with an exit code that is not told after printing: its last",
        ),
        ({"ExitCode": 134, "OOMKilled": False}, -6, r"server-1 ended with signal 6"),
    ],
)
def test_how_a_container_ended(
    tmp_path: Path, process: subprocess.Popen[bytes], state: dict[str, Any], code: int, sentence: str
) -> None:
    ended = container(tmp_path, process.pid, state)
    end(process)
    assert ended.exit_code() == code
    with pytest.raises(AssertionError, match=sentence):
        raise AssertionError(ended.describe_end())


def test_an_engine_that_went_away_is_told_from_a_server_that_died(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    ended = container(tmp_path, process.pid, None)
    end(process)
    assert ended.exit_code() == NOT_TOLD
    assert "the container engine does not tell how (Cannot connect" in ended.describe_end()


def test_an_engine_that_hangs_is_given_up(tmp_path: Path) -> None:
    client = tmp_path / "docker"
    client.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    client.chmod(0o755)
    with pytest.raises(DockerFailed, match=r"docker info: no answer within 0 s"):
        Docker(client, "26", "2.26").run("info", timeout=TINY)


def project(client: Path) -> Project:
    """The project of a trial beside the client."""
    return Project(Docker(client, "26", "2.26"), client.parent / "01-jvms-1", Children(), "ping")


class _InterruptError(Exception):
    """Stands for Ctrl-C."""


def test_an_interrupt_waits_for_what_the_engine_was_asked_to_make(tmp_path: Path) -> None:
    """The client's plugin outlives a client that is killed: what it makes then would stay for good."""
    client = tmp_path / "docker"
    client.write_text(
        f"#!/bin/sh\ntouch {tmp_path}/begun\n"
        f"(until test -e {tmp_path}/interrupted; do sleep 0.1; done; sleep 1; touch {tmp_path}/made) & wait\n",
        encoding="utf-8",
    )
    client.chmod(0o755)

    def interrupt(*_: object) -> None:
        raise _InterruptError

    def when_begun() -> None:
        wait_until((tmp_path / "begun").exists, "the client at work")
        os.kill(os.getpid(), signal.SIGINT)
        (tmp_path / "interrupted").touch()

    before = signal.signal(signal.SIGINT, interrupt)
    watcher = threading.Thread(target=when_begun)
    watcher.start()
    try:
        with pytest.raises(_InterruptError):
            project(client).up(["server-1"], ["trial.yaml"])
        assert (tmp_path / "made").exists()
    finally:
        watcher.join()
        signal.signal(signal.SIGINT, before)


def test_a_killed_harness_leaves_no_client_that_starts_containers_behind_its_removal(tmp_path: Path) -> None:
    """The client has plugins of its own; each dies before the removal that is registered for a crash."""
    client = tmp_path / "docker"
    client.write_text(
        f"#!/bin/sh\ncase $* in *' down '*) touch {tmp_path}/removed; exit;; esac\n"
        f"(touch {tmp_path}/begun; while test ! -e {tmp_path}/removed; do sleep 0.1; done; sleep 1;"
        f" touch {tmp_path}/started) & wait\n",
        encoding="utf-8",
    )
    client.chmod(0o755)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from steelyard.engines.compose.project import Project, removal_of\n"
        "from steelyard.host.docker import Docker\nfrom steelyard.processes import Children\n"
        "children, client = Children(), Path(sys.argv[1])\n"
        "project = Project(Docker(client, '26', '2.26'), client.parent / '01-jvms-1', children, 'ping')\n"
        "children.on_crash(project.name, [str(client), *removal_of(project.name)])\n"
        "project.up(['server-1'], ['trial.yaml'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    with subprocess.Popen([sys.executable, "-c", script, str(client)], env=environment) as harness:
        wait_until((tmp_path / "begun").exists, "the client at work")
        # The plugin's own children are named as it is, from their fork until their program begins.
        [client_at_work] = [
            child for child in psutil.Process(harness.pid).children() if "docker" in child.name()
        ]
        [plugin] = client_at_work.children()
        harness.kill()
    wait_until((tmp_path / "removed").exists, "removal")
    left = [client_at_work.pid, plugin.pid]
    wait_until(lambda: not any(map(is_running, left)), "end of the client and its plugin")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        (
            "Error starting userland proxy: listen tcp4 127.0.0.1:9180: bind: address already in use",
            PortInUse,
            "port 9180 was taken meanwhile",
        ),
        ("No such image: reg/ping@sha256:12", MissingRequirement, "the image was removed"),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            ServerFailed,
            "the container engine went away",
        ),
        ("container steelyard-1-server-1 exited (7)", ServerFailed, "the containers could not be started"),
    ],
)
def test_why_containers_did_not_start(
    tmp_path: Path, said: str, kind: type[SteelyardError], sentence: str
) -> None:
    client = tmp_path / "docker"
    client.write_text(f"#!/bin/sh\necho '{said}' >&2; exit 1\n", encoding="utf-8")
    client.chmod(0o755)
    with pytest.raises(kind, match=sentence) as caught:
        project(client).up(["server-1"], ["trial.yaml"])
    assert type(caught.value) is kind


def test_a_container_that_ended_while_it_was_started_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of compose tells its exit code; why, its own log."""
    monkeypatch.setattr(process_client, "KEPT", tmp_path / "failed")
    client = tmp_path / "docker"
    client.write_text(
        '#!/bin/sh\ncase $1 in logs) echo starting; echo "ERROR: no licence for $2"; echo bye;;'
        " *) echo 'Error: dependency failed to start: container t-server-1 exited (3)' >&2; exit 1;; esac\n",
        encoding="utf-8",
    )
    client.chmod(0o755)
    kept = tmp_path / "failed" / "t-server-1.txt"
    why = rf"t-server-1 exited \(3\).* after printing: ERROR: no licence for t-server-1: see {kept}$"
    with pytest.raises(ServerFailed, match=why):
        project(client).up(["server-1"], ["trial.yaml"])
    assert kept.read_text(encoding="utf-8") == "starting\nERROR: no licence for t-server-1\nbye\n"
