# SPDX-License-Identifier: Apache-2.0
"""What each operation of AcmeAir or DayTrader7 costs on running servers, ours or the original's: one at a time.

`workload_cost.py --server` is its command line. A server's CPU is that of its processes by the kernel's clocks of
them, but for what readings cost; the bytes are those that its threads allocated, as its JVM counts them
(`AllocatedBytes` of apps/testkit says why). Both are read before and after a stretch of equal requests, once the
servers have come to rest: work that goes on after the answer is in the figure. What a thread allocates before it ends
is lost: servers need a pool of fixed size, and what was lost otherwise is told (`Cost.ended`). What servers do by
themselves (timers: 70 KiB/s in each Liberty) is measured at the beginning of each round and left out: on a busy
machine, where requests take long, it would be a tenth of what they allocate. Flights are remembered by servers, so
each is queried once before (`Driver.prepare`). DayTrader7's operations are a table of their own
(`trade_operations.py`). Needs a JDK on PATH, and the servers' user.
"""

import http.client
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from re import sub
from urllib.parse import urlencode, urlsplit

from trade_operations import SETTLING, STEPS, Request, Traders, split_quotes

from steelyard.experiment.schema import Load
from steelyard.sampling.procfs import cpu_clock
from steelyard.spec.injectors import intended_mix, mix_parts
from steelyard.workload.loader import load_workload

_BYTES = Path(__file__).parents[2] / "apps/testkit/src/main/java/dev/steelyard/testkit/AllocatedBytes.java"
_CONNECTIONS = 4
_IDLE = 5.0
"""Seconds for which servers are watched without requests."""
_USERS = 200
_DAYS = 6
_FROM = [
    "NRT",
    "BOM",
    "DEL",
    "FRA",
    "AMS",
    "HKG",
    "LHR",
    "YUL",
    "SVO",
    "JFK",
    "CDG",
    "FCO",
    "SIN",
    "SYD",
    "IKA",
]
_TO = ["DEL", "FRA", "HKG", "LHR", "BOM", "YUL", "SVO", "JFK", "CDG", "FCO", "SIN", "SYD", "IKA", "NRT"]
_VISITS_PER_LOGIN = {"monolith": 1, "microservices": 5}
"""As in the public plan of each."""
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Cost:
    """What an operation cost: CPU seconds and bytes allocated, of all processes, a request."""

    cpu: float
    allocated: float
    ended: int
    """Threads that ended meanwhile: what they allocated last is missing."""


@dataclass(frozen=True)
class Reading:
    """What the processes of a deployment had used up at a time."""

    at: float
    """Seconds of a clock that only goes on."""
    cpu: float
    """Seconds."""
    allocated: float
    """Bytes."""
    ended: int
    """Threads."""

    def rates(self, later: "Reading") -> tuple[float, float]:
        """CPU seconds and bytes for each second until then."""
        seconds = later.at - self.at
        return (later.cpu - self.cpu) / seconds, (later.allocated - self.allocated) / seconds


class Servers:
    """The servers of one deployment: addresses by the first part of a path, and their processes."""

    def __init__(self, name: str, places: str) -> None:
        """Attach to them: `PID@URL`, joined by `+`; a URL has its service's path (`/auth`), the monolith's none.

        Raises:
            ValueError: that is no such text.
        """
        self.name = name
        pairs = [place.partition("@") for place in places.split("+")]
        self._pids = [int(pid) for pid, _, _ in pairs]
        urls = [urlsplit(url) for _, _, url in pairs]
        self._addresses = {url.path.strip("/"): url.netloc for url in urls}
        self.services = "" not in self._addresses
        self._asking = 0.0
        """CPU seconds that they took to tell their bytes."""
        command = ["java", str(_BYTES), *map(str, self._pids)]
        self._bytes = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def address(self, path: str) -> str:
        """Host and port that serve a path."""
        return self._addresses[path.split("/")[1] if self.services else ""]

    def read(self) -> Reading:
        """CPU but for what readings cost them, bytes and ended threads of all processes, since they started."""
        if self._bytes.stdin is None or self._bytes.stdout is None:
            raise ValueError(f"{self.name}: nobody counts its bytes")
        cpu = sum(map(_cpu, self._pids))
        self._bytes.stdin.write("\n")
        self._bytes.stdin.flush()
        told = [int(word) for word in self._bytes.stdout.readline().split()]
        found = Reading(time.monotonic(), cpu - self._asking, sum(told[::2]), sum(told[1::2]))
        self._asking += sum(map(_cpu, self._pids)) - cpu
        return found

    def at_rest(self) -> Reading:
        """The same, once next to nothing has been allocated for a moment: calls after the answer have ended."""
        last = self.read()
        while True:
            time.sleep(0.5)
            now = self.read()
            if now.allocated - last.allocated < 1 << 20:
                return now
            last = now

    def close(self) -> None:
        """Let go of them."""
        if self._bytes.stdin is not None:
            self._bytes.stdin.close()
        self._bytes.wait()


def _cpu(pid: int) -> float:
    seconds = cpu_clock(pid)
    if seconds is None:
        raise ValueError(f"there is no process {pid}")
    return seconds


class Driver:
    """Customers of one deployment; keeps what one operation gives the next."""

    def __init__(self, servers: Servers, workload: str) -> None:
        """Know the operations of a workload: `acmeair` or `daytrader7`."""
        self._servers = servers
        self._traders = Traders() if workload == "daytrader7" else None
        self._prefix = "" if servers.services else "/rest/api"
        self._cookies: dict[int, str] = {}
        self._profiles: dict[int, str] = {}
        self._booked: list[tuple[int, str]] = []
        queries = [(start, end, day) for day in range(_DAYS) for start in _FROM for end in _TO]
        self._every = len(queries)
        self._queries = cycle(queries)

    def operations(self) -> Mapping[str, Callable[[int], Iterable[Request]]]:
        """Requests of each operation, so many, in the order in which one prepares the next."""
        if self._traders is not None:
            return {operation: partial(self._trade, self._traders, operation) for operation in STEPS}
        bill = {"login": self._login, "view-profile": self._view, "update-customer": self._update}
        bill |= {"query-flight": self._query, "book-flight": self._book, "list-bookings": self._list}
        bill |= {"cancel-booking": self._cancel}
        return bill if self._servers.services else bill | {"logout": self._logout}

    def prepare(self) -> None:
        """Query every flight; give everybody the same number of holdings."""
        for operation, count in (
            {"query-flight": self._every} if self._traders is None else SETTLING
        ).items():
            self.perform(operation, count)

    def perform(self, operation: str, count: int) -> int:
        """Perform an operation so many times over a few kept connections; how many requests that were.

        Raises:
            ValueError: an answer has another status than 200, or does not show what it has to.
        """
        requests = list(self.operations()[operation](count))
        # All of a user over one connection: nobody's orders meet.
        parts = [
            [request for request in requests if request.user % _CONNECTIONS == i] for i in range(_CONNECTIONS)
        ]
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            answers = [answer for part in pool.map(self._send, parts) for answer in part]
        for request, body, cookies in answers:
            self._keep(operation, request, body, cookies)
        return len(requests)

    def _send(self, requests: list[Request]) -> list[tuple[Request, str, str]]:
        connections: dict[str, http.client.HTTPConnection] = {}
        answers = []
        for request in requests:
            address = self._servers.address(request.path)
            connection = connections.setdefault(address, http.client.HTTPConnection(address, timeout=60))
            connection.request(request.method, request.path, request.body or None, dict(request.headers))
            response = connection.getresponse()
            body = response.read().decode()
            if response.status != http.client.OK or request.text not in body:
                raise ValueError(f"{self._servers.name}: {request.path} answered {response.status}: {body}")
            cookies = [cookie.partition(";")[0] for cookie in response.headers.get_all("Set-Cookie") or []]
            answers.append((request, body, "; ".join(cookies)))
        for connection in connections.values():
            connection.close()
        return answers

    def _keep(self, operation: str, request: Request, body: str, cookies: str) -> None:
        if self._traders is not None:
            self._traders.keep(operation, request.user, body)
        if operation == "login":
            self._cookies[request.user] = cookies or self._cookies.get(request.user, "")
        elif operation == "view-profile":
            self._profiles[request.user] = body
        elif operation == "book-flight":
            self._booked.append((request.user, body.partition('departBookingId":"')[2].partition('"')[0]))

    def _of(
        self, user: int, method: str, path: str, body: str = "", kind: dict[str, str] | None = None
    ) -> Request:
        headers = {"Cookie": self._cookies.get(user, ""), **(kind or {})}
        return Request(method, self._prefix + path, body, headers, user)

    def _trade(self, traders: Traders, operation: str, count: int) -> Iterable[Request]:
        for request in traders.requests(operation, count):
            yield replace(request, headers={"Cookie": self._cookies.get(request.user, ""), **request.headers})

    def _login(self, count: int) -> Iterable[Request]:
        path = "/auth/login" if self._servers.services else "/login"
        for user in _users(count):
            form = urlencode({"login": f"uid{user}@email.com", "password": "password"})
            yield self._of(user, "POST", path, form, _FORM)

    def _view(self, count: int) -> Iterable[Request]:
        return (self._of(user, "GET", f"/customer/byid/uid{user}@email.com") for user in _users(count))

    def _update(self, count: int) -> Iterable[Request]:
        for user in _users(count):
            profile = sub(r'"password" ?: null', '"password": "password"', self._profiles[user])
            yield self._of(user, "POST", f"/customer/byid/uid{user}@email.com", profile, _JSON)

    def _query(self, count: int) -> Iterable[Request]:
        path = "/flight/queryflights" if self._servers.services else "/flights/queryflights"
        today = datetime.now(UTC)
        for i in range(count):
            start, end, day = next(self._queries)
            there, back = today + timedelta(day), today + timedelta(day + _DAYS)
            form = {
                "fromAirport": start,
                "toAirport": end,
                "fromDate": _date(there),
                "returnDate": _date(back),
            }
            yield Request("POST", self._prefix + path, urlencode(form | {"oneWay": "false"}), _FORM, i)

    def _book(self, count: int) -> Iterable[Request]:
        path = "/booking/bookflights" if self._servers.services else "/bookings/bookflights"
        for user in _users(count):
            form = {"userid": f"uid{user}@email.com", "toFlightId": "0b7ff0e6-25a5-4bd5-a3a5-5a9c2a2e1c75"}
            form |= {"toFlightSegId": f"AA{user}", "retFlightId": "null", "retFlightSegId": "null"}
            yield self._of(user, "POST", path, urlencode(form | {"oneWayFlight": "true"}), _FORM)

    def _list(self, count: int) -> Iterable[Request]:
        path = "/booking/byuser" if self._servers.services else "/bookings/byuser"
        return (self._of(user, "GET", f"{path}/uid{user}@email.com") for user in _users(count))

    def _cancel(self, count: int) -> Iterable[Request]:
        path = "/booking/cancelbooking" if self._servers.services else "/bookings/cancelbooking"
        chosen, self._booked = self._booked[:count], self._booked[count:]
        for user, number in chosen:
            form = urlencode({"number": number, "userid": f"uid{user}@email.com"})
            yield self._of(user, "POST", path, form, _FORM)

    def _logout(self, count: int) -> Iterable[Request]:
        users = list(_users(count))[:_USERS]
        return (self._of(user, "GET", f"/login/logout?login=uid{user}@email.com") for user in users)


def of_the_mix(workload: str, figures: Mapping[str, Cost]) -> Cost:
    """What a request of the public plans costs, of what those of each operation do.

    DayTrader7's is that of its Pages front end, without the market summary, which comes over a WebSocket.
    """
    topology, settings = "single", {"pages_sessions": 1, "faces_sessions": 0}
    if workload == "acmeair":
        topology = "monolith" if "logout" in figures else "microservices"
        settings = {"visits_per_login": _VISITS_PER_LOGIN[topology]}
    parts = mix_parts(load_workload(workload).workload.topologies[topology], Load(users=1), settings)
    shares = intended_mix(parts)
    shares = split_quotes(shares) if workload == "daytrader7" else shares
    total = sum(shares[operation] for operation in figures)
    return Cost(
        sum(shares[operation] * cost.cpu for operation, cost in figures.items()) / total,
        sum(shares[operation] * cost.allocated for operation, cost in figures.items()) / total,
        sum(cost.ended for cost in figures.values()),
    )


def _users(count: int) -> Iterable[int]:
    return (i % _USERS for i in range(count))


def _date(day: datetime) -> str:
    return day.strftime("%a %b %d 00:00:00 UTC %Y")


def costs(servers: Servers, driver: Driver, count: int) -> dict[str, Cost]:
    """Every operation so many times, one operation after the other: what a request of each cost."""
    found = {}
    idle = servers.at_rest()
    time.sleep(_IDLE)
    before = servers.read()
    idle_cpu, idle_bytes = idle.rates(before)
    for operation in driver.operations():
        done = driver.perform(operation, count)
        after = servers.at_rest()
        seconds = after.at - before.at
        cpu = after.cpu - before.cpu - idle_cpu * seconds
        allocated = after.allocated - before.allocated - idle_bytes * seconds
        found[operation] = Cost(cpu / done, allocated / done, after.ended - before.ended)
        before = after
    return found
