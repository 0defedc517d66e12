# SPDX-License-Identifier: Apache-2.0
"""The pods of one trial: started kind by kind, watched, asked, and removed with all that belongs to the trial."""

import contextlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

import psutil

from steelyard.archives import unpack
from steelyard.clock import Deadline
from steelyard.engines import readiness
from steelyard.engines.base import Deployment, Running
from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.api import AWAY_LIMIT, ApiError, Object, PodWatch
from steelyard.engines.kubernetes.cluster import GONE_LIMIT, MAKERS, OURS, Cluster
from steelyard.engines.kubernetes.manifests import OBSERVER, cpus_of
from steelyard.engines.kubernetes.nodes import daemons
from steelyard.engines.kubernetes.pods import NAME, TRIAL, Member, with_reason
from steelyard.errors import NoSpace, ServerFailed
from steelyard.jvm.rows import Facts
from steelyard.processes.reasons import READ
from steelyard.results.failure import Failure
from steelyard.results.spec import Component, Spec
from steelyard.results.store import report_no_space, write_atomic
from steelyard.sampling.config import PORT
from steelyard.sampling.streams import Observer
from steelyard.spec.agreement import format_quota

START_LIMIT = 900.0
"""Seconds that pods may take to run; nodes fetch images in them."""
_EVENTS_AFTER = 3.0
_EVENTS_EVERY = 2.0
_LOOK = 0.2
_AWAY = 502
"""What kubectl's proxy answers when it does not reach the API server; a pod that is not reached is another status."""
_FETCH_LIMIT = 300.0
"""Seconds that the files of a component may take to come."""
_KEPT_HERE = {"health.jsonl", "ready", "start", "stop"}
"""Files of an injector that come with its rows, or are written here."""


class KubernetesDeployment(Deployment[Member]):
    """The pods of one trial."""

    runner = "the cluster"
    contained = True
    remote = True

    def __init__(
        self,
        cluster: Cluster,
        spec: Spec,
        directory: Path,
        trial: str,
        token: str,
        write: Callable[[Spec, Path], None],
    ) -> None:
        super().__init__(directory)
        self._cluster = cluster
        self._spec, self._token, self._write = spec, token, write
        self._components = {component.name: component for component in spec.components}
        self._selector = f"{TRIAL}={trial}"
        self._watch: PodWatch | None = None
        self._objects: Sequence[Object] = ()
        self._ends: dict[str, str] = {}
        """How components ended, by name; asked once."""

    def start(self, components: Sequence[Component]) -> None:
        """Start components, and wait until their containers run: that they are placed, fetched and made is no part of
        their start."""
        kinds = list(dict.fromkeys(component.kind for component in components))
        watch = self._open()
        self._components |= {component.name: component for component in components}
        varied = self._spec.model_copy(update={"components": list(self._components.values())})
        for component in components:
            self._handles.pop(component.name, None)
            self._ends.pop(component.name, None)
            self._make_folder(self.logs(component.name))
        try:
            objects = self._objects
            if varied != self._spec:
                folder = self._directory / "replay" / "prepare"
                self._write(varied, folder)
                objects = self._cluster.render(folder)
            self._cluster.apply(thing for thing in objects if _part_of(thing) in kinds)
            placed = self._wait(components, watch)
        except ApiError as error:
            raise ServerFailed(f"{', '.join(kinds)} could not be started: {error.message}") from error
        for component in components:
            self._handles[component.name] = Member(component, placed[component.name], watch)

    def started_components(self) -> list[Running]:
        """What was started and not stopped; its processes are not on this host."""
        return [
            Running(self._components[name], (), member.started, self.contained)
            for name, member in self._handles.items()
            if not member.stop_requested
        ]

    def ask(
        self, component: Component, path: str, timeout: float, on_line: Callable[[str], None] | None = None
    ) -> tuple[int, bytes] | None:
        """One GET, through the API server; one that is away is waited for, but for what may take long itself."""
        place = component.container
        if place is None:
            return None
        within = AWAY_LIMIT if on_line is None else 0.0
        return self._ask(component.name, place.status or place.port, path, timeout, on_line, within)

    def serves(self, component: Component) -> bool:
        """By its own readiness check; one without a path when its container runs."""
        if component.port is None or component.ready.path is None:
            return component.name in self._handles
        place = component.container
        if place is None:
            return False
        answer = self._ask(component.name, place.status or place.port, component.ready.path, timeout=2.0)
        return answer is not None and answer[0] == component.ready.status

    def _ask(
        self,
        name: str,
        port: int,
        path: str,
        timeout: float,
        on_line: Callable[[str], None] | None = None,
        within: float = 0.0,
    ) -> tuple[int, bytes] | None:
        """One GET of a pod; while it runs, an API server that is away is waited for `within` seconds."""
        deadline = Deadline(within)
        while (unit := self._handles.get(name)) is not None:
            way = self._cluster.path_to(unit.pod_name, port)
            answer = readiness.ask(self._cluster.proxy.connection(timeout), f"{way}{path}", on_line)
            if answer is not None and answer[0] != _AWAY:
                return answer
            if unit.has_ended() or deadline.is_over:
                break
            deadline.sleep(_LOOK)
        return None

    def _ask_observer(
        self, name: str, path: str, timeout: float, within: float = 0.0
    ) -> tuple[int, bytes] | None:
        return self._ask(name, PORT, f"/{self._token}/{path}", timeout, within=within)

    def engine_facts(self, name: str) -> Facts:
        """CPUs, memory and environment of its container, as the API server has them."""
        unit, component = self._handles[name], self._components[name]
        asked = ",".join(map(str, sorted(component.cpus)))
        facts: dict[str, int | str] = {}
        with contextlib.suppress(ValueError):  # what cannot be read is not told
            cpus = pods.cpu_limit(unit.pod, unit.container)
            is_as_asked = cpus == pods.cpus(cpus_of(component))
            facts["cpus"] = asked if is_as_asked else f"{cpus} CPUs"
            if cpus is not None and component.cpu_quota is not None:
                # What was rounded for Kubernetes is not rounded once more.
                facts["quota"] = format_quota(component.cpu_quota if is_as_asked else cpus)
        with contextlib.suppress(ValueError):
            if (memory := pods.memory_limit(unit.pod, unit.container)) is not None:
                facts["memory"] = memory
        variables = pods.variables(unit.pod, unit.container)
        return facts | {
            f"variable {key}": text.replace("$$", "$")
            for key, text in variables.items()
            if key in component.environment
        }

    def memory_map(self, name: str) -> str:
        """By the kernel of its node, asked in its pod, by the same user."""
        answer = self._ask_observer(name, "smaps", 10.0)
        return answer[1].decode(errors="replace") if answer is not None else ""

    def began(self, name: str) -> float | None:
        """By the kernel of its node, asked in its pod: Kubernetes tells whole seconds."""
        answer = self._ask_observer(name, "began", 10.0)
        with contextlib.suppress(ValueError):  # an error of the API server, or no such process
            return float(answer[1]) if answer is not None else None
        return None

    def overhead(self) -> list[int]:
        """The client of the API server, and what of a cluster runs on this host."""
        ours = [process.pid for process in psutil.Process().children() if process.name() == "kubectl"]
        return sorted({*ours, *daemons()})

    def observers(self) -> Mapping[str, Observer]:
        """Of those pods whose observer runs."""
        connect, path_to = self._cluster.proxy.connection, self._cluster.path_to
        return {
            unit.name: Observer(unit.node, unit.uid, connect, f"{path_to(unit.pod_name, PORT)}/{self._token}")
            for unit in self._handles.values()
            if not unit.stop_requested and pods.start_time(unit.pod, OBSERVER) is not None
        }

    def fetch(self, name: str) -> None:
        """Bring home what a component wrote to its log folder."""
        answer = self._ask_observer(name, "files", _FETCH_LIMIT, within=AWAY_LIMIT)
        if answer is None or answer[0] != HTTPStatus.OK:
            raise ServerFailed(f"the files of {name} could not be fetched: its observer does not answer")
        logs = self.logs(name)
        try:
            with report_no_space(logs), tarfile.open(fileobj=io.BytesIO(answer[1])) as archive:
                wanted = [member for member in archive if member.name not in _KEPT_HERE]
                unpack(archive, logs, wanted)
        except tarfile.TarError as error:
            raise ServerFailed(f"the files of {name} could not be fetched ({error})") from error
        self._handles[name].fetched = True

    def failure(self, name: str) -> str | None:
        """As `Deployment.failure`; also when the cluster took its pod, or the API server stays away."""
        unit = self._handles.get(name)
        if unit is None or unit.stop_requested or self._watch is None:
            return None
        if self._watch.seconds_since_reply() > AWAY_LIMIT:
            return f"the API server has not answered for {AWAY_LIMIT:.0f} s"
        if not unit.has_ended():
            return None
        if name not in self._ends:
            self._ends[name] = self._with_reason(unit.describe_end(), name, unit.pod, unit.container)
        return self._ends[name]

    def out_of_memory(self) -> bool:
        """As the API server tells of those that have ended."""
        return any(pods.out_of_memory(member.pod, member.container) for member in self._handles.values())

    def kill(self, name: str) -> None:
        """Have a pod end at once; nothing brings it back. Kubernetes gives no pod less than a second or two."""
        unit = self._handles[name]
        unit.stop_requested = True
        self._orphan([unit])
        self._cluster.delete("pods", unit.pod_name, grace=0)

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:
        """End components (see `Deployment.stop`), and keep what they printed."""
        chosen = list(self._handles if names is None else names)
        for member in (self._handles[name] for name in chosen if name in self._handles):
            member.stop_requested = True
            self._keep(member)
        return super().stop(chosen, grace)

    def close(self) -> None:
        """Remove all that bears the trial's label, also where logs cannot be kept; logs stay."""
        try:
            self.stop()
        finally:
            if self._watch is not None:
                self._watch.close()
                self._keep_pods(self._watch)
                self._watch = None
                # What could not be removed is tried once more when the harness ends.
                with contextlib.suppress(ApiError):
                    self._cluster.remove(OURS, self._selector)
            shutil.rmtree(self._directory / "cache", ignore_errors=True)

    def _open(self) -> PodWatch:
        if self._watch is None:
            self._watch = PodWatch(self._cluster.proxy, self._cluster.path("pods"), self._selector)
            kinds = {component.kind for component in self._spec.components}
            try:
                self._objects = self._cluster.render(self._directory / "replay")
                # What belongs to no kind: configuration that several mount.
                self._cluster.apply(thing for thing in self._objects if _part_of(thing) not in kinds)
            except ApiError as error:
                raise ServerFailed(f"the trial's objects could not be made: {error.message}") from error
        return self._watch

    def _number(self, component: Component) -> int:
        alike = [other.name for other in self._spec.components if other.kind == component.kind]
        return alike.index(component.name)

    def _wait(self, components: Sequence[Component], watch: PodWatch) -> dict[str, Object]:
        """Wait until the pods of components run, and return them by the components' names (raises ServerFailed)."""
        deadline, asked = Deadline(START_LIMIT), 0.0
        while True:
            there = {pods.place(pod): pod for pod in watch.pods.values()}
            placed = {
                component.name: there[component.kind, self._number(component)]
                for component in components
                if (component.kind, self._number(component)) in there
            }
            if len(placed) == len(components) and all(
                pods.start_time(placed[component.name], component.kind) is not None
                for component in components
            ):
                return placed
            waited = deadline.spent
            for component in components:
                if component.name in placed:
                    self._refuse(component, placed[component.name], waited)
            if len(placed) < len(components) and waited > _EVENTS_AFTER and waited - asked > _EVENTS_EVERY:
                asked = waited
                self._refuse_uncreated(components)
            if watch.seconds_since_reply() > AWAY_LIMIT:
                raise ServerFailed(f"the API server has not answered for {AWAY_LIMIT:.0f} s")
            if deadline.is_over:
                raise ServerFailed(
                    f"{', '.join(component.name for component in components)} did not run within {START_LIMIT:.0f} s"
                )
            deadline.sleep(_LOOK, watch.wait)

    def _refuse(self, component: Component, pod: Object, waited: float) -> None:
        why = pods.hindrance(pod, component.name, component.kind)
        if why is not None and pods.is_final(pod, waited):
            raise ServerFailed(self._with_reason(why, component.name, pod, component.kind))

    def _refuse_uncreated(self, components: Sequence[Component]) -> None:
        """A quota or a rule of the namespace may keep pods from being made: events alone tell of it."""
        kinds = ",".join(dict.fromkeys(component.kind for component in components))
        labels = f"{self._selector},{NAME} in ({kinds})"
        makers = [maker for resource in MAKERS for maker in self._cluster.objects(resource, labels)]
        uids = {maker["metadata"]["uid"] for maker in makers}
        for event in self._cluster.objects("events", fields="reason=FailedCreate"):
            if event["involvedObject"].get("uid") in uids:
                raise ServerFailed(f"{kinds} could not be started: {' '.join(event['message'].split())}")

    def _with_reason(self, sentence: str, name: str, pod: Object, container: str) -> str:
        """How a component ended, with its own words, all of which are kept; without them where they cannot be had."""
        query = {"limitBytes": str(READ)}
        if pods.status(pod, container).get("restartCount", 0):
            query["previous"] = "true"
        try:
            printed = self._cluster.log(str(pod["metadata"]["name"]), container, timeout=10.0, **query)
        except ApiError:
            return sentence
        log = self.logs(name) / "console.log"
        if printed:
            write_atomic(log, printed)
        return with_reason(sentence, printed, log)

    def _keep(self, unit: Member) -> None:
        """What it printed and wrote, as far as it can be had."""
        if not unit.there or pods.node(unit.pod) == "":
            return
        with contextlib.suppress(ApiError):
            printed = self._cluster.log(unit.pod_name, unit.container)
            write_atomic(self.logs(unit.name) / "console.log", printed)
        if not unit.fetched and pods.start_time(unit.pod, OBSERVER) is not None:
            with contextlib.suppress(ServerFailed):
                self.fetch(unit.name)

    def _orphan(self, units: Sequence[Member]) -> None:
        """Take from pods what would make them anew."""
        kinds = ",".join(dict.fromkeys(member.container for member in units))
        labels = f"{self._selector},{NAME} in ({kinds})"
        self._cluster.remove(MAKERS, labels, cascade="Orphan")
        self._cluster.wait_until_gone(MAKERS, labels)

    def _end(self, units: Sequence[Member], grace: float) -> None:
        there = [unit for unit in units if unit.there]
        if not there or self._watch is None:  # closed: all was removed
            return
        self._orphan(there)
        for seconds, within in ((max(1, round(grace)), grace + GONE_LIMIT), (0, GONE_LIMIT)):
            for unit in there:
                if unit.there:
                    self._cluster.delete("pods", unit.pod_name, grace=seconds)
            if self._wait_until_gone(there, within):
                return

    def _wait_until_gone(self, units: Sequence[Member], within: float) -> bool:
        assert self._watch is not None
        deadline = Deadline(within)
        while any(member.there for member in units):
            if deadline.is_over:
                return False
            deadline.sleep(_LOOK, self._watch.wait)
        return True

    def _keep_pods(self, watch: PodWatch) -> None:
        """Where they ran, and all else that was told of them."""
        text = json.dumps(list(watch.last.values()), indent=1)
        with contextlib.suppress(OSError, NoSpace):
            write_atomic(self._directory / "logs" / "pods.json", f"{text}\n")

    def _make_folder(self, folder: Path) -> None:
        with report_no_space(folder):
            folder.mkdir(parents=True, exist_ok=True)


def _part_of(thing: Object) -> str | None:
    """The kind of component that an object belongs to; None: it belongs to none."""
    name: str | None = thing["metadata"].get("labels", {}).get(NAME)
    return name
