# SPDX-License-Identifier: Apache-2.0
"""The override that makes a hand-written bundle deploy one trial (pure).

`compose/BUNDLE/compose.yaml` has a service for each kind of component, and `load` for the injectors. A component that
bears its kind's name changes that service in place. `server-1`, `server-2`, ... extend it, answer to its name too, and
it gets no container. What a service of the bundle waits for, its components wait for. The files lie in the trial's
`replay/`, where `docker compose -f compose.yaml -f trial.yaml --profile load up` repeats the trial by hand.
"""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from steelyard.engines.base import log_folder
from steelyard.engines.compose import checkpoints
from steelyard.engines.compose.yaml_text import Override, to_text
from steelyard.engines.container import CACHE_FOLDER, LOAD_FOLDER, environment, uses_cache
from steelyard.results.spec import Component, Spec

OUTPUT = "${TRIAL:-.}"
"""Where folders of this host begin: beside the files when repeated by hand, the trial's directory when measured."""
SESSION_LABEL = "dev.steelyard.session"
DATA = "data"
"""The bundle's service that loads the data when a trial is repeated by hand; the harness sends the requests itself."""
PASSWORD = "password"
"""The bundle's service that makes a password for databases, and ends; it comes before all others."""
BUSYBOX = "/opt/steelyard/bin/busybox"
"""In every image of the project's servers."""
_AWAIT = '"awaitStart": '
_MEASURED = "${MEASURED:-false}"
"""`true` from the harness; a person who repeats the trial does not give it."""

# By the schema of compose files.
Services = Mapping[str, Mapping[str, Any]]


class User(NamedTuple):
    """Whom the containers run as: the owner of the session's files, never this host's root."""

    uid: int
    gid: int

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}"


def command_line(component: Component, bundle: str) -> str:
    """What starts a component, as a person would type it; the override holds what stands before it (for `plan`)."""
    settings = [f"cpuset={_cpuset(component)}"]
    if component.memory_bytes is not None:
        settings.append(f"mem_limit={component.memory_bytes}")
    if component.cpu_quota is not None:
        settings.append(f"cpus={component.cpu_quota:g}")
    settings += [f"{name}={shlex.quote(text)}" for name, text in environment(component).items()]
    files = f"-f compose/{bundle}/compose.yaml -f $TRIAL/replay/trial.yaml"
    first = f"docker compose {files} -f $TRIAL/replay/{checkpoints.TAKES} up {component.name}; "
    takes = first if component.checkpoint != "none" else ""
    return f"{' '.join(settings)} {takes}docker compose {files} up {component.name}"


def override(spec: Spec, bundle: Services, user: User, session: str) -> str:
    """The text of `trial.yaml`.

    Args:
        spec: what the trial deploys.
        bundle: the services of the bundle's compose.yaml.
        user: whom the containers run as, unless as their image says.
        session: written on every container, so that what a crash left behind can be told.
    """
    label = {SESSION_LABEL: session}
    made: dict[str, list[Component]] = {}
    for component in spec.components:
        made.setdefault(service_of(component, bundle), []).append(component)
    names = {service: [component.name for component in components] for service, components in made.items()}
    services: dict[str, Any] = {}
    for service in bundle:
        if service in (DATA, PASSWORD):
            names[service] = [service]
        elif service not in names.get(service, ()):
            # Compose fetches images even for services of which it starts none: here they are the trial's.
            stand_in = made.get(service) or spec.components
            services[service] = {"image": stand_in[0].artifact.image, "scale": 0}
    for service, components in made.items():
        for component in components:
            services[component.name] = _entry(component, service, bundle.get(service, {}), names, user, label)
    if PASSWORD in bundle:
        services[PASSWORD] = {"image": spec.servers[0].artifact.image, "labels": label}
    if DATA in bundle:
        services[DATA] = {
            "image": spec.servers[0].artifact.image,
            "labels": label,
            "entrypoint": Override([BUSYBOX, "sh", "-euc"]),
            "command": Override([_literal(_load_data(spec))]),
            **_waits(bundle[DATA], names),
        }
    document: dict[str, Any] = {"services": services, "networks": {"default": {"labels": label}}}
    if kept := [
        volume.name for server in spec.checkpoint_servers for volume in checkpoints.volumes_of(server)
    ]:
        document["volumes"] = {name: {"labels": label} for name in kept}
    return _head(spec, bundle) + to_text(document)


def _head(spec: Spec, bundle: Services) -> str:
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# One trial, on top of compose.yaml beside it. By hand: docker compose -f compose.yaml -f trial.yaml",
        "# --profile load up ; the folder load/ must be empty. `touch load/injector-1/stop` ends the load.",
    ]
    if DATA not in bundle:
        for request in spec.data:
            url = f"{spec.component(request.component).url}{request.path}"
            lines.append(f"# Data, before the load and once the servers answer: curl -f {shlex.quote(url)}")
    if spec.checkpoint_servers:
        lines.append(
            f"# Checkpoints first, each by a container that ends: the same with -f {checkpoints.TAKES} behind, and"
            " `up` with the names in it."
        )
    if any(uses_cache(component) for component in spec.components):
        lines.append(
            "# cache/KIND is the class cache of the components of a kind: empty, or one that a trial has filled."
        )
    return "\n".join(lines) + "\n"


def service_of(component: Component, bundle: Services) -> str:
    """Which service of the bundle a component is made from; one that the bundle does not have stands by itself."""
    generic = component.role == "server" and component.kind not in bundle and "server" in bundle
    return "server" if generic else component.kind


def _entry(
    component: Component,
    service: str,
    base: Mapping[str, Any],
    names: Mapping[str, list[str]],
    user: User,
    label: Mapping[str, str],
) -> dict[str, Any]:
    """What the override says of one component, whatever its role."""
    place = component.container
    entry: dict[str, Any] = {}
    if base and component.name != service:
        entry["extends"] = {"file": "compose.yaml", "service": service}
    entry["image"] = component.artifact.image
    if place is None or place.user == "harness":
        # Images let their group 0 write; files on this host are to be the user's.
        entry |= {"user": str(user), "group_add": ["0"]}
    entry |= {"cpuset": _cpuset(component), "labels": label, **_limits(component)}
    entry |= checkpoints.privileges(component, base, entry.get("cap_add", ()))
    if variables := environment(component):
        entry["environment"] = {name: _literal(text) for name, text in variables.items()}
    if component.name != component.kind:
        entry["networks"] = {"default": {"aliases": [component.kind]}}
    if component.port is not None and place is not None:
        entry["ports"] = Override([f"127.0.0.1:{component.port}:{place.status or place.port}"])
    elif "ports" in base:
        entry["ports"] = Override([])
    if volumes := _volumes(component):
        entry["volumes"] = volumes
    # A check costs CPU that the measurement would see, and the harness asks by itself.
    entry["healthcheck"] = {"disable": _MEASURED}
    if "profiles" in base:
        # What the trial deploys comes up with it; the load on request.
        entry["profiles"] = Override(base["profiles"] if component.role == "injector" else [])
    return entry | _waits(base, names)


def _limits(component: Component) -> dict[str, Any]:
    """Its limits of memory and CPU time; the right to lock where it takes large pages as locked shared memory, as
    OpenJ9 does."""
    limits: dict[str, Any] = {}
    if component.memory_bytes is not None:
        # No swap beyond the limit: a server that swaps is not what anyone wants to measure.
        limits |= {"mem_limit": component.memory_bytes, "memswap_limit": component.memory_bytes}
    if component.cpu_quota is not None:
        limits["cpus"] = component.cpu_quota
    settings, jvm = component.jvm_settings, component.artifact.jvm
    if settings is not None and settings.pages == "large" and jvm is not None and jvm.kind == "openj9":
        limits |= {"cap_add": ["IPC_LOCK"], "ulimits": {"memlock": -1}}
    return limits


def _volumes(component: Component) -> list[str]:
    if component.role == "injector":
        return [f"{OUTPUT}/load:{LOAD_FOLDER}:z"]
    place, mounts = component.container, []
    if place is not None and place.folder is not None:
        mounts.append(f"{OUTPUT}/{log_folder(component)}:{place.folder}/logs:z")
    mounts += [f"{volume.name}:{volume.folder}" for volume in checkpoints.volumes_of(component)]
    if uses_cache(component):
        mounts.append(f"{OUTPUT}/cache/{component.kind}:{CACHE_FOLDER}:z")
    return mounts


def _waits(base: Mapping[str, Any], names: Mapping[str, list[str]]) -> dict[str, Any]:
    """What a service waits for, said of the components that were made from what the bundle names."""
    if "depends_on" not in base:
        return {}
    lines = {
        name: dict(condition)
        for service, condition in base["depends_on"].items()
        for name in names.get(service, ())
    }
    return {"depends_on": Override(lines)}


def _load_data(spec: Spec) -> str:
    """A script that loads the data from a container beside the servers."""
    urls = []
    for request in spec.data:
        place = spec.component(request.component).container
        assert place is not None
        urls.append(f"http://{request.component}:{place.port}{request.path}")
    return f"for url in {shlex.join(urls)}; do {BUSYBOX} wget -q -O - $url; done"


def _cpuset(component: Component) -> str:
    return ",".join(str(cpu) for cpu in component.cpus)


def _literal(text: str) -> str:
    """Keep compose from replacing what looks like a variable.

    The one variable is whether injectors wait for a start signal, which the harness alone gives.
    """
    return text.replace("$", "$$").replace(f"{_AWAIT}true", _AWAIT + _MEASURED)
