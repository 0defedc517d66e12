# SPDX-License-Identifier: Apache-2.0
"""What an arm is made of: kinds of component, how many of each, where they are reached, and `${name}` in texts.

Through it go the arm (what is wanted), the workload (what it is made of) and the runtime (what it runs on).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.jvm.identity import JvmIdentity
from steelyard.results.spec import ORDER
from steelyard.spec.jitserver import compilers, relays
from steelyard.workload.choices import values_that_run
from steelyard.workload.loader import LoadedWorkload
from steelyard.workload.schema import (
    LATER,
    ChosenComponent,
    ComponentDescription,
    ContainerDescription,
    ProcessDescription,
    Topology,
)
from steelyard.yamlfile import Scalar

FIRST_PORT = 9080
LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
"""Every address of a host, or of a container."""
_NAME = re.compile(r"\$\{([A-Za-z][\w.-]*)\}")


@dataclass(frozen=True)
class Runtime:
    """The artifacts of one arm, as far as this host had to be asked: JVMs, builds, images."""

    server_jvm: JvmIdentity | None
    """None: an image that does not tell."""
    injector_jvm: JvmIdentity
    build: str | None
    """Fingerprint that `/bench/info` of the project's own servers must report."""
    tools: str | None
    """Fingerprint of the build that the injectors and embedded databases come from: the checkout as it is."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Process engine: where packages lie that the project's build does not make, by name."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Engines with containers: pinned image by kind of component, `injector` among them."""
    jcmd: bool = True
    """Whether the servers' JDK has `jcmd`; runtimes do without."""
    embedded: frozenset[str] = frozenset()
    """Kinds of component that stand in for something else here."""
    cpus: int | None = None
    """CPUs that a cluster offers; None: it runs on this host, whose processes can be looked at."""
    notes: tuple[str, ...] = ()
    """What belongs beside every figure of it."""

    @property
    def here(self) -> bool:
        """Whether it runs on this host."""
        return self.cpus is None


@dataclass(frozen=True)
class Layout:
    """The components of an arm, before their resources."""

    arm: Arm
    loaded: LoadedWorkload
    runtime: Runtime
    first_port: int = FIRST_PORT
    """Port on this host that leads into the application; the others follow."""
    listen: str = LOOPBACK
    """Address of this host on which servers and proxies listen as processes."""

    @cached_property
    def in_containers(self) -> bool:
        """Whether components run in containers."""
        return self.arm.deployment.engine != "process"

    @cached_property
    def named_topology(self) -> tuple[str, Topology]:
        """Name of the topology, and what the workload says of it (raises BadInput)."""
        return self.loaded.workload.topology(self.arm.deployment.topology)

    @property
    def topology(self) -> Topology:
        """What the workload says of the topology."""
        return self.named_topology[1]

    @cached_property
    def settings(self) -> dict[str, Scalar]:
        """The workload's own settings, resolved."""
        return self.loaded.workload.resolve_settings(self.named_topology[0], dict(self.arm.settings))

    @cached_property
    def substitutes(self) -> dict[str, Scalar]:
        """The same as `${setting}` stands for them."""
        known = self.loaded.workload.settings
        return {name: known[name].substitute(value) for name, value in self.settings.items()}

    @cached_property
    def compilers(self) -> dict[str, ComponentDescription]:
        """What compiles for the servers, by kind."""
        return compilers(self.arm.deployment)

    @cached_property
    def relays(self) -> dict[str, ComponentDescription]:
        """What stands between servers and compilers, by kind."""
        return relays(self.arm.deployment)

    @cached_property
    def kinds(self) -> dict[str, ComponentDescription]:
        """Kinds of component in the order in which they start."""
        described = {**self.topology.components, **self.compilers, **self.relays}
        return dict(sorted(described.items(), key=lambda item: ORDER.index(item[1].role)))

    def how(self, component: str) -> ProcessDescription | ContainerDescription:
        """How a kind runs with the arm's engine (raises BadInput where the workload does not say)."""
        launch = self.kinds[component].container if self.in_containers else self.kinds[component].process
        if launch is None and (one_of := self.kinds[component].one_of) is not None:
            setting = f"{self.loaded.workload.name}.{one_of.setting}"
            raise BadInput(
                f"{setting}={self.settings[one_of.setting]} does not run with the {self.arm.deployment.engine} engine:"
                f" take another {setting} ({', '.join(self._able(one_of))}), or another engine"
            )
        if launch is None:
            raise BadInput(
                f"{self.loaded.workload.name} does not say how its {component} runs with the"
                f" {self.arm.deployment.engine} engine: add {'container' if self.in_containers else 'process'} to it,"
                " or choose another engine"
            )
        return launch

    def _able(self, one_of: ChosenComponent) -> list[str]:
        """The values of a setting whose components run with the arm's engine."""
        choices = self.loaded.choices[(self.loaded.folder / one_of.folder).resolve()]
        return values_that_run(choices, in_containers=self.in_containers)

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """Names of the components of each kind (raises BadInput where `jvms` would change nothing)."""
        self._refuse_idle_jvms()
        jvms = range(1, self.arm.deployment.jvms + 1)
        return {
            component: [f"{component}-{number}" for number in jvms]
            if described.replicas == "jvms"
            else [component]
            for component, described in self.kinds.items()
        }

    def _refuse_idle_jvms(self) -> None:
        """Several JVMs in a topology that has one of each: two arms would be the same, or share no data."""

        def several(topology: Topology) -> bool:
            return any(component.replicas == "jvms" for component in topology.components.values())

        if self.arm.deployment.jvms == 1 or several(self.topology):
            return
        name, workload = self.named_topology[0], self.loaded.workload
        others = [other for other, topology in workload.topologies.items() if several(topology)]
        instead = f", or the topology {' or '.join(others)}" if others else ""
        raise BadInput(
            f"jvms is {self.arm.deployment.jvms}, but the topology {name} of {workload.name} is"
            f" {self.topology.about}, which is there once: take jvms 1{instead}"
        )

    @property
    def servers(self) -> list[str]:
        """The kind of each server JVM."""
        return [component for component in self.topology.kinds("server") for _ in self.names[component]]

    @cached_property
    def ports(self) -> dict[str, int]:
        """Ports on this host: the entry takes the first; servers follow, then all else that needs one."""
        hows = {component: self.how(component) for component in self.kinds}
        wanted = [
            component
            for component, how in hows.items()
            if not isinstance(how, ContainerDescription) or how.published
        ]
        wanted.sort(
            key=lambda component: (component != self.topology.entry, self.kinds[component].role != "server")
        )
        names = [name for component in wanted for name in self.names[component]]
        return {name: self.first_port + index for index, name in enumerate(names)}

    @cached_property
    def status(self) -> dict[str, int]:
        """Ports on this host at which components tell of themselves, of those that do so on a port of their own."""
        apart = [
            name
            for component, described in self.kinds.items()
            if described.status
            for name in self.names[component]
        ]
        return {name: self.first_port + len(self.ports) + index for index, name in enumerate(apart)}

    def address(self, component: str) -> tuple[str, int]:
        """Host and port at which other components reach a kind."""
        how = self.how(component)
        if isinstance(how, ContainerDescription):
            return component, how.port
        return LOOPBACK, self.ports[self.names[component][0]]

    def values(self, component: str, name: str) -> dict[str, object]:
        """What `${...}` stands for in the texts of a component."""
        values: dict[str, object] = {**self.substitutes, "name": name}
        for other in self.kinds:
            host, port = self.address(other)
            values |= {f"{other}.host": host, f"{other}.port": port, f"{other}.url": f"http://{host}:{port}"}
            if not self.in_containers:
                values[f"{other}.folder"] = f"${{folder:{self.names[other][0]}}}"
        host, port = self.address(component)
        how = self.how(component)
        status = how.status if isinstance(how, ContainerDescription) else self.status.get(name)
        own: dict[str, object] = {} if status is None else {"status": status}
        own["listen"] = EVERYWHERE if self.in_containers else self.listen
        return values | {"host": host, "port": port if self.in_containers else self.ports[name], **own}


def fill(text: str, values: Mapping[str, object], where: str, later: frozenset[str] = LATER) -> str:
    """The text with every `${name}` replaced, but for names that stand for something `later`.

    Raises:
        BadInput: a name that stands for nothing; the sentence says `where`.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name in later:
            return match[0]
        if name not in values:
            raise BadInput(f"{where}: ${{{name}}} stands for nothing: there are {', '.join(sorted(values))}")
        return str(values[name])

    return _NAME.sub(value_of, text)


def fill_value(value: object, values: Mapping[str, object], where: str) -> object:
    """The same for a value that may be no text; one that is nothing but `${name}` keeps its type."""
    if not isinstance(value, str):
        return value
    match = _NAME.fullmatch(value)
    if match and match[1] in values:
        return values[match[1]]
    return fill(value, values, where)
