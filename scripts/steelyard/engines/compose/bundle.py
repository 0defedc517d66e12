# SPDX-License-Identifier: Apache-2.0
"""The override that makes a hand-written bundle deploy one trial (pure).

`compose/BUNDLE/compose.yaml` has a service for each kind of server (`server`; or `auth`, `customer`, ...) and a service
`load`. A trial has `server-1`, `server-2`, ... and `injector-1`, ..., each extending one of these with its own CPUs,
memory, JVM options, port and folders. All JVMs of a service answer to its name, which is what the proxy and the service
`data` know. Databases and the proxy keep their services and get CPUs. The files lie in the trial's `replay/`, where
`docker compose -f compose.yaml -f trial.yaml --profile load up` repeats the trial by hand.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from steelyard.engines.compose.images import Images
from steelyard.engines.preparation import database_heap
from steelyard.experiment.workloads import Kind
from steelyard.load.injector import InjectorPlan
from steelyard.results.schema import BackingRecord, InstanceRecord, TopologyRecord
from steelyard.topology.plan import INSTANCE_FOLDER

SERVER_FOLDER = "/steelyard"
"""What a server may write to: its work area, and its logs in `logs/`."""
SERVER_PORT = 9080
PROXY_PORT = 8080
LOAD_FOLDER = "/load"
OUTPUT = "${TRIAL:-.}"
"""Where folders of this host begin: beside the files when repeated by hand, the trial's directory when measured."""
SESSION_LABEL = "dev.steelyard.session"


class _Tagged:
    """A value with one of compose's merge tags."""

    def __init__(self, tag: str, value: Any) -> None:
        self.tag = tag
        self.value = value


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is the library's
        """Everything is written out: a person reads this file."""
        return True


def _represent(dumper: yaml.SafeDumper, data: _Tagged) -> yaml.Node:
    node = dumper.represent_data(data.value)
    node.tag = data.tag
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = True
    return node


_Dumper.add_representer(_Tagged, _represent)


@dataclass(frozen=True)
class User:
    """Whom the containers run as: the owner of the session's files, never root."""

    uid: int
    gid: int

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}"


def targets(topology: TopologyRecord) -> list[str]:
    """URLs within the trial's network that lead into the application: its proxy, else its servers."""
    proxies = [f"http://{record.name}:{PROXY_PORT}" for record in topology.backing if record.kind == "proxy"]
    return proxies or [f"http://{instance.name}:{SERVER_PORT}" for instance in topology.instances]


def server_log_folder(name: str) -> str:
    """Folder of a server's logs, below the trial's directory."""
    return f"servers/{name}/logs"


def injector_folder(name: str) -> str:
    """Folder of an injector's results, below the trial's directory."""
    return f"load/{name}"


def command_line(instance: InstanceRecord, bundle: str) -> str:
    """What starts a server, as a person would type it; the override holds what stands before it (for `plan`)."""
    cpus = ",".join(str(cpu) for cpu in instance.cpus)
    memory = f" mem_limit={instance.memory_bytes}" if instance.memory_bytes is not None else ""
    return (
        f'cpuset={cpus}{memory} JVM_ARGS="{_options(instance)}" docker compose -f compose/{bundle}/compose.yaml'
        f" -f $TRIAL/replay/trial.yaml up {instance.name}"
    )


def override(
    topology: TopologyRecord,
    kind: Kind,
    injectors: Sequence[InjectorPlan],
    images: Images,
    user: User,
    session: str,
) -> str:
    """The text of `trial.yaml`.

    Args:
        topology: servers with CPUs, memory limits, ports and JVM options; what stands beside them.
        kind: the bundle's services.
        injectors: injectors with CPUs and settings.
        images: what to run; by digest where there is one.
        user: whom the containers run as.
        session: written on every container, so that what a crash left behind can be told.
    """
    label = {SESSION_LABEL: session}
    # Compose fetches images even for services of which it starts none: here they are the trial's.
    services: dict[str, Any] = {
        **{service.name: {"image": images.server.pinned, "scale": 0} for service in kind.services},
        "load": {"image": images.loadgen.pinned, "scale": 0},
    }
    for instance in topology.instances:
        services[instance.name] = {
            "extends": {"file": "compose.yaml", "service": instance.service},
            **_common(images.server.pinned, user, instance.cpus, label),
            **_memory(instance.memory_bytes),
            "environment": {
                "JVM_ARGS": _literal(_options(instance)),
                **{name: _literal(text) for name, text in instance.environment.items()},
            },
            "networks": {"default": {"aliases": [instance.service]}},
            "ports": _Tagged("!override", [f"127.0.0.1:{instance.port}:{SERVER_PORT}"]),
            "volumes": [f"{OUTPUT}/{server_log_folder(instance.name)}:{SERVER_FOLDER}/logs"],
        }
    for record in topology.backing:
        services[record.name] = _backing(record, topology, images, user, label)
    before: dict[str, Any] = {i.name: {"condition": "service_healthy"} for i in topology.instances}
    if kind.prepare:
        started = {
            record.name: {"condition": "service_started"}
            for record in topology.backing
            if record.kind == "proxy"
        }
        services["data"] = {
            "image": images.server.pinned,
            "labels": label,
            "depends_on": _Tagged("!override", {**before, **started}),
        }
        before = {"data": {"condition": "service_completed_successfully"}}
    for plan in injectors:
        settings = json.dumps({**plan.settings, "output": f"{LOAD_FOLDER}/{plan.name}"})
        services[plan.name] = {
            "extends": {"file": "compose.yaml", "service": "load"},
            "profiles": _Tagged("!override", ["load"]),
            "depends_on": _Tagged("!override", before),
            **_common(images.loadgen.pinned, user, plan.cpus, label),
            "environment": {"LOADGEN_SETTINGS": _literal(settings)},
            "volumes": [f"{OUTPUT}/load:{LOAD_FOLDER}"],
        }
    head = (
        "# SPDX-License-Identifier: Apache-2.0\n"
        "# One trial, on top of compose.yaml beside it. By hand: docker compose -f compose.yaml -f trial.yaml\n"
        "# --profile load up ; the folder load/ must be empty. `touch load/injector-1/stop` ends the load.\n"
    )
    return head + yaml.dump({"services": services}, Dumper=_Dumper, sort_keys=False, width=10_000)


def _backing(
    record: BackingRecord, topology: TopologyRecord, images: Images, user: User, label: dict[str, str]
) -> dict[str, Any]:
    """A database, as the user of its image, or the proxy, which reads files of this host."""
    if record.kind == "proxy":
        assert images.proxy is not None
        return {
            **_common(images.proxy.pinned, user, record.cpus, label),
            "ports": _Tagged("!override", [f"127.0.0.1:{record.port}:{PROXY_PORT}"]),
            "depends_on": _Tagged(
                "!override", {i.name: {"condition": "service_started"} for i in topology.instances}
            ),
        }
    assert images.database is not None
    return {
        "image": images.database.pinned,
        "cpuset": _cpuset(record.cpus),
        "labels": label,
        "environment": {"JDK_JAVA_OPTIONS": f"-Xmx{database_heap(topology.customers)} -XX:+UseParallelGC"},
    }


def _common(image: str, user: User, cpus: Sequence[int], labels: dict[str, str]) -> dict[str, Any]:
    return {
        "image": image,
        "user": str(user),
        # Images let their group 0 write; files on this host are to be the user's.
        "group_add": ["0"],
        "cpuset": _cpuset(cpus),
        "labels": labels,
    }


def _cpuset(cpus: Sequence[int]) -> str:
    return ",".join(str(cpu) for cpu in cpus)


def _memory(limit: int | None) -> dict[str, Any]:
    """No swap beyond the limit: a server that swaps is not what anyone wants to measure."""
    return {} if limit is None else {"mem_limit": limit, "memswap_limit": limit}


def _options(instance: InstanceRecord) -> str:
    options = [option.replace(INSTANCE_FOLDER, SERVER_FOLDER) for option in instance.jvm_options]
    return " ".join(shlex.quote(option) for option in options)


def _literal(text: str) -> str:
    """Keep compose from replacing what looks like a variable."""
    return text.replace("$", "$$")
