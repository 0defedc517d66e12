# SPDX-License-Identifier: Apache-2.0
"""A copy of a bundle of compose/, used as a person uses it."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.driver import free_port
from platforms import BASES

from steelyard import __version__
from steelyard.paths import ROOT

REGISTRY = os.environ.get("STEELYARD_REGISTRY") or "127.0.0.1:5000/steelyard"
VERSION = os.environ.get("STEELYARD_VERSION") or __version__
MONGO_IMAGE = os.environ.get("STEELYARD_MONGO_IMAGE") or f"{REGISTRY}/embedded-mongo:{VERSION}"
NGINX_IMAGE = os.environ.get("STEELYARD_NGINX_IMAGE") or "127.0.0.1:5000/bases/nginx:debian"
POSTGRESQL_IMAGE = os.environ.get("STEELYARD_POSTGRESQL_IMAGE") or f"{BASES}/postgresql:17-debian"
"""PostgreSQL of Debian's packages, which takes what bundles give to the published image."""
PATIENT = '"requestTimeoutMillis": 600000'
"""Added to the settings of a load: a stall of the machine must not become an error."""
QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
"""What is tested is the bundle and not the speed: several JVMs that start together leave little to the thorough one."""
TABLES = {
    "daytrader7": ("accountejb", "quoteejb", "orderejb"),
    "olio": ("person", "socialevent", "comments_rating"),
}
"""Of each application some that the load writes to."""


def docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass
class Bundle:
    """A copy of a bundle, as a project of its own."""

    folder: Path
    project: str
    environment: dict[str, str]

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def compose(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["docker", "compose", "--progress", "plain", *arguments],
            cwd=self.folder,
            env={**os.environ, "PWD": str(self.folder), **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def service(self, name: str) -> list[str]:
        """Ids of the running containers of a service."""
        return docker(
            *("ps", "-q", "--filter", f"label=com.docker.compose.project={self.project}"),
            *("--filter", f"label=com.docker.compose.service={name}"),
        ).split()

    def containers(self) -> list[dict[str, Any]]:
        ids = docker("ps", "-aq", "--filter", f"label=com.docker.compose.project={self.project}").split()
        found: list[dict[str, Any]] = json.loads(docker("inspect", *ids)) if ids else []
        return found

    def down(self) -> None:
        """Remove it, and show that nothing is left: containers, networks, volumes with and without a name."""
        volumes = {
            mount["Name"]
            for container in self.containers()
            for mount in container["Mounts"]
            if mount["Type"] == "volume"
        }
        done = self.compose("--profile", "*", "down", "--volumes", "--timeout", "20")
        assert done.returncode == 0, done.stderr
        assert self.containers() == []
        label = f"label=com.docker.compose.project={self.project}"
        assert docker("network", "ls", "-q", "--filter", label) == ""
        assert docker("volume", "ls", "-q", "--filter", label) == ""
        assert volumes.isdisjoint(docker("volume", "ls", "-q").split())


def bundle_of(name: str, folder: Path) -> Bundle:
    for path in (ROOT / "compose" / name).glob("**/*.[cy]*"):
        if "results" not in path.parts:
            kept = folder / path.relative_to(ROOT / "compose" / name)
            kept.parent.mkdir(exist_ok=True)
            shutil.copy(path, kept)
    port = free_port()
    project = f"test-{name}-{port}"
    environment = {
        "COMPOSE_PROJECT_NAME": project,
        "STEELYARD_REGISTRY": REGISTRY,
        "STEELYARD_VERSION": VERSION,
        "STEELYARD_FLAVOUR": "hotspot",
        "STEELYARD_MONGO_IMAGE": MONGO_IMAGE,
        "STEELYARD_NGINX_IMAGE": NGINX_IMAGE,
        "STEELYARD_POSTGRESQL_IMAGE": POSTGRESQL_IMAGE,
        "STEELYARD_PORTS": f"{port}-{port + 9}",
        "STEELYARD_PORT": str(port),
        "STEELYARD_USERS": "4",
        "STEELYARD_SECONDS": f"3, {PATIENT}",
    }
    if os.getuid() != 0:
        (folder / "results").mkdir()
        environment["STEELYARD_USER"] = f"{os.getuid()}:{os.getgid()}"
    return Bundle(folder, project, environment)


def let_containers_in(folder: Path) -> None:
    """The containers' user has to reach the folders of a session, which pytest keeps for its own."""
    for path in (folder, *folder.parents):
        if path.owner() == "root" and path.stat().st_mode & 0o055 == 0:
            path.chmod(0o755)


def under_load(bundle: Bundle, scale: str, counters: str = "/bench/counters") -> dict[str, Any]:
    """The summary of a run without an error, in which every JVM of the scaled service had its part."""
    done = bundle.compose("--profile", "load", "up", "--detach", "--scale", scale)
    assert done.returncode == 0, done.stderr
    ended = bundle.compose("--profile", "load", "wait", "load")
    assert ended.returncode == 0, bundle.compose("logs", "load").stdout
    (run,) = bundle.results.iterdir()
    summary = summary_of(run)
    running = [container for container in bundle.containers() if container["State"]["Running"]]
    for container in running:
        host = container["HostConfig"]
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert container["Config"]["User"] != "0:0"
    scaled = bundle.service(scale.partition("=")[0])
    assert len(scaled) == 2
    for identity in scaled:
        assert requests_of(identity, counters) > 0
    return summary


def summary_of(run: Path) -> dict[str, Any]:
    """What an injector wrote of a run, in which no request failed."""
    summary: dict[str, Any] = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert {name: one["errors"] for name, one in summary["operations"].items() if one["errors"]} == {}
    return summary


def requests_of(container: str, counters: str) -> int:
    """What users asked of a server, by its own counters."""
    operations = json.loads(ask_inside(container, counters))["operations"]
    return sum(
        int(one["requests"])
        for name, one in operations.items()
        if name != "other" and not name.startswith("internal-")
    )


def ask_inside(container: str, path: str) -> str:
    """What a server answers, asked from beside it as its ports may be closed."""
    busybox, url = "/opt/steelyard/bin/busybox", f"http://127.0.0.1:9080{path}"
    return docker("exec", container, busybox, "wget", "-q", "-O", "-", url)
