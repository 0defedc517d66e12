# SPDX-License-Identifier: Apache-2.0
"""What a noise certificate holds for: host, kernel, JVM, workload, load and deployment (pure)."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping

from steelyard.jvm.settings import JvmSettings
from steelyard.results.schema import HostFacts
from steelyard.results.spec import Component, Record, Spec
from steelyard.units import format_size

_HOST = ("architecture", "cpu_model", "sockets", "cores", "cpus", "threads_per_core", "virtualization")
_SET = ("smt", "governor", "turbo", "thp")
_JVM = ("gc", "compile", "class_cache", "pages", "jit")
"""Settings of a JVM on which its noise hangs; a certificate with others of them is another one."""
_LATER = {
    name: field.default
    for name, field in JvmSettings.model_fields.items()
    if name not in {*_JVM, "heap", "initial_heap", "nursery", "gc_threads", "gc_log", "jvm_args"}
}
"""Settings of a JVM that there were not when the first certificates were made: they count where they are set."""
_COUNTED = {"through", "numa", "settings", "host_states", "duet"}
"""Fields of a spec that `_settings` and `_deployment` name."""
_FOLLOWS = {"remote", "data", "data_once", "consistency", "parts", "varying", "growing", "ratios", "limits"}
"""Those that follow from the workload and the engine."""
_TELLS = {"embedded", "not_read_back", "notes"}
"""Those that are sentences on others."""
_ADDED = {name for name, field in Spec.model_fields.items() if not field.is_required()} - (
    _COUNTED | _FOLLOWS | _TELLS
)
"""Fields of a spec that there were not when the first certificates were made: they count where they are set."""
UNKNOWN = "unknown"
"""What stands for a condition that the host or the component does not tell: no certificate holds for it."""
_NUMBER = re.compile(r"\d+")
_SIZE = 2**30
"""Memory is compared by the GiB: what a kernel leaves of it moves."""


class Conditions(Record):
    """What a certificate is valid for; each field has to be the same."""

    host: str
    """Fingerprint of the host, or of the pool of hosts that it belongs to."""
    host_settings: str
    """SMT, governor, turbo, THP and the kernel's scheduler."""
    kernel: str
    jvm: str
    """Family of the servers' JVM: kind and feature release."""
    workload: str
    engine: str
    procedure: str
    load: str
    """Digest of users, rate, warm-up, windows and mix."""
    deployment: str
    """Number of servers, the cores, heap and memory limit of each, settings of their JVMs that noise hangs on, whether
    injectors have cores of their own and whether another side runs beside them."""
    settings: str = ""
    """Digest of what else was set: settings of the workload, topology, states of the host, and of every component its
    CPUs, CPU quota, heap, memory, JVM settings and environment. Empty: not recorded, which holds for nothing."""


def fingerprint(host: HostFacts, pool: str | None = None) -> str:
    """What the noise of a host hangs on; `pool` stands for the host's name where many are alike."""
    facts = host.model_dump()
    parts = [pool if pool is not None else host.hostname, *(str(facts[name]) for name in _HOST)]
    return hashlib.sha256("\0".join([*parts, str(host.memory_bytes // _SIZE)]).encode()).hexdigest()[:12]


def conditions_of(host: HostFacts, spec: Spec, pool: str | None = None) -> Conditions:
    """What the certificate of a spec would be valid for."""
    jvm = spec.servers[0].artifact.jvm
    load = json.dumps(spec.load.model_dump(mode="json"), sort_keys=True)
    return Conditions(
        host=fingerprint(host, pool) if pool is not None or host.hostname != UNKNOWN else UNKNOWN,
        host_settings=", ".join(
            f"{name} {value or UNKNOWN}"
            for name, value in (
                *((name, getattr(host, name)) for name in _SET),
                ("scheduler", host.extra.get("scheduler")),
            )
        ),
        kernel=host.kernel,
        jvm=f"{jvm.kind} {jvm.feature}" if jvm is not None else _untold(spec.servers[0]),
        workload=f"{spec.workload} {spec.workload_version}",
        engine=spec.engine,
        procedure=spec.procedure,
        load=hashlib.sha256(load.encode()).hexdigest()[:12],
        deployment=_deployment(spec),
        settings=_settings(spec),
    )


def _settings(spec: Spec) -> str:
    """Digest of all that was set and has no field of its own. A setting of the workload that names the file that runs
    (`-jar /shop/new.jar`) says which build it is, and versions of one are what a gate weighs."""
    words = [word for server in spec.servers for word in server.artifact.words]
    files = {
        name: str(value)
        for name, value in spec.settings.items()
        if any("/" in word and word.endswith(f"/{value}") for word in words)
    }
    ports = {
        str(port): f"{name} of {component.name}"
        for component in spec.components
        for name, port in (("port", component.port), ("service port", component.serves))
    }

    def as_set(text: str) -> str:
        """A text without what an engine filled in, and without which build it is."""
        for file in files.values():
            text = text.replace(file, "")
        return _NUMBER.sub(lambda number: ports.get(number[0], number[0]), text)

    parts = {
        "topology": spec.topology,
        "through": spec.through,
        "numa": spec.numa,
        "host": spec.host_states,
        "settings": {name: value for name, value in spec.settings.items() if name not in files},
        "components": [_resources(component) | _texts(component, as_set) for component in spec.components],
        **spec.model_dump(mode="json", include=_ADDED, exclude_defaults=True),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def _resources(component: Component) -> dict[str, object]:
    """What a component has, and what its JVM and its injector are told; nothing of what is left out."""
    jvm = component.jvm_settings
    parts = {
        "name": component.name,
        "role": component.role,
        "heap": component.heap_bytes,
        "memory": component.memory_bytes,
        "cpus": len(component.cpus),
        "quota": component.cpu_quota,
        "killed": component.killed_after,
        "kept": component.kept,
        "told": component.expected_info,
        "jvm": _set(jvm) if jvm is not None else None,
        "load": {name: value for name, value in component.settings.items() if name != "targets"},
    }
    return {name: value for name, value in parts.items() if value}


def _texts(component: Component, as_set: Callable[[str], str]) -> dict[str, object]:
    """How a component is started. The words of a server say which build it is; the options of an injector are those of
    its own JVM's version."""
    words = component.artifact.words if component.role != "server" else []
    options = component.jvm_options if component.role != "injector" else []
    parts = {
        "environment": {name: as_set(text) for name, text in component.environment.items()},
        "words": [as_set(word) for word in words],
        "options": [as_set(option) for option in options],
    }
    return {name: value for name, value in parts.items() if value}


def _set(jvm: JvmSettings) -> dict[str, object]:
    dump = jvm.model_dump(mode="json")
    return {name: value for name, value in dump.items() if name not in _LATER or value != _LATER[name]}


def _untold(server: Component) -> str:
    """What stands for a JVM that is not told: of an image the image without its version, as versions of one are what a
    gate weighs; of a command, whatever that starts."""
    image = server.artifact.image
    if image:
        return f"that of {image.partition('@')[0].rpartition('/')[2].partition(':')[0]}"
    return "that of its command" if server.artifact.form == "command" else UNKNOWN


def _deployment(spec: Spec) -> str:
    first = spec.servers[0]
    others = {True: " beside as many", "in-turns": " in turns with as many"}.get(spec.duet, "")
    parts = [f"{len(spec.servers)} servers on {spec.server_cores} cores{others}"]
    sizes = {"heap": first.heap_bytes, "memory": first.memory_bytes}
    parts += [f"{name} {format_size(size)}" for name, size in sizes.items() if size is not None]
    if first.jvm_settings is not None:
        parts += [f"{name} {getattr(first.jvm_settings, name)}" for name in _JVM]
    return ", ".join([*parts, *(["injectors on the same cores"] if spec.injectors_share_cores else [])])


def deploys_same(first: Spec, second: Spec) -> bool:
    """Whether two arms are the same but for what they are called."""
    mine, theirs = (spec.model_copy(update={"arm": "", "notes": []}) for spec in (first, second))
    return mine == theirs


def different_fields(certified: Conditions, other: Conditions) -> list[str]:
    """What two conditions differ in, or may differ in: what is not known is not equal."""
    mine: Mapping[str, str] = certified.model_dump()
    unknown = unknown_in(other)
    return [name for name, value in other.model_dump().items() if mine[name] != value or name in unknown]


def unknown_in(conditions: Conditions) -> list[str]:
    """The fields of which something is not known."""
    fields: Mapping[str, str] = conditions.model_dump()
    return [
        name
        for name, value in fields.items()
        if not value or any(part.split()[-1:] == [UNKNOWN] for part in value.split(", "))
    ]
