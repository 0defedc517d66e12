# SPDX-License-Identifier: Apache-2.0
"""What the harness has to know of each workload: its topologies, its operation mix, how its data is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.units import MIB


@dataclass(frozen=True)
class Service:
    """One kind of server of a topology; a trial runs one or several JVMs of it."""

    name: str
    """As in the bundle; where there is a proxy, also the prefix of the paths that lead to it."""
    server: str
    """The Liberty server in the workload's package."""
    heap_weight: int = 1
    """Its part of a total heap, relative to the other services."""
    database: str | None = None
    """The database that it uses, as named in the bundle."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """Services that it calls: environment variable that takes the base URL -> service."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it is always told beside."""


@dataclass(frozen=True)
class Request:
    """A GET that prepares the data of a trial, sent to the first server of a service."""

    service: str
    path: str
    """May hold `{customers}`."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of counts of the injectors that shows whether the workload did what it should.

    Counts are requests by operation and outcomes by name.
    """

    name: str
    """For people, for example `outbound flights found per query`."""
    count: str
    per: str
    low: float
    high: float
    """Limits between which it may lie, chance left out."""


@dataclass(frozen=True)
class Kind:
    """One way to deploy a workload."""

    bundle: str
    """Folder below `compose/`."""
    scenario: str
    """The injector's name for its load."""
    services: tuple[Service, ...]
    per_visit: Mapping[str, float]
    """Requests by operation of one visit, once all have settled."""
    per_login: Mapping[str, float] = field(default_factory=dict)
    """The same of what happens once for several visits."""
    visits: int = 1
    """Visits for each login, unless the experiment says otherwise."""
    growing: frozenset[str] = frozenset()
    """Operations whose share grows to its figure from nothing while the data fills up."""
    ratios: tuple[Ratio, ...] = ()
    proxied: bool = False
    """Whether a proxy stands before the services and leads every request to one of them by its path."""
    prepare: tuple[Request, ...] = ()

    def mix(self, visits: int | None = None) -> dict[str, float]:
        """Share of each operation, once all have settled.

        Args:
            visits: visits for each login; None for the kind's own number.
        """
        rounds = self.visits if visits is None else visits
        counts = {**self.per_login, **{name: rounds * count for name, count in self.per_visit.items()}}
        total = sum(counts.values())
        return {name: count / total for name, count in counts.items()}

    @property
    def databases(self) -> list[str]:
        """Names of the databases."""
        return list(
            dict.fromkeys(service.database for service in self.services if service.database is not None)
        )


@dataclass(frozen=True)
class Workload:
    """A workload's constants."""

    name: str
    archive: str
    """The built server package, below `apps/`."""
    min_heap: int
    """Smallest maximum heap in bytes with which a server starts and serves (apps/README.md has the figures)."""
    kinds: Mapping[str, Kind]
    """By the name of the topology; the first is the default."""
    refuses: frozenset[str] = frozenset()
    """Settings of the experiment file that mean nothing here."""

    def kind(self, topology: str | None) -> Kind:
        """The kind of that name, the default for None (raises KeyError)."""
        return next(iter(self.kinds.values())) if topology is None else self.kinds[topology]


DEFAULT_CUSTOMERS = 200
"""Customers that are loaded and addressed: the number that the published load plans use by default."""
REFERENCE_DATE = "2026-06-15"
"""The day that servers and injectors take for today, so that flights neither age nor cross a year's end."""

_FOUND = 170 / 210 * 5 / 6
"""Probability that a query finds an outbound flight: pairs with a segment, days with a flight
(workload sheet of AcmeAir, effective mix)."""


_ACMEAIR_VISIT = {
    # A quarter of the visits looks at the profile and changes it; five queries; one booking if the last query found a
    # flight; one list; in the long run one cancellation for each booking.
    "view-profile": 0.25,
    "update-customer": 0.25,
    "query-flight": 5.0,
    "book-flight": _FOUND,
    "list-bookings": 1.0,
    "cancel-booking": _FOUND,
}
_PATIENT_CALLS = {
    "ACMEAIR_VALIDATEID_TIMEOUT": "10000",
    "ACMEAIR_REWARDMILES_TIMEOUT": "10000",
    "ACMEAIR_REWARDS_TIMEOUT": "10000",
}
"""Milliseconds for calls between services. The original's 500 turn a short stall of the host, or a JVM that is still
cold, into pauses of five seconds and refused logins: a trial would weigh the limit and not what it was meant to."""

_ACMEAIR_RATIOS = (
    Ratio("outbound flights found per query", "outbound-found", "query-flight", _FOUND - 0.03, _FOUND + 0.03),
    Ratio("return flights found per query", "return-found", "query-flight", 0.0, 0.0),
    # With few users the last of five queries always meets the same airports: 0.52 to 0.79 (workload sheet, 4.4).
    Ratio("bookings per list", "book-flight", "list-bookings", 0.50, 0.80),
)

_PING = Workload(
    "ping",
    archive="ping/target/ping.zip",
    min_heap=32 * MIB,
    refuses=frozenset({"topology", "customers", "visits_per_login", "indexes"}),
    kinds={"single": Kind("ping", "ping", (Service("server", "ping"),), per_visit={"ping": 1.0})},
)

_ACMEAIR = Workload(
    "acmeair",
    archive="acmeair/server/target/acmeair.zip",
    min_heap=64 * MIB,
    refuses=frozenset({"mix"}),
    kinds={
        "monolith": Kind(
            "acmeair-monolith",
            "acmeair-monolith",
            (Service("server", "acmeair-monolith", database="database"),),
            per_visit=_ACMEAIR_VISIT,
            per_login={"login": 1.0, "logout": 1.0},
            growing=frozenset({"cancel-booking"}),
            ratios=_ACMEAIR_RATIOS,
            prepare=(Request("server", "/rest/info/loader/load?numCustomers={customers}"),),
        ),
        "microservices": Kind(
            "acmeair-microservices",
            "acmeair-microservices",
            (
                Service(
                    "auth",
                    "acmeair-auth",
                    heap_weight=1,
                    calls={"ACMEAIR_STACKAA_CUSTOMER_URL": "customer"},
                    environment=_PATIENT_CALLS,
                ),
                Service("customer", "acmeair-customer", heap_weight=2, database="customer-database"),
                Service("flight", "acmeair-flight", heap_weight=2, database="flight-database"),
                Service(
                    "booking",
                    "acmeair-booking",
                    heap_weight=2,
                    database="booking-database",
                    calls={
                        "ACMEAIR_STACKAA_CUSTOMER_URL": "customer",
                        "ACMEAIR_STACKAA_FLIGHT_URL": "flight",
                    },
                    environment=_PATIENT_CALLS,
                ),
                Service("main", "acmeair-main", heap_weight=1),
            ),
            per_visit=_ACMEAIR_VISIT,
            per_login={"login": 1.0},
            visits=5,
            growing=frozenset({"cancel-booking"}),
            ratios=_ACMEAIR_RATIOS,
            proxied=True,
            prepare=(
                Request("customer", "/customer/loader/load?numCustomers={customers}"),
                Request("flight", "/flight/loader/load"),
                Request("booking", "/booking/loader/load"),
            ),
        ),
    },
)

WORKLOADS = {workload.name: workload for workload in (_PING, _ACMEAIR)}
