# SPDX-License-Identifier: Apache-2.0
"""`up` and `down`: a workload alone, running, with its addresses printed."""

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steelyard.cli.building import ensure_build
from steelyard.cli.options import JdkOption, JsonOption, PortOption
from steelyard.errors import BadInput, Busy
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import ENGINES, Deployment, Load
from steelyard.experiment.workloads import WORKLOADS
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
        int, typer.Option("--jvms", metavar="N", min=1, max=256, help="Number of server JVMs.")
    ] = 1,
    port: PortOption = 9080,
    engine: Annotated[
        str, typer.Option("--engine", metavar="ENGINE", help="process (no containers) or compose.")
    ] = "process",
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
    if keep:
        _keep(workload, engine, jvms, port, heap, jdk)
        return
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
    console = Console(stderr=True)
    arguments = ["up", workload, "--engine", engine, "--jvms", str(jvms), "--port", str(port)]
    with console.status("looking for what it runs on"):
        toolchain = find_toolchains([engine], workload, jdk)[engine]
    if isinstance(toolchain, JdkToolchain):
        ensure_build(console, toolchain.server)
        arguments += ["--jdk", toolchain.server_jvm.home]
    if heap is not None:
        arguments += ["--heap", heap]
    with console.status(f"starting {workload}"):
        started = workload_up.start(arguments)
    if as_json:
        typer.echo(
            json.dumps({"workload": started.workload, "keeper": started.keeper, "servers": started.servers})
        )
        return
    for server in started.servers:
        typer.echo(f"{server['url']}  CPUs {','.join(map(str, server['cpus']))}  process {server['pid']}")
    Console().print("stop it with: ./steelyard down", highlight=False)


def down() -> None:
    """Stop the workload that `up` started."""
    found = workload_up.stop()
    typer.echo(f"{found.workload} is down" if found is not None else "nothing is up")


def _keep(workload: str, engine: str, jvms: int, port: int, heap: str | None, jdk: Path | None) -> None:
    """The keeper: start the servers, note them, wait for SIGTERM, stop them."""
    try:
        settings = {"heap": parse_size(heap)} if heap is not None else {}
    except ValueError as error:
        raise BadInput(f"--heap: {error}") from error
    toolchains = find_toolchains([engine], workload, jdk)
    toolchain = toolchains[engine]
    deployment = Deployment.model_validate(
        {"engine": engine, "jvms": jvms, "injector_cores": "shared", "jvm": settings}
    )
    arm = Arm(workload, {}, True, deployment, Load(users=1))
    cores = [core.cpus for core in read_layout().cores]
    topology = plan_topology(arm, cores, toolchain.server_jvm, WORKLOADS[workload], port)
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
        state = {"workload": workload, "keeper": os.getpid(), "since": time.time(), "servers": servers}
        write_atomic(workload_up.STATE, json.dumps(state) + "\n")
        try:
            signal.pause()
        finally:
            workload_up.STATE.unlink(missing_ok=True)
            deployment_up.stop()
