# SPDX-License-Identifier: Apache-2.0
"""Stages with a container engine: bundles, bases, images of every platform, and the tests of what runs in them."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from steelyard import __version__
from steelyard.images.measure import native_platform
from steelyard.paths import ROOT
from steelyard.suite.parts import REPORTS, on_path, pytest_stage
from steelyard.suite.runner import Stage

ENGINE_STATE = REPORTS / "engine"
"""What `setup-engine.sh` keeps of the engine that the suite started."""
LOCAL_REGISTRY = "127.0.0.1:5000"
FOREIGN_PLATFORM = "linux/ppc64le"
"""Built and started in every run, under emulation where this host is another."""
ENGINE, BASES, IMAGES = "container engine and registry", "bases from packages", "images of every platform"
_REGISTRY = f"{LOCAL_REGISTRY}/steelyard"
_LOCAL = ROOT / "images" / "local"


def engine_stages() -> list[Stage]:
    """Sets up the engine and a local registry where they are missing, and reads every bundle."""
    bundles = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "compose").glob("*/compose.yaml"))
    return [
        Stage(ENGINE, [*_engine_command(), "start"], ROOT, unless=why_no_engine),
        *(
            Stage(
                f"bundle {name}", ["docker", "compose", "-f", name, "config", "-q"], ROOT, unless=_no_compose
            )
            for name in bundles
        ),
    ]


def bases_stage() -> Stage:
    """Bases of every platform, pushed to the local registry."""
    # -i: a mirror whose lists of another architecture are half updated must not stop the tests.
    command = [
        str(_LOCAL / "make-bases.sh"),
        "-i",
        "-r",
        f"{LOCAL_REGISTRY}/bases",
        "-p",
        ",".join(_platforms()),
    ]
    return Stage(BASES, command, ROOT, needs=ENGINE)


def container_stages() -> list[Stage]:
    """Builds every image for every platform, tests what runs in them, and gives the engine back."""
    asked = [option for platform in _platforms() for option in ("--platform", platform)]
    push = [
        *(sys.executable, "-m", "steelyard", "images", "push", "--flavour", "hotspot", "--bases", "local"),
        *(
            "--registry",
            _REGISTRY,
            *asked,
            "--no-sbom",
            "--no-sign",
            "--record",
            str(REPORTS / "record.json"),
        ),
    ]
    made = {
        "STEELYARD_REGISTRY": _REGISTRY,
        "STEELYARD_FLAVOUR": "hotspot",
        "STEELYARD_MONGO_IMAGE": f"{_REGISTRY}/embedded-mongo:{__version__}",
        "STEELYARD_NGINX_IMAGE": f"{LOCAL_REGISTRY}/bases/nginx:debian",
    }
    tests = pytest_stage("containers", "containers", "containers")
    return [
        Stage(IMAGES, push, ROOT, needs=BASES, environment={"PYTHONPATH": str(ROOT / "scripts")}),
        replace(tests, needs=IMAGES, environment=made),
        Stage("container engine given back", [*_engine_command(), "stop"], ROOT, needs=ENGINE, undo=True),
    ]


def _platforms() -> list[str]:
    return sorted({native_platform(), FOREIGN_PLATFORM})


def _engine_command() -> list[str]:
    """With a state of its own: an engine that somebody set up by hand is used, and is not the suite's to stop."""
    port = LOCAL_REGISTRY.rpartition(":")[2]
    return [str(_LOCAL / "setup-engine.sh"), "-d", str(ENGINE_STATE), "-p", port]


def _no_compose() -> str | None:
    missing = on_path("docker")
    if missing is not None:
        return missing
    done = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    return None if done.returncode == 0 else "docker has no compose plugin"


def why_no_engine(os_release: Path = Path("/etc/os-release")) -> str | None:
    """Why the container part cannot run here; None where it can: bases are made of Debian packages, by root."""
    text = os_release.read_text(encoding="utf-8") if os_release.exists() else ""
    lines = [line.strip() for line in text.splitlines()]
    if "ID=debian" not in lines:
        return "the images are built on bases made of Debian's packages, and this host is not Debian"
    if os.geteuid() != 0:
        return "setting up a container engine and making bases needs root"
    return None
