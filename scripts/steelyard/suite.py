# SPDX-License-Identifier: Apache-2.0
"""The project's own tests and checkers, as stages that count what passed, failed and was skipped."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

from steelyard import __version__
from steelyard.host.tools import Maven
from steelyard.images.measure import native_platform
from steelyard.paths import CACHE, ROOT

REPORTS = CACHE / "test"
ENGINE_STATE = REPORTS / "engine"
"""What `setup-engine.sh` keeps of the engine that the suite started."""
LOCAL_REGISTRY = "127.0.0.1:5000"
FOREIGN_PLATFORM = "linux/ppc64le"
"""Built and started in every run, under emulation where this host is another."""
ENGINE, BASES, IMAGES = "container engine and registry", "bases from packages", "images of every platform"


@dataclass(frozen=True)
class Outcome:
    """What a stage came to."""

    passed: int
    failed: int
    skipped: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Stage:
    """A command of the suite."""

    name: str
    command: Sequence[str]
    folder: Path
    reports: Path | None = None
    """Where it leaves JUnit XML files; None: the command as a whole counts as one check."""
    pattern: str = "*.xml"
    unless: Callable[[], str | None] = lambda: None
    """Asked just before it would run: a reason not to, which counts as skipped; None: it runs."""
    needs: str | None = None
    """A stage that must have run and passed before."""
    undo: bool = False
    """Gives back what `needs` started, wholly or in part: runs whatever came between, and counts only when it fails."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """Which of the slow parts are wanted."""

    java: bool = True
    e2e: bool = True
    containers: bool = True


def stages(maven: Maven, choice: Choice) -> list[Stage]:
    """The stages in the order in which they run: quick checkers first, real servers and containers last."""
    found = [*_checkers(), _pytest("Python unit tests", "not e2e and not containers", "unit")]
    if choice.java:
        command = [str(maven.path), "--batch-mode", "--quiet", "--fail-at-end", "verify"]
        found.append(Stage("Java build, tests, format", command, ROOT, ROOT, "*/target/*-reports/TEST-*.xml"))
    if choice.e2e:
        found += _end_to_end()
    if choice.containers:
        found += _container_stages()
    return found


def _end_to_end() -> Iterator[Stage]:
    """Sessions on real processes; the proxy before some of them is Debian's, unpacked where it is not installed."""
    tests = _pytest("end to end", "e2e and not containers", "e2e")
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


def _container_stages() -> list[Stage]:
    platforms = ",".join(sorted({native_platform(), FOREIGN_PLATFORM}))
    local = ROOT / "images" / "local"
    # A state of its own: an engine that somebody set up by hand before is used, and is not the suite's to stop.
    engine = [
        str(local / "setup-engine.sh"),
        "-d",
        str(ENGINE_STATE),
        "-p",
        LOCAL_REGISTRY.rpartition(":")[2],
    ]
    registry = f"{LOCAL_REGISTRY}/steelyard"
    python = sys.executable
    asked = [option for platform in platforms.split(",") for option in ("--platform", platform)]
    push = [
        *(python, "-m", "steelyard", "images", "push", "--flavour", "hotspot", "--bases", "local"),
        *("--registry", registry, *asked, "--no-sbom", "--no-sign", "--record", str(REPORTS / "record.json")),
    ]
    made = {
        "STEELYARD_REGISTRY": registry,
        "STEELYARD_FLAVOUR": "hotspot",
        "STEELYARD_MONGO_IMAGE": f"{registry}/embedded-mongo:{__version__}",
        "STEELYARD_NGINX_IMAGE": f"{LOCAL_REGISTRY}/bases/nginx:debian",
    }
    module = {"PYTHONPATH": str(ROOT / "scripts")}
    bundles = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "compose").glob("*/compose.yaml"))
    tests = _pytest("containers", "containers", "containers")
    return [
        Stage(ENGINE, [*engine, "start"], ROOT, unless=why_no_engine),
        *(
            Stage(
                f"bundle {name}", ["docker", "compose", "-f", name, "config", "-q"], ROOT, unless=_no_compose
            )
            for name in bundles
        ),
        Stage(
            BASES,
            # -i: a mirror whose lists of another architecture are half updated must not stop the tests.
            [str(local / "make-bases.sh"), "-i", "-r", f"{LOCAL_REGISTRY}/bases", "-p", platforms],
            ROOT,
            needs=ENGINE,
        ),
        Stage(IMAGES, push, ROOT, needs=BASES, environment=module),
        Stage(
            tests.name,
            tests.command,
            tests.folder,
            tests.reports,
            tests.pattern,
            needs=IMAGES,
            environment=made,
        ),
        Stage(
            "container engine given back",
            [*engine, "stop"],
            ROOT,
            needs=ENGINE,
            undo=True,
        ),
    ]


def _pytest(name: str, marker: str, report: str) -> Stage:
    file = f"{report}.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--color=no",
        *("--durations=5", "--durations-min=10"),
        "-m",
        marker,
        f"--junitxml={REPORTS / file}",
    ]
    return Stage(name, command, ROOT / "scripts", REPORTS, file)


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


def _on_path(program: str) -> str | None:
    return None if shutil.which(program) else f"{program} is not on PATH"


def _no_actionlint() -> str | None:
    """It is compiled by Go where it is missing."""
    if _on_path("actionlint") is None or _on_path("go") is None:
        return None
    return "neither actionlint nor go is on PATH"


def _no_compose() -> str | None:
    missing = _on_path("docker")
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


def run_all(
    wanted: Sequence[Stage], environment: Mapping[str, str], on_line: Callable[[str], None]
) -> Outcome:
    """Run stages in order, a line before and after each; what was started is given back after an interrupt, too."""
    outcomes: dict[str, Outcome] = {}
    began = time.time()
    try:
        for stage in wanted:
            if not stage.undo:
                outcomes[stage.name] = _told(stage, outcomes, environment, on_line)
    finally:
        for stage in wanted:
            before = outcomes.get(stage.needs or "", Outcome(0, 0, 0))
            if stage.undo and before.passed + before.failed:
                ended = _told(replace(stage, needs=None), outcomes, environment, on_line)
                outcomes[stage.name] = Outcome(0, ended.failed, 0, ended.seconds)
    return Outcome(
        sum(one.passed for one in outcomes.values()),
        sum(one.failed for one in outcomes.values()),
        sum(one.skipped for one in outcomes.values()),
        time.time() - began,
    )


def _told(
    stage: Stage,
    outcomes: Mapping[str, Outcome],
    environment: Mapping[str, str],
    on_line: Callable[[str], None],
) -> Outcome:
    reason = _unmet(stage, outcomes) or stage.unless()
    if reason is not None:
        on_line(f"== {stage.name}: skipped: {reason}")
        return Outcome(0, 0, 1)
    on_line(f"== {stage.name}")
    outcome = run_stage(stage, {**environment, **stage.environment}, on_line)
    on_line(
        f"== {stage.name}: {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        f" in {outcome.seconds:.0f} s"
    )
    return outcome


def _unmet(stage: Stage, outcomes: Mapping[str, Outcome]) -> str | None:
    if stage.needs is None:
        return None
    before = outcomes.get(stage.needs)
    if before is not None and before.passed and not before.failed:
        return None
    return (
        f"it needs {stage.needs}, which {'failed' if before is not None and before.failed else 'was not run'}"
    )


def run_stage(stage: Stage, environment: Mapping[str, str], on_line: Callable[[str], None]) -> Outcome:
    """Run a stage and count; output is passed on line by line."""
    began = time.time()
    with subprocess.Popen(
        list(stage.command),
        cwd=stage.folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            on_line(line.rstrip())
    seconds = time.time() - began
    if stage.reports is None:
        good = process.returncode == 0
        return Outcome(int(good), int(not good), 0, seconds)
    counted = _count(stage.reports, stage.pattern, began)
    # A stage that fails without a failed test (a compile error, a crash, a format check) must not pass.
    extra = int(process.returncode != 0 and counted.failed == 0)
    return Outcome(counted.passed, counted.failed + extra, counted.skipped, seconds)


def _count(folder: Path, pattern: str, since: float) -> Outcome:
    tests = failed = skipped = 0
    for path in folder.rglob(pattern):
        if path.stat().st_mtime < since:
            continue
        for suite in ElementTree.parse(path).getroot().iter("testsuite"):
            tests += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    return Outcome(tests - failed - skipped, failed, skipped)
