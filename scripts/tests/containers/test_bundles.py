# SPDX-License-Identifier: Apache-2.0
"""The bundles of compose/ as a person uses them, and the proxy before the engine's socket."""

import http.client
import json
import socket
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.driver import EXPERIMENT, free_port
from waiting import answer_of, fetch, wait_until

from steelyard import __version__
from steelyard.paths import ROOT
from steelyard.results.store import SessionDirectory

from .bundle import QUICK_COMPILER, REGISTRY, VERSION, Bundle, bundle_of, docker

pytestmark = pytest.mark.containers
DONE = (0, 9)
"""Complete, or trials lost to a noisy machine."""
LITTLE = f"{QUICK_COMPILER} -Xmx100m"


@pytest.fixture
def ping(tmp_path: Path) -> Iterator[Bundle]:
    bundle = bundle_of("ping", tmp_path)
    bundle.environment["STEELYARD_JVM_ARGS"] = QUICK_COMPILER
    yield bundle
    bundle.down()


@pytest.fixture
def jvm_count(tmp_path: Path) -> Iterator[Bundle]:
    bundle = bundle_of("jvm-count", tmp_path)
    yield bundle
    bundle.down()


def test_one_server_under_load(ping: Bundle) -> None:
    done = ping.compose("--profile", "load", "up", "--exit-code-from", "load")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "injector CPU under load:" in done.stdout  # the summary for people
    (run,) = ping.results.iterdir()
    assert run.name.startswith("ping-")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    operation = summary["operations"]["ping"]
    assert operation["requests"] > 0
    assert operation["errors"] == 0


def test_a_server_in_any_image_under_load(tmp_path: Path) -> None:
    server = bundle_of("server", tmp_path)
    server.environment["STEELYARD_SERVER_IMAGE"] = f"{REGISTRY}/ping:{VERSION}-hotspot"
    (server.folder / "server.env").write_text(f"JVM_ARGS={LITTLE}\n", encoding="utf-8")
    try:
        # The image has no health check, so nothing but its answer tells that it serves.
        done = server.compose("up", "--detach")
        assert done.returncode == 0, done.stderr
        (container,) = server.containers()
        assert f"JVM_ARGS={LITTLE}" in container["Config"]["Env"]
        wait_until(
            lambda: b"pong" in (answer_of(_address(container, "/ping")) or b""),
            lambda: f"an answer: {server.compose('logs').stdout}",
        )
        loaded = server.compose("run", "--rm", "--no-deps", "-T", "load")
        assert loaded.returncode == 0, loaded.stdout + loaded.stderr
        (run,) = server.results.iterdir()
        summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
        assert summary["operations"]["get"]["requests"] > 0
        assert summary["operations"]["get"]["errors"] == 0
    finally:
        server.down()


def test_two_servers_with_limits_share_the_load(ping: Bundle) -> None:
    ping.results.mkdir(exist_ok=True)
    ping.results.chmod(0o777)
    ping.environment |= {
        "STEELYARD_CPUS": "0",
        "STEELYARD_MEMORY": "512m",
        "STEELYARD_JVM_ARGS": LITTLE,
        "STEELYARD_USER": "1001:0",
        "STEELYARD_TARGETS": ", ".join(f'"http://{ping.project}-server-{n}:9080"' for n in (1, 2)),
    }
    done = ping.compose("up", "--detach", "--wait", "--scale", "server=2")
    assert done.returncode == 0, done.stderr
    servers = ping.containers()
    assert len(servers) == 2
    for server in servers:
        host = server["HostConfig"]
        assert host["Memory"] == 512 << 20
        assert host["CpusetCpus"] == "0"
        assert host["ReadonlyRootfs"] is True
        assert host["CapDrop"] == ["ALL"]
        assert host["Privileged"] is False
        assert f"JVM_ARGS={LITTLE}" in server["Config"]["Env"]
    assert len({mount["Name"] for server in servers for mount in server["Mounts"]}) == 2

    loaded = ping.compose("run", "--rm", "--no-deps", "-T", "load")
    assert loaded.returncode == 0, loaded.stdout + loaded.stderr
    for server in servers:
        assert _get(server, "/ping") == "pong"
        assert json.loads(_get(server, "/bench/counters"))["operations"]["ping"]["requests"] > 1
    # Nothing but the run lies in the folder, which is for people.
    assert [path.name.partition("-")[0] for path in ping.results.iterdir()] == ["ping"]


def _get(server: dict[str, Any], path: str) -> str:
    return fetch(_address(server, path)).decode().strip()


def _address(server: dict[str, Any], path: str) -> str:
    (published,) = server["NetworkSettings"]["Ports"]["9080/tcp"]
    assert published["HostIp"] == "127.0.0.1"
    return f"http://127.0.0.1:{published['HostPort']}{path}"


@pytest.mark.usefixtures("turn")
def test_a_whole_experiment_in_containers(jvm_count: Bundle) -> None:
    jvm_count.environment |= {
        "STEELYARD_EXPERIMENT": str(_tiny(jvm_count.results)),
        "STEELYARD_ARGS": f"--trust --port {free_port()}",
    }
    done = jvm_count.compose("up", "--exit-code-from", "harness")
    assert done.returncode in DONE, done.stdout + done.stderr
    _is_whole(jvm_count.results)


@pytest.mark.usefixtures("turn")
def test_a_whole_experiment_by_docker_run_alone(tmp_path: Path) -> None:
    """The lines of the page as they are typed; with this registry's images, and a small experiment in the last."""
    text = (ROOT / "docs" / "how-to" / "containers.md").read_text(encoding="utf-8")
    (block,) = (block for block in text.split("```\n")[1::2] if "docker run" in block)
    ours = {"REGISTRY": REGISTRY, "VERSION": VERSION, "FLAVOUR": "hotspot"}
    environment = " ".join(f"--env STEELYARD_{name}={value}" for name, value in ours.items())
    tiny = _tiny(tmp_path / "results")
    for typed, here, times in (
        (f"localhost/steelyard/harness:{__version__}", f"{environment} {REGISTRY}/harness:{VERSION}", 3),
        (" run jvm-count ", f" run {tiny} --trust --port {free_port()} ", 1),
        ('/results" --quick', '/results"', 1),
    ):
        assert block.count(typed) == times
        block = block.replace(typed, here)
    done = subprocess.run(["bash", "-euxc", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in DONE, done.stdout + done.stderr
    assert "jvm-count" in done.stdout
    _is_whole(tmp_path / "results")


def _tiny(results: Path) -> Path:
    """An experiment of a few trials, beside its results: a container sees no other folder of the host."""
    results.mkdir(exist_ok=True)
    tiny = results / "tiny.yaml"
    tiny.write_text(EXPERIMENT.replace("repeats: 1", "repeats: 0"), encoding="utf-8")
    return tiny


def _is_whole(results: Path) -> None:
    """One session with its report, of trials that saw the host; its containers are gone."""
    (path,) = (path for path in results.iterdir() if path.is_dir())
    assert (path / "report.html").is_file()
    trials = SessionDirectory(path).trials()
    assert {trial.arm for trial in trials} == {"jvms-1", "jvms-2"}
    for trial in trials:
        # What only a harness that sees the host can read: the servers' /proc, maps and control groups.
        assert trial.metrics["throughput"] > 0
        assert trial.metrics["memory_rss"] > 0
        assert trial.metrics["cgroup_memory"] > 0
    left = docker("ps", "-aq", "--filter", f"label=dev.steelyard.session={path.name}")
    assert left == ""


ALLOWED = [
    ("GET", "/_ping", 200),
    ("HEAD", "/_ping", 200),
    ("GET", "/version", 200),
    ("GET", "/v1.44/info", 200),
    ("GET", "/v1.44/images/json", 200),
    ("GET", "/v1.44/images/registry.example:5000/none/none:1/json", 404),
    ("GET", "/v1.44/containers/json?all=1", 200),
    ("GET", "/v1.44/containers/no-such-thing/json", 404),
    ("GET", "/v1.44/networks", 200),
    ("GET", "/v1.44/volumes", 200),
    ("POST", "/v1.44/containers/create", 400),
    ("POST", "/v1.44/containers/no-such-thing/start", 404),
    ("POST", "/v1.44/containers/no-such-thing/stop", 404),
    ("POST", "/v1.44/networks/create", 400),
    ("DELETE", "/v1.44/containers/no-such-thing", 404),
    ("DELETE", "/v1.44/volumes/no-such-thing", 404),
]
# Should the proxy ever let these through, they must harm nobody.
NOTHING = urllib.parse.quote('{"label":["dev.steelyard.no-such-label"]}')
REFUSED = [
    ("GET", "/v1.44/containers/no-such-thing/archive?path=/etc"),
    ("GET", "/v1.44/containers/no-such-thing/export"),
    ("GET", "/v1.44/images/get?names=none"),
    ("GET", "/v1.44/secrets"),
    ("GET", "/v1.44/swarm"),
    ("GET", "/v1.44/plugins"),
    ("GET", "/v1.44/containers/../secrets"),
    ("GET", "/v1.44/%73ecrets"),
    ("GET", "//v1.44/info"),
    ("POST", "/v1.44/containers/no-such-thing/exec"),
    ("POST", "/v1.44/exec/no-such-thing/start"),
    ("POST", "/v1.44/containers/no-such-thing/update"),
    ("POST", f"/v1.44/containers/prune?filters={NOTHING}"),
    ("POST", f"/v1.44/volumes/prune?filters={NOTHING}"),
    ("POST", "/v1.44/build"),
    ("POST", "/v1.44/commit?container=none"),
    ("POST", "/v1.44/images/load"),
    ("POST", "/v1.44/images/create?fromSrc=-"),
    ("POST", "/v1.44/images/create?fromImage=&fromSrc=-"),
    ("POST", "/v1.44/images/none/push"),
    ("POST", "/v1.44/session"),
    ("POST", "/v1.44/swarm/init"),
    ("PUT", "/v1.44/containers/no-such-thing/archive?path=/etc"),
    ("DELETE", "/v1.44/images/none"),
]


class _ToSocket(http.client.HTTPConnection):
    """HTTP to a socket of this host."""

    def __init__(self, path: Path) -> None:
        super().__init__("docker")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


@pytest.fixture(scope="module")
def proxy() -> Iterator[Path]:
    """The proxy as the bundle runs it; its socket. In a folder with a short name: a socket's path has 107 bytes."""
    bundle = (ROOT / "compose" / "jvm-count" / "compose.yaml").read_text(encoding="utf-8")
    assert 'user: "0:0"' in bundle
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        container = docker(
            *("run", "--detach", "--user=0:0", "--cap-drop=ALL", "--read-only", "--network=none"),
            *("--security-opt=no-new-privileges:true", f"--volume={folder}:/run/steelyard"),
            "--volume=/var/run/docker.sock:/var/run/docker.sock:ro",
            f"{REGISTRY}/socket-proxy:{VERSION}",
        ).strip()
        try:

            def ended() -> str | None:
                state = docker("inspect", "--format", "{{.State.Status}}", container).strip()
                return None if state == "running" else f"the container is {state}"

            wait_until((Path(folder) / "docker.sock").is_socket, "the proxy's socket", ended)
            yield Path(folder) / "docker.sock"
        finally:
            docker("rm", "--force", "--volumes", container)


def _ask(proxy: Path, method: str, path: str) -> tuple[int, str]:
    connection = _ToSocket(proxy)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_proxy_passes_on_what_experiments_need_and_refuses_the_rest(proxy: Path) -> None:
    answered = [(method, path, _ask(proxy, method, path)[0]) for method, path, _ in ALLOWED]
    assert answered == ALLOWED  # the engine's own answers
    for method, path in REFUSED:
        status, text = _ask(proxy, method, path)
        assert status == 403, f"{method} {path}"
        assert "the socket proxy does not allow" in json.loads(text)["message"]


def test_the_proxy_lets_images_be_pulled(proxy: Path) -> None:
    """Nothing listens at port 1, so the engine's own sentence comes back."""
    status, text = _ask(proxy, "POST", "/v1.44/images/create?fromImage=127.0.0.1:1/none&tag=1")
    assert status != 403, text
    assert "127.0.0.1:1" in text
