# SPDX-License-Identifier: Apache-2.0
"""One component of a spec: what it runs, with which options, environment and files, and how it is seen to serve."""

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Deployment
from steelyard.jvm.options import jvm_options
from steelyard.results.spec import Artifact, Component, ContainerPlace, JvmIdentity, Ready
from steelyard.spec.runtime import Runtime
from steelyard.spec.split import CpuShare
from steelyard.spec.texts import fill
from steelyard.workload.loader import Found
from steelyard.workload.schema import Component as Kind
from steelyard.workload.schema import Workload
from steelyard.yamlfile import Scalar

KEPT_CONNECTIONS = 1000
"""Idle connections that a proxy keeps to each kind of server (POWER9 study)."""
GIVEN_UP_FIRST = "keepalive_timeout 20s"
"""Liberty closes an idle connection after 30 s; one that both ends let go of at once would cost a request."""


@dataclass(frozen=True)
class Places:
    """What a component is told of itself and of the others."""

    names: dict[str, list[str]]
    """Names of the components of each kind."""
    ports: dict[str, int]
    hosts: dict[str, str]
    inner: dict[str, int]
    """Port by kind, as other components reach it."""


def make_component(
    name: str,
    kind: str,
    described: Kind,
    arm: Arm,
    found: Found,
    runtime: Runtime,
    share: CpuShare,
    heap: int | None,
    places: Places,
    settings: Mapping[str, Scalar],
) -> Component:
    """One component as the spec has it.

    Args:
        name: unique in the trial.
        kind: the workload's name for it.
        described: what the workload says of the kind.
        arm: what is wanted.
        found: the workload.
        runtime: what components run on.
        share: its CPUs.
        heap: maximum heap in bytes; None leaves it to the JVM.
        places: names, hosts and ports of all components.
        settings: the workload's own settings, resolved.

    Raises:
        BadInput: a setting that it does not have, a `${name}` that stands for nothing.
    """
    deployment = arm.deployment
    contained = deployment.engine != "process"
    where = f"{found.workload.name}, {kind}"
    values: dict[str, object] = {**settings, "name": name, "host": places.hosts[kind]}
    values["port"] = places.inner[kind] if contained else places.ports[name]
    for other in places.names:
        values[f"{other}.host"], values[f"{other}.port"] = places.hosts[other], places.inner[other]
        values[f"{other}.url"] = f"http://{places.hosts[other]}:{places.inner[other]}"
    server = described.role == "server"
    jvm = _jvm(described, runtime, contained)
    artifact = _artifact(kind, described, found, runtime, jvm, values, where)
    options = [] if contained or described.process is None else described.process.options
    files: dict[str, str] = {}
    copies: dict[str, str] = {}
    environment = dict(described.environment)
    if contained and described.container is not None:
        environment.update(described.container.environment)
    elif described.process is not None:
        environment.update(described.process.environment)
        upstreams = {"upstreams": _upstreams(found.workload, deployment, places)}
        files = {
            key: fill(text, {**values, **upstreams}, where)
            for key, text in described.process.templates.items()
        }
        copies = described.process.files
    if server:
        environment.update(_threads(described, deployment, where))
        _refuse_without_options(described, deployment, heap, contained, jvm, where)
    filled = {key: fill(text, values, where) for key, text in environment.items()}
    container = described.container
    return Component(
        name=name,
        kind=kind,
        role=described.role,
        artifact=artifact,
        cpus=list(share.cpus),
        cpus_shared_with=share.shared_with,
        cores=share.cores,
        heap_bytes=heap,
        memory_bytes=deployment.memory if server else None,
        host=places.hosts[kind] if contained else "127.0.0.1",
        port=places.ports.get(name),
        jvm_settings=deployment.jvm if server and jvm is not None else None,
        jvm_options=[
            *(fill(option, values, where) for option in options),
            *(jvm_options(deployment.jvm, heap, jvm) if server and jvm is not None else []),
        ],
        environment=filled,
        files=files,
        copies=copies,
        ready=Ready(**described.ready.model_dump()),
        counters=described.counters,
        info=described.info,
        expected_info=_expected(described, found.workload, settings, deployment),
        started_in=_started_in(described, found, contained),
        port_taken=described.process.port_taken if described.process is not None and not contained else None,
        container=ContainerPlace(
            port=container.port,
            jvm_options=container.jvm_options,
            folder=container.folder,
            user=container.user,
        )
        if contained and container is not None
        else None,
    )


def _jvm(described: Kind, runtime: Runtime, contained: bool) -> JvmIdentity | None:
    """The JVM of a component; None where it is no JVM, or nobody told."""
    if contained:
        is_jvm = described.container is not None and described.container.jvm_options is not None
        return runtime.server_jvm if described.role == "server" and is_jvm else None
    process = described.process
    assert process is not None
    if process.command is not None and "${jvm_options}" not in process.command:
        return None
    return runtime.server_jvm if process.jvm == "servers" else runtime.injector_jvm


def _artifact(
    kind: str,
    described: Kind,
    found: Found,
    runtime: Runtime,
    jvm: JvmIdentity | None,
    values: Mapping[str, object],
    where: str,
) -> Artifact:
    if kind in runtime.images:
        own = described.container is not None and described.container.repository is not None
        return Artifact(
            form="image", image=runtime.images[kind], jvm=jvm, build=runtime.build if own else None
        )
    process = described.process
    assert process is not None
    package = found.workload.packages[process.package] if process.package is not None else None
    later = frozenset({"folder", "package", "java", "cache", "jvm_options"})
    words = [process.liberty] if process.liberty is not None else (process.java or process.command or [])
    return Artifact(
        form="liberty" if process.liberty is not None else "java" if process.java is not None else "command",
        package=process.package,
        build=_build(described, runtime) if package is not None and package.maven else None,
        path=runtime.packages.get(process.package) if process.package is not None else None,
        words=[fill(word, values, where, later) for word in words],
        jvm=jvm,
    )


def _build(described: Kind, runtime: Runtime) -> str | None:
    """Another build is another build of the servers; what stands beside them is the checkout's."""
    return runtime.build if described.role == "server" else runtime.tools


def _started_in(described: Kind, found: Found, contained: bool) -> str | None:
    if contained or described.process is None or described.process.folder is None:
        return None
    return str((found.folder / described.process.folder).resolve())


def _threads(described: Kind, deployment: Deployment, where: str) -> dict[str, str]:
    if deployment.threads == "default":
        return {}
    if described.threads is None:
        raise BadInput(f"{where}: its thread pool cannot be set: leave `threads` out")
    return {described.threads: str(deployment.threads)}


def _refuse_without_options(
    described: Kind,
    deployment: Deployment,
    heap: int | None,
    contained: bool,
    jvm: JvmIdentity | None,
    where: str,
) -> None:
    """A server that takes no JVM options cannot have JVM settings."""
    takes = described.container is None or described.container.jvm_options is not None if contained else True
    if jvm is not None and takes:
        return
    given = [
        key
        for key in type(deployment.jvm).model_fields
        if getattr(deployment.jvm, key)
        != type(deployment.jvm).model_fields[key].get_default(call_default_factory=True)
        and key != "gc_log"
    ]
    if given or heap is not None:
        raise BadInput(
            f"{where}: {', '.join(given) or 'a heap'} cannot be set, because nothing takes the JVM's options: add"
            " `${jvm_options}` to its command, or `jvm_options` to its container"
        )


def _expected(
    described: Kind, workload: Workload, settings: Mapping[str, Scalar], deployment: Deployment
) -> dict[str, str]:
    """What `/bench/info` must say of settings, by the names that it has for them."""
    told = " ".join(described.environment.values())
    found = {
        setting.reads_back: str(settings[name])
        for name, setting in workload.settings.items()
        if setting.reads_back is not None and f"${{{name}}}" in told
    }
    if deployment.threads != "default" and described.threads is not None:
        found["executorThreads"] = str(deployment.threads)
    return found


def _upstreams(workload: Workload, deployment: Deployment, places: Places) -> str:
    """The nginx `upstream` of each kind of server, with the JVMs of this trial."""
    _, topology = workload.topology(deployment.topology)
    lines = []
    for kind in topology.kinds("server"):
        servers = "".join(f" server 127.0.0.1:{places.ports[name]};" for name in places.names[kind])
        lines.append(f"upstream {kind} {{{servers} keepalive {KEPT_CONNECTIONS}; {GIVEN_UP_FIRST}; }}")
    return "\n".join([*lines, ""])
