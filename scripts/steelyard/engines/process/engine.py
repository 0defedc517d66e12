# SPDX-License-Identifier: Apache-2.0
"""The process engine: components as processes of this host, each with its own CPUs, port and folder.

A trial's directory gets `replay/` (scripts that repeat it by hand), `servers/NAME/` (folder of each deployed
component, its logs in `logs/`), `load/NAME/` (folder of each injector) and `cache/KIND/` (class caches).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from steelyard.engines.process.command import (
    Places,
    deployment_script,
    inherited_environment,
    load_script,
)
from steelyard.engines.process.deployment import ProcessDeployment
from steelyard.engines.process.priming import archived_classes, primed_folder
from steelyard.engines.process.quota import find_parent, remove_abandoned
from steelyard.errors import MissingRequirement, ProgramGone
from steelyard.host import programs
from steelyard.host.checkpoints import require_checkpoints
from steelyard.host.java import require_program
from steelyard.host.ports import require_ports
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.processes.environment import ask
from steelyard.results.spec import Artifact, Spec
from steelyard.results.store import write_atomic


def require_commands(specs: Sequence[Spec]) -> None:
    """See that the programs of whole command lines are there, and what components say that they need.

    Raises:
        MissingRequirement: something is missing.
    """
    components = [component for spec in specs for component in spec.without_injectors]
    scripts = {
        component.name: component.copies[component.check]
        for component in components
        if component.check is not None
    }
    for name, script in scripts.items():
        _check(name, ROOT / script)
    for component in components:
        if component.artifact.form == "command":
            program = Places("", component.artifact.path, "").fill(component.artifact.words[0], component)
            if not program.startswith("${"):
                require_program(program)


def has_quota(spec: Spec) -> bool:
    """Whether a component is held to a CPU quota, which takes a control group."""
    return any(component.cpu_quota is not None for component in spec.components)


def _check(name: str, script: Path) -> None:
    """Have a component's script look for what it needs (raises MissingRequirement)."""
    asked = ask(["sh", str(script), "--check"], environment=inherited_environment())
    if asked.returncode != 0:
        raise MissingRequirement(f"{name}: {asked.stderr.strip() or f'{script} --check failed'}")


@dataclass(frozen=True)
class ProcessEngine:
    """Starts components under `taskset`."""

    children: Children
    builds: Path
    """Folder of the project's builds, by fingerprint."""
    _seen: dict[Path, object] = field(default_factory=dict)
    """What tells each file of a program from another in its place, as first seen."""
    _unmade: set[Path] = field(default_factory=set)
    """Archives of classes that the injectors' JVM does not make."""

    def check(self, specs: Sequence[Spec]) -> None:
        """Refuse ports that are taken (PortInUse) and programs that are missing (MissingRequirement)."""
        require_commands(specs)
        require_ports(sorted({port for spec in specs for port in spec.ports}))
        if any(spec.checkpoint_servers for spec in specs):
            require_checkpoints()
        if any(has_quota(spec) for spec in specs):
            remove_abandoned(find_parent())
        for spec in specs:
            self.require_programs(spec)

    def daemons(self) -> list[int]:
        """None: processes need nothing that runs."""
        return []

    def require_programs(self, spec: Spec) -> None:
        """See that what the components run is there and still the same (raises ProgramGone)."""
        # Asked once for all servers of a build.
        is_whole, server_digest = cache(programs.is_whole), cache(programs.server_digest)
        for component in spec.components:
            artifact = component.artifact
            package = self.package(artifact) if artifact.package is not None else None
            now: dict[Path, object] = {
                path: programs.stamp(path) for path in programs.of_artifact(artifact, package)
            }
            if package is not None and artifact.form == "liberty" and artifact.path is not None:
                usr, server = package / "wlp" / "usr", artifact.words[0]
                now[usr / "servers" / server] = server_digest(usr, server)
            lost = [path for path, seen in now.items() if self._seen.setdefault(path, seen) != seen]
            if artifact.jvm is not None and not (java := Path(artifact.jvm.home) / "bin" / "java").exists():
                lost.append(java)
            if package is not None:
                there = package.exists() and (artifact.path is not None or is_whole(package))
                lost += [] if there else [package]
            lost += [path for path in map(ROOT.joinpath, component.copies.values()) if not path.exists()]
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
            component.name: str(self.package(component.artifact))
            for component in spec.components
            if component.artifact.package is not None
        }
        primed = {
            component.name: primed_folder(component, Path(packages[component.name]), self.children)
            for component in spec.without_injectors
            if component.artifact.form == "liberty"
        }
        for injector in spec.injectors:
            archived_classes(injector, Path(packages[injector.name]), self.children, self._unmade)
        replay = directory / "replay"
        parent = find_parent() if has_quota(spec) else None
        scripts = {
            "deployment.sh": deployment_script(spec, packages, primed, parent),
            "load.sh": load_script(spec.injectors, packages),
        }
        for name, text in scripts.items():
            write_atomic(replay / name, text)
            (replay / name).chmod(0o755)
        for injector in spec.injectors:
            settings = {**injector.settings, "awaitStart": False, "output": "@OUTPUT@"}
            write_atomic(replay / f"{injector.name}.json", json.dumps(settings, indent=1) + "\n")
        require = partial(self.require_programs, spec)
        return ProcessDeployment(self.children, directory, packages, primed, require, parent)

    def package(self, artifact: Artifact) -> Path:
        """Folder of a component's package."""
        if artifact.path is not None:
            return Path(artifact.path)
        if artifact.build is None or artifact.package is None:
            raise MissingRequirement(f"nothing says where the package {artifact.package} lies")
        return self.builds / artifact.build / artifact.package
