# SPDX-License-Identifier: Apache-2.0
"""The JITServer as a kind of component, which any workload's servers can compile in, and a relay before it (pure)."""

from steelyard.experiment.schema import DeploymentSettings
from steelyard.jvm.jitserver import server_options
from steelyard.paths import PYTHON_PATH
from steelyard.workload.schema import ComponentDescription, ContainerDescription, ProcessDescription, Ready

KIND, RELAY = "jitserver", "relay"
PORT, STATUS = 38400, 38500
"""In its container (images/jitserver): for clients, and of its metrics."""


def compilers(deployment: DeploymentSettings) -> dict[str, ComponentDescription]:
    """What compiles for the servers of an arm, by kind: nothing where they do it themselves."""
    if deployment.jvm.jit == "local":
        return {}
    return {
        KIND: ComponentDescription(
            role="compiler",
            process=ProcessDescription(
                command=["${jdk}/bin/jitserver", "${jvm_options}"],
                options=server_options(deployment.jitserver),
            ),
            container=ContainerDescription(
                repository="jitserver",
                flavoured=False,
                port=PORT,
                status=STATUS,
                jvm_options="OPENJ9_JAVA_OPTIONS",
                options=server_options(deployment.jitserver),
                folder=None,
            ),
            # Its metrics are served once it accepts requests.
            ready=Ready(path="/metrics"),
            metrics="/metrics",
            status=True,
        )
    }


def relays(deployment: DeploymentSettings) -> dict[str, ComponentDescription]:
    """What stands between the servers of an arm and their JITServer, by kind: nothing unless a delay is asked for."""
    delay = deployment.jitserver.delay
    if deployment.jvm.jit == "local" or delay is None:
        return {}
    to = (f"${{{KIND}.host}}", f"${{{KIND}.port}}")
    return {
        RELAY: ComponentDescription(
            role="service",
            # It is the network, and no part of what is weighed.
            cpus="injectors",
            process=ProcessDescription(
                command=["python3", "${folder}/relay.py", "${port}", *to, f"{delay:.9f}", "${status}"],
                files={"relay.py": str(PYTHON_PATH / "steelyard/relay.py")},
            ),
            ready=Ready(path="/metrics"),
            metrics="/metrics",
            status=True,
        )
    }
