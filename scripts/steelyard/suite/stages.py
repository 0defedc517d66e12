# SPDX-License-Identifier: Apache-2.0
"""The stages of the project's own tests and checkers: what runs, where, and what it needs."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.host.tools import Maven
from steelyard.paths import ROOT
from steelyard.suite.containers import bases_stage, container_stages, engine_stages
from steelyard.suite.parts import REPORTS, on_path, pytest_stage
from steelyard.suite.runner import Stage


@dataclass(frozen=True)
class Choice:
    """Which of the slow parts are wanted."""

    java: bool = True
    e2e: bool = True
    containers: bool = True


def stages(maven: Maven, choice: Choice) -> list[Stage]:
    """The stages in the order in which they run: quick checkers first, real servers and containers last."""
    found = [*_checkers(), pytest_stage("Python unit tests", "not e2e and not containers", "unit")]
    if choice.containers:
        # Bases are mostly downloads, and the Java tests mostly wait.
        found += [*engine_stages(), replace(bases_stage(), beside_next=choice.java)]
    if choice.java:
        command = [str(maven.path), "--batch-mode", "--quiet", "--fail-at-end", "verify"]
        found.append(Stage("Java build, tests, format", command, ROOT, ROOT, "*/target/*-reports/TEST-*.xml"))
    if choice.e2e:
        found += _end_to_end()
    if choice.containers:
        found += container_stages()
    return found


def _end_to_end() -> Iterator[Stage]:
    """Sessions on real processes; the proxy before some of them is Debian's, unpacked where it is not installed."""
    tests = pytest_stage("end to end", "e2e and not containers", "e2e")
    if shutil.which("nginx") is not None or shutil.which("apt-get") is None:
        yield tests
        return
    nginx = REPORTS / "nginx"
    script = ROOT / "scripts" / "tests" / "e2e" / "unpack-nginx.sh"
    yield Stage("nginx for the end-to-end tests", [str(script), str(nginx)], ROOT)
    yield replace(tests, environment={"PATH": f"{os.environ['PATH']}:{nginx / 'usr' / 'sbin'}"})


def _checkers() -> Iterator[Stage]:
    scripts = ROOT / "scripts"
    python = sys.executable
    folder = Path(python).parent
    code = (".", "../loadgen/bench")
    yield Stage("Python format", [f"{folder}/ruff", "format", "--check", *code], scripts)
    yield Stage("Python lint", [f"{folder}/ruff", "check", *code], scripts)
    yield Stage("Python types", [python, "-m", "mypy", "steelyard", "bench", "../loadgen/bench"], scripts)
    yaml = ["experiments", "compose", ".github", ".yamllint.yaml"]
    yield Stage("YAML lint", [f"{folder}/yamllint", "--strict", *yaml], ROOT)
    yield Stage("shell lint", [f"{folder}/shellcheck", "--external-sources", *_shell_scripts()], ROOT)
    containerfiles = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "images").glob("*/Containerfile"))
    hadolint = _installed(folder / "hadolint")
    # DL3022 does not know that `COPY --from` may name a build context of the bake file.
    lint = [f"{folder}/hadolint", "--no-color", "--ignore", "DL3022", *containerfiles]
    yield Stage("Containerfile lint", lint, ROOT, unless=hadolint)
    zizmor = [f"{folder}/zizmor", "--offline", "--no-progress", ".github"]
    yield Stage("workflow audit", zizmor, ROOT, unless=_installed(folder / "zizmor"))
    yield Stage("workflow lint", [".github/scripts/lint.sh"], ROOT, unless=_no_actionlint)


def _shell_scripts() -> list[str]:
    found = [
        path
        for top in ("images", ".github", "compose", "scripts/tests")
        for path in sorted((ROOT / top).rglob("*.sh"))
    ]
    return ["steelyard", ".ci/run", *(str(path.relative_to(ROOT)) for path in found)]


def _installed(program: Path) -> Callable[[], str | None]:
    """Checkers that are prebuilt programs do not exist for every platform."""
    return lambda: None if program.exists() else f"{program.name} is not to be had for this platform"


def _no_actionlint() -> str | None:
    """It is compiled by Go where it is missing."""
    if on_path("actionlint") is None or on_path("go") is None:
        return None
    return "neither actionlint nor go is on PATH"
