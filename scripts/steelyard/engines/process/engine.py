# SPDX-License-Identifier: Apache-2.0
"""The process engine: components as processes of this host, each with its own CPUs, port and folder.

A trial's directory gets `replay/` (scripts that repeat it by hand), `servers/NAME/` (folder of each deployed
component, its logs in `logs/`), `load/NAME/` (folder of each injector) and `cache/KIND/` (class caches).
"""

import json
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from steelyard.engines.base import Deployment
from steelyard.engines.process.command import (
    SETTINGS,
    SHARED,
    Places,
    command,
    deployment_script,
    environment,
    files,
    inherited_environment,
    load_script,
)
from steelyard.engines.readiness import POLL_INTERVAL, answers
from steelyard.errors import MissingRequirement, PortInUse, ProgramGone, ServerFailed
from steelyard.host import programs
from steelyard.host.java import require_program
from steelyard.host.ports import require_ports
from steelyard.jvm.options import OWN_CACHE
from steelyard.processes import Child, Children
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.results.store import no_space, write_atomic

_BIND_FAILED = "CWWKO0221E: "
"""Liberty stays up without its port when it cannot open it, so waiting for an answer would be in vain."""
_TAKEN = "Address already in use"
PRIMING_TIMEOUT = 180.0
"""Seconds that the first start of a server in a directory may take."""


@dataclass(frozen=True)
class ProcessEngine:
    """Starts components under `taskset`."""

    children: Children
    builds: Path
    """Folder of the project's builds, by fingerprint."""
    _seen: dict[Path, object] = field(default_factory=dict)
    """What tells each file of a program from another in its place, as first seen."""

    def check(self, specs: Sequence[Spec]) -> None:
        """Refuse ports that are taken (PortInUse) and programs that are missing (MissingRequirement)."""
        for component in (one for spec in specs for one in spec.deployed):
            if component.artifact.form == "command":
                program = Places("", None, "").fill(component.artifact.words[0], component)
                if not program.startswith("${"):
                    require_program(program)
        require_ports(sorted({port for spec in specs for port in spec.ports}))
        for spec in specs:
            self.require_programs(spec)

    def require_programs(self, spec: Spec) -> None:
        """See that what the components run is there and still the same (raises ProgramGone)."""
        is_whole = cache(programs.is_whole)  # asked once for all servers of a build
        for component in spec.components:
            artifact = component.artifact
            package = self.package(artifact) if artifact.package is not None else None
            now = {path: programs.stamp(path) for path in programs.of_artifact(artifact, package)}
            lost = [path for path, seen in now.items() if self._seen.setdefault(path, seen) != seen]
            if artifact.jvm is not None and not (java := Path(artifact.jvm.home) / "bin" / "java").exists():
                lost.append(java)
            if package is not None and not package.exists():
                lost.append(package)
            elif package is not None and artifact.path is None and not is_whole(package.parent):
                lost.append(package.parent)
            if lost:
                raise ProgramGone(
                    f"{lost[0]}, which {component.name} runs, was removed, damaged or replaced: put back what the"
                    " session began with and go on with `resume`, or start a new one; what was measured is kept"
                )

    def open(self, spec: Spec, directory: Path) -> "ProcessDeployment":
        """Write the replay and make ready to start (see `Engine.open`; also ProgramGone)."""
        require_ports(sorted(spec.ports))
        self.require_programs(spec)
        packages = {
            one.name: str(self.package(one.artifact))
            for one in spec.components
            if one.artifact.package is not None
        }
        primed = {
            one.name: primed_folder(one, Path(packages[one.name]), self.children)
            for one in spec.deployed
            if one.artifact.form == "liberty"
        }
        replay = directory / "replay"
        scripts = {
            "deployment.sh": deployment_script(spec, packages, primed),
            "load.sh": load_script(spec.injectors, packages),
        }
        for name, text in scripts.items():
            write_atomic(replay / name, text)
            (replay / name).chmod(0o755)
        for injector in spec.injectors:
            settings = {**injector.settings, "awaitStart": False, "output": "@OUTPUT@"}
            write_atomic(replay / f"{injector.name}.json", json.dumps(settings, indent=1) + "\n")
        require = partial(self.require_programs, spec)
        return ProcessDeployment(self.children, directory, packages, primed, require)

    def package(self, artifact: Artifact) -> Path:
        """Folder of a component's package."""
        if artifact.path is not None:
            return Path(artifact.path)
        if artifact.build is None or artifact.package is None:
            raise MissingRequirement(f"nothing says where the package {artifact.package} lies")
        return self.builds / artifact.build / artifact.package


class ProcessDeployment(Deployment[Child]):
    """The processes of one trial."""

    def __init__(
        self,
        registry: Children,
        directory: Path,
        packages: Mapping[str, str],
        primed: Mapping[str, Path],
        require: Callable[[], None] = lambda: None,
    ) -> None:
        """`require` raises ProgramGone where that is why something failed."""
        super().__init__(directory)
        self._require = require
        self._registry = registry
        self._packages = packages
        self._primed = primed

    def start(self, components: Sequence[Component]) -> None:
        """Start components, and wait for none of them (see `Deployment.start`)."""
        for component in components:
            self._components[component.name] = component
            self._units.pop(component.name, None)
            self._units[component.name] = self._start(component)

    def failure(self, name: str) -> str | None:
        """How a component ended by itself, or None (see `Deployment.failure`)."""
        child, component = self._units.get(name), self._components[name]
        if child is None or child.told_to_end:
            return None
        code = child.exit_code()
        if code is not None:
            taken = code == component.port_taken or _TAKEN in child.last_lines(20)
        else:
            taken = component.artifact.form == "liberty" and _BIND_FAILED in child.printed()
        if taken:
            raise PortInUse(
                f"{name} could not open port {component.port}, which something took meanwhile: choose other ports with"
                " --port"
            )
        failure = super().failure(name)
        if failure is not None:
            self.require_programs()
        return failure

    def require_programs(self) -> None:
        """See that what the components run is still there and the same (see `Deployment.require_programs`)."""
        self._require()

    def close(self) -> None:
        """Stop everything and remove work areas; logs stay."""
        self.stop(grace=5.0)
        for name in self._components:
            for part in ("usr", OWN_CACHE, self._components[name].data):
                if part is not None:
                    shutil.rmtree(self._directory / "servers" / name / part, ignore_errors=True)
                    self._registry.forget_crash(f"{part}-{name}")
        shutil.rmtree(self._directory / "cache", ignore_errors=True)
        shutil.rmtree(self._directory / "servers" / SHARED, ignore_errors=True)
        self._registry.forget_crash(SHARED)

    def _end(self, units: Sequence[Child], grace: float) -> None:
        self._registry.stop(units, grace)

    def _start(self, component: Component) -> Child:
        folder = self._directory / ("load" if component.role == "injector" else "servers") / component.name
        places = Places(str(folder), self._packages.get(component.name), str(self.cache(component.kind)))
        try:
            self.cache(component.kind).mkdir(parents=True, exist_ok=True)
            if component.name in self._primed:
                # What components share may be a key of theirs: a crash must not leave it among the results.
                self._registry.on_crash(SHARED, ["rm", "-rf", str(folder.parent / SHARED)])
                self._registry.on_crash(f"usr-{component.name}", ["rm", "-rf", str(folder / "usr")])
                shutil.rmtree(folder / "usr", ignore_errors=True)
                (folder / "logs").mkdir(parents=True, exist_ok=True)
                shutil.copytree(self._primed[component.name], folder / "usr")
            if component.data is not None:
                self._registry.on_crash(
                    f"{component.data}-{component.name}", ["rm", "-rf", str(folder / component.data)]
                )
                if component.data_from is not None:
                    shutil.copytree(component.data_from, folder / component.data)
        except (OSError, shutil.Error) as error:
            raise no_space(folder, error if error.errno else OSError(28, str(error))) from error
        for name, text in files(component).items():
            write_atomic(folder / name, text)
        if component.settings:
            settings = {**component.settings, "output": str(folder)}
            write_atomic(folder / SETTINGS, json.dumps(settings, indent=1) + "\n")
        return self._registry.spawn(
            component.name,
            command(component, places),
            console=self.logs(component.name) / "console.log",
            cwd=Path(component.started_in) if component.started_in is not None else folder,
            env={**inherited_environment(), **environment(component, places)},
        )


def primed_folder(component: Component, package: Path, children: Children) -> Path:
    """A `usr` folder that a Liberty server has started in once, from which every trial's servers are copied.

    Liberty resolves its features on the first start in a directory and keeps the result in its `workarea`. Starting
    from such a copy takes a quarter less CPU (apps/README.md) and is what an installed server does at every start but
    its first; published Liberty images are primed in the same way. Nothing that is measured under load changes.

    Raises:
        ServerFailed: the server does not start.
        NoSpace: no room for the copy.
    """
    server, jvm = component.artifact.words[0], component.artifact.jvm
    assert jvm is not None
    primed = package / f"usr-{server}-{jvm.kind}-{jvm.runtime_version}-{jvm.architecture}".replace("/", "_")
    if primed.exists():
        return primed
    try:
        with tempfile.TemporaryDirectory(dir=package, prefix=".priming-") as temporary:
            usr = Path(temporary) / "servers" / component.name / "usr"
            shutil.copytree(package / "wlp" / "usr", usr, ignore=_others(server))
            _start_once(
                component, ProcessDeployment(children, Path(temporary), {component.name: str(package)}, {})
            )
            usr.rename(primed)
    except OSError as error:
        if primed.exists():  # another command was quicker
            return primed
        raise no_space(primed, error) from error
    return primed


def _others(server: str) -> Callable[[str, list[str]], list[str]]:
    """Leaves the package's other servers out of a copy of `usr`."""
    return lambda folder, names: [name for name in names if Path(folder).name == "servers" and name != server]


def _start_once(component: Component, deployment: ProcessDeployment) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    # There is no database yet that it could be ready with.
    live = component.ready.model_copy(update={"path": component.ready.live or component.ready.path})
    # Without the arm's options: they would write GC logs and class caches, and change nothing of what is kept. OpenJ9
    # would write a cache unasked, and every trial would inherit it.
    jvm = component.artifact.jvm
    none = ["-Xshareclasses:none"] if jvm is not None and jvm.kind == "openj9" else []
    server = component.model_copy(
        update={"jvm_options": none, "environment": {}, "port": port, "ready": live}
    )
    deployment.start([server])
    deadline = time.monotonic() + PRIMING_TIMEOUT
    try:
        while not answers(server):
            if failure := deployment.failure(server.name):
                raise ServerFailed(failure)
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"{server.name} did not answer within {PRIMING_TIMEOUT:.0f} s: is its JDK sound?"
                )
            time.sleep(POLL_INTERVAL)
    finally:
        deployment.stop()
