# SPDX-License-Identifier: Apache-2.0
"""Measures images: what they weigh in the registry, and how soon a server in one answers."""

import os
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from steelyard.errors import ServerFailed
from steelyard.host.docker import Docker, DockerFailed, native_architecture
from steelyard.images import layout, registry
from steelyard.images.bake import Target
from steelyard.images.manifests import Index
from steelyard.images.table import Row, Started, not_built

MEMORY = "512m"
NATIVE_LIMIT, EMULATED_LIMIT = 60.0, 300.0
_POLL = 0.02
_EMULATED_JVM = "-XX:TieredStopAtLevel=1"
"""Under emulation the optimizing compiler costs more than it gives back in so short a run."""
LABEL = "dev.steelyard.measured"
_FIRST = {"ping": "/ping"}
"""What answers first without anything beside the server; else its liveness."""


def native_platform() -> str:
    """The platform of this host, as images name it."""
    return f"linux/{native_architecture()}"


def measure(
    docker: Docker, target: Target, platform: str, runs: int, emulated: bool, on_line: Callable[[str], None]
) -> Row:
    """The row of one image on one platform.

    Args:
        docker: the engine.
        target: the image; a workload's server is started, others are weighed only.
        platform: one of its platforms.
        runs: starts; one under emulation.
        emulated: start images of other platforms as well.
        on_line: told what is done.

    Raises:
        MissingRequirement: the registry cannot be asked.
        ServerFailed: a server did not answer.
    """
    try:
        found = registry.ask(target.reference)
    except registry.NotPublished:
        return not_built(target.name, platform)
    if isinstance(found, Index) and platform not in found.platforms:
        return not_built(target.name, platform)
    digest = found.platforms[platform] if isinstance(found, Index) else found.digest
    on_line(f"{target.name} {platform}: fetching")
    with tempfile.TemporaryDirectory(prefix="steelyard-layout-") as temporary:
        fetched = layout.fetch(f"{target.repository}@{digest}", platform, Path(temporary) / "image")
        size, compressed = fetched.size(), fetched.compressed_size
        layers = len(fetched.manifest["layers"])
    foreign = platform != native_platform()
    if "WORKLOAD" not in target.args or (foreign and not emulated):
        return Row(target.name, platform, size, compressed, layers, None)
    reference = f"{target.repository}@{digest}"
    docker.run("pull", "--quiet", "--platform", platform, reference, timeout=layout.LIMIT)
    starts = []
    for number in range(1 if foreign else runs):
        on_line(f"{target.name} {platform}: start {number + 1}")
        starts.append(start_once(docker, reference, platform, target.args["WORKLOAD"]))
    seconds, rss = zip(*starts, strict=True)
    return Row(target.name, platform, size, compressed, layers, Started(seconds, rss, foreign))


def run_command(reference: str, platform: str, name: str, foreign: bool) -> list[str]:
    """Arguments of docker that create the container: 1 CPU, 512 MiB, read-only, no rights, a free port."""
    java = ["--env", f"JVM_ARGS={_EMULATED_JVM}"] if foreign else []
    # The emulator itself needs memory: its limit is not what a server of that platform would have.
    memory = [] if foreign else ["--memory", MEMORY, "--memory-swap", MEMORY]
    return [
        *("create", "--name", name, "--label", f"{LABEL}=1", "--platform", platform, "--cpus", "1", *memory),
        # A network of its own: the engine's default one may be switched off, or be crowded.
        *(
            "--network",
            name,
            "--read-only",
            "--tmpfs",
            "/tmp",
            "--cap-drop",
            "ALL",
            "--security-opt",
            "no-new-privileges",
        ),
        *("--publish", "127.0.0.1::9080", *java, reference),
    ]


def start_once(docker: Docker, reference: str, platform: str, workload: str) -> tuple[float, int]:
    """Seconds to the first correct response and resident bytes then, of a fresh container that is removed afterwards.

    Raises:
        ServerFailed: it ended or did not answer in time.
        DockerFailed: the engine says no.
    """
    foreign = platform != native_platform()
    name = f"steelyard-measure-{uuid.uuid4().hex[:8]}"
    docker.run("network", "create", "--label", f"{LABEL}=1", name)
    try:
        docker.run(*run_command(reference, platform, name, foreign))
        began = time.monotonic()
        docker.run("start", name)
        port = docker.run("port", name, "9080/tcp").strip().rpartition(":")[2]
        limit = EMULATED_LIMIT if foreign else NATIVE_LIMIT
        _await_answer(
            docker, name, f"http://127.0.0.1:{port}{_FIRST.get(workload, '/health/live')}", began + limit
        )
        seconds = time.monotonic() - began
        pids = [int(line) for line in docker.run("top", name, "-o", "pid").split()[1:]]
        return seconds, resident(pids)
    finally:
        docker.run("rm", "--force", "--volumes", name)
        docker.run("network", "rm", name)


def resident(pids: Sequence[int], proc: Path = Path("/proc")) -> int:
    """Resident bytes of processes; those that have ended count nothing."""
    total = 0
    for pid in pids:
        try:
            total += int((proc / str(pid) / "statm").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            continue
    return total * os.sysconf("SC_PAGE_SIZE")


def _await_answer(docker: Docker, name: str, url: str, deadline: float) -> None:
    looked = time.monotonic()
    while time.monotonic() < deadline:
        try:
            with urlopen(url, timeout=5.0) as answer:
                if answer.status == 200:
                    return
        except (OSError, HTTPException):
            pass
        if time.monotonic() - looked > 2.0:
            looked = time.monotonic()
            if not docker.inspect("container", [name])[0]["State"]["Running"]:
                raise ServerFailed(f"the container ended before it answered: {_last_lines(docker, name)}")
        time.sleep(_POLL)
    raise ServerFailed(f"the container did not answer in time: {_last_lines(docker, name)}")


def _last_lines(docker: Docker, name: str) -> str:
    try:
        printed = docker.run("logs", "--tail", "3", name, merge_errors=True)
    except DockerFailed as error:
        return str(error)
    return " | ".join(line.strip() for line in printed.splitlines() if line.strip()) or "it printed nothing"
