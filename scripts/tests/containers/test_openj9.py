# SPDX-License-Identifier: Apache-2.0
"""The flavour openj9 and the JITServer in a session, on a base made of a real OpenJ9 where this host has one."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.driver import (
    DONE,
    Running,
    call,
    end_all,
    free_port,
    only_session,
    openj9,
    start,
    void_for_other_reasons_than_noise,
)
from e2e.restored import RESTORED, servers_seen_restored
from platforms import BASES
from stages import NODE

from steelyard import __version__
from steelyard.engines.compose.checkpoints import require_criu
from steelyard.errors import MissingRequirement
from steelyard.host.docker import Docker
from steelyard.images.lock import MADE_HERE
from steelyard.paths import ROOT
from steelyard.units import MIB

from .node import Node

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("turn")]

EXPERIMENT = """\
steelyard: 1
name: tiny
title: Compilers in the server and beside it
question: Do servers in containers compile in a JITServer, and has each its own limit of memory?
workload: ping
procedure: ramp-up
factors:
  jit:
    levels:
      local: {jit: local, memory: 704m}
      remote: {jit: remote, memory: 192m, jitserver.memory: 512m}
deployment: {engine: compose, cores: all, jvm: {heap: 64m, gc: generational}}
load: {users: 4, measure: 15s}
metrics: {primary: requests_lost}
design: {blocks: 2, repeats: 0}
"""


@pytest.fixture(scope="module")
def flavour(registry: str) -> Iterator[None]:
    """The images on OpenJ9 in the engine; the base is of this host alone and none for other tests."""
    home = openj9(jitserver=True)
    make = ROOT / "images" / "local" / "make-bases.sh"
    try:
        subprocess.run([make, "-i", "-r", BASES, "-j", home, "openj9"], check=True, stdin=subprocess.DEVNULL)
        built = call(
            "images",
            "build",
            "--bases",
            "local",
            "--registry",
            registry,
            "ping-openj9",
            "jitserver",
        )
        assert built.returncode == 0, built.stderr
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STEELYARD_FLAVOUR", "openj9")
            yield
    finally:
        (MADE_HERE / "openj9.pushed").unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _no_session_left(leaves_nothing: None) -> Iterator[None]:
    yield
    end_all()


def test_a_container_compiles_in_the_container_of_a_jitserver(tmp_path: Path, flavour: None) -> None:
    path, out = tmp_path / "tiny.yaml", tmp_path / "results"
    path.write_text(EXPERIMENT, encoding="utf-8")
    session = start(path, out)
    trials = {trial.arm: trial for trial in session.wait_for_trials(2)}
    assert session.interrupt() == 130
    assert not void_for_other_reasons_than_noise([*trials.values()])
    components = {arm: {one.name: one for one in trial.components} for arm, trial in trials.items()}
    server, compiler = (components["jit-remote"][name] for name in ("server-1", "jitserver"))
    assert server.compiled["remote"] > 0
    assert (compiler.value("cpu_seconds") or 0) > 0
    assert components["jit-local"]["server-1"].read_back["heap"] == 64 * MIB
    for one, limit in ((server, 192), (compiler, 512)):
        assert one.cgroup is not None
        assert 0 < (one.cgroup.value("memory_peak") or 0) <= limit * MIB


def test_a_container_starts_from_its_checkpoint_and_is_seen_restored(
    docker: Docker, registry: str, tmp_path: Path, flavour: None
) -> None:
    try:
        require_criu(docker, f"{registry}/ping:{__version__}-openj9", "1001:0")
    except MissingRequirement as missing:
        pytest.skip(str(missing))
    out = tmp_path / "results"
    asked = ("run", "checkpoint-start", "--quick", "--blocks", "2", "--engine", "compose")
    done = call(*asked, "--out", str(out), "--port", str(free_port()))
    assert done.returncode in DONE, done.stderr
    servers = servers_seen_restored(only_session(out))
    for server in servers[RESTORED]:
        with_container, alone = (
            server.value(name) or 0 for name in ("container_start_seconds", "start_seconds")
        )
        assert with_container > alone > 0


def test_a_pod_compiles_in_the_pod_of_a_jitserver(
    docker: Docker, node: Node, namespace: str, registry: str, tmp_path: Path, flavour: None
) -> None:
    for name in (f"ping:{__version__}-openj9", f"jitserver:{__version__}"):
        docker.run("push", "--quiet", f"{registry}/{name}")
        node.load(f"{registry}/{name}", f"localhost/steelyard/{name}")
    path, out = tmp_path / "tiny.yaml", tmp_path / "results"
    text = EXPERIMENT.replace("engine: compose", "engine: kubernetes")
    path.write_text(text, encoding="utf-8")
    out.mkdir()
    through = [*NODE, "run"]
    session = Running("run", str(path), "--out", out.name, "--namespace", namespace, out=out, through=through)
    trials = {trial.arm: trial for trial in session.wait_for_trials(2)}
    assert session.interrupt() == 130
    assert not [
        one for one in void_for_other_reasons_than_noise([*trials.values()]) if " clock-offset:" not in one
    ]
    components = {one.name: one for one in trials["jit-remote"].components}
    assert components["server-1"].compiled["remote"] > 0
    assert (components["jitserver"].value("cpu_seconds") or 0) > 0
    assert node.held(namespace) == []
