# SPDX-License-Identifier: Apache-2.0
"""The tiers of the tests as pytest runs them: which are chosen, what is made beside them, their time.

    checks, unit    on several workers, in a run of pytest of their own
    java            beside them, begun with the first test: Maven's build and tests, then the build that sessions take
    sessions, long  on real processes; nothing beside them: they measure
    site            the documents as a site; needs neither Java nor a build
    containers      images of every platform, bundles, sessions in containers, a Kubernetes node; the engine, the bases
                    and Kubernetes, which is compiled once for each version, are made beside the tests before them

What is begun is what the chosen tests need. After the last test or an interrupt it is ended, and an engine that was
started is stopped; after a crash the guard of child processes does both. Logs stay in `.steelyard/test`.
"""

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TextIO

import pytest
from platforms import BASES, LOCAL_REGISTRY, PLATFORMS, narrowed
from rich.console import Console

from steelyard.build import fingerprint
from steelyard.cli.building import ensure_build
from steelyard.paths import ROOT
from steelyard.processes.children import Child, Children
from suite import ENGINE_STATE, REPORTS, RETRIED, UNITS_RUN
from suite.tiers import EVERY

MARKERS = {
    "checks": "checks",
    "java": "java",
    "containers": "containers",
    "site": "site",
    "full": "long",
    "e2e": "sessions",
    "alone": "sessions",
}
"""By marker the tier of its tests; the first one of a test decides."""
LONGEST = {"test_gate_command.py", "test_planted.py", "test_suite.py"}
"""Files that are begun first, lest one worker ends long after the other."""
REGISTRY = f"{LOCAL_REGISTRY}/steelyard"
RECORD = REPORTS / "record.json"
"""Digests of the images that were made for all tests."""
_LOCAL = ROOT / "images" / "local"
_ENGINE = (str(_LOCAL / "setup-engine.sh"), "-d", str(ENGINE_STATE), "-p", LOCAL_REGISTRY.rpartition(":")[2])
NODE_STATE = REPORTS / "node"
NODE = (str(ROOT / "k8s" / "local" / "node.sh"), "-d", str(NODE_STATE))
"""The command of a Kubernetes node; its programs are kept outside of the checkout."""
# -i: a mirror whose lists of another architecture are half updated must not stop the tests (platforms.py).
_BASES = (
    *(str(_LOCAL / "make-bases.sh"), "-i", "-r", BASES, "-p", ",".join(PLATFORMS)),
    *("tools", "hotspot", "proxy", "nginx", "harness", "postgresql"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier", action="append", choices=EVERY, help="run the tests of this tier (default: every one)"
    )


def tier_of(item: pytest.Item) -> str:
    """The tier of a test, by its markers."""
    return next((tier for marker, tier in MARKERS.items() if item.get_closest_marker(marker)), "unit")


def _chosen(config: pytest.Config) -> set[str]:
    tiers = set(config.getoption("--tier") or EVERY)
    # One run of Maven, which then leaves nothing out.
    return tiers | {"java"} if "servers" in tiers else tiers


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a marker of the chosen tiers are not imported: that would take as long as many of their tests."""
    tiers = _chosen(config)
    if "unit" in tiers or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    marked = any(f"mark.{marker}" in text for marker, tier in MARKERS.items() if tier in tiers)
    return None if marked else True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tiers, tier = _chosen(config), {item: tier_of(item) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if tier[item] not in tiers])
    items[:] = sorted(
        (item for item in items if tier[item] in tiers),
        key=lambda item: (EVERY.index(tier[item]), item.path.name not in LONGEST),
    )
    for item in items:
        if item.get_closest_marker("e2e") or item.get_closest_marker("containers"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    assert reporter is not None
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times({item.nodeid: tier[item] for item in items}, reporter))


_first_failures: dict[str, str] = {}
"""Text of the failure of each test that is tried again."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that passes at its second try: the closing lines name it (`suite`), and a log beside the list of
    names says why it failed at first."""
    if report.outcome == "rerun":
        _first_failures[report.nodeid] = report.longreprtext
    elif report.nodeid in _first_failures and report.when == "call" and report.passed:
        with (
            RETRIED.open("a", encoding="utf-8") as names,
            RETRIED.with_suffix(".log").open("a", encoding="utf-8") as log,
        ):
            names.write(f"{report.nodeid}\n")
            log.write(f"{report.nodeid}\n{_first_failures[report.nodeid]}\n\n")


class Times:
    """Counts outcomes and adds up seconds by tier, and seconds by what a whole run shares."""

    def __init__(self, tiers: dict[str, str], reporter: pytest.TerminalReporter) -> None:
        self._tiers = tiers
        self._reporter = reporter
        self._now = ""
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._outcomes: dict[str, Counter[str]] = {tier: Counter() for tier in EVERY}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self._tiers.get(nodeid, self._now) != self._now:
            self._now = self._tiers[nodeid]
            self._reporter.write_line(f"\n== {self._now}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        tier = self._tiers.get(report.nodeid, "unit")  # with several workers the tests are chosen in these
        self._seconds[tier] += report.duration
        if report.when == "call" or report.outcome != "passed":
            self._outcomes[tier][report.outcome] += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        del request
        began = time.time()
        try:
            return (yield)
        finally:
            if fixturedef.scope == "session":
                self._seconds[f"awaited: {fixturedef.argname}"] += time.time() - began

    def pytest_terminal_summary(self) -> None:
        for tier, seen in self._outcomes.items():
            if seen:
                counts = ", ".join(f"{seen[name]} {name}" for name in ("passed", "failed", "skipped"))
                self._reporter.write_line(f"tier {tier}: {counts} in {self._seconds[tier]:.0f} s")
        for name, seconds in self._seconds.items():
            if name not in EVERY and seconds >= 1:
                self._reporter.write_line(f"  {name}: {seconds:.0f} s")


class Beside:
    """Commands that run beside the tests until their result is needed."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._begun: dict[str, Child] = {}

    def begin(self, name: str, command: Sequence[str]) -> None:
        console = REPORTS / f"{name}.log"
        self._begun[name] = self._children.spawn(name, command, console=console, cwd=ROOT)

    def wait(self) -> None:
        """Until all have ended, however."""
        for name in self._begun:
            self._wait_for(name)

    def end(self) -> None:
        """Stop what still runs."""
        self._children.stop(list(self._begun.values()), grace=10.0)

    def has(self, name: str) -> bool:
        """Whether it was begun."""
        return name in self._begun

    def finish(self, name: str) -> None:
        """Wait for one; fails, with what it printed last, when it did not end well."""
        child = self._wait_for(name)
        if code := child.exit_code():
            fail_with_log(f"{name} ended with exit code {code}", child.console)

    def _wait_for(self, name: str) -> Child:
        child = self._begun[name]
        if child.exit_code() is None:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # `Children` reaps it
        return child


def fail_with_log(what: str, log: Path) -> NoReturn:
    """Fail; what was printed last is shown with the first test that needed it, and not with each of dozens.

    Below it what Maven calls an error, first of all the tests that failed: it prints these long before its end.
    """
    text = log.read_text(encoding="utf-8", errors="replace")
    errors = "".join(line for line in text.splitlines(keepends=True) if line.startswith("[ERROR]"))
    print(f"{text[-4000:]}\n{errors[:4000]}")  # noqa: T201 - pytest captures it
    pytest.fail(f"{what}: see the first of these failures, or {log}", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def beside(request: pytest.FixtureRequest) -> Iterator[Beside]:
    """Begins what the chosen tests need; whatever happens, ends it and stops an engine that was started."""
    chosen = {tier_of(item) for item in request.session.items}
    if chosen <= {"checks", "unit"}:  # those that run side by side: none of them may begin anything for all
        yield Beside(Children())
        return
    with Children() as children:
        begun = Beside(children)
        if "java" in chosen:
            is_complete = "servers" in (request.config.getoption("--tier") or EVERY)
            begun.begin("maven", maven_command(is_complete=is_complete))
        if "containers" in chosen and why_no_engine() is None:
            children.on_crash("engine", [*_ENGINE, "stop"])
            begun.begin("bases", ["sh", "-c", bases_script()])
        if "containers" in chosen and why_no_node() is None:
            children.on_crash("node", [*NODE, "stop"])
            begun.begin("node", [*NODE, "build"])
        yield begun
        begun.end()
        if begun.has("node"):
            subprocess.run([*NODE, "stop"], check=True, stdin=subprocess.DEVNULL)
            children.forget_crash("node")
        if begun.has("bases"):
            # What `start` did not start runs on.
            subprocess.run([*_ENGINE, "stop"], check=True, stdin=subprocess.DEVNULL)
            children.forget_crash("engine")


def maven_command(*, is_complete: bool) -> list[str]:
    """What Maven has to say, on the sources as the build of sessions states them: it packs nothing twice.

    Two modules at a time: most tests wait, for a server that starts or for a run's time to pass.

    Args:
        is_complete: the tests of the tier `servers` too.
    """
    left_out = [] if is_complete else ["-Dsteelyard.tests.excluded=full"]
    mark = f"-Dsteelyard.fingerprint={fingerprint()}"
    return ["mvn", "--batch-mode", "--threads", "2", "--fail-at-end", mark, *left_out, "verify"]


def bases_script() -> str:
    """The engine, and a registry with the bases."""
    return f"{shlex.join([*_ENGINE, 'start'])} && {shlex.join(_BASES)}"


@pytest.fixture(scope="session")
def built(beside: Beside) -> Path:
    """The build that sessions and images take, and nothing that was begun still runs: what follows measures."""
    beside.wait()
    build = ensure_build(Console(stderr=True))  # beside units that still run
    if UNITS_RUN.exists():
        with UNITS_RUN.open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
    return build


@pytest.fixture(scope="session")
def engine(beside: Beside) -> None:
    """A container engine, and a local registry with the bases."""
    reason = why_no_engine()
    if reason is not None:
        pytest.skip(reason)
    beside.finish("bases")


@pytest.fixture(scope="session")
def images_pushed(engine: None, built: Path) -> str:
    """Registry and path of the images of every platform, made of this checkout on those bases by a release's steps.

    But for its last: names are given whether or not they are taken, as they are by the run before.
    """
    definition, log = REPORTS / "definition.json", REPORTS / "images.log"
    made_by = [sys.executable, "-m", "steelyard", "images", "build", "--print", "--flavour", "hotspot"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "PLATFORMS": ",".join(PLATFORMS)}
    with log.open("w", encoding="utf-8") as output:

        def run(command: Sequence[str | Path], file: TextIO = output) -> None:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=output,
                check=False,
            )
            if done.returncode != 0:
                fail_with_log("the images cannot be made", log)

        with definition.open("w", encoding="utf-8") as file:
            run([*made_by, "--bases", "local", "--registry", REGISTRY], file)
        asked = json.loads(definition.read_text(encoding="utf-8"))
        definition.write_text(json.dumps({**asked, "target": narrowed(asked["target"])}), encoding="utf-8")
        run([ROOT / ".github" / "scripts" / "build.sh", definition, RECORD])
        for image in json.loads(RECORD.read_text(encoding="utf-8")).values():
            for name in image["image.name"].split(","):
                digest = f"{name.rpartition(':')[0]}@{image['containerimage.digest']}"
                run(["docker", "buildx", "imagetools", "create", "--tag", name, digest])
                # What the engine still has of an earlier run under this name would be run in its place.
                run(["docker", "image", "rm", "--force", name])
    return REGISTRY


@pytest.fixture(scope="session")
def nginx() -> Iterator[None]:
    """The proxy of some sessions on PATH: Debian's, unpacked where it is not installed."""
    if shutil.which("nginx") is not None or shutil.which("apt-get") is None:
        yield
        return
    folder = REPORTS / "nginx"
    subprocess.run([str(Path(__file__).parent / "e2e" / "unpack-nginx.sh"), str(folder)], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:{folder / 'usr' / 'sbin'}")
        yield


def why_no_engine(os_release: Path = Path("/etc/os-release")) -> str | None:
    """Why the container part cannot run here; None where it can: bases are made of Debian packages, by root."""
    text = os_release.read_text(encoding="utf-8") if os_release.exists() else ""
    if "ID=debian" not in text.split():
        return "the images are built on bases made of Debian's packages, and this host is not Debian"
    if os.geteuid() != 0:
        return "setting up a container engine and making bases needs root"
    return None


def why_no_node() -> str | None:
    """Why no Kubernetes node can be had here; None where it can."""
    if shutil.which("go") is None:
        return "Kubernetes is compiled from its Go module, and Go is not on PATH"
    return why_no_engine()
