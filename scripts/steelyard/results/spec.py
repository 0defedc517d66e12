# SPDX-License-Identifier: Apache-2.0
"""The spec: what one arm's trials deploy, do and expect, resolved once and kept in session.json.

`spec/` makes it; engines realise its components, the trial follows its procedure and load, the analysis reads it.
Nothing in it is decided again later. Texts may still hold `${folder}`, `${package}`, `${java}` and `${cache}`: places
that only the engine knows. Sizes are bytes, durations seconds.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from steelyard.documented import Documented
from steelyard.experiment.schema import Duet, Load, ProcedureName
from steelyard.jvm.checkpoint import Checkpoint
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.settings import JvmSettings
from steelyard.units import add_known
from steelyard.workload.journey import MixPart
from steelyard.workload.schema import Consistency, ContainerPlace, DataRequest, Limits, Ratio, Ready
from steelyard.yamlfile import Scalar

Role = Literal["server", "compiler", "database", "proxy", "service", "injector"]
ORDER: tuple[Role, ...] = ("database", "service", "compiler", "server", "proxy", "injector")
"""In which order components start: a server waits for what it calls, a proxy looks its servers up at once."""

MEASURED_ROLES: tuple[Role, ...] = ("server", "compiler")
"""Roles whose CPU and memory are what is weighed, and whose JVMs are of one build."""


class Record(Documented):
    """Base of every record of a session directory: frozen; unknown fields of the same format version are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class Artifact(Record):
    """What a component runs."""

    form: Literal["liberty", "java", "command", "image"]
    package: str | None = None
    """Name of the package in the workload file."""
    build: str | None = None
    """Fingerprint of the sources or files that it was made from; None where nothing tells (a command on PATH)."""
    path: str | None = None
    """Where the package lies, when the project's own build does not make it."""
    words: list[str] = Field(default_factory=list)
    """liberty: the server's name; java: words after the options; command: all words."""
    image: str | None = None
    """Pinned by digest where it has one."""
    jvm: JvmIdentity | None = None
    """The JVM it runs on; None where it is no JVM, or an image whose JVM is not told."""


class Component(Record):
    """Something that runs in a trial."""

    name: str
    """Unique in the trial: `server-1`, `database`, `injector-1`."""
    kind: str
    """The workload's name for it, and the bundle's service."""
    role: Role
    artifact: Artifact
    cpus: list[int]
    """Logical CPUs that it may use."""
    cpus_shared_with: int = 1
    """Components of its role that may use the same CPUs, itself included."""
    cores: float = 0.0
    """Its share of physical cores."""
    heap_bytes: int | None = None
    memory_bytes: int | None = None
    """Memory limit of its container."""
    cpu_quota: float | None = None
    """CPU time that it may take, in CPUs; None: that of all its CPUs."""
    host: str = "127.0.0.1"
    """As the other components reach it."""
    port: int | None = None
    """On this host; None: not reached from the harness."""
    serves: int | None = None
    """Port on this host at which other components reach it, where that is not `port`."""
    jvm_settings: JvmSettings | None = None
    """What was asked of its JVM, to be read back; None: nothing."""
    jvm_options: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    """Files in its folder: name -> text."""
    copies: dict[str, str] = Field(default_factory=dict)
    """Files in its folder: name -> path below the project."""
    check: str | None = None
    """One of these: a shell script that says by `--check` what this host lacks."""
    ready: Ready = Field(default_factory=Ready)
    counters: str | None = None
    info: str | None = None
    expected_info: dict[str, str] = Field(default_factory=dict)
    """What `settings` of its info must say."""
    read_back: list[str] = Field(default_factory=list)
    """Settings that have to be told as it runs (`spec/agreement.py`); `heap` also where it is left to the JVM."""
    metrics: str | None = None
    """Path of its figures in Prometheus' text format."""
    cache: Literal["cold", "warm"] | None = None
    """How each trial finds what `${cache}` holds for its kind; None: it is not declared."""
    kept: bool = False
    """Whether it stays from the start that prepares a measured one, and has served that."""
    killed_after: float | None = None
    """Seconds into the measurement at which the trial kills it on purpose."""
    started_in: str | None = None
    """Folder of this host in which it is started; None: its own."""
    checkpoint: Checkpoint = "none"
    """What it starts from: a checkpoint of its process, or from nothing."""
    data: str | None = None
    """Folder below its own with its data."""
    data_from: str | None = None
    """Folder of this host that is copied there at its start; None: what it has stays."""
    write_once: list[str] = Field(default_factory=list)
    """Folders below `data_from` whose files are linked there instead: nobody writes to them again."""
    port_taken: int | None = None
    container: ContainerPlace | None = None
    settings: dict[str, Any] = Field(default_factory=dict)  # the injector's own JSON
    """An injector's settings but for `output` and `seed` (loadgen/README.md)."""

    @property
    def large_heap(self) -> int | None:
        """Its heap, bytes, where that is to lie in large pages."""
        large = self.jvm_settings is not None and self.jvm_settings.pages == "large"
        return self.heap_bytes if large else None

    @property
    def url(self) -> str:
        """Where this host reaches it."""
        return f"http://127.0.0.1:{self.port}"


class Spec(Record):
    """One arm, resolved."""

    arm: str
    engine: str
    workload: str
    workload_version: str
    topology: str
    bundle: str
    """Folder below `compose/`, or `k8s/`."""
    remote: bool = False
    """Whether its components run where the harness sees neither their processes nor their ports."""
    procedure: ProcedureName
    load: Load
    components: list[Component]
    """In the order in which they start; injectors last."""
    entry: list[str]
    """Components that users reach."""
    through: Literal["each", "service"] = "each"
    """Whether by the name of each component, or by that of the Service before those of a kind."""
    numa: Literal["bound", "spread"] = "bound"
    """Whether the cores of each server lie next to each other, or are dealt out over the host."""
    data: list[DataRequest] = Field(default_factory=list)
    data_once: bool = True
    """Whether data that components keep in folders is loaded once, and every trial starts from a copy."""
    consistency: list[Consistency] = Field(default_factory=list)
    parts: list[MixPart] = Field(default_factory=list)
    """Parts of the mix, with the requests of each time a user plays one: what comes together."""
    mix: dict[str, float]
    """Intended share of each operation, once all have settled."""
    varying: list[str] = Field(default_factory=list)
    """Operations that are no part of the mix: how often they come depends on what answers say."""
    growing: list[str] = Field(default_factory=list)
    ratios: list[Ratio] = Field(default_factory=list)
    limits: Limits = Field(default_factory=Limits)
    """The workload's own."""
    settings: dict[str, Scalar] = Field(default_factory=dict)
    """The workload's own settings, resolved."""
    host_states: dict[str, Scalar] = Field(default_factory=dict)
    """Settings of the whole host for this arm's trials."""
    duet: Duet = False
    """Whether another arm runs beside it at the same time, on the other half of the cores, or in turns on the same."""
    server_cores: int
    injectors_share_cores: bool
    embedded: list[str] = Field(default_factory=list)
    """Components that stand in for something else (sentences)."""
    not_read_back: list[str] = Field(default_factory=list)
    """Settings that cannot be read back from the running servers."""
    notes: list[str] = Field(default_factory=list)

    def of(self, *roles: Role) -> list[Component]:
        """Components of these roles."""
        return [component for component in self.components if component.role in roles]

    @property
    def servers(self) -> list[Component]:
        """What is weighed."""
        return self.of("server")

    @property
    def checkpoint_servers(self) -> list[Component]:
        """Servers that start from a checkpoint."""
        return [server for server in self.servers if server.checkpoint != "none"]

    @property
    def cpus(self) -> set[int]:
        """Logical CPUs of this host that its components may use; none where they run elsewhere."""
        return set() if self.remote else {cpu for part in self.components for cpu in part.cpus}

    @property
    def server_cpus(self) -> set[int]:
        """Logical CPUs that the servers may use, all of them together: under SMT several for each core."""
        return {cpu for server in self.servers for cpu in server.cpus}

    @property
    def weighed_cpus(self) -> set[int]:
        """The same of servers and compilers: what compiles for servers is on their account, in CPU as in cores."""
        return {cpu for component in self.of(*MEASURED_ROLES) for cpu in component.cpus}

    @property
    def cpu_quota(self) -> float | None:
        """CPU time that servers and compilers may take together, in CPUs, by their quotas; None: one has none."""
        return add_known(component.cpu_quota for component in self.of(*MEASURED_ROLES))

    @property
    def in_turns(self) -> bool:
        """Whether it is frozen while another arm runs on its cores: its clocks tell nothing then."""
        return self.duet == "in-turns"

    @property
    def servers_tell_rates(self) -> bool:
        """Whether every server counts its requests and tells at once how many, as one that is frozen does not."""
        return not self.in_turns and all(server.counters for server in self.servers)

    @property
    def usable_cpus(self) -> float:
        """CPU time that servers and compilers can take together, in CPUs: of all of theirs, or of their quotas; of half
        of them where another arm has every other turn."""
        cpus = len(self.weighed_cpus) / (2.0 if self.in_turns else 1.0)
        return cpus if self.cpu_quota is None else min(cpus, self.cpu_quota)

    @property
    def injectors(self) -> list[Component]:
        """What issues load."""
        return self.of("injector")

    @property
    def without_injectors(self) -> list[Component]:
        """Everything but the injectors."""
        return [component for component in self.components if component.role != "injector"]

    @property
    def ports(self) -> list[int]:
        """Ports on this host that it needs."""
        if self.remote:
            return []
        ports = [port for component in self.components for port in (component.port, component.serves)]
        return [port for port in ports if port is not None]

    def caches(self, *states: Literal["cold", "warm"]) -> list[str]:
        """Kinds of component whose `${cache}` each trial finds in one of these states."""
        return list(dict.fromkeys(each.kind for each in self.components if each.cache in states))

    @property
    def needs_preparation(self) -> bool:
        """Whether its measured start has to follow another one, for the data or for a compiler that is kept."""
        return self.procedure in ("start-up", "ramp-up") and (bool(self.data) or self.keeps_compilers)

    @property
    def keeps_compilers(self) -> bool:
        """Whether its compilers have compiled for an earlier start of its servers."""
        return any(compiler.kept for compiler in self.of("compiler"))

    def component(self, name: str) -> Component:
        """The component of that name (raises StopIteration)."""
        return next(component for component in self.components if component.name == name)

    # Values of any field, as `model_copy` takes them.
    def with_changes(self, role: Role, change: Callable[[Component], Mapping[str, Any]], **more: Any) -> Self:
        """The same with other fields of its components of a role (`change` names them), and `more` of its own."""
        components = [
            component.model_copy(update=change(component)) if component.role == role else component
            for component in self.components
        ]
        return self.model_copy(update={"components": components, **more})
