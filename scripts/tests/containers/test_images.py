# SPDX-License-Identifier: Apache-2.0
"""The images of every platform as they lie in the local registry, and the servers in them."""

import functools
import json
import platform as host_platform
import re
import socket
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.driver import call
from platforms import PLATFORMS, skip_where_missing
from stages import RECORD
from waiting import answer_of, wait_until

from steelyard.build import fingerprint
from steelyard.host.docker import Docker, native_architecture
from steelyard.images.bake import Plan, variables
from steelyard.images.catalogue import read_catalogue
from steelyard.images.lock import ask
from steelyard.paths import ROOT

from . import layout
from .bundle import QUICK_COMPILER
from .conftest import IMAGES, Pushed, published_port
from .layout import Layout

pytestmark = pytest.mark.containers
SERVERS = tuple(name for name, image in read_catalogue().items() if image.flavours)
FOREIGN = "linux/ppc64le"
LIMIT_COMPRESSED = 120_000_000
"""Bytes of all layers of an image, as they are transferred."""
ANY_USER = "12345:0"
OCI = "org.opencontainers.image."
LABELS = {
    *(f"{OCI}{name}" for name in ("title", "description", "version", "revision", "source", "licenses")),
    *(f"{OCI}base.name", f"{OCI}base.digest", "dev.steelyard.fingerprint", "dev.steelyard.role"),
}
SERVER_LABELS = {"dev.steelyard.workload", "dev.steelyard.workload.version", "dev.steelyard.flavour"}
CACHES = re.compile(
    r"^(var/lib/apt/lists/.|var/cache/(apt|debconf|ldconfig)/.|var/lib/dpkg/(status|available)(-old)?$|etc/apt/.|"
    r"root/\.(m2|cache|npm|config|docker)(/|$)|home/[^/]+/\.(m2|cache)|var/log/.|etc/machine-id$|"
    r".*\.(deb|apk|rpm|whl)$|.*/pip/cache/)"
)
SECRETS = re.compile(
    rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/=]|\bghp_[A-Za-z0-9]{36}\b|"
    rb"\bAKIA[0-9A-Z]{16}\b|\"auths\"\s*:\s*\{\s*\""
)
SECRET_MARKS = (b"PRIVATE KEY-----", b"ghp_", b"AKIA", b'"auths"')
"""One of these is in all that SECRETS finds; a plain search takes a tenth of its time."""
_SECRET_NAMES = re.compile(
    r"(^|/)(\.netrc|\.npmrc|\.pypirc|\.git-credentials|id_(rsa|ed25519|ecdsa)|\.env|settings-security\.xml)$"
)


@pytest.fixture(scope="session")
def fetched(images: Pushed, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Layout]:
    """Each image fetched at most once."""
    folder = tmp_path_factory.mktemp("layouts")
    return functools.cache(lambda name, platform: layout.fetch(getattr(images, name), platform, folder))


@pytest.fixture(scope="session")
def pairs(images: Pushed, plan: Plan) -> list[tuple[str, str]]:
    """Every image with each of the platforms that it is made for."""
    made_for = {target["tags"][0]: target["platforms"] for target in plan.values()}
    return [(name, platform) for name in IMAGES for platform in sorted(made_for[getattr(images, name)])]


def test_every_image_of_the_bake_file_was_pushed_for_both_platforms_and_is_in_the_record(
    docker: Docker, images: Pushed, plan: Plan
) -> None:
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert recorded.keys() == plan.keys()
    assert {target["tags"][0] for target in plan.values()} == set(vars(images).values())
    for name, target in plan.items():
        made_for = sorted(target["platforms"])
        assert sorted(recorded[name]["platforms"]) == made_for, name
        assert ask(docker, target["tags"][0], made_for).digest == recorded[name]["containerimage.digest"]
    for platform in PLATFORMS:
        skip_where_missing(*plan.values(), platform=platform)


def steelyard(*arguments: str) -> subprocess.CompletedProcess[str]:
    return call("images", *arguments, "--bases", "local")


def test_what_was_pushed_is_verified_and_what_was_changed_is_not(
    docker: Docker, images: Pushed, tmp_path: Path
) -> None:
    docker.run("pull", "--quiet", images.loadgen, timeout=None)
    done = steelyard("verify", images.loadgen, "--record", str(RECORD), "--json")
    found = json.loads(done.stdout)
    assert [one["name"] for one in found["checks"] if one["passed"]] == [
        *("base", "revision", "fingerprint", "digest")
    ], done.stdout + done.stderr
    assert done.returncode == 0
    (tmp_path / "Containerfile").write_text(
        f"FROM {images.loadgen}\nLABEL org.opencontainers.image.revision=another\n", encoding="utf-8"
    )
    changed = f"{images.loadgen}-changed"
    docker.run(
        "buildx",
        "build",
        "--quiet",
        "--provenance=false",
        "--load",
        "--tag",
        changed,
        "-f",
        f"{tmp_path}/Containerfile",
        str(tmp_path),
    )
    try:
        done = steelyard("verify", changed, "--record", str(RECORD), "--json")
    finally:
        docker.run("image", "rm", changed)
    assert done.returncode == 12
    failed = [one["name"] for one in json.loads(done.stdout)["checks"] if not one["passed"]]
    assert failed == ["revision", "digest"]


def test_an_image_is_built_into_the_engine(docker: Docker, images: Pushed) -> None:
    """From what the push left in the builder: the same labels, without a registry."""
    docker.run("image", "rm", "--force", images.socket_proxy)
    done = steelyard("build", "socket-proxy")
    assert done.returncode == 0, done.stderr
    reference, platform, digest = done.stdout.split()
    assert (reference, platform) == (images.socket_proxy, f"linux/{native_architecture()}")
    assert docker.inspect("image", [reference])[0]["Id"] == digest
    assert steelyard("verify", images.socket_proxy).returncode == 0


def test_an_image_on_a_base_that_packages_do_not_make_is_refused() -> None:
    done = steelyard("build", "jitserver")
    assert done.returncode == 4
    assert "jitserver (there is no base openj9 here)" in done.stderr


def test_labels_are_complete_and_of_this_checkout(
    fetched: Callable[[str, str], Layout], pairs: list[tuple[str, str]]
) -> None:
    for name, platform in pairs:
        labels = fetched(name, platform).config["config"]["Labels"]
        wanted = LABELS | (SERVER_LABELS if name in SERVERS else set())
        assert not [label for label in sorted(wanted) if not labels.get(label)], (name, platform)
        assert labels["dev.steelyard.fingerprint"] == fingerprint()
        assert labels["org.opencontainers.image.revision"].startswith(variables()["REVISION"][:40])
        assert re.fullmatch(r"sha256:[0-9a-f]{64}", labels["org.opencontainers.image.base.digest"])
        if name in SERVERS:
            assert labels["dev.steelyard.flavour"] == "hotspot"
            assert (
                labels["dev.steelyard.workload.version"] == json.loads(variables()["WORKLOAD_VERSIONS"])[name]
            )
        if name == "embedded_mongo":
            assert labels["dev.steelyard.database"] == "embedded"


def test_the_user_is_a_number_and_not_root(
    fetched: Callable[[str, str], Layout], pairs: list[tuple[str, str]]
) -> None:
    users = {pair: fetched(*pair).config["config"]["User"] for pair in pairs}
    assert {pair: user for pair, user in users.items() if not re.fullmatch(r"[1-9]\d*(:\d+)?", user)} == {}


def test_no_layer_holds_what_belongs_to_the_building_machine(
    fetched: Callable[[str, str], Layout], pairs: list[tuple[str, str]]
) -> None:
    forbidden = traces_of_this_machine()
    layers = {}  # images share most of theirs
    for pair in pairs:
        layers.update(fetched(*pair).layers())
        # The history and the environment of an image are public as well.
        described = str(fetched(*pair).config).encode()
        assert not [trace for trace in forbidden if trace in described], pair
    assert layers
    for digest, layer in layers.items():
        found = [
            f"{digest}: {member.name}: {what}"
            for member, content in layout.files(layer)
            for what in suspicious(member, content, forbidden)
        ]
        assert not found, "\n".join(found[:20])


def suspicious(member: tarfile.TarInfo, content: bytes, forbidden: list[bytes]) -> Iterator[str]:
    """What is wrong with an entry of a layer."""
    path = member.name.removeprefix("./").removeprefix("/")
    if CACHES.match(path) and not member.isdir():
        yield "left by a package manager or by the building machine"
    if _SECRET_NAMES.search(path):
        yield "a file in which secrets are kept"
    if any(mark in content for mark in SECRET_MARKS) and SECRETS.search(content):
        yield "holds what looks like a secret"
    for trace in forbidden:
        if trace in content or trace in f"/{path}".encode() or trace in member.linkname.encode():
            yield f"holds {trace.decode()!r}"


def traces_of_this_machine() -> list[bytes]:
    """Names that only this machine, its checkout and its package sources could have put into an image."""
    traces = {f"{ROOT}/", socket.gethostname() if len(socket.gethostname()) > 5 else ""}
    for path in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
        if path.is_file():
            addresses = re.findall(r"https?://(?:[^/\s@]*@)?([^/\s:\"'>]+)", path.read_text(errors="replace"))
            traces.update(addresses)
    return sorted(trace.encode() for trace in traces if trace)


def test_the_walk_sees_what_it_is_there_for(tmp_path: Path) -> None:
    """A layer with one of everything: the test above must be able to fail."""
    planted = {
        "var/lib/apt/lists/deb_main_Packages": b"Package: x",
        "root/.m2/settings.xml": b"<settings/>",
        "opt/app/key.pem": b"-----BEGIN RSA PRIVATE KEY-----\nMII",
        "opt/app/build.properties": f"dir={ROOT}/apps/ping".encode(),
        "opt/app/.netrc": b"machine x",
        "etc/hostname.txt": b"mirror.example.test",
    }
    for name, content in planted.items():
        file = tmp_path / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    archive = tmp_path / "layer.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "tree", arcname=".")
    forbidden = [f"{ROOT}/".encode(), b"mirror.example.test"]
    caught = set()
    for member, content in layout.files(archive):
        if list(suspicious(member, content, forbidden)):
            caught.add(member.name.removeprefix("./"))
    assert caught == set(planted)


def test_ping_is_small_enough_to_pull(
    fetched: Callable[[str, str], Layout], pairs: list[tuple[str, str]]
) -> None:
    for name, platform in pairs:
        if name == "ping":
            assert fetched(name, platform).compressed_size <= LIMIT_COMPRESSED, platform


SERVER = ("--publish", "127.0.0.1::9080", "--env", f"JVM_ARGS={QUICK_COMPILER}")
RESTRICTED = (
    *("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--user", ANY_USER),
)


@pytest.mark.skipif(host_platform.machine() != "x86_64", reason="amd64 is not the platform of this host")
def test_ping_answers_read_only_without_rights_as_any_user(
    docker: Docker, images: Pushed, run_container: Callable[..., str]
) -> None:
    """The image's own user is that of the bundles, which are read-only and without rights as well."""
    docker.run("pull", "--quiet", "--platform", "linux/amd64", images.ping, timeout=None)
    name = run_container("--platform", "linux/amd64", *RESTRICTED, *SERVER, "--memory", "512m", images.ping)
    assert first_answer(docker, name) == "pong"
    described = docker.inspect("container", [name])[0]
    assert described["Path"] == "/opt/wlp/bin/server", (
        "the entry point is the server's own, without a shell before it"
    )
    # Process 1 is the JVM itself: a signal reaches it, and the engine's figures are the server's.
    assert "java" in docker.run("top", name, "-o", "pid,comm").splitlines()[1]
    docker.run("stop", "--time", "120", name, timeout=None)
    assert docker.inspect("container", [name])[0]["State"]["ExitCode"] in {0, 143}


# Everything compiled, each with something to compute: a library that is missing or of another architecture fails here.
_USE_EVERYTHING = """
import io, importlib, platform
import numpy, psutil, pydantic, scipy.optimize, scipy.stats, yaml
from matplotlib.figure import Figure
from PIL import Image
assert numpy.allclose(numpy.linalg.solve(numpy.eye(2) * 2, [1.0, 2.0]), [0.5, 1.0])
assert abs(scipy.optimize.brentq(lambda x: x * x - 2, 0, 2) - 2**0.5) < 1e-9
assert abs(scipy.stats.t(5).ppf(0.975) - 2.570581835636314) < 1e-9
figure, page = Figure(layout="constrained"), io.BytesIO()
figure.add_subplot().plot([1, 2])
figure.savefig(page, format="svg")
assert b"</svg>" in page.getvalue()
assert Image.new("L", (2, 2)).resize((4, 4)).size == (4, 4)
assert psutil.Process().memory_info().rss > 0 and yaml.safe_load("a: 1") == {"a": 1}
# Debian's pydantic and typer are older than the lock file's.
from steelyard.cli import app
from steelyard.experiment.loader import experiment_files
from steelyard.experiment.schema import Experiment
from steelyard.paths import EXPERIMENTS
from steelyard.workload.loader import load_workload, workload_names
from steelyard.yamlfile import read_yaml
assert [load_workload(name) for name in workload_names()]
for path in experiment_files(EXPERIMENTS).values():
    experiment, _ = read_yaml(path, Experiment, "an experiment")
    assert Experiment.model_validate(experiment.model_dump(by_alias=True)) == experiment
print(platform.machine())
"""


@pytest.fixture
def emulated(docker: Docker, plan: Plan) -> Callable[[str], str]:
    """Pulls an image for ppc64le by its digest, so that its name stays this host's; gives the reference."""
    if host_platform.machine() == "ppc64le":
        pytest.skip("no emulation is needed on this host")
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))

    def pull(target: str) -> str:
        skip_where_missing(plan[target], platform=FOREIGN)
        reference = f"{plan[target]['tags'][0].rpartition(':')[0]}@{recorded[target]['platforms'][FOREIGN]}"
        docker.run("pull", "--quiet", "--platform", FOREIGN, reference, timeout=None)
        return reference

    return pull


def test_under_emulation_of_ppc64le_ping_answers(
    docker: Docker, emulated: Callable[[str], str], run_container: Callable[..., str]
) -> None:
    server = run_container("--platform", FOREIGN, *RESTRICTED, *SERVER, emulated("ping-hotspot"))
    assert first_answer(docker, server) == "pong"
    machine = docker.run("exec", server, "/opt/steelyard/bin/busybox", "uname", "-m").strip()
    assert machine == "ppc64le"


def test_under_emulation_of_ppc64le_the_harness_computes_and_draws(
    docker: Docker, emulated: Callable[[str], str]
) -> None:
    harness = emulated("harness")
    run = ("run", "--rm", "--network", "none", "--platform", FOREIGN, *RESTRICTED)
    assert docker.run(*run, harness, "--version", timeout=None).split()[0] == "steelyard"
    for client in (["--version"], ["compose", "version"]):
        assert docker.run(*run, "--entrypoint", "docker", harness, *client, timeout=None)
    said = docker.run(*run, "--entrypoint", "python3", harness, "-c", _USE_EVERYTHING, timeout=None)
    assert said.strip() == "ppc64le"


def first_answer(docker: Docker, name: str) -> str:
    """The first answer of GET /ping, awaited while the container runs."""
    address = f"http://127.0.0.1:{published_port(docker, name)}/ping"

    def ended() -> str | None:
        state = docker.inspect("container", [name])[0]["State"]
        return None if state["Running"] else "the container has ended"

    answer = wait_until(
        lambda: answer_of(address),
        lambda: f"an answer: {docker.run('logs', '--tail', '20', name, merge_errors=True)}",
        ended,
    )
    assert answer is not None
    return answer.decode().strip()
