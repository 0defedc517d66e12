# SPDX-License-Identifier: Apache-2.0
"""The experiment file: a question, as data.

These models are the only definition of the format; `steelyard schema` exports them as JSON Schema for
editors. Sizes are bytes and durations are seconds once read (see `steelyard.units` for how they are written).
"""

import math
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from steelyard.jvm.checkpoint import Checkpoint
from steelyard.jvm.jitserver import JitServer
from steelyard.jvm.settings import JvmSettings
from steelyard.units import format_value, parse_size, quote_value
from steelyard.workload.schema import Limits
from steelyard.yamlfile import DURATION_PATTERN, AnswerLimit, Duration, Model, Scalar, Size, key_error

EngineName = Literal["process", "compose", "kubernetes"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
ProcedureName = Literal["steady", "start-up", "ramp-up", "survive"]
_LONGEST = 6 * 86_400
"""Seconds of each part of a load: with what an injector goes on for, less than the seven days that it takes."""
Measure = Annotated[Duration, Field(ge=1, le=_LONGEST)]
"""A measurement: a second at least, as samples are taken each second."""
MOST_USERS, LEAST_RATE, MOST_RATE = 100_000, 0.001, 1_000_000
"""Users and arrivals/s of one injector (Settings.java)."""
Blocks = Annotated[int, Field(ge=1, le=1000)]


class OwnFigure(Model):
    """Which figure of a session stands beside a published one: the change of a metric between two arms."""

    metric: str
    """A metric, or `search`: what the searches found."""
    arm: dict[str, str | int | float | bool]
    """Levels of the arm; a factor that is left out is as in the baseline."""
    against: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Levels of the arm that it is compared with; left out: the baseline."""


class StudyFigure(Model):
    """One published figure, shown beside the user's own (never compared host with host)."""

    where: str
    """Which arm or step it belongs to, in the study's words, for example `1 -> 4 JVMs`."""
    value: str
    """What was measured there, for example `+188 % throughput`."""
    own: OwnFigure | None = None
    """The figure of a session that answers it; left out: none does."""


class Study(Model):
    """The published study that the experiment repeats."""

    title: str
    published: str
    """Publisher and date, for example `Open Liberty blog, February 2022`."""
    address: Annotated[str, Field(pattern=r"^https://[^\s<>\"]+$")] | None = None
    """Where it can be read, an https address; left out: the address was not kept."""
    setup: str
    """The study's hardware and software, in one or two sentences."""
    figures: list[StudyFigure] = Field(default_factory=list)


class DeploymentSettings(Model):
    """What a trial deploys."""

    engine: EngineName = "process"
    """What realises the topology: `process` starts the servers as processes of this host, `compose` as containers,
    `kubernetes` as pods of a cluster."""
    jdk: str | None = None
    """What the servers run on. Processes: a path, or a name that `doctor` lists; containers: a flavour (`openj9`,
    `hotspot`) or a whole image reference. Left out: `--jdk`, or the default of the engine."""
    build: str | None = None
    """What the servers were built from. Processes: a commit of this checkout; containers: another version (tag) of
    their images. Left out: the checkout as it is."""
    topology: str | None = None
    """How a workload that can be deployed in several ways is deployed; left out: the first (docs/experiments.md)."""
    jvms: Annotated[int, Field(ge=1, le=256)] = 1
    """Number of server JVMs; of a topology with several services: of each service."""
    cores: Annotated[int, Field(ge=1)] | Literal["all"] = "all"
    """Physical cores that the servers get together (an SMT core counts once)."""
    injector_cores: Annotated[int, Field(ge=1)] | Literal["auto", "shared"] = "auto"
    """Cores kept for the injectors; `shared`: injectors run on the servers' cores; `auto`: what the
    servers leave; where that is nothing, a quarter of the host's cores when it has eight or more, up to half where more
    JVMs get equal cores so, else shared; the same in all arms. The report says when they are shared."""
    total_heap: Size | None = None
    """Maximum heap of all JVMs together, split evenly; over several services by the weights of the workload."""
    through: Literal["each", "service"] = "each"
    """How injectors reach the servers. `each`: every server by its own name, users dealt out evenly; `service`: by the
    Service of a cluster, which deals out connections, and is part of what is measured (engine kubernetes)."""
    numa: Literal["bound", "spread"] = "bound"
    """`bound`: the cores of each server lie next to each other, on one NUMA node as far as they fit (the plan says of
    how many they do not); `spread`: they are dealt out, so that each server has cores of every node."""
    threads: Annotated[int, Field(ge=4, le=10_000)] | Literal["default"] = "default"
    """Threads of each server's pool: a fixed number (Liberty has 4 at least), or `default` for its autonomics."""
    memory: Size | None = None
    """Memory limit of each server's container, swap included; needs an engine that runs containers."""
    total_memory: Size | None = None
    """Memory limit of all servers' containers together, split as `total_heap` is."""
    cpus: Annotated[float, Field(ge=0.1, le=1024)] | None = None
    """CPU time that each server may take, in CPUs: a quota, of its container or of a control group that its process is
    put into (as root of the host)."""
    checkpoint: Checkpoint = "none"
    """What servers start from. `none`: from nothing, as usual; else from a checkpoint of their process that each trial
    takes before its measured start (Liberty's InstantOn, by CRIU, on OpenJ9): `before_app_start` when the features are
    up, `after_app_start` when the applications are, too."""
    jvm: JvmSettings = Field(default_factory=JvmSettings)
    jitserver: JitServer = Field(default_factory=JitServer)

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        for total, each, size in (
            ("total_heap", "jvm.heap", self.jvm.heap),
            ("total_memory", "memory", self.memory),
        ):
            if size is not None and getattr(self, total) is not None:
                raise ValueError(
                    f"give either {total} (split over the JVMs) or {each} (for each JVM), not both"
                )
        limits = (self.memory, self.total_memory, self.jitserver.memory)
        if self.engine == "process" and any(limit is not None for limit in limits):
            raise ValueError(
                "memory is the limit of a container: set engine: compose or kubernetes, or leave it out"
            )
        if self.through == "service" and self.engine != "kubernetes":
            raise ValueError("through: service is for engine: kubernetes: set that, or leave it out")
        return self


class Warmup(Model):
    """Until when load runs before the measurement starts; a plain duration is a fixed warm-up of that length."""

    model_config = ConfigDict(
        json_schema_extra={"type": ["object", "string", "number"], "pattern": DURATION_PATTERN}
    )
    until: Literal["steady", "compiled", "fixed"] = "steady"
    """`steady`: throughput shows no change point or slope and the JIT is quiet (docs/explanation/warm-up.md); it takes
    73 s or more. `compiled`: the JIT takes less than a fifth of the servers' CPU, and asks for less than half.
    `fixed`: for `at_least`."""
    at_least: Annotated[Duration, Field(le=_LONGEST)] = 30.0
    at_most: Annotated[Duration, Field(le=_LONGEST)] = 180.0
    """Cap; a trial that has waited for `steady` so long is marked *not steady*, kept and shown."""

    @model_validator(mode="before")
    @classmethod
    def _plain_duration(cls, data: Any) -> Any:
        if isinstance(data, str | int | float):
            return {"until": "fixed", "at_least": data, "at_most": data}
        return data

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.until != "fixed" and self.at_most < self.at_least:
            raise ValueError(
                f"at_most ({self.at_most:g}s) is shorter than at_least ({self.at_least:g}s): raise it"
            )
        return self


class Load(Model):
    """What the injectors do, all of them together."""

    model: Literal["closed", "open"] = "closed"
    """`closed`: each user waits for the answer before the next request; `open`: requests arrive at a rate, whether
    earlier ones were answered or not."""
    users: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Closed model: number of virtual users, at most 100,000 for each injector."""
    users_per_jvm: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The same for each server JVM, in place of `users`: as many times as the arm has `jvms`."""
    rate: Annotated[float, Field(gt=0, le=10_000_000)] | None = None
    """Open model: arrivals per second, at most 1,000,000 for each injector."""
    capacity: Annotated[float, Field(gt=0, le=10_000_000)] | None = None
    """Open model: arrivals per second that the servers take at most, for `share`. What a search of the rate
    (`capacity-rate`) found with these servers on this host goes first, unless the command line states it."""
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Open model: the rate as a share of `capacity`, in place of `rate`."""
    arrivals: Literal["even", "exponential"] = "even"
    """Open model: the time between two arrivals, always the same or exponentially distributed."""
    think_time: Annotated[Duration, Field(le=3600)] = 0.0
    """Closed model: how long a user waits between two operations, as a mean; what a journey says itself goes first.
    An hour at most."""
    injectors: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of injector processes."""
    ramp: Annotated[Duration, Field(le=_LONGEST)] = 2.0
    """Time over which users or the rate come up, before the warm-up."""
    warmup: Warmup = Field(default_factory=Warmup)
    """Until when load runs before the measurement starts: a fixed duration, or `until` `steady` (throughput shows no
    change and the JIT is quiet) or `compiled` (the JIT takes less than a fifth of the servers' CPU), between `at_least`
    and `at_most`."""
    measure: Measure = 60.0
    """Length of the measurement window."""
    request_timeout: AnswerLimit = 30.0
    """How long an injector waits for an answer; a request without one by then is an error. Ten minutes at most."""
    mix: dict[str, Annotated[float, Field(gt=0, le=100)]] | None = None
    """Left out: the workload's own mix. Only for a journey in the workload file: percent of its visits."""

    @model_validator(mode="after")
    def _model_has_its_size(self) -> Self:
        users = (self.users is not None) + (self.users_per_jvm is not None)
        if users > 1:
            raise ValueError("give either users or users_per_jvm, not both")
        if self.share is not None and self.rate is not None:
            raise ValueError("give either rate or share (of capacity), not both")
        if (self.share is None) != (self.capacity is None):
            raise ValueError("a load by share needs capacity, and capacity means nothing without share")
        rate = self.rate is not None or self.share is not None
        if self.model == "closed" and (not users or rate):
            raise ValueError("a closed model needs users and has no rate: give users, or make model open")
        if self.model == "open" and (not rate or users):
            raise ValueError("an open model needs rate and has no users: give rate, or make model closed")
        if self.users is not None and self.users < self.injectors:
            raise ValueError(f"{self.users} users cannot be spread over {self.injectors} injectors")
        if self.users is not None and self.users > MOST_USERS * self.injectors:
            raise ValueError(
                f"{self.users} users are more than {MOST_USERS:,} for each injector: add injectors"
            )
        if self.rate is not None and not LEAST_RATE <= self.rate / self.injectors <= MOST_RATE:
            raise ValueError(
                f"rate: an injector offers {LEAST_RATE} to {MOST_RATE:,} arrivals/s, not"
                f" {self.rate / self.injectors:g}: change rate or injectors"
            )
        if self.mix is not None and abs(sum(self.mix.values()) - 100) > 0.01:
            raise ValueError(f"mix adds up to {sum(self.mix.values()):g} %, not 100 %")
        return self


Duet = bool | Literal["in-turns"]
"""Whether and how two arms run at once."""


class Design(Model):
    """How trials are arranged."""

    blocks: Blocks = 6
    """Blocks of a session: every arm once in each. One is enough for a search alone, which then has no interval."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Seed of the order; left out: drawn and recorded."""
    repeats: Annotated[int, Field(ge=0, le=10)] = 2
    """How often void trials may be repeated with what they are compared with: rounds per block."""
    equal: bool = False
    """Arms may be equal: a session that shows nothing but the noise of a host."""
    duet: Duet = False
    """The two arms of a block run at once, each on half of the cores; they swap halves from block to block. `in-turns`:
    both on all cores, each frozen while the other runs, in turns of 0.25 s."""


class Search(Model):
    """A session that chooses each trial's load or limit from those before; exactly one of raise, lower and hold."""

    exactly_one = ("raise_", "lower", "hold")
    raise_: Literal["users", "rate"] | None = Field(default=None, alias="raise")
    """The load that is raised as far as every limit of `within` holds."""
    within: Limits = Field(default_factory=Limits)
    """Limits of a passing trial, all operations together; `raise` takes the workload's own where none is given."""
    lower: Literal["memory"] | None = None
    """The limit of each server's container that is lowered as far as the trial survives, and `within` holds."""
    while_: Literal["survives"] | None = Field(default=None, alias="while")
    hold: Literal["cpu"] | None = None
    """What is to be held: the CPU time of the servers, as a share of the logical CPUs that they may use."""
    at: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The share."""
    start: Scalar | None = None
    """Where the search begins; left out: the experiment's own users, rate or memory."""
    minimum: Scalar | None = None
    """Smallest value that is tried."""
    maximum: Scalar | None = None
    """Largest value that is tried; left out: the most users or arrivals/s that the injectors take."""
    resolution: Annotated[float, Field(gt=0, le=1)] = 0.05
    """How close, as a fraction, the last value that passed and the first that failed have to be; of `hold`: how close
    the measured share has to be to the one asked for."""
    confirm: Annotated[int, Field(ge=0, le=3)] = 1
    """Further fresh starts that have to agree before an edge is believed (docs/searches.md)."""
    trials: Annotated[int, Field(ge=3, le=50)] = 14
    """Most trials of one search, void ones included; one that is not through by then says so."""

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if (self.lower is not None) != (self.while_ is not None):
            raise ValueError("lower: memory goes with while: survives")
        if (self.hold is not None) != (self.at is not None):
            raise ValueError("hold: cpu goes with at: a share of the servers' CPUs")
        if self.hold is not None and self.within != Limits():
            raise ValueError("hold has no limits: leave within out")
        return self

    @model_validator(mode="after")
    def _values_in_order(self) -> Self:
        given = [value for key in ("minimum", "start", "maximum") if (value := self.value(key)) is not None]
        if any(value <= 0 for value in given) or given != sorted(given):
            raise ValueError("minimum, start and maximum are above zero and in that order")
        return self

    def value(self, key: Literal["minimum", "start", "maximum"]) -> float | None:
        """A value of the file as a number: users, arrivals/s, or bytes of memory; None where it was left out."""
        written: Scalar | None = getattr(self, key)
        if written is None:
            return None
        value = float(parse_size(str(written))) if self.lower is not None else float(written)
        if not math.isfinite(value):
            raise ValueError(f"{key} is a number with an end, not {quote_value(written)}")
        return value


class Metrics(Model):
    """Which figures answer the question (names: `steelyard list --metrics`, docs/metrics.md)."""

    primary: str = "throughput"
    report: list[str] = Field(default_factory=lambda: ["memory_rss", "cpu_per_1k"])
    """Further figures in the headline table; corrected for their number, they annotate."""
    counters: list[str] = Field(default_factory=list)
    """What perf counts of each component where the host allows: names of docs/metrics.md, or `all`."""


class Factor(Model):
    """What is varied: its levels are values of the setting of that name, or named groups of settings."""

    label: str | None = None
    levels: (
        Annotated[list[Scalar], Field(min_length=1)]
        # A group may set lists and mappings too: of any type until the models have checked them.
        | Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
        | Literal["host"]
    )
    """`host`: of a host state, the levels that the host has on which the session is planned."""

    def values(self, name: str) -> list[tuple[str, Any]]:
        """Every value that a level gives to a setting; `name` is the factor's own."""
        if isinstance(self.levels, dict):
            return [item for group in self.levels.values() for item in group.items()]
        if self.levels == "host":
            return []
        return [(name, level) for level in self.levels]


class Quick(Model):
    """What `--quick` changes: fewer levels, fewer blocks, shorter windows. An indication, not an answer."""

    blocks: Blocks = 5
    levels: dict[str, Annotated[list[Scalar], Field(min_length=1)]] = Field(default_factory=dict)
    """Fewer levels of some factors."""
    settings: dict[str, Any] = Field(default_factory=dict)  # of any type until the models have checked them
    """Other settings, by the same names as factors, for example `compile: foreground`."""
    ramp: Annotated[Duration, Field(le=_LONGEST)] = 1.0
    warmup: Warmup = Field(default_factory=lambda: Warmup(until="compiled", at_least=4.0, at_most=45.0))
    measure: Measure = 6.0
    search: dict[Literal["at", "start", "minimum", "maximum", "resolution", "confirm", "trials"], Scalar] = (
        Field(default_factory=dict)
    )
    """Another level, other values and bounds of a search."""
    note: str | None = None
    """What the short session cannot show: stands in its plan and beside its figures."""

    def of(self, search: Search | None) -> Search | None:
        """The search as `--quick` runs it."""
        return search and Search.model_validate({**search.model_dump(by_alias=True), **self.search})


class Experiment(Model):
    """One question in one YAML file."""

    steelyard: Literal[1]
    """Version of the file format."""
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
    title: str
    question: str
    study: Study | None = None
    workload: str
    """Name of a workload, or the path of a workload file."""
    settings: dict[str, Scalar] = Field(default_factory=dict)
    """The workload's own settings, named `WORKLOAD.setting`, and settings of the host."""
    procedure: ProcedureName = "steady"
    """What a trial does with what it deployed."""
    search: Search | None = None
    factors: Annotated[dict[str, Factor], Field(min_length=1)]
    baseline: dict[str, Scalar] = Field(default_factory=dict)
    """Levels of the baseline arm; left out: the first level of each factor."""
    deployment: DeploymentSettings = Field(default_factory=DeploymentSettings)
    load: Load = Field(default_factory=lambda: Load(users=1))
    """Left out: one user; a start-up trial has no load but the first request of each operation."""
    metrics: Metrics = Field(default_factory=Metrics)
    design: Design = Field(default_factory=Design)
    quick: Quick = Field(default_factory=Quick)

    @model_validator(mode="after")
    def _search_fits(self) -> Self:
        if self.search is None:
            if min(self.design.blocks, self.quick.blocks) < 2:
                where = "design" if self.design.blocks < 2 else "quick"
                raise key_error((where, "blocks"), "an interval needs two blocks or more")
            if self.quick.search:
                raise ValueError("quick.search: the experiment has no search")
            return self
        wanted = "survive" if self.search.lower is not None else "steady"
        if self.procedure != wanted:
            raise ValueError(f"this search needs procedure: {wanted}")
        self.quick.of(self.search)
        return self

    @model_validator(mode="after")
    def _baseline_is_a_level(self) -> Self:
        for name, level in self.baseline.items():
            if name not in self.factors:
                listed = ", ".join(self.factors)
                raise key_error(("baseline", name), f"{name!r} is no factor: factors are {listed}")
            levels = list(self.factors[name].levels)
            if self.factors[name].levels != "host" and level not in levels:
                listed = ", ".join(map(format_value, levels))
                raise key_error(
                    ("baseline", name), f"{quote_value(level)} is not a level: levels are {listed}"
                )
        return self
