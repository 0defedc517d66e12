# SPDX-License-Identifier: Apache-2.0
"""The compose engine by itself: real containers of a small server in an image that no bundle knows."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import make_container, make_spec
from e2e.driver import free_port
from waiting import answer_of, wait_until

from steelyard.engines.compose.engine import ComposeDeployment, ComposeEngine
from steelyard.errors import MissingRequirement, PortInUse
from steelyard.experiment.schema import Load
from steelyard.host.docker import Docker
from steelyard.processes import Children
from steelyard.results.spec import Artifact, Component, Spec

from .conftest import Pushed

pytestmark = pytest.mark.containers
SESSION = "test-compose-deployment"
BUSYBOX = "/opt/steelyard/bin/busybox"
SCRIPT = f"""\
if [ -n "$LOADGEN_SETTINGS" ]; then
    while [ ! -e /load/injector-1/stop ]; do {BUSYBOX} sleep 0.1; done
    exit $((GREETING))
fi
[ ! -e /steelyard/seen ] || exit 9
echo "$GREETING" >/steelyard/seen
[ "$GREETING" != dying ] || exit 3
[ "$GREETING" = stubborn ] || trap "exit 0" TERM
{BUSYBOX} httpd -f -p 8080 -h /steelyard &
echo "serving $JVM_ARGS" && wait
"""


@pytest.fixture(scope="module")
def image(docker: Docker, images: Pushed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that tells what it was told, and refuses to start where it has run."""
    folder, name = tmp_path_factory.mktemp("image"), "steelyard-test.invalid/small:1"
    (folder / "serve.sh").write_text(SCRIPT, encoding="utf-8")
    (folder / "Containerfile").write_text(
        f"FROM {images.ping}\n"
        "COPY serve.sh /\n"
        f'HEALTHCHECK --interval=1s CMD ["{BUSYBOX}", "touch", "/steelyard/asked"]\n'
        f'ENTRYPOINT ["{BUSYBOX}", "sh", "/serve.sh"]\n',
        encoding="utf-8",
    )
    build = ["docker", "build", "--quiet", "--tag", name, "-f", "Containerfile", "."]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    yield name
    docker.run("image", "rm", name)


def server(image: str, name: str, greeting: str = "hello") -> Component:
    return make_container(
        image=image,
        name=name,
        kind="small",
        memory_bytes=64 << 20,
        port=free_port(),
        jvm_options=["-Dprice=$5 each", "-Xlog:gc:file=${folder}/logs/gc.log"],
        environment={"GREETING": greeting, "CLASSES": "${cache}/classes"},
    )


def injector(image: str, code: int = 0) -> Component:
    return make_container(
        "injector",
        image=image,
        kind="load",
        environment={"GREETING": str(code)},
        settings={"users": 1},
        container=None,
    )


def compose_spec(*components: Component) -> Spec:
    return make_spec(
        "a",
        engine="compose",
        workload="small",
        topology="single",
        bundle="server",
        load=Load(users=1),
        components=list(components),
        entry=[],
        mix={},
        injectors_share_cores=True,
    )


Opener = Callable[[Spec], ComposeDeployment]


@pytest.fixture
def opened(docker: Docker, tmp_path: Path, _reachable: None) -> Iterator[Opener]:
    """Opens a trial, and closes it after the test."""
    deployments: list[ComposeDeployment] = []
    with Children() as children:
        engine = ComposeEngine(children, docker, SESSION)

        def open_(deployed: Spec) -> ComposeDeployment:
            engine.check([deployed])
            deployment = engine.open(deployed, tmp_path / f"0{len(deployments)}-a")
            deployments.append(deployment)
            return deployment

        yield open_
        for deployment in deployments:
            deployment.close()
    assert docker.run("ps", "--all", "--quiet", "--filter", f"label=dev.steelyard.session={SESSION}") == ""


@pytest.fixture
def _reachable(tmp_path: Path) -> None:
    """The containers' user has to reach the folders of a trial."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and folder.stat().st_mode & 0o055 == 0:
            folder.chmod(0o755)


def seen(component: Component) -> str:
    """What the server was told; empty when it does not answer yet."""
    return (answer_of(f"{component.url}/seen") or b"").decode().strip()


def test_what_is_started_again_starts_afresh_and_may_vary(image: str, opened: Opener, docker: Docker) -> None:
    first, second = server(image, "small-1"), server(image, "small-2")
    deployment = opened(compose_spec(first, second))
    assert not deployment.started_components()
    varied = first.model_copy(update={"environment": {"GREETING": "prepare"}})
    began = time.time()
    deployment.start([varied])
    wait_until(lambda: seen(first) == "prepare", "its answer")
    (running,) = deployment.started_components()
    assert running.component == varied
    assert running.contained
    assert began - 60 < running.started < time.time() + 60
    assert all(Path(f"/proc/{pid}").exists() for pid in running.pids)
    assert deployment.stop(["small-1"]) == []
    assert not deployment.started_components()
    assert deployment.exit_code("small-1") == 0

    (deployment.cache("small") / "filled").parent.mkdir(parents=True)
    (deployment.cache("small") / "filled").write_text("x")
    deployment.start([first, second])
    wait_until(lambda: seen(first) == seen(second) == "hello", "both answers")
    assert [one.name for one in deployment.started_components()] == ["small-1", "small-2"]
    container = docker.inspect("container", [f"{docker_name(docker, 'small-1')}"])[0]
    assert container["HostConfig"]["CpusetCpus"] == "0"
    assert container["HostConfig"]["Memory"] == container["HostConfig"]["MemorySwap"] == 64 << 20
    assert "CLASSES=/steelyard/cache/classes" in container["Config"]["Env"]
    inside = docker.run("exec", container["Id"], BUSYBOX, "stat", "-c", "%u", "/steelyard/cache/filled")
    assert inside.strip() == container["Config"]["User"].partition(":")[0]
    assert deployment.stop() == []
    assert [deployment.failure(name) for name in ("small-1", "small-2")] == [None, None]
    console = (deployment.logs("small-1") / "console.log").read_text(encoding="utf-8")
    assert console == "serving '-Dprice=$5 each' -Xlog:gc:file=/steelyard/logs/gc.log\n"
    deployment.close()
    assert not deployment.cache("small").exists()
    assert (deployment.logs("small-1") / "console.log").exists()


def docker_name(docker: Docker, service: str, *options: str) -> str:
    """The container of a service of this test."""
    ours = (*options, "--filter", f"label=dev.steelyard.session={SESSION}")
    names = docker.run("ps", *ours, "--format", "{{.Names}}").split()
    return next(name for name in names if name.endswith(f"-{service}-1"))


def test_how_components_end_is_told(image: str, opened: Opener, docker: Docker) -> None:
    killed, stubborn = server(image, "small-1"), server(image, "small-2", "stubborn")
    deployment = opened(compose_spec(killed, stubborn))
    assert deployment.failure("small-1") is None
    assert deployment.exit_code("small-1") is None
    deployment.start([killed, stubborn])
    wait_until(lambda: seen(killed) and seen(stubborn), "both answers")
    docker.run("kill", docker_name(docker, "small-1"))
    wait_until(lambda: deployment.exit_code("small-1") is not None, "its end")
    assert str(deployment.failure("small-1")).startswith(
        "small-1 ended with signal 9 after printing: serving"
    )
    assert deployment.exit_code("small-1") == -9
    assert deployment.failure("small-2") is None
    assert list(map(str, deployment.stop(grace=1.0))) == ["small-2 did not stop and was killed"]
    assert deployment.stop() == []


def test_no_health_check_disturbs_what_is_measured(image: str, opened: Opener, docker: Docker) -> None:
    one = server(image, "small-1")
    deployment = opened(compose_spec(one))
    deployment.start([one])
    wait_until(lambda: seen(one), "its answer")
    container = docker.inspect("container", [docker_name(docker, "small-1")])[0]
    assert container["Config"]["Healthcheck"]["Test"] == ["NONE"]
    assert "Health" not in container["State"]


def test_one_that_dies_is_named_and_a_crashed_sessions_network_goes(
    image: str, opened: Opener, docker: Docker
) -> None:
    one = server(image, "small-1", "dying")
    deployment = opened(compose_spec(one))
    deployment.start([one])
    wait_until(lambda: deployment.exit_code("small-1") is not None, "its end")
    assert str(deployment.failure("small-1")).startswith("small-1 ended with exit code 3")
    ours = ("network", "ls", "--quiet", "--filter", f"label=dev.steelyard.session={SESSION}")
    assert docker.run(*ours)
    docker.run("rm", "--force", "--volumes", docker_name(docker, "small-1", "--all"))
    with Children() as children:
        ComposeEngine(children, docker, "another-session").check([])
    assert not docker.run(*ours)


@pytest.mark.parametrize("code", [0, 4])
def test_an_injector_is_ended_by_its_file(image: str, opened: Opener, code: int) -> None:
    one = injector(image, code)
    deployment = opened(compose_spec(server(image, "small-1"), one))
    deployment.start([one])
    assert deployment.logs("injector-1").parent.name == "load"
    deployment.logs("injector-1").mkdir(exist_ok=True)
    assert deployment.exit_code("injector-1") is None
    (deployment.logs("injector-1") / "stop").touch()
    wait_until(lambda: deployment.exit_code("injector-1") is not None, "its end")
    assert deployment.exit_code("injector-1") == code
    assert deployment.failure("injector-1") == (None if code == 0 else "injector-1 ended with exit code 4")


def test_before_a_session_its_leftovers_go_and_what_is_missing_is_named(
    image: str, opened: Opener, docker: Docker
) -> None:
    one = server(image, "small-1")
    deployed = compose_spec(one)
    left = opened(deployed)
    left.start([one])
    wait_until(lambda: seen(one), "its answer")
    with pytest.raises(PortInUse):
        left.start([one.model_copy(update={"name": "small-2"})])
    with Children() as children:
        later = ComposeEngine(children, docker, "another-session")
        later.check([deployed])  # removes it, so its port is free
        assert left.exit_code("small-1") is not None
        nowhere = one.model_copy(update={"artifact": Artifact(form="image", image="127.0.0.1:9/none:1")})
        with pytest.raises(MissingRequirement, match=r"127\.0\.0\.1:9/none:1 is not on this host"):
            later.check([compose_spec(nowhere)])
