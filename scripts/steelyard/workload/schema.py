# SPDX-License-Identifier: Apache-2.0
"""The workload file: an application, the ways to deploy it, its settings, its load and what shows that it worked.

These models are the only definition of the format; `steelyard schema workload` exports them as JSON Schema.

Texts may hold `${name}`: a setting of the workload (`${customers}`), something of the component itself (`${port}`,
`${folder}`, `${java}`, `${package}`; `${jvm_options}`), or something of another component
(`${database.port}`, `${database.host}`, `${proxy.url}`).
"""

import re
from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from steelyard.errors import BadInput
from steelyard.units import quote_value
from steelyard.workload.journey import GIVEN_UP, Journey, MixPart
from steelyard.yamlfile import Limit, Model, Scalar, Share, Size, nearest

Role = Literal["server", "compiler", "database", "proxy", "service"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
LATER = frozenset({"folder", "shared", "package", "java", "jdk", "cache"})
"""Places that only the engine knows: `${folder}` and the like stay as they are until a component is started."""
TAKEN = LATER | {"name", "host", "listen", "port", "status", "jvm_options"}
"""What `${...}` stands for in a workload file already: no setting can have such a name."""


def require_expression(written: str) -> None:
    """Raise ValueError where a text is no regular expression."""
    try:
        re.compile(written)
    except re.error as error:
        raise ValueError(f"it is no regular expression ({error}): correct it") from error


class WorkloadSetting(Model):
    """A setting of the workload itself; experiments name it `WORKLOAD.setting`, as a factor or under `settings`."""

    type: Literal["integer", "number", "text", "choice"]
    about: str
    """What it means, for people."""
    default: Scalar
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    """Type text: a regular expression that the whole value matches."""
    choices: list[str] | dict[str, str] | None = None
    """Its values; or each with the application's own text for it, which then stands for `${setting}`."""
    reads_back: str | None = None
    """Where a server tells it: its name in `settings` of `/bench/info`. Left out: it cannot be read back."""

    @model_validator(mode="after")
    def _default_fits(self) -> Self:
        if (self.type == "choice") != (self.choices is not None):
            raise ValueError("type choice has choices, and no other type has")
        if self.pattern is not None:
            if self.type != "text":
                raise ValueError("pattern is for type text")
            require_expression(self.pattern)
        self.check(self.default)
        return self

    def substitute(self, value: Scalar) -> Scalar:
        """What the application and the injectors are told of a value."""
        return self.choices[str(value)] if isinstance(self.choices, dict) else value

    def check(self, value: object) -> Scalar:
        """The value, if the setting allows it (raises ValueError with a sentence)."""
        kinds = {"integer": ((int,), "a whole number"), "number": ((int, float), "a number")}
        wanted, named = kinds.get(self.type, ((str,), "a text"))
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise ValueError(f"it takes {named}, not {quote_value(value)}")  # noqa: TRY004 - pydantic wants it
        assert isinstance(value, str | int | float)
        if self.choices is not None and value not in self.choices:
            raise ValueError(f"it is one of {', '.join(self.choices)}, not {quote_value(value)}")
        if self.pattern is not None and not re.fullmatch(self.pattern, str(value)):
            raise ValueError(
                f"it does not match {self.pattern}, with which it is {self.about}: {quote_value(value)}"
            )
        if isinstance(value, int | float):
            if self.minimum is not None and value < self.minimum:
                raise ValueError(f"it is at least {self.minimum:.15g}, not {value:.15g}")
            if self.maximum is not None and value > self.maximum:
                raise ValueError(f"it is at most {self.maximum:.15g}, not {value:.15g}")
        return value


class Package(Model):
    """Something built that components run from, by a path beside the workload file; exactly one of the two."""

    exactly_one = ("archive", "folder")
    archive: str | None = None
    """A zip of an Open Liberty server package (`wlp/`)."""
    folder: str | None = None
    """A folder; `${package}` is its path."""
    maven: bool = False
    """Whether the project's own Maven build makes it; else it lies there already."""


class ProcessDescription(Model):
    """How the process engine starts a component; exactly one of `liberty`, `java` and `command`."""

    exactly_one = ("liberty", "java", "command")
    package: str | None = None
    """Name of the package that it runs from."""
    liberty: str | None = None
    """An Open Liberty server of the package: its name."""
    java: list[str] | None = None
    """Words after `java` and its options: `[-jar, app.jar]`, `[-cp, "${package}/lib/*", org.example.Main]`."""
    command: list[str] | None = None
    """A whole command line, in the foreground; JVM settings need `${jvm_options}`: as a word of it, in
    one, or in a variable of its environment (`CATALINA_OPTS`)."""
    jvm: Literal["servers", "injectors"] = "servers"
    """The JDK of `java`: what the experiment compares, or the HotSpot that the injectors run on."""
    options: list[str] = Field(default_factory=list)
    """JVM options that it always has."""
    environment: dict[str, str] = Field(default_factory=dict)
    """What leads it to other components; settings belong in the component's own `environment`."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files in its folder: name -> the path of a text, from the folder of the workload file, that is copied."""
    templates: dict[str, str] = Field(default_factory=dict)
    """Files in its folder: name -> their text, with `${...}`; `${upstreams}` is an nginx `upstream` for each kind of
    server."""
    folder: str | None = None
    """Where it is started; left out: a folder of the trial."""
    data: Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")] | None = None
    """Folder below `${folder}` in which it keeps its data; a session loads it once, and each trial gets a copy."""
    port_taken: int | None = None
    """Exit code with which it says that its port is taken."""
    check: str | None = None
    """One of its `files`, a shell script: `sh FILE --check` says in one line what this host lacks, with another exit
    code than 0."""

    @model_validator(mode="after")
    def _check_package(self) -> Self:
        if self.liberty is not None and self.package is None:
            raise ValueError("liberty needs the package that holds the server")
        if self.check is not None and self.check not in self.files:
            raise ValueError("check is the name of one of its files")
        return self


class ContainerPlace(Model):
    """How a component lives in its container."""

    port: Annotated[int, Field(ge=0, le=65535)] = 9080
    """Where it listens inside."""
    status: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Where it tells of itself inside, when its `status` is true."""
    jvm_options: str | None = "JVM_ARGS"
    """Environment variable that takes JVM options; null: it has none."""
    folder: str | None = "/steelyard"
    """Folder inside in which it may write, with `logs/`; null: none."""
    user: Literal["image", "harness"] = "harness"
    """Whom it runs as: the image's own user, or the owner of the session's files."""


class ContainerDescription(ContainerPlace):
    """How engines with containers run a component: a service of the bundle, with this image."""

    exactly_one = ("repository", "image")
    repository: str | None = None
    """One of the project's own images: `REGISTRY/repository:VERSION[-FLAVOUR]`."""
    flavoured: bool = True
    """Whether the project's image exists for each JVM family."""
    image: str | None = None
    """Any other image, with a tag."""
    variable: str | None = None
    """Environment variable that names another image instead."""
    published: bool = True
    """Whether the harness needs its port on this host."""
    options: list[str] = Field(default_factory=list)
    """JVM options that it always has."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Its environment in containers alone, with `${...}`."""


class Ready(Model):
    """When a component serves."""

    path: str | None = None
    """A GET that answers `status`; left out: it accepts connections on its port."""
    status: int = 200
    within: Limit = 300.0
    """Longest time that it may take, together with what else starts beside it; twelve JVMs on two busy cores need about
    a minute."""
    live: str | None = None
    """A path that answers as soon as the server runs, without what it depends on."""


class ChosenComponent(Model):
    """What stands in a component's place is chosen by a setting: a file for each of its values (`choices.py`)."""

    setting: str
    """A setting of type choice."""
    folder: str
    """Where `VALUE.yaml` lies, from the folder of the workload file."""


class ComponentDescription(Model):
    """Something that runs in a trial."""

    role: Role
    """Where its CPU and memory are counted."""
    replicas: Literal["one", "jvms"] = "one"
    """`jvms`: as many as the experiment's `jvms`."""
    heap_weight: Annotated[int, Field(ge=1, le=1000)] = 1
    """Its part of a total heap and a total memory limit, relative to the other kinds of server."""
    cpus: Literal["servers", "injectors"] | None = None
    """On whose cores it runs; left out: databases with the injectors (the other side of the wire), all else with the
    servers."""
    process: ProcessDescription | None = None
    container: ContainerDescription | None = None
    one_of: ChosenComponent | None = None
    """In the place of both: files that a setting chooses between."""
    write_once: list[Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")]] = Field(default_factory=list)
    """Folders below the `data` of its process where files come and go, and none is written to again: a trial gets links
    to them, as copies of a gigabyte of small files take a minute. A file that was written to ends the session."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Settings that it takes from its environment, on every engine."""
    threads: str | None = None
    """Environment variable for the size of its thread pool; left out: `threads` cannot be set."""
    ready: Ready = Field(default_factory=Ready)
    counters: str | None = None
    """Path of its request counts (`/bench/counters`); left out: the ledger says which checks are missing."""
    info: str | None = None
    """Path of what it says of itself (`/bench/info`)."""
    metrics: str | None = None
    """Path of figures of its own in Prometheus' text format, which are kept each second."""
    status: bool = False
    """Whether it tells of itself (`ready`, `counters`, `info`, `metrics`) on a port of its own, `${status}`."""

    @model_validator(mode="after")
    def _runs_somewhere(self) -> Self:
        if (self.process is None and self.container is None) != (self.one_of is not None):
            raise ValueError("say how it runs: process, container, or both; or one_of")
        if self.container is not None and (self.container.status is not None) != self.status:
            raise ValueError("status goes with the container's status: its port inside")
        return self


class ComponentRequest(Model):
    """A GET sent to a component: in a workload file the first of a kind."""

    component: str
    path: str


class DataRequest(ComponentRequest):
    """A GET that loads data."""

    contains: str | None = None
    """What the answer holds when all is loaded: the status of an answer that is sent while it works tells nothing."""


class Consistency(ComponentRequest):
    """A GET after the load whose answer shows that the data is sound."""

    equals: str | None = None
    """What the answer must be, white space aside."""
    matches: str | None = None
    """A regular expression that it must match."""
    about: str

    @field_validator("matches")
    @classmethod
    def _is_an_expression(cls, written: str | None) -> str | None:
        require_expression(written or "")
        return written


class Ratio(Model):
    """A ratio of counts of the injectors that shows whether the workload did what it should, chance left out."""

    name: str
    count: str
    """An operation, or an outcome that the scenario counts."""
    per: str
    low: float
    high: float
    together: Annotated[int, Field(ge=1)] = 1
    """How many of the counted come at once (pictures of a page): so many tell no more than one."""


class TimeLimits(Model):
    """What answers may take."""

    p50: Limit | None = None
    p90: Limit | None = None
    p99: Limit | None = None


class Limits(TimeLimits):
    """What answers may take, all operations together, and what else holds in a trial that is within limits; a search
    uses them when it names none of its own."""

    errors: Share | None = None
    """Failed requests / all requests."""
    operations: dict[str, TimeLimits] = Field(default_factory=dict)
    """What the answers of single operations may take. One that was not asked for is judged by the mix alone."""
    cycle_time: Share | None = None
    """Closed model with cycle times: by how much their mean may differ from that drawn, of any operation."""
    mix: Share | None = None
    """By how much the share of any operation may differ from the intended one, chance left out; left out: 2 %."""


class Topology(Model):
    """One way to deploy the workload."""

    exactly_one = ("scenario", "journey")
    about: str
    bundle: str | None = None
    """Folder below `compose/`; left out: `server`, for one kind of server in an image of any origin."""
    components: dict[Name, ComponentDescription]
    entry: str | None = None
    """The component that users reach; left out: the servers."""
    settings: dict[str, Scalar] = Field(default_factory=dict)
    """Other defaults of the workload's settings in this topology."""
    scenario: str | None = None
    """Name of a load that is built into the injector."""
    parameters: dict[str, Scalar] = Field(default_factory=dict)
    """Parameters of the scenario, or constants of the journey."""
    probe: dict[str, Scalar] = Field(default_factory=dict)
    """Parameters that differ in a start-up trial, in which one user tries every operation as soon as it can."""
    journey: Journey | None = None
    """A load that needs no program; exactly one of scenario and journey."""
    mix: list[MixPart] = Field(default_factory=list)
    """What operations a scenario sends; of a journey it follows from its visits."""
    growing: list[str] = Field(default_factory=list)
    """Operations whose share grows to its figure from nothing while the data fills up."""
    ratios: list[Ratio] = Field(default_factory=list)
    data: list[DataRequest] = Field(default_factory=list)
    """What loads data once the servers are ready."""
    consistency: list[Consistency] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_components(self) -> Self:
        if self.scenario is not None and not self.mix:
            raise ValueError("a scenario needs mix: what operations it sends")
        if not any(component.role == "server" for component in self.components.values()):
            raise ValueError("no component has the role server")
        named = [step.component for step in self.data] + [check.component for check in self.consistency]
        for name in [*named, *([self.entry] if self.entry else [])]:
            if name not in self.components:
                raise ValueError(f"there is no component {name!r}: there are {', '.join(self.components)}")
        if self.journey is not None:
            self.journey.require_names(self.parameters)
        known = self.operations()
        # A scenario counts outcomes too, which only it knows.
        counted = [name for ratio in self.ratios for name in (ratio.count, ratio.per)] if self.journey else []
        for name in (*self.growing, *counted):
            if name not in (*known, GIVEN_UP):
                raise ValueError(f"there is no operation {name!r}{nearest(name, known)}")
        return self

    def operations(self) -> list[str]:
        """What operations its users send."""
        return (
            self.journey.operations()
            if self.journey
            else list(chain(*(part.operations for part in self.mix)))
        )

    def kinds(self, role: Role) -> dict[str, ComponentDescription]:
        """Components of a role, by name."""
        return {name: component for name, component in self.components.items() if component.role == role}


class Workload(Model):
    """An application, described by one file."""

    steelyard: Literal[1]
    """Version of the file format."""
    name: Name
    version: str
    """Of the workload: sessions of different versions must not be compared."""
    title: str
    min_heap: Size = 32 * 1024 * 1024
    """Smallest maximum heap with which a server starts and serves."""
    packages: dict[Name, Package] = Field(default_factory=dict)
    settings: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], WorkloadSetting] = Field(
        default_factory=dict
    )
    limits: Limits = Field(default_factory=Limits)
    notes: dict[str, str] = Field(default_factory=dict)
    """Sentences that belong beside every figure: component -> what is special about it on the process engine."""
    topologies: Annotated[dict[Name, Topology], Field(min_length=1)]
    """By name; the first is the default."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in self.settings.keys() & TAKEN:
            raise ValueError(f"settings: ${{{name}}} stands for something else: give {name} another name")
        for name, topology in self.topologies.items():
            for key, value in topology.settings.items():
                if key not in self.settings:
                    raise ValueError(f"topology {name}: there is no setting {key!r}")
                self.settings[key].check(value)
            for component_name, component in topology.components.items():
                if component.one_of is not None and not self._chooses(component.one_of.setting):
                    raise ValueError(
                        f"topology {name}, component {component_name}: no setting {component.one_of.setting!r} of type"
                        " choice"
                    )
                package = component.process.package if component.process else None
                if package is not None and package not in self.packages:
                    raise ValueError(
                        f"topology {name}, component {component_name}: there is no package {package!r}"
                        f"{nearest(package, sorted(self.packages))}: declare it in packages"
                    )
        known = {name for topology in self.topologies.values() for name in topology.operations()}
        for name in self.limits.operations:
            if name not in known:
                raise ValueError(f"limits: there is no operation {name!r}{nearest(name, sorted(known))}")
        return self

    def _chooses(self, setting: str) -> bool:
        return setting in self.settings and self.settings[setting].type == "choice"

    def topology(self, name: str | None) -> tuple[str, Topology]:
        """The topology of that name, the first for None (raises BadInput)."""
        chosen = next(iter(self.topologies)) if name is None else name
        if chosen not in self.topologies:
            raise BadInput(f"{self.name} has no topology {chosen}: there is {', '.join(self.topologies)}")
        return chosen, self.topologies[chosen]

    def resolve_settings(self, topology: str | None, given: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The workload's settings in a topology, with what an experiment says (names without the workload's)."""
        _, chosen = self.topology(topology)
        defaults = {name: setting.default for name, setting in self.settings.items()}
        return {**defaults, **chosen.settings, **given}
