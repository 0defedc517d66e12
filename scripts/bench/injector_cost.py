#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many requests per CPU-second the injector issues, against wrk on the same target in the same run.

    python bench/injector_cost.py [--rounds 5] [--rate 2000] [--bytes 5] [--profiler LIBRARY]

The target (nginx with fixed replies, or the server given by --target) is pinned to one CPU, the client to another.
With --scenario acmeair-monolith the injector sends that scenario's journeys, while wrk goes on asking for the tiny
reply of ping: the ratio then says how much more a request costs that carries a form and whose answer is read.
Rounds alternate between the two clients; printed are the medians and the median of the ratios of neighbouring rounds.
CPU of wrk is its rusage; CPU of the injector is what its process used in the seconds counted (health.jsonl).
With a C compiler, injector_floor.c says what of the open model's CPU the machine takes for any program at that rate.
--profiler runs one more round of each model under async-profiler (its libasyncProfiler.so, which the Maven artifact
tools.profiler:async-profiler holds) and prints where the CPU of the event loop went; these rounds are in no other
figure. Figures need a machine on which nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2] / "loadgen" / "target" / "loadgen"
USERS = 48
PORT = 18099
FLOOR_BYTES = 16_000
"""Larger replies come in several pieces, which injector_floor.c would take for several answers."""
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
  server {{
    listen 127.0.0.1:{port};
    default_type text/plain;
    location = /ping {{ return 200 "{ping}\\n"; }}
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


KERNEL = "system calls"
OWNERS = {
    KERNEL: ("__GI___send", "send", "recv", "getsockopt", "epoll_", "read", "write", "__close"),
    "ours": ("dev/steelyard/", "org/HdrHistogram/"),
    "Gatling, Scala": ("io/gatling/", "scala/", "com/typesafe/"),
    "Netty": ("io/netty/", "netty_"),
}
"""Whose code a frame is, by the beginning of its name; of the JDK's nobody's: its caller's."""
LOOP = "io/netty/channel/SingleThreadIoEventLoop.run"
JAVA_FLAGS = [
    "-Xms256m",
    "-Xmx256m",
    "-XX:+UseParallelGC",
    "-XX:+ExitOnOutOfMemoryError",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
]
JAVA_25_FLAGS = ["--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]


def say(text: str) -> None:
    """Print at once, also into a file."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def line(rate: float) -> str:
    """Describe a rate per CPU-second."""
    return f"{rate:10,.0f} requests per CPU-second  {1e6 / rate:6.2f} us of CPU per request"


def find(program: str, package: str) -> str:
    """Return the path of a program, or end with the command that installs it."""
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        sys.exit(
            f"{program} is missing: apt-get install {package} (Debian) or dnf install {package} (Fedora, RHEL)."
        )
    return path


def java_flags(java: str) -> list[str]:
    """Return the flags that the JVM needs: newer ones must be told to allow what Netty does."""
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    version = re.search(r'version "(\d+)', text)
    newer = version is not None and int(version.group(1)) >= 24
    return JAVA_FLAGS + (JAVA_25_FLAGS if newer else [])


def journey(text: str) -> dict[str, Any]:
    """Return a journey that asks for a text and checks that it is all of the answer."""
    step = {"operation": "ping", "path": "/ping", "check": {"matches": f"^{text}\\n$"}}
    return {"visits": {"ping": {"steps": [step]}}}


def reply(size: int) -> str:
    """Return the text of a reply of so many bytes, line end included."""
    return "pong" if size == len("pong\n") else "x" * (size - 1)


def wait_for(url: str, text: str) -> None:
    """Wait until the target answers as it is asked to."""
    deadline = time.monotonic() + 10
    while True:
        try:
            with urllib.request.urlopen(f"{url}/ping", timeout=1) as answer:
                if answer.read() == f"{text}\n".encode():
                    return
                sys.exit(f'{url}/ping does not answer "{text}": give a server of the ping workload.')
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                sys.exit(f"{url}/ping does not answer: start the target first.")
            time.sleep(0.1)


def wrk_round(wrk: str, url: str, cpu: int, seconds: int) -> tuple[float, float]:
    """Run wrk once; return requests per CPU-second and requests per second."""
    command = [wrk, "-t1", f"-c{USERS}", f"-d{seconds}s", f"{url}/ping"]
    pinned = ["taskset", "-c", str(cpu), *command]
    with subprocess.Popen(pinned, stdout=subprocess.PIPE, text=True) as process:
        text = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    counted = re.search(r"(\d+) requests in ([\d.]+)s", text)
    if process.returncode != 0 or counted is None or "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"wrk failed:\n{text}")
    requests = int(counted.group(1))
    return requests / (usage.ru_utime + usage.ru_stime), requests / float(counted.group(2))


def injector_run(
    java: str, settings: dict[str, Any], cpu: int, folder: Path, profiled: tuple[str, Path] | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Run the injector once; return its lines of health and its summary.

    `profiled`: by which library, once it is warm, and the file for the stacks.
    """
    output = Path(tempfile.mkdtemp(dir=folder)) / "out"
    file = output.parent / "settings.json"
    file.write_text(json.dumps({"output": str(output), **settings}))
    command = [java, *java_flags(java), "-cp", "lib/*", "dev.steelyard.loadgen.Main", str(file)]
    pinned = ["taskset", "-c", str(cpu), *command]
    with subprocess.Popen(
        pinned, cwd=PACKAGE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as injector:
        if profiled:
            time.sleep(settings["warmupSeconds"] + settings.get("rampSeconds", 0))
            library, stacks = profiled
            # In quotes: jcmd would take what has a `=` for an argument of its own.
            start = f'"start,event=ctimer,file={stacks},collapsed"'
            jcmd = str(Path(find(java, "openjdk-17-jre-headless")).resolve().parent / "jcmd")
            subprocess.run(
                [jcmd, str(injector.pid), "JVMTI.agent_load", library, start],
                stdout=subprocess.DEVNULL,
                check=True,
            )
        _, errors = injector.communicate()
    if injector.returncode != 0:
        sys.exit(f"the injector failed ({injector.returncode}):\n{errors}")
    lines = [json.loads(each) for each in (output / "health.jsonl").read_text().splitlines()]
    summary = json.loads((output / "summary.json").read_text())
    if any(each["errors"] for each in lines):
        sys.exit(f"the injector had errors: {summary['errorMessages']}")
    return lines, summary


def last_seconds(lines: list[dict[str, Any]], seconds: int) -> tuple[float, float, float]:
    """Return requests, CPU seconds and seconds of the last whole intervals before the end."""
    window = lines[-seconds - 2 : -1]
    requests = sum(each["requests"] for each in window[1:])
    cpu = window[-1]["cpuSeconds"] - window[0]["cpuSeconds"]
    return requests, cpu, sum(each["seconds"] for each in window[1:])


def parse_arguments() -> argparse.Namespace:
    """Return the command line, checked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each client (5)")
    parser.add_argument("--seconds", type=int, default=8, help="seconds counted per round (8)")
    parser.add_argument("--warmup", type=int, default=20, help="seconds of each injector round left out (20)")
    parser.add_argument("--rate", type=int, default=2000, help="arrivals/s of the open-model round (2000)")
    parser.add_argument("--bytes", type=int, default=5, help="size of a reply (5)")
    parser.add_argument(
        "--profiler", metavar="LIBRARY", help="libasyncProfiler.so, for profiles of one more round each"
    )
    parser.add_argument("--scenario", choices=["ping", "acmeair-monolith"], default="ping", help="(ping)")
    parser.add_argument("--target", help="base URL of a running ping server, instead of nginx")
    parser.add_argument("--java", default="java", help="JVM of the injector")
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--client-cpu", type=int, default=1)
    arguments = parser.parse_args()
    if not (PACKAGE / "lib").is_dir():
        sys.exit(
            "The injector is not built: run mvn -DskipTests package at the root of the repository first."
        )
    if not {arguments.server_cpu, arguments.client_cpu} <= os.sched_getaffinity(0):
        sys.exit("This benchmark needs two CPUs: choose them with --server-cpu and --client-cpu.")
    return arguments


def start_nginx(folder: Path, cpu: int, text: str) -> subprocess.Popen[bytes]:
    """Start nginx in the foreground on its CPU."""
    configuration = folder / "nginx.conf"
    answers = {
        "ping": text,
        "customer": customer(123),
        "moved": customer(124),
        "flights": flights(),
        "bookings": bookings(),
    }
    configuration.write_text(NGINX.format(folder=folder, port=PORT, session=SESSION, **answers))
    nginx = find("nginx", "nginx")
    return subprocess.Popen(
        ["taskset", "-c", str(cpu), nginx, "-c", str(configuration)], stderr=subprocess.DEVNULL
    )


def main() -> None:
    """Run the rounds and print the figures."""
    arguments = parse_arguments()
    wrk = find("wrk", "wrk")
    java = find(arguments.java, "openjdk-17-jre-headless")
    folder = Path(tempfile.mkdtemp(prefix="steelyard-bench-"))
    folder.chmod(0o755)
    url = arguments.target or f"http://127.0.0.1:{PORT}"
    text = reply(arguments.bytes)
    server = None if arguments.target else start_nginx(folder, arguments.server_cpu, text)
    try:
        wait_for(url, text)
        compare(arguments, wrk, java, url, folder)
    finally:
        if server is not None:
            server.send_signal(signal.SIGTERM)
            server.wait()
        shutil.rmtree(folder)


def compare(arguments: argparse.Namespace, wrk: str, java: str, url: str, folder: Path) -> None:
    """Alternate the clients and print medians."""
    named = (
        {"journey": journey(reply(arguments.bytes))}
        if arguments.scenario == "ping"
        else {"scenario": arguments.scenario}
    )
    load = {**named, "targets": [url]}
    closed = {**load, "model": "closed", "users": USERS}
    closed |= {"warmupSeconds": arguments.warmup, "measureSeconds": arguments.seconds + 2}
    wrk_rates, injector_rates, ratios = [], [], []
    for index in range(arguments.rounds):
        wrk_rate, wrk_wall = wrk_round(wrk, url, arguments.client_cpu, arguments.seconds)
        lines, _ = injector_run(java, closed, arguments.client_cpu, folder)
        requests, cpu, seconds = last_seconds(lines, arguments.seconds)
        wrk_rates.append(wrk_rate)
        injector_rates.append(requests / cpu)
        ratios.append(requests / cpu / wrk_rate)
        say(
            f"round {index + 1}: wrk {wrk_rate:,.0f} requests per CPU-second ({wrk_wall:,.0f}/s), "
            f"injector {requests / cpu:,.0f} ({requests / seconds:,.0f}/s), ratio {ratios[-1]:.2f}"
        )
    open_model = {**load, "model": "open", "rate": arguments.rate}
    # A cold JVM at the full rate falls behind and then catches up in a burst of connections: hence the ramp.
    open_model |= {
        "rampSeconds": 5,
        "warmupSeconds": arguments.warmup,
        "measureSeconds": arguments.seconds + 2,
    }
    lines, summary = injector_run(java, open_model, arguments.client_cpu, folder)
    _, cpu, seconds = last_seconds(lines, arguments.seconds)
    window = lines[-arguments.seconds - 1 : -1]
    commonest = max(summary["operations"].values(), key=lambda each: each["requests"])
    wrk_median, injector_median = statistics.median(wrk_rates), statistics.median(injector_rates)
    say(
        f"medians of {arguments.rounds} rounds, {USERS} connections, one client CPU, {arguments.scenario}:\n"
        f"  wrk       {line(wrk_median)}\n"
        f"  injector  {line(injector_median)}\n"
        f"  ratio     {statistics.median(ratios):10.2f}\n"
        f"open model at {arguments.rate}/s: {100 * cpu / seconds:.1f} % of one CPU, "
        f"late {sum(each['late'] for each in window)} and dropped {sum(each['dropped'] for each in window)} "
        f"in the seconds counted, p50 {commonest['latencyMillis']['p50']:.3f} ms"
    )
    if arguments.bytes < FLOOR_BYTES and (floor := floor_round(arguments, folder)) is not None:
        say(
            f"a program that only waits, sends and receives, at the same rate: {100 * floor * arguments.rate:.1f} % of"
            f" one CPU, {1e6 * floor:.1f} us a request; the injector {1e6 * cpu / (seconds * arguments.rate):.1f} us"
        )
    for model, settings in (("closed", closed), ("open", open_model)) if arguments.profiler else ():
        profile(arguments, java, model, settings, folder)


def floor_round(arguments: argparse.Namespace, folder: Path) -> float | None:
    """Return CPU seconds a request of injector_floor.c against nginx; None without a C compiler or nginx."""
    compiler = shutil.which("cc")
    if compiler is None or arguments.target:
        return None
    program = folder / "floor"
    source = Path(__file__).with_name("injector_floor.c")
    subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
    command = ["taskset", "-c", str(arguments.client_cpu), str(program), str(PORT)]
    command += [str(arguments.rate), str(arguments.seconds)]
    requests, cpu = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(cpu) / int(requests)


def profile(
    arguments: argparse.Namespace, java: str, model: str, settings: dict[str, Any], folder: Path
) -> None:
    """Print where the CPU of a warm round's event loop went."""
    stacks = folder / f"{model}.stacks"
    library = str(Path(arguments.profiler).resolve())
    injector_run(java, settings, arguments.client_cpu, folder, (library, stacks))
    own, beneath = samples_by_owner(stacks.read_text())
    total = sum(own.values())
    say(
        f"profile of the {model} model, {total:,} samples of its event loop: whose code ran, and beneath whose it did"
    )
    for owner in [*OWNERS, "other"]:
        say(f"  {owner:15} {own[owner] / total:6.1%} {beneath[owner] / total:6.1%}")


def samples_by_owner(stacks: str) -> tuple[Counter[str], Counter[str]]:
    """Count samples by the innermost frame that is anybody's, and by every owner with a frame in them."""
    own: Counter[str] = Counter()
    beneath: Counter[str] = Counter()
    for stack, samples in (line.rsplit(" ", 1) for line in stacks.splitlines() if LOOP in line):
        owners = [owner for frame in reversed(stack.split(";")) if (owner := owner_of(frame)) != "other"]
        own[owners[0] if owners else "other"] += int(samples)
        beneath.update(dict.fromkeys(owners or ["other"], int(samples)))
    return own, beneath


def owner_of(frame: str) -> str:
    """Return whose code a frame is."""
    return next((owner for owner, starts in OWNERS.items() if frame.startswith(starts)), "other")


if __name__ == "__main__":
    main()
