# SPDX-License-Identifier: Apache-2.0
"""The target of injector_cost.py: nginx on a CPU of its own, with fixed replies over connections that it may close."""

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from injector_clients import RoundError, find_program

PORT = 18099
URL = f"http://127.0.0.1:{PORT}"
RETURNED_BYTES = 16_000
"""Larger replies are files, and come in several pieces, which injector_floor.c would take for several answers."""
STATUS = "/status"
NGINX = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_rlimit_nofile 65536;
events {{ worker_connections 32768; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  sendfile on;
  tcp_nopush on;
  server {{
    listen 127.0.0.1:{port};
    default_type text/plain;
    location = {status} {{ stub_status; }}
{replies}
    location = /rest/api/login {{
      add_header Set-Cookie "acmeair_sessionid={session}; Path=/";
      return 200 "logged in";
    }}
    location = /rest/api/login/logout {{ return 200 "logged out"; }}
    location ~ ^/rest/api/customer/byid/(.+)$ {{
      if ($request_method = POST) {{ return 200 '{moved}'; }}
      return 200 '{customer}';
    }}
    location = /rest/api/flights/queryflights {{ return 200 '{flights}'; }}
    location = /rest/api/bookings/bookflights {{ return 200 '{{"oneWay":true,"departBookingId":"{session}"}}'; }}
    location ~ ^/rest/api/bookings/byuser/(.+)$ {{ return 200 '{bookings}'; }}
    location = /rest/api/bookings/cancelbooking {{ return 200 "booking b1 deleted."; }}
  }}
}}
"""
SESSION = "0b0ab1f2-7d53-4c8e-9d6b-3f2f6a1c5e70"


@dataclass(frozen=True)
class Reply:
    """What the target answers at a path.

    Args:
        size: bytes of the body, line end included
        per_connection: requests after which the server closes a connection; None: it never does
        is_read: whether the injector compares the body with what it should be; otherwise it throws it away, as wrk does
    """

    size: int = 5
    per_connection: int | None = None
    is_read: bool = True
    path: str = "/ping"

    @property
    def name(self) -> str:
        """Its line in the tables."""
        unit, divisor = next(
            (unit, size)
            for unit, size in (("MiB", 2**20), ("KiB", 2**10), ("bytes", 1))
            if self.size % size == 0
        )
        words = [f"{self.size // divisor} {unit}"]
        words += [] if self.is_read else ["not read"]
        words += [f"closed after {self.per_connection}"] if self.per_connection else []
        return ", ".join(words)

    @property
    def text(self) -> str:
        """The body without its line end."""
        return "pong" if self.size == len("pong\n") else "x" * (self.size - 1)

    def location(self, folder: Path) -> str:
        """Return its part of nginx's configuration, whose files are in a folder."""
        limit = f"keepalive_requests {self.per_connection}; " if self.per_connection else ""
        if self.size <= RETURNED_BYTES:
            return f'    location = {self.path} {{ {limit}return 200 "{self.text}\\n"; }}'
        file = folder / f"{self.size}.txt"
        file.write_text(self.text + "\n")
        return f"    location = {self.path} {{ {limit}alias {file}; }}"


def customer(house: int) -> str:
    """Return a customer as the monolith prints it; nginx puts in whose it is."""
    address = {
        "streetAddress1": f"{house} Main St.",
        "streetAddress2": None,
        "city": "Anytown",
        "stateProvince": "NC",
        "country": "USA",
        "postalCode": "27617",
    }
    miles = {"status": "GOLD", "total_miles": 1000000, "miles_ytd": 1000}
    phone = {"phoneNumber": "919-123-4567", "phoneNumberType": "BUSINESS"}
    return json.dumps({"_id": "$1", **miles, "address": address, **phone, "password": None})


def flights() -> str:
    """Return the answer to a query that finds one flight there and none back."""
    leg = {"numPages": 1, "flightsOptions": [], "currentPage": 0, "hasMoreOptions": False, "pageSize": 10}
    option = {
        "_id": SESSION,
        "firstClassBaseCost": 500,
        "economyClassBaseCost": 200,
        "numFirstClassSeats": 10,
        "numEconomyClassSeats": 200,
        "airplaneTypeId": "B747",
        "flightSegmentId": "AA123",
        "scheduledDepartureTime": "Mon Jun 15 00:00:00 UTC 2026",
        "scheduledArrivalTime": "Mon Jun 15 11:23:00 UTC 2026",
        "flightSegment": {"_id": "AA123", "originPort": "LHR", "destPort": "JFK", "miles": 3451},
    }
    return json.dumps({"tripFlights": [{**leg, "flightsOptions": [option]}, leg], "tripLegs": 2})


def bookings() -> str:
    """Return a list of three bookings: the first is one too many."""
    names = {"customerId": "$1", "flightId": SESSION, "dateOfBooking": "Mon Jun 15 00:00:00 UTC 2026"}
    return json.dumps([{"_id": f"b{number}", **names} for number in (1, 2, 3)])


@contextmanager
def nginx_running(replies: Sequence[Reply], folder: Path, cpu: int) -> Iterator[None]:
    """Run nginx on a CPU.

    Raises:
        RoundError: if it does not answer
    """
    configuration = folder / "nginx.conf"
    answers = {
        "customer": customer(123),
        "moved": customer(124),
        "flights": flights(),
        "bookings": bookings(),
    }
    locations = "\n".join(reply.location(folder) for reply in replies)
    places = {"folder": folder, "port": PORT, "session": SESSION, "status": STATUS, "replies": locations}
    configuration.write_text(NGINX.format(**places, **answers))
    nginx = find_program("nginx", "nginx")
    command = ["taskset", "-c", str(cpu), nginx, "-c", str(configuration)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            for reply in replies:
                wait_for(URL, reply)
            yield
        finally:
            server.send_signal(signal.SIGTERM)


def wait_for(url: str, reply: Reply) -> None:
    """Wait until the target answers as it should.

    Raises:
        RoundError: if the answer is another one, or none comes within 10 s
    """
    deadline = time.monotonic() + 10
    while True:
        try:
            with urllib.request.urlopen(url + reply.path, timeout=1) as answer:
                if answer.read() == f"{reply.text}\n".encode():
                    return
                raise RoundError(
                    f"{url}{reply.path} does not answer {reply.name}: give a server of the ping workload."
                )
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > deadline:
                raise RoundError(f"{url}{reply.path} does not answer: start the target first.") from error
            time.sleep(0.1)


@dataclass(frozen=True)
class ServerCounts:
    """What nginx has counted since it began, this question included."""

    connections: int
    requests: int

    def since(self, before: "ServerCounts") -> "ServerCounts":
        """Return what came between two questions: the later one counts itself."""
        return ServerCounts(self.connections - before.connections - 1, self.requests - before.requests - 1)


def read_server_counts() -> ServerCounts:
    """Ask nginx for its counts (stub_status)."""
    with urllib.request.urlopen(URL + STATUS, timeout=5) as answer:
        return parse_server_counts(answer.read().decode())


def parse_server_counts(text: str) -> ServerCounts:
    """Return the counts of a page of stub_status, whose third line has those accepted, handled, and requests."""
    counts = re.search(r"^ *\d+ (\d+) (\d+) *$", text, re.MULTILINE)
    if counts is None:
        raise RoundError(f"nginx's {STATUS} cannot be read: {text!r}")
    return ServerCounts(int(counts.group(1)), int(counts.group(2)))
