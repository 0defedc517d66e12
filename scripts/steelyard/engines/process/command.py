# SPDX-License-Identifier: Apache-2.0
"""Command lines and environment of one server process (pure); the same text goes into `replay/servers.sh`."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from steelyard.engines.base import ServerPackage
from steelyard.results.schema import InstanceRecord, JvmIdentity
from steelyard.topology.plan import INSTANCE_FOLDER

_MEDDLING = {
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS", "IBM_JAVA_OPTIONS"),
    *("LOG_DIR", "LOG_FILE", "SERVER_WORKING_DIR"),
}
"""Variables that JVMs or Liberty's `server` script read."""
_MEDDLING_PREFIXES = ("WLP_", "PID_", "MONGO_", "ACMEAIR_", "EXECUTOR_", "MP_", "USE_FLIGHT_")
"""Beginnings of more of these, and of those that the applications read."""


def server_environment(instance: InstanceRecord, jvm: JvmIdentity, folder: Path) -> dict[str, str]:
    """Environment variables that make a shared, read-only Liberty run as this instance.

    WLP_USER_DIR and LOG_DIR give it folders of its own; HTTP_PORT overrides the port of server.xml; VERBOSEGC=false
    keeps Liberty from adding a GC log of its own beside ours on OpenJ9.
    """
    options = [option.replace(INSTANCE_FOLDER, str(folder)) for option in instance.jvm_options]
    return {
        "JAVA_HOME": jvm.home,
        "WLP_USER_DIR": str(folder / "usr"),
        "LOG_DIR": str(folder / "logs"),
        "VERBOSEGC": "false",
        "HTTP_PORT": str(instance.port),
        "JVM_ARGS": " ".join(shlex.quote(option) for option in options),
        **instance.environment,
    }


def inherited_environment() -> dict[str, str]:
    """Our environment without what would change the servers behind the experiment's back."""
    return {
        key: value
        for key, value in os.environ.items()
        if key not in _MEDDLING and not key.startswith(_MEDDLING_PREFIXES)
    }


def server_command(instance: InstanceRecord, package: ServerPackage) -> list[str]:
    """`server run` in the foreground on the CPUs of the instance; the script execs the JVM, so the pid stays."""
    cpus = ",".join(str(cpu) for cpu in instance.cpus)
    return ["taskset", "-c", cpus, str(package.home / "bin" / "server"), "run", instance.server]


def command_line(instance: InstanceRecord, jvm: JvmIdentity) -> str:
    """Environment and command of a server as a person would type them, folders left as names (for `plan`)."""
    package = ServerPackage("", Path("$WLP"), "")
    environment = server_environment(instance, jvm, Path("$TRIAL") / "servers" / instance.name)
    assignments = " ".join(f'{key}="{value}"' for key, value in environment.items())
    return f"{assignments} {' '.join(server_command(instance, package))}"


def replay_script(
    instances: Sequence[InstanceRecord],
    package: ServerPackage,
    jvm: JvmIdentity,
    primed: Mapping[str, Path],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> str:
    """A shell script that starts the servers of a trial by hand and stops them on Ctrl-C.

    Args:
        instances: the servers, with everything that their environment has to hold.
        package: the application.
        jvm: what they run on.
        primed: primed folder by server of the package.
        before: lines that start what the servers need.
        after: lines that follow once they are started.
    """
    lines = [
        "#!/bin/sh",
        "# Starts the servers of this trial again, in folders beside this script. Ctrl-C stops them.",
        'cd "$(dirname "$0")" || exit 1',
        "trap 'kill $(jobs -p) 2>/dev/null; wait' INT TERM",
    ]
    lines += ["", *before] if before else []
    for instance in instances:
        source = shlex.quote(str(primed[instance.server]))
        folder = Path("$PWD") / instance.name
        environment = server_environment(instance, jvm, folder)
        lines += [
            "",
            f'rm -rf "{folder}" && mkdir -p "{folder}/logs" && cp -r {source} "{folder}/usr"',
            *(f'{key}="{_in_double_quotes(value)}" \\' for key, value in environment.items()),
            f"  {shlex.join(server_command(instance, package))} &",
        ]
    return "\n".join([*lines, "", *after, "wait", ""])


def _in_double_quotes(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
