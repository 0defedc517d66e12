# SPDX-License-Identifier: Apache-2.0
"""The JITServer as a kind of component, which any workload's servers can compile in (pure)."""

from steelyard.experiment.schema import Deployment
from steelyard.jvm.jitserver import server_options
from steelyard.workload.schema import Component, Container, Process, Ready

KIND = "jitserver"
PORT, STATUS = 38400, 38500
"""In its container (images/jitserver): for clients, and of its metrics."""


def compilers(deployment: Deployment) -> dict[str, Component]:
    """What compiles for the servers of an arm, by kind: nothing where they do it themselves."""
    if deployment.jvm.jit == "local":
        return {}
    return {
        KIND: Component(
            role="compiler",
            process=Process(
                command=["${jdk}/bin/jitserver", "${jvm_options}"],
                options=server_options(deployment.jitserver),
            ),
            container=Container(
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
