# SPDX-License-Identifier: Apache-2.0
"""The processes of one trial: their folders and files, their start, what their end means."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from steelyard.clock import wait_until
from steelyard.engines.base import Deployment
from steelyard.engines.process.command import (
    SETTINGS,
    SHARED,
    TEMPORARY,
    Places,
    checkpoint_files,
    command,
    environment,
    files,
    inherited_environment,
)
from steelyard.engines.process.quota import group_of, make_group, remove_group
from steelyard.engines.readiness import POLL_INTERVAL, is_open
from steelyard.errors import PortInUse, ServerFailed
from steelyard.jvm.class_cache import OWN_CACHE
from steelyard.processes import Child, Children, process_tree
from steelyard.processes.listening import Listener, listeners
from steelyard.processes.reasons import reason
from steelyard.processes.restored import runs
from steelyard.results.spec import Component
from steelyard.results.store import report_no_space, write_atomic
from steelyard.sampling.cgroup import Place

_BIND_FAILED = re.compile(r"CWWKO0221E: (?:.*\bport (\d+))?")
"""Liberty stays up without its port when it cannot open it, so waiting for an answer would be in vain."""
_TAKEN = "Address already in use"
_TASKS_GONE = 20.0
"""Seconds that the ids of processes and threads may take to be free after a checkpoint."""


class ProcessDeployment(Deployment[Child]):
    """The processes of one trial."""

    def __init__(
        self,
        registry: Children,
        directory: Path,
        packages: Mapping[str, str],
        primed: Mapping[str, Path],
        require: Callable[[], None] = lambda: None,
        parent: Place | None = None,
    ) -> None:
        """`require` raises ProgramGone where that is why something failed; `parent` is where groups are made for CPU
        quotas."""
        super().__init__(directory)
        self._parent = parent
        self._require = require
        self._registry = registry
        self._packages = packages
        self._primed = primed
        self._restorable: set[str] = set()
        """What has a checkpoint to start from."""

    def start(self, components: Sequence[Component]) -> None:
        """Start components, and wait for none of them (see `Deployment.start`)."""
        for component in components:
            self._components[component.name] = component
            self._handles.pop(component.name, None)
            self._handles[component.name] = self._start(component)

    def take_checkpoint(self, component: Component) -> None:
        """Start it until its process is written to disk, by which it ends (see `Deployment.take_checkpoint`)."""
        self._components[component.name] = component
        self._restorable.discard(component.name)
        child = self._start(component, takes_checkpoint=True)
        try:
            ended = wait_until(lambda: child.exit_code() is not None, component.ready.within, POLL_INTERVAL)
            code = child.exit_code()
        finally:
            self._registry.stop([child], grace=5.0)
        tasks = list(_folder(self._directory, component).glob(checkpoint_files(component)))
        if code != 0 or not tasks:
            late = f"it did not end within {component.ready.within:.0f} s: see {child.console}"
            how = child.describe_end() if ended else late
            raise ServerFailed(f"{component.name} took no checkpoint: {how}", component.name)
        # Else the kernel writes a hundred megabytes while the server starts.
        for path in tasks[0].parent.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        # They are given their numbers again; what its parent has not taken note of yet still holds one.
        ids = sorted(int(path.stem.partition("-")[2]) for path in tasks)
        if not wait_until(lambda: not any(map(runs, ids)), _TASKS_GONE, POLL_INTERVAL):
            taken = ", ".join(str(task) for task in ids if runs(task))
            raise ServerFailed(
                f"{component.name} cannot be restored: something holds process ids of its checkpoint ({taken})",
                component.name,
            )
        self._restorable.add(component.name)

    def failure(self, name: str) -> str | None:
        """How a component ended by itself, or None (see `Deployment.failure`)."""
        child, component = self._handles.get(name), self._components[name]
        if child is None or child.stop_requested:
            return None
        code = child.exit_code()
        if code is not None:
            taken = code == component.port_taken or _TAKEN in child.last_lines(20)
        else:
            refused = (
                _BIND_FAILED.search(child.read_output()) if component.artifact.form == "liberty" else None
            )
            if refused and refused[1] not in (None, str(component.port), str(component.serves)):
                raise ServerFailed(
                    f"{name} could not open port {refused[1]}, which its server.xml has beside ${{HTTP_PORT}} and"
                    " something holds, another of its servers perhaps: give its endpoint `httpsPort=-1`, or a port of"
                    " its own for each server",
                    name,
                )
            taken = refused is not None
        if taken:
            said = f" (it said: {reason(child.read_output())})" if code is not None else ""
            raise PortInUse(
                f"{name} could not open port {component.port}, which something took meanwhile: choose other ports with"
                f" --port{said}"
            )
        failure = super().failure(name)
        if failure is not None:
            self.require_programs()
        return failure

    def listens_elsewhere(self, component: Component) -> list[Listener]:
        """By the kernel's tables (see `HttpAccess.listens_elsewhere`)."""
        child = self._handles.get(component.name)
        if child is None or component.port is None or is_open(component.port):
            return []
        # What it serves its users at is no port of its own readiness.
        return [
            listener
            for listener in listeners(process_tree(child.pid, child.mark))
            if listener.port != component.serves
        ]

    def require_programs(self) -> None:
        """See that what the components run is still there and the same (see `Deployment.require_programs`)."""
        self._require()

    def close(self) -> None:
        """Stop everything and remove work areas; logs stay."""
        self.stop(grace=5.0)
        for path in working_files(self._directory, self._components.values()):
            self._remove(path)
        for component in self._components.values():
            if self._parent is not None and component.cpu_quota is not None:
                group = group_of(self._parent, component)
                remove_group(group)
                self._registry.forget_crash(_crash_name(group))

    def _remove(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._registry.forget_crash(_crash_name(folder))

    def _remove_on_crash(self, folder: Path) -> None:
        self._registry.on_crash(_crash_name(folder), ["rm", "-rf", str(folder)])

    def _end(self, units: Sequence[Child], grace: float) -> None:
        self._registry.stop(units, grace)

    def _start(self, component: Component, *, takes_checkpoint: bool = False) -> Child:
        folder = _folder(self._directory, component)
        places = Places(str(folder), self._packages.get(component.name), str(self.cache(component.kind)))
        if self._parent is not None and component.cpu_quota is not None:
            group = group_of(self._parent, component)
            self._registry.on_crash(_crash_name(group), ["rmdir", str(group)])
            make_group(group, component.cpu_quota, unified=self._parent.unified)
            places = replace(places, group=str(group))
        # What a checkpoint holds open has to be as it was.
        if component.name not in self._restorable:
            self._make_folders(component, folder)
        return self._registry.spawn(
            component.name,
            command(component, places, takes_checkpoint=takes_checkpoint),
            console=self.logs(component.name) / ("checkpoint.log" if takes_checkpoint else "console.log"),
            cwd=Path(component.started_in) if component.started_in is not None else folder,
            env={**inherited_environment(), **environment(component, places)},
        )

    def _make_folders(self, component: Component, folder: Path) -> None:
        with report_no_space(folder):
            self.cache(component.kind).mkdir(parents=True, exist_ok=True)
            if component.artifact.jvm is not None:
                self._remove_on_crash(folder / TEMPORARY)
                (folder / TEMPORARY).mkdir(parents=True, exist_ok=True)
            if component.name in self._primed:
                # What components share may be a key of theirs: a crash must not leave it among the results.
                self._remove_on_crash(folder.parent / SHARED)
                self._remove_on_crash(folder / "usr")
                shutil.rmtree(folder / "usr", ignore_errors=True)
                (folder / "logs").mkdir(parents=True, exist_ok=True)
                shutil.copytree(self._primed[component.name], folder / "usr")
            if component.data is not None:
                self._remove_on_crash(folder / component.data)
                if component.data_from is not None:
                    copy_data(Path(component.data_from), folder / component.data, component.write_once)
        for name, text in files(component).items():
            write_atomic(folder / name, text)
        if component.settings:
            settings = {**component.settings, "output": str(folder)}
            write_atomic(folder / SETTINGS, json.dumps(settings, indent=1) + "\n")


def copy_data(source: Path, target: Path, write_once: Iterable[str] = ()) -> None:
    """Copy a data set; of the files in folders that are written once it gets links, where the file system has them."""
    linked = tuple(f"{source / name}{os.sep}" for name in write_once)

    def link_or_copy(file: str, new: str) -> None:
        if file.startswith(linked):
            with suppress(OSError):
                os.link(file, new)
                return
        shutil.copy2(file, new)

    shutil.copytree(source, target, copy_function=link_or_copy)


def working_files(directory: Path, components: Iterable[Component]) -> list[Path]:
    """What components may leave in a trial's directory that is of no use once they have ended: copies of servers and
    what they share, which may hold keys, class caches, temporary files, data."""
    return [
        directory / "cache",
        directory / "servers" / SHARED,
        *(
            _folder(directory, component) / part
            for component in components
            for part in ("usr", TEMPORARY, OWN_CACHE, component.data)
            if part is not None
        ),
    ]


def _folder(directory: Path, component: Component) -> Path:
    return directory / ("load" if component.role == "injector" else "servers") / component.name


def _crash_name(path: Path) -> str:
    """What `Children.on_crash` knows the removal of a path by: a duet's sides have components of the same names."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
