# SPDX-License-Identifier: Apache-2.0
"""One component of a spec: what it runs, with which options, environment and files, and how it is seen to serve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from steelyard.errors import BadInput
from steelyard.jvm.checkpoint import Checkpoint, refuse_checkpoint
from steelyard.jvm.identity import JvmIdentity
from steelyard.jvm.jitserver import client_options
from steelyard.jvm.options import jvm_options
from steelyard.paths import ROOT, is_folder
from steelyard.results.spec import MEASURED_ROLES, Artifact, Component
from steelyard.spec.agreement import readable
from steelyard.spec.layout import LOOPBACK, Layout, fill
from steelyard.spec.split import CpuShare
from steelyard.workload.schema import LATER, ContainerDescription, ContainerPlace, ProcessDescription

KEPT_CONNECTIONS = 1000
"""Idle connections that a proxy keeps to each kind of server (POWER9 study)."""
JVM_OPTIONS = "${jvm_options}"
GIVEN_UP_FIRST = "keepalive_timeout 20s"
"""Liberty closes an idle connection after 30 s; one that both ends let go of at once would cost a request."""


def make_component(
    layout: Layout, component: str, name: str, share: CpuShare, heap: int | None, memory: int | None
) -> Component:
    """One component of a kind as the spec has it; maximum heap and memory limit in bytes, None where there is none.

    Raises:
        BadInput: a setting that it does not have, a `${name}` that stands for nothing.
    """
    described, how, asked = layout.kinds[component], layout.how(component), layout.arm.deployment.jvm
    where = f"{layout.loaded.workload.name}, {component}"
    values = layout.values(component, name)
    jvm = _jvm(layout, component, how)
    if isinstance(how, ContainerDescription):
        _refuse_unheard(layout, component, where)
    special: dict[str, Any] = {}
    options = [fill(option, values, where) for option in how.options]
    if isinstance(how, ContainerDescription):
        special["container"] = ContainerPlace(**how.model_dump(include=set(ContainerPlace.model_fields)))
    else:
        texts = {**values, "upstreams": _upstreams(layout)}
        special["files"] = {key: fill(text, texts, where) for key, text in how.templates.items()}
        copies = {key: _from_checkout(layout.loaded.require_text(path)) for key, path in how.files.items()}
        special |= {"copies": copies, "port_taken": how.port_taken, "check": how.check}
        special |= {"data": how.data, "write_once": described.write_once}
        if how.folder is not None:
            started_in = (layout.loaded.folder / how.folder).resolve()
            if not is_folder(started_in):
                raise BadInput(f"{where}: the folder that it is started in is not there: {started_in}")
            special["started_in"] = str(started_in)
    environment = described.environment | how.environment
    artifact = _artifact(layout, component, how, jvm, values, where)
    if described.role == "server":
        environment |= _threads(layout, component, where)
        special["checkpoint"] = _checkpoint(layout, artifact, where)
        if jvm is None:
            _refuse_jvm_settings(layout, component, heap, where)
        else:
            special["jvm_settings"] = asked
            special["cache"] = asked.class_cache if asked.class_cache in ("cold", "warm") else None
            for compiler in layout.relays or layout.compilers:
                options += client_options(layout.arm.deployment.jitserver, layout.address(compiler))
            # A client of a JITServer logs its compilations in any case.
            own = asked.model_copy(update={"jit_log": asked.jit_log and asked.jit != "remote"})
            options += jvm_options(own, heap, jvm)
    elif described.role == "compiler":
        special["kept"] = layout.arm.deployment.jitserver.aot_cache == "warm"
        special["killed_after"] = layout.arm.deployment.jitserver.killed_after
    made = Component(
        name=name,
        kind=component,
        role=described.role,
        artifact=artifact,
        cpus=list(share.cpus),
        cpus_shared_with=share.shared_with,
        cores=share.cores,
        heap_bytes=heap,
        memory_bytes=memory,
        cpu_quota=_quota(layout, name, share) if described.role == "server" else None,
        host=layout.address(component)[0],
        port=layout.status.get(name, layout.ports.get(name)),
        serves=layout.ports[name] if name in layout.status and not layout.in_containers else None,
        jvm_options=options,
        environment=_environment(layout, environment, values, where),
        ready=described.ready,
        counters=described.counters,
        info=described.info,
        metrics=described.metrics,
        expected_info=_expected_info(layout, component) if described.info is not None else {},
        **special,
    )
    if described.role != "server":
        return made
    jcmd = layout.runtime.jcmd and not layout.in_containers
    return made.model_copy(update={"read_back": readable(made, jcmd=jcmd)})


def _checkpoint(layout: Layout, artifact: Artifact, where: str) -> Checkpoint:
    """What a server starts from (raises BadInput: it has no checkpoints)."""
    checkpoint = layout.arm.deployment.checkpoint
    if checkpoint != "none":
        refuse_checkpoint(artifact.jvm, artifact.form, layout.arm.deployment.engine, where)
    return checkpoint


def _quota(layout: Layout, name: str, share: CpuShare) -> float | None:
    """The CPU quota of a server (raises BadInput: it would limit nothing)."""
    quota = layout.arm.deployment.cpus
    if quota is not None and quota > len(share.cpus):
        raise BadInput(
            f"arm {layout.arm.name}: cpus {quota:g} limits nothing, because {name} has {len(share.cpus)} CPUs on this"
            " host: lower it, or leave it out"
        )
    return quota


def _environment(
    layout: Layout, written: Mapping[str, str], values: Mapping[str, object], where: str
) -> dict[str, str]:
    """The environment of a component. As a process it may be told the JVM's options there."""
    if not layout.in_containers:
        later = LATER | {"jvm_options"}
        asked = {} if layout.listen == LOOPBACK else {"HTTP_HOST": layout.listen}
        return {key: fill(text, values, where, later) for key, text in {**asked, **written}.items()}
    for key, text in written.items():
        if JVM_OPTIONS in text:
            raise BadInput(
                f"{where}: {key} holds {JVM_OPTIONS}, which is for processes: its container takes them by"
                f" `jvm_options: {key}`; put the variable into the environment of its process"
            )
    return {key: fill(text, values, where) for key, text in written.items()}


def _from_checkout(path: Path) -> str:
    """A path as a spec names it: one of the checkout from there, so that specs are the same in every checkout."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _jvm(
    layout: Layout, component: str, how: ProcessDescription | ContainerDescription
) -> JvmIdentity | None:
    """The JVM of a component; None where it is no JVM, takes no options, or nobody told."""
    if isinstance(how, ContainerDescription):
        weighed = layout.kinds[component].role in MEASURED_ROLES and how.jvm_options is not None
        return layout.runtime.server_jvm if weighed else None
    texts = [*(how.command or ()), *how.environment.values(), *layout.kinds[component].environment.values()]
    if how.command is not None and not any(JVM_OPTIONS in text for text in texts):
        return None
    return layout.runtime.server_jvm if how.jvm == "servers" else layout.runtime.injector_jvm


def _artifact(
    layout: Layout,
    component: str,
    how: ProcessDescription | ContainerDescription,
    jvm: JvmIdentity | None,
    values: Mapping[str, object],
    where: str,
) -> Artifact:
    runtime = layout.runtime
    if isinstance(how, ContainerDescription):
        build = runtime.build if how.repository is not None else None
        return Artifact(form="image", image=runtime.images[component], jvm=jvm, build=build)
    words = [how.liberty] if how.liberty is not None else (how.java or how.command or [])
    made = how.package is not None and layout.loaded.workload.packages[how.package].maven
    # Another build is another build of the servers; what stands beside them is the checkout's.
    build = runtime.build if layout.kinds[component].role == "server" else runtime.tools
    java: Literal["java", "command"] = "java" if how.java is not None else "command"
    return Artifact(
        form="liberty" if how.liberty is not None else java,
        package=how.package,
        build=build if made else None,
        path=runtime.packages.get(how.package) if how.package is not None else None,
        words=[fill(word, values, where, LATER | {"jvm_options"}) for word in words],
        jvm=jvm,
    )


def _threads(layout: Layout, component: str, where: str) -> dict[str, str]:
    threads, variable = layout.arm.deployment.threads, layout.kinds[component].threads
    if threads == "default":
        return {}
    if variable is None:
        raise BadInput(f"{where}: its thread pool cannot be set: leave `threads` out")
    return {variable: str(threads)}


def _refuse_unheard(layout: Layout, component: str, where: str) -> None:
    """A setting that only the process of a component is told of must not be set in its container in vain."""
    process = layout.kinds[component].process
    asked = [name for name in layout.arm.settings if process and f"${{{name}}}" in process.model_dump_json()]
    heard = f"{layout.how(component).model_dump_json()} {layout.kinds[component].environment}"
    deaf = [name for name in asked if f"${{{name}}}" not in heard]
    if deaf:
        raise BadInput(
            f"{where}: its container is not told {', '.join(deaf)}, which is for engine: process: leave it out, or"
            " choose that engine"
        )


def _refuse_jvm_settings(layout: Layout, component: str, heap: int | None, where: str) -> None:
    """A server without a JVM that is known and takes options cannot have JVM settings."""
    asked = layout.arm.deployment.jvm.model_dump(exclude_defaults=True, exclude={"gc_log"})
    if not asked and heap is None:
        return
    how = layout.how(component)
    why = (
        "nothing takes the JVM's options: add `${jvm_options}` to its command or to a variable of its environment"
        " (CATALINA_OPTS), or `jvm_options` to its container"
    )
    if isinstance(how, ContainerDescription) and how.jvm_options is not None:
        why = (
            f"the JVM of the image {layout.runtime.images[component]} is not known, and options differ between JVMs:"
            " `java -version` must run in it (put `java` on its PATH, or choose an image with --set jdk=IMAGE);"
            " or leave JVM settings out and write options for it in the image itself"
        )
    raise BadInput(f"{where}: {', '.join(asked) or 'a heap'} cannot be set, because {why}")


def _expected_info(layout: Layout, component: str) -> dict[str, str]:
    """What `/bench/info` must say of settings, by the names that it has for them."""
    described = layout.kinds[component]
    environment = " ".join(described.environment.values())
    info = {
        setting.reads_back: str(layout.substitutes[name])
        for name, setting in layout.loaded.workload.settings.items()
        if setting.reads_back is not None and f"${{{name}}}" in environment
    }
    threads = layout.arm.deployment.threads
    return info | ({"executorThreads": str(threads)} if threads != "default" and described.threads else {})


def _upstreams(layout: Layout) -> str:
    """The nginx `upstream` of each kind of server, with the JVMs of this trial."""
    lines = []
    for component in layout.topology.kinds("server"):
        servers = "".join(f" server 127.0.0.1:{layout.ports[name]};" for name in layout.names[component])
        lines.append(f"upstream {component} {{{servers} keepalive {KEPT_CONNECTIONS}; {GIVEN_UP_FIRST}; }}")
    return "\n".join([*lines, ""])
