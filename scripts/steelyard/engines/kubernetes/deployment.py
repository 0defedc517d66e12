# SPDX-License-Identifier: Apache-2.0
"""The pods of one trial: started kind by kind, watched, asked, and removed with all that belongs to the trial."""

import contextlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from steelyard.clock import Deadline
from steelyard.engines import readiness
from steelyard.engines.base import Deployment, Running
from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.api import PodWatch, Proxy
from steelyard.engines.kubernetes.cluster import AWAY_LIMIT, Cluster, KubectlFailed
from steelyard.engines.kubernetes.manifests import OBSERVER
from steelyard.engines.kubernetes.member import Member, asking_for_map, asking_when_began
from steelyard.engines.kubernetes.nodes import daemons
from steelyard.engines.kubernetes.pods import NAME, TRIAL, Pod, with_reason
from steelyard.engines.kubernetes.removal import MAKERS, removal_of
from steelyard.errors import ServerFailed
from steelyard.jvm.rows import Facts
from steelyard.processes import Children
from steelyard.processes.reasons import READ
from steelyard.results.failure import NOT_STOPPED, Failure
from steelyard.results.spec import ORDER, Component, Spec
from steelyard.results.store import no_space, write_atomic
from steelyard.sampling.streams import Observer

START_LIMIT = 900.0
"""Seconds that pods may take to run; nodes fetch images in them."""
ROOM_LIMIT = 60.0
"""Seconds that a cluster may take to find room for a pod, or to make some."""
GONE_LIMIT = 60.0
"""Seconds beyond its grace that a pod may take to be gone."""
_EVENTS_AFTER = 3.0
_EVENTS_EVERY = 2.0
_LOOK = 0.2
_AWAY = 502
"""What kubectl's proxy answers when it does not reach the API server; a pod that is not reached is another status."""
_KEPT_HERE = {"health.jsonl", "ready", "start", "stop"}
"""Files of an injector that come by its stream, or are words to it."""


class KubernetesDeployment(Deployment[Member]):
    """The pods of one trial."""

    contained = True
    remote = True

    def __init__(
        self,
        cluster: Cluster,
        children: Children,
        spec: Spec,
        directory: Path,
        trial: str,
        write: Callable[[Spec, Path], None],
    ) -> None:
        super().__init__(directory)
        self._cluster, self._children = cluster, children
        self._spec, self._write = spec, write
        self._components = {one.name: one for one in spec.components}
        self._selector = f"{TRIAL}={trial}"
        self._proxy: Proxy | None = None
        self._watch: PodWatch | None = None
        self._told: dict[str, str] = {}
        """How components ended, by name; asked once."""

    def start(self, components: Sequence[Component]) -> None:
        """Start components, and wait until their containers run: that they are placed, fetched and made is no part of
        their start."""
        watch = self._opened()
        self._components |= {one.name: one for one in components}
        varied = self._spec.model_copy(update={"components": list(self._components.values())})
        folder = self._directory / "replay"
        if varied != self._spec:
            folder = folder / "prepare"
            self._write(varied, folder)
        for one in components:
            self._units.pop(one.name, None)
            self._told.pop(one.name, None)
            self._make_folder(self.logs(one.name))
        kinds = list(dict.fromkeys(one.kind for one in components))
        try:
            self._cluster.apply(folder, kinds, NAME)
            placed = self._wait(components, watch)
        except KubectlFailed as error:
            raise ServerFailed(f"{', '.join(kinds)} could not be started: {error.told}") from error
        for one in components:
            self._units[one.name] = Member(one, self._number(one), placed[one.name], watch)

    def running(self) -> list[Running]:
        """What was started and not stopped; its processes are not on this host."""
        return [
            Running(self._components[name], (), one.started, self.contained)
            for name, one in self._units.items()
            if not one.told_to_end
        ]

    def ask(
        self, component: Component, path: str, timeout: float, told: Callable[[str], None] | None = None
    ) -> tuple[int, bytes] | None:
        """One GET, through the API server; one that is away is waited for, but for what may take long itself."""
        deadline = Deadline(AWAY_LIMIT if told is None else 0.0)
        while (answer := self._ask(component, path, timeout, told)) is None or answer[0] == _AWAY:
            unit = self._units.get(component.name)
            if unit is None or unit.ended() or deadline.passed:
                return None
            deadline.sleep(_LOOK)
        return answer

    def serves(self, component: Component) -> bool:
        """By its own readiness check; one without a path when its container runs."""
        if component.port is None or component.ready.path is None:
            return component.name in self._units
        answer = self._ask(component, component.ready.path, timeout=2.0)
        return answer is not None and answer[0] == component.ready.status

    def _ask(
        self, component: Component, path: str, timeout: float, told: Callable[[str], None] | None = None
    ) -> tuple[int, bytes] | None:
        unit, place = self._units.get(component.name), component.container
        if unit is None or self._proxy is None or place is None:
            return None
        way = self._proxy.path_to(unit.pod_name, place.status or place.port)
        return readiness.ask(self._proxy.connection(timeout), f"{way}{path}", told)

    def granted(self, name: str) -> Facts:
        """CPUs, memory and environment of its container, as the API server has them."""
        unit, component = self._units[name], self._components[name]
        asked = ",".join(map(str, sorted(component.cpus)))
        found: dict[str, int | str] = {}
        with contextlib.suppress(ValueError):  # what cannot be read is not told
            cpus = pods.cpu_limit(unit.pod, unit.container)
            found["cpus"] = asked if cpus == len(component.cpus) else f"{cpus} CPUs"
        with contextlib.suppress(ValueError):
            if (memory := pods.memory_limit(unit.pod, unit.container)) is not None:
                found["memory"] = memory
        variables = pods.variables(unit.pod, unit.container)
        return found | {
            f"variable {key}": text.replace("$$", "$")
            for key, text in variables.items()
            if key in component.environment
        }

    def memory_map(self, name: str) -> str:
        """By the kernel of its node, asked in its pod, by the same user."""
        try:
            return self._cluster.run(*self._exec(self._units[name]), *asking_for_map())
        except KubectlFailed:
            return ""

    def began(self, name: str) -> float | None:
        """By the kernel of its node, asked in its pod: Kubernetes tells whole seconds."""
        try:
            return float(self._cluster.run(*self._exec(self._units[name]), *asking_when_began()))
        except (KubectlFailed, ValueError):
            return None

    def overhead(self) -> list[int]:
        """Clients of the API server, and what of a cluster runs on this host."""
        ours = [one.pid for one in psutil.Process().children() if one.name() == "kubectl"]
        return sorted({*ours, *daemons()})

    def observers(self) -> Mapping[str, Observer]:
        """Of those pods whose observer runs."""
        return {
            one.name: Observer(
                one.node,
                one.uid,
                [*self._cluster.command, "logs", "--follow", one.pod_name, f"--container={OBSERVER}"],
                [*self._cluster.command, *self._exec(one, "-i"), "tee", "/tmp/tell"],
            )
            for one in self._units.values()
            if not one.told_to_end and pods.started(one.pod, OBSERVER) is not None
        }

    def fetch(self, name: str) -> None:
        """Bring home what a component wrote to its log folder."""
        unit = self._units[name]
        # A file that grows while it is read is no fault (tar's exit code 1).
        command = [*self._exec(unit), "sh", "-c", "tar -cf - -C /observed . || [ $? = 1 ]"]
        try:
            packed = self._cluster.run_raw(*command, timeout=300.0)
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                there = [one for one in archive if one.name.removeprefix("./") not in _KEPT_HERE]
                archive.extractall(self.logs(name), there, filter="data")
        except (KubectlFailed, tarfile.TarError) as error:
            raise ServerFailed(f"the files of {name} could not be fetched ({error})") from error
        except OSError as error:
            raise no_space(self.logs(name), error) from error
        unit.fetched = True

    def failure(self, name: str) -> str | None:
        """As `Deployment.failure`; also when the cluster took its pod, or the API server stays away."""
        unit = self._units.get(name)
        if unit is None or unit.told_to_end or self._watch is None or self._proxy is None:
            return None
        if (ended := self._proxy.ended()) is not None:
            return f"pods are watched no more: {ended}"
        if self._watch.silence() > AWAY_LIMIT:
            return f"the API server has not answered for {AWAY_LIMIT:.0f} s"
        if not unit.ended():
            return None
        if name not in self._told:
            self._told[name] = self._with_reason(unit.how_it_ended(), name, unit.pod, unit.container)
        return self._told[name]

    def out_of_memory(self) -> bool:
        """As the API server tells of those that have ended."""
        return any(pods.out_of_memory(one.pod, one.container) for one in self._units.values())

    def kill(self, name: str) -> None:
        """Have a pod end at once; nothing brings it back. Kubernetes gives no pod less than a second or two."""
        unit = self._units[name]
        unit.told_to_end = True
        self._orphan([unit])
        self._cluster.run(
            "delete",
            "pod",
            unit.pod_name,
            "--ignore-not-found",
            "--grace-period=0",
            "--force",
            "--wait=false",
        )

    def stop(self, names: Iterable[str] | None = None, grace: float = 20.0) -> list[Failure]:
        """End components (see `Deployment.stop`), and keep what they printed."""
        chosen = set(self._units if names is None else names)
        ending = [one for name, one in self._units.items() if name in chosen]
        alive = [one for one in ending if one.there and one.exit_code() is None]
        for one in ending:
            one.told_to_end = True
            self._keep(one)
        problems: list[Failure] = []
        try:
            for role in reversed(ORDER):
                self._end([one for one in ending if self._components[one.name].role == role], grace)
        except KubectlFailed as error:
            listed = ", ".join(one.name for one in alive)
            sentence = f"the cluster did not answer while {listed} were stopped ({error.said})"
            problems.append(Failure(component=None, cause=NOT_STOPPED, detail=sentence))
        return problems + [
            Failure(component=one.name, cause=NOT_STOPPED, detail=f"{one.name} did not stop and was killed")
            for one in alive
            if pods.exit_code(one.pod, one.container) == -9
        ]

    def close(self) -> None:
        """Remove all that bears the trial's label; logs stay."""
        with contextlib.suppress(KubectlFailed):
            self.stop()
        if self._watch is not None:
            self._keep_pods(self._watch)
            # What could not be removed is tried once more when the harness ends.
            with contextlib.suppress(KubectlFailed):
                self._cluster.run(*removal_of(self._selector), whole=True)
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        shutil.rmtree(self._directory / "cache", ignore_errors=True)

    def _opened(self) -> PodWatch:
        if self._watch is None:
            self._proxy = Proxy(self._cluster, self._children, self._directory / "logs")
            self._proxy.open()
            self._watch = PodWatch(self._proxy, self._selector)
            self._watch.open()
            kinds = ",".join(dict.fromkeys(one.kind for one in self._spec.components))
            try:
                # What belongs to no kind: configuration that several mount.
                folder = self._directory / "replay"
                self._cluster.run(
                    "apply", f"--kustomize={folder}", f"--selector={NAME} notin ({kinds})", whole=True
                )
            except KubectlFailed as error:
                if "no objects passed to apply" not in error.said:
                    raise ServerFailed(f"the trial's objects could not be made: {error.told}") from error
        return self._watch

    def _number(self, component: Component) -> int:
        alike = [one.name for one in self._spec.components if one.kind == component.kind]
        return alike.index(component.name)

    def _wait(self, components: Sequence[Component], watch: PodWatch) -> dict[str, Pod]:
        """Wait until the pods of components run, and return them by the components' names (raises ServerFailed)."""
        deadline, asked = Deadline(START_LIMIT), 0.0
        while True:
            there = {pods.place(pod): pod for pod in watch.pods.values()}
            found = {
                one.name: there[one.kind, self._number(one)]
                for one in components
                if (one.kind, self._number(one)) in there
            }
            if len(found) == len(components) and all(
                pods.started(found[one.name], one.kind) is not None for one in components
            ):
                return found
            waited = deadline.spent
            for one in components:
                if one.name in found:
                    self._refuse(one, found[one.name], waited)
            if len(found) < len(components) and waited > _EVENTS_AFTER and waited - asked > _EVENTS_EVERY:
                asked = waited
                self._refuse_uncreated(components)
            if watch.silence() > AWAY_LIMIT:
                raise ServerFailed(f"the API server has not answered for {AWAY_LIMIT:.0f} s")
            if deadline.passed:
                raise ServerFailed(
                    f"{', '.join(one.name for one in components)} did not run within {START_LIMIT:.0f} s"
                )
            deadline.sleep(_LOOK, watch.wait)

    def _refuse(self, component: Component, pod: Pod, waited: float) -> None:
        why = pods.hindrance(pod, component.name, component.kind)
        if why is not None and (pods.node(pod) or waited > ROOM_LIMIT):
            raise ServerFailed(self._with_reason(why, component.name, pod, component.kind))

    def _refuse_uncreated(self, components: Sequence[Component]) -> None:
        """A quota or a rule of the namespace may keep pods from being made: events alone tell of it."""
        kinds = ",".join(dict.fromkeys(one.kind for one in components))
        makers = self._cluster.get(MAKERS, f"--selector={self._selector},{NAME} in ({kinds})")
        uids = {one["metadata"]["uid"] for one in makers}
        for event in self._cluster.get("events", "--field-selector=reason=FailedCreate"):
            if event["involvedObject"].get("uid") in uids:
                raise ServerFailed(f"{kinds} could not be started: {' '.join(event['message'].split())}")

    def _exec(self, unit: Member, *options: str) -> list[str]:
        """Arguments of kubectl that run something beside a component."""
        return ["exec", *options, unit.pod_name, f"--container={OBSERVER}", "--"]

    def _with_reason(self, sentence: str, name: str, pod: Pod, container: str) -> str:
        """How a component ended, with its own words, all of which are kept; without them where they cannot be had."""
        words = ["logs", str(pod["metadata"]["name"]), f"--container={container}", f"--limit-bytes={READ}"]
        if pods.status(pod, container).get("restartCount", 0):
            words.append("--previous")
        try:
            printed = self._cluster.run(*words, timeout=10.0, patient=False)
        except KubectlFailed:
            return sentence
        log = self.logs(name) / "console.log"
        if printed:
            write_atomic(log, printed)
        return with_reason(sentence, printed, log)

    def _keep(self, unit: Member) -> None:
        """What it printed and wrote, as far as it can be had."""
        if not unit.there or pods.node(unit.pod) == "":
            return
        with contextlib.suppress(KubectlFailed):
            printed = self._cluster.run("logs", unit.pod_name, f"--container={unit.container}", patient=False)
            write_atomic(self.logs(unit.name) / "console.log", printed)
        if not unit.fetched and pods.started(unit.pod, OBSERVER) is not None:
            with contextlib.suppress(ServerFailed):
                self.fetch(unit.name)

    def _orphan(self, units: Sequence[Member]) -> None:
        """Take from pods what would make them anew."""
        kinds = ",".join(dict.fromkeys(one.container for one in units))
        self._cluster.run(
            "delete",
            MAKERS,
            f"--selector={self._selector},{NAME} in ({kinds})",
            "--cascade=orphan",
            "--ignore-not-found",
            whole=True,
        )

    def _end(self, units: Sequence[Member], grace: float) -> None:
        there = [one for one in units if one.there]
        if not there:
            return
        self._orphan(there)
        words = ["delete", "pods", *(one.pod_name for one in there), "--ignore-not-found", "--wait=false"]
        self._cluster.run(*words, f"--grace-period={max(1, round(grace))}", whole=True)
        if not self._gone(there, grace + GONE_LIMIT):
            self._cluster.run(*words, "--grace-period=0", "--force", whole=True)
            self._gone(there, GONE_LIMIT)

    def _gone(self, units: Sequence[Member], within: float) -> bool:
        assert self._watch is not None
        deadline = Deadline(within)
        while any(one.there for one in units):
            if deadline.passed:
                return False
            deadline.sleep(_LOOK, self._watch.wait)
        return True

    def _keep_pods(self, watch: PodWatch) -> None:
        """Where they ran, and all else that was told of them."""
        text = json.dumps(list(watch.last.values()), indent=1)
        with contextlib.suppress(OSError):
            write_atomic(self._directory / "logs" / "pods.json", f"{text}\n")

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise no_space(folder, error) from error
