# SPDX-License-Identifier: Apache-2.0
"""`up` and `down`: a workload alone, running, with its addresses printed."""

import json
import os
import signal
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steelyard.cli.building import ensure_build
from steelyard.cli.options import JdkOption, JsonOption, PortOption
from steelyard.engines.readiness import server_url
from steelyard.errors import BadInput, Busy
from steelyard.experiment.matrix import Arm, check_setting, refuse_meaningless
from steelyard.experiment.schema import ENGINES, Deployment, Load
from steelyard.experiment.workloads import REFERENCE_DATE, WORKLOADS
from steelyard.host.cpus import read_layout
from steelyard.host.lock import holder, host_lock
from steelyard.host.ports import refuse_ephemeral
from steelyard.paths import CACHE
from steelyard.processes import Children
from steelyard.results.store import write_atomic
from steelyard.session import workload_up
from steelyard.session.toolchains import JdkToolchain, find_toolchains, make_engines
from steelyard.topology.plan import plan_topology
from steelyard.units import parse_size

WorkloadArgument = Annotated[str, typer.Argument(metavar="WORKLOAD", help=f"One of: {', '.join(WORKLOADS)}.")]


def up(
    workload: WorkloadArgument,
    jvms: Annotated[
        int,
        typer.Option("--jvms", metavar="N", min=1, max=256, help="Number of server JVMs, of each service."),
    ] = 1,
    port: PortOption = 9080,
    engine: Annotated[
        str, typer.Option("--engine", metavar="ENGINE", help="process (no containers) or compose.")
    ] = "process",
    topology: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="NAME",
            help="monolith or microservices (acmeair).",
            show_default="the workload's first",
        ),
    ] = None,
    customers: Annotated[
        int | None,
        typer.Option(
            "--customers", metavar="N", min=1, help="Customers to load (acmeair).", show_default="200"
        ),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(
            "--today",
            metavar="DAY",
            help="Day for which flights are made (acmeair): YYYY-MM-DD, or system for the day on which they are"
            " loaded, which foreign load drivers ask for.",
            show_default=REFERENCE_DATE,
        ),
    ] = None,
    heap: Annotated[
        str | None, typer.Option("--heap", metavar="SIZE", help="Heap of each JVM, for example 512m.")
    ] = None,
    jdk: JdkOption = None,
    as_json: JsonOption = False,
    keep: Annotated[bool, typer.Option("--keep", hidden=True)] = False,
) -> None:
    """Start a workload without load and print its addresses; `down` stops it.

    The servers share the host's cores evenly, as in an experiment. They listen on all addresses.
    """
    if workload not in WORKLOADS:
        raise BadInput(f"unknown workload {workload!r}: there are {', '.join(WORKLOADS)}")
    if engine not in ENGINES:
        raise BadInput(f"unknown engine {engine!r}: there are {', '.join(ENGINES)}")
    arm = _arm(workload, engine, topology, jvms, customers, heap)
    if today is not None:
        _check_today(workload, today)
    if keep:
        _keep(arm, port, today or REFERENCE_DATE, jdk)
        return
    _require_idle()
    console = Console(stderr=True)
    arguments = ["up", workload, "--engine", engine, "--jvms", str(jvms), "--port", str(port)]
    with console.status("looking for what it runs on"):
        toolchain = find_toolchains([arm.deployment], workload, jdk)[engine]
    if isinstance(toolchain, JdkToolchain):
        ensure_build(console, toolchain.server)
        arguments += ["--jdk", toolchain.server_jvm.home]
    given = {"--heap": heap, "--topology": topology, "--customers": customers, "--today": today}
    for option, value in given.items():
        arguments += [option, str(value)] if value is not None else []
    with console.status(f"starting {workload}"):
        started = workload_up.start(arguments)
    if as_json:
        told = {"workload": started.workload, "keeper": started.keeper, "servers": started.servers}
        typer.echo(json.dumps({**told, "proxy": started.proxy}))
        return
    if started.proxy is not None:
        typer.echo(f"{started.proxy}  leads to every service")
    for server in started.servers:
        cpus = ",".join(map(str, server["cpus"]))
        typer.echo(f"{server['url']}  {server['name']}  CPUs {cpus}  process {server['pid']}")
    Console().print("stop it with: ./steelyard down", highlight=False)


def _require_idle() -> None:
    """Refuse while something else of ours runs on this host (raises Busy)."""
    found = workload_up.current()
    if found is not None:
        raise Busy(
            f"{found.workload} is up already (process {found.keeper}): stop it first with `./steelyard down`"
        )
    session = holder()
    if session is not None:
        raise Busy(
            f"a session runs on this host (process {session.pid}, {session.session}): wait for its end"
        )


def down() -> None:
    """Stop the workload that `up` started."""
    found = workload_up.stop()
    typer.echo(f"{found.workload} is down" if found is not None else "nothing is up")


def _arm(
    workload: str, engine: str, topology: str | None, jvms: int, customers: int | None, heap: str | None
) -> Arm:
    """What the options ask for, checked as an experiment's settings are (raises BadInput)."""
    try:
        settings = {"heap": parse_size(heap)} if heap is not None else {}
    except ValueError as error:
        raise BadInput(f"--heap: {error}") from error
    if topology is not None:
        check_setting("topology", topology)
    deployment = Deployment.model_validate(
        {"engine": engine, "topology": topology, "jvms": jvms, "injector_cores": "shared", "jvm": settings}
    )
    load = Load(users=1, customers=customers)
    refuse_meaningless(workload, deployment, load)
    return Arm(workload, {}, True, deployment, load)


def _check_today(workload: str, today: str) -> None:
    """Refuse what is no day, or a workload to which a day means nothing (raises BadInput)."""
    if not any(kind.prepare for kind in WORKLOADS[workload].kinds.values()):
        raise BadInput(f"--today means nothing to the workload {workload}: leave it out")
    try:
        day = date.fromisoformat(today).isoformat()
    except ValueError:
        day = None
    if today not in (day, "system"):
        raise BadInput(f"--today {today} is no day: give one such as {REFERENCE_DATE}, or system")


def _keep(arm: Arm, port: int, today: str, jdk: Path | None) -> None:
    """The keeper: start the workload, note its servers, wait for SIGTERM, stop it."""
    workload, engine = arm.name, arm.deployment.engine
    toolchains = find_toolchains([arm.deployment], workload, jdk)
    toolchain = toolchains[engine]
    cores = [core.cpus for core in read_layout().cores]
    topology = plan_topology(arm, cores, toolchain.server_jvm, WORKLOADS[workload], port, today)
    refuse_ephemeral(topology.ports)
    build = (
        ensure_build(Console(stderr=True), toolchain.server) if isinstance(toolchain, JdkToolchain) else None
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    with (
        host_lock(workload_up.STATE.parent),
        tempfile.TemporaryDirectory(dir=CACHE, prefix="up-") as folder,
        Children() as children,
    ):
        # Servers in containers may run as another user, who has to reach the folders in here.
        Path(folder).chmod(0o755)
        realised = make_engines(toolchains, build, children, workload, "up")[engine]
        realised.check([topology])
        deployment_up = realised.deploy(topology, [], Path(folder))
        servers = [
            {"name": server.name, "url": server.url, "pid": server.pid, "cpus": instance.cpus}
            for server, instance in zip(deployment_up.servers, topology.instances, strict=True)
        ]
        proxies = [server_url(record.port) for record in topology.backing if record.kind == "proxy"]
        state = {
            "workload": workload,
            "keeper": os.getpid(),
            "since": time.time(),
            "servers": servers,
            "proxy": proxies[0] if proxies else None,
        }
        write_atomic(workload_up.STATE, json.dumps(state) + "\n")
        try:
            signal.pause()
        finally:
            workload_up.STATE.unlink(missing_ok=True)
            deployment_up.stop()
