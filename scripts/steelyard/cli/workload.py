# SPDX-License-Identifier: Apache-2.0
"""`up` and `down`: a workload alone, running, with its addresses printed."""

import os
import re
import shlex
import shutil
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from steelyard.cli import completion
from steelyard.cli.building import ensure_builds
from steelyard.cli.console import open_console, print_json
from steelyard.cli.options import JdkOption, JsonOption, PortOption, TrustOption, require_trust
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.matrix import Arm, fixed_arm
from steelyard.experiment.schema import ENGINES
from steelyard.experiment.settings import Settings
from steelyard.host.cpus import read_layout
from steelyard.host.lock import host_lock
from steelyard.host.ports import free_first_port, held_ports, refuse_ephemeral
from steelyard.jvm.recognition import find_setting
from steelyard.paths import name_program, typed_launcher
from steelyard.processes import Children
from steelyard.results.spec import Spec
from steelyard.results.store import write_atomic
from steelyard.session import workload_up
from steelyard.session.deploying import Deployed
from steelyard.session.plan import check_fits_host, check_host
from steelyard.session.runtimes import RuntimeResolver, make_engines, require_startable
from steelyard.spec.layout import EVERYWHERE, FIRST_PORT, LOOPBACK
from steelyard.spec.plan import make_spec
from steelyard.workload.loader import load_workload
from steelyard.workload.start_command import StartCommand
from steelyard.workload.starter import QUESTION, make_starter
from steelyard.workload.trust import keep, keep_trust

WorkloadArgument = Annotated[
    str,
    Argument(
        metavar="WORKLOAD",
        help="Name (see `list`), or the path of a workload file.",
        autocompletion=completion.workloads,
    ),
]


ListenOption = Annotated[
    str,
    Option(
        "--listen",
        metavar="ADDRESS",
        help="Where servers and proxies listen: 127.0.0.1, or 0.0.0.0, reached from other machines.",
    ),
]


def up(
    workload: WorkloadArgument,
    jvms: Annotated[
        int, Option("--jvms", metavar="N", min=1, max=256, help="Number of server JVMs, of each kind.")
    ] = 1,
    port: PortOption = 9080,
    engine: Annotated[
        str, Option("--engine", metavar="ENGINE", help="process (no containers) or compose.")
    ] = "process",
    topology: Annotated[
        str | None,
        Option("--topology", metavar="NAME", help="How to deploy it.", show_default="the workload's first"),
    ] = None,
    heap: Annotated[
        str | None, Option("--heap", metavar="SIZE", help="Heap of each JVM, for example 512m.")
    ] = None,
    set_: Annotated[
        list[str],
        Option(
            "--set",
            metavar="SETTING=VALUE",
            help="Another setting, as experiments name it, for example acmeair.customers=10000.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer reads the default, nothing changes it
    jdk: JdkOption = None,
    listen: ListenOption = LOOPBACK,
    trust: TrustOption = False,
    as_json: JsonOption = False,
    keep: Annotated[bool, Option("--keep", hidden=True)] = False,
) -> None:
    """Start a workload without load and print its addresses; `down` stops it.

    The servers share the host's cores evenly, as in an experiment.
    """
    if engine not in ENGINES:
        raise BadInput(f"unknown engine {engine!r}: there are {', '.join(ENGINES)}")
    if engine == "kubernetes":
        raise BadInput(
            f"up starts a workload on this host: in a cluster, `kubectl apply -k k8s/{workload}` does"
        )
    _refuse_address(listen, engine)
    own = {"topology": topology, "heap": heap}
    given = [f"engine={engine}", f"jvms={jvms}", "injector_cores=shared", *set_]
    given += [f"{name}={value}" for name, value in own.items() if value is not None]
    arm = fixed_arm(workload, Settings(load_workload(workload).workload, {}), given)
    if keep:
        _keep(workload, arm, port, jdk, listen)
        return
    require_trust(workload, trust)
    console = open_console(stderr=True)
    with console.status("looking for what it runs on"):
        runtimes = RuntimeResolver(load_workload(workload), jdk)
        spec = _spec(runtimes, arm, port, listen)
        workload_up.require_idle()
        require_startable([spec])
    ensure_builds(console, runtimes, [spec])
    with console.status(f"starting {arm.name}"):
        started = workload_up.start(sys.argv[1:], workload_up.longest_start(spec))
    if as_json:
        print_json(started.model_dump())
        return
    if started.proxy is not None:
        typer.echo(f"{started.proxy}  leads to every service")
    for server in started.servers:
        cpus = ",".join(map(str, server.cpus))
        typer.echo(f"{server.url}  {server.name}  CPUs {cpus}  process {server.pid}")
    if listen != LOOPBACK:
        typer.echo(
            f"listening on {listen}: whoever reaches it may load data and change settings, without a password"
        )
    typer.echo(f"stop it with: {typed_launcher(Path.cwd())} down")


def init(
    name: Annotated[str, Argument(metavar="NAME", help="Of the workload, and of the folder that is made.")],
    start: Annotated[
        str,
        Option(
            "--start",
            metavar="COMMAND",
            prompt="What starts your server, in the foreground, in this folder",
            help="Command that starts the server in the foreground, with its port in it.",
            show_default="asked",
        ),
    ],
    port: Annotated[
        int,
        Option(
            "--port",
            metavar="P",
            prompt="The port in that command",
            min=1,
            max=65535,
            help="Port in that command.",
            show_default="asked",
        ),
    ],
    path: Annotated[
        str,
        Option(
            "--path",
            metavar="PATH",
            prompt="A path that answers 200 when the server serves",
            help="Path that answers 200 when the server serves.",
            show_default="asked",
        ),
    ],
) -> None:
    """Write a workload file for a server of your own: NAME/workload.yaml. Asks what is not given.

    For a command that starts no `java` it writes NAME/processes.yaml as well, an experiment that sets nothing of a JVM.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
        raise BadInput(
            f"{name!r} is no name of a workload: use small letters, digits and hyphens, a letter first, as in my-server"
        )
    if not path.startswith("/"):
        raise BadInput(f"the path {path!r} has to begin with /: write /{path}")
    file, question = Path(name) / "workload.yaml", Path(name) / "processes.yaml"
    if existing := [target for target in (file, question) if target.exists()]:
        raise BadInput(f"{existing[0]} is there already: choose another name, or edit it")
    starter = make_starter(name, start, port, path, here=Path.cwd(), folder=file.parent)
    _write_checked(file, name_program(starter.text))
    keep_trust(file)
    typer.echo(f"written: {file}")
    if not starter.start.is_java:
        write_atomic(question, QUESTION)
        keep([question.resolve()])
        typer.echo(f"written: {question}, an experiment that sets nothing of a JVM")
    _tell_changes(starter.start)
    typer.echo("next:")
    jdk = f" --jdk {shlex.quote(starter.start.jdk)}" if starter.start.jdk is not None else ""
    commands = [f"up {file}{jdk}", f"journey try {file}", "down"]
    if starter.start.is_java:
        commands.append(f"run jvm-count --quick --workload {file}{jdk}")
    else:
        commands.append(f"run {question} --quick")
    for command in commands:
        typer.echo(f"  {typed_launcher(Path.cwd())} {command}")
    if not starter.start.is_java:
        sentence = (
            "the suite's own experiments set a JVM's heap and collector: where this command starts a JVM, put"
            " ${jvm_options} into it or into a variable of its environment (docs/own-server.md)"
        )
        typer.echo(name_program(sentence))


def _tell_changes(start: StartCommand) -> None:
    """Print in what the file differs from what was typed."""
    typer.echo(f"each server gets a port of its own: {', '.join(start.ported)}")
    if start.wrapper:
        typer.echo(f"left out, for the harness starts the server itself: {shlex.join(start.wrapper)}")
    if start.settings:
        named = (f"{option} ({find_setting(option)})" for option in start.settings)
        typer.echo(f"left out, for experiments set them: {', '.join(named)}")
    if start.jdk is not None:
        typer.echo(f"the JDK is no part of the file: choose {start.jdk} with --jdk")


def _write_checked(file: Path, text: str) -> None:
    """Write a workload file that can be read, or nothing.

    Raises:
        BadInput: what would be in it is refused, or its folder cannot be made.
        NoSpace: it cannot be written.
    """
    was_there = file.parent.is_dir()
    try:
        file.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"the folder {file.parent} cannot be made ({error.strerror}): choose another name, or run this elsewhere"
        ) from error
    try:
        write_atomic(file, text)
        load_workload(str(file.resolve()))
    except SteelyardError:
        file.unlink(missing_ok=True)
        if not was_there:
            file.parent.rmdir()
        raise


def down() -> None:
    """Stop the workload that `up` started."""
    stopped = workload_up.stop(lambda sentence: typer.echo(sentence, err=True))
    typer.echo(f"{stopped.workload} is down" if stopped is not None else "nothing is up")


def _refuse_address(listen: str, engine: str) -> None:
    """Raise BadInput: an address that what starts and loads servers does not reach, or an engine that is not told."""
    if listen not in (LOOPBACK, EVERYWHERE):
        raise BadInput(f"--listen {listen}: choose {LOOPBACK}, or {EVERYWHERE}, every address of this host")
    if listen != LOOPBACK and engine != "process":
        raise BadInput(
            "--listen is for engine process: where containers are reached stands under `ports` of their compose.yaml"
        )


def _spec(runtimes: RuntimeResolver, arm: Arm, port: int, listen: str) -> Spec:
    """What comes up: without injectors, whose load nobody asked for, nor would they take every setting of the servers.

    Raises:
        BadInput, MissingRequirement: an argument was refused, or what it needs is not there.
    """
    layout = read_layout()
    cores = [core.cpus for core in layout.cores]
    runtime = runtimes.runtime(arm.deployment, dict(arm.settings))
    make = partial(make_spec, arm, "steady", runtimes.workload, cores, runtime, nodes=layout.node_of)
    spec = make(port, listen)
    if port == FIRST_PORT and (first := free_first_port(spec.ports, port)) != port:
        spec = make(first, listen)
    check_fits_host({arm.name: spec})
    check_host([spec])
    refuse_ephemeral(spec.ports)
    return spec.model_copy(update={"components": spec.without_injectors})


def _keep(workload: str, arm: Arm, port: int, jdk: Path | None, listen: str) -> None:
    """The keeper: start the workload, note its servers, wait for SIGTERM, stop it."""
    workload_up.end_with_starter()
    runtimes = RuntimeResolver(load_workload(workload), jdk)
    spec = _spec(runtimes, arm, port, listen)
    ensure_builds(open_console(stderr=True), runtimes, [spec])
    with (
        host_lock(),
        held_ports(spec.ports),
        Children() as children,
    ):
        folder, is_up = workload_up.fresh_folder(), False
        engine = make_engines([spec.engine], runtimes, children, "up")[spec.engine]
        engine.check([spec])
        deployment = engine.open(spec, folder)
        try:
            deployed = Deployed(spec, deployment)
            deployed.start()
            deployed.load_data()
            proxy = next((component.url for component in spec.of("proxy")), None)
            servers = []
            for server in spec.servers:
                pid = deployed.started[server.name].running.pids[0]
                servers.append(
                    workload_up.UpServer(name=server.name, url=server.url, pid=pid, cpus=server.cpus)
                )
            up = workload_up.Up(workload=arm.name, keeper=os.getpid(), servers=servers, proxy=proxy)
            write_atomic(workload_up.STATE, up.model_dump_json() + "\n")
            is_up = True
            while True:  # no `signal.pause()`: it sleeps through a signal that comes just before it
                time.sleep(1.0)
        finally:
            workload_up.STATE.unlink(missing_ok=True)
            deployment.close()
            if is_up:
                shutil.rmtree(folder, ignore_errors=True)
