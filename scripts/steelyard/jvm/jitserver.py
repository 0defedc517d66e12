# SPDX-License-Identifier: Apache-2.0
"""Options of OpenJ9's JITServer and of its clients (pure).

Sources: OpenJ9 user documentation (JITServer technology, -XX:[+|-]UseJITServer and what stands beside it); the JIT's
list of options for `enableJITServerHeuristics`.
"""

from steelyard.errors import BadInput
from steelyard.experiment.schema import JitServer
from steelyard.results.spec import FOLDER, JvmIdentity

JIT_LOG_NAME = "jit.log"
"""In a client's log folder; the JVM appends a date and its process id."""
_HEALTH_OFF = "-XX:-JITServerHealthProbes"
"""It would open a port that no two JITServers of a host can share; its metrics answer once it accepts requests."""


def client_options(asked: JitServer, address: tuple[str, object], jvm: JvmIdentity) -> list[str]:
    """Options of a server that compiles in the JITServer at an address (host, port).

    It logs its compilations and its connections, because a client that does not reach its JITServer compiles by itself
    and says nothing. `-Xjit:` options add up, where else the last would replace the others.

    Raises:
        BadInput: the JVM has no JITServer.
    """
    if jvm.kind != "openj9":
        raise BadInput(
            f"jit: remote needs OpenJ9; {jvm.vm_name} has no JITServer: choose an OpenJ9 JDK with --jdk"
        )
    host, port = address
    jit = [f"verbose={{compilePerformance}},vlog={FOLDER}/logs/{JIT_LOG_NAME}"]
    jit += ["enableJITServerHeuristics"] * asked.heuristics
    options = ["-XX:+UseJITServer", f"-XX:JITServerAddress={host}", f"-XX:JITServerPort={port}"]
    options += ["-XX:+JITServerLogConnections", "-XX:+MergeCompilerOptions", f"-Xjit:{','.join(jit)}"]
    if asked.aot_cache != "none":
        options.append("-XX:+JITServerUseAOTCache")
    if asked.local_sync_compiles != "default":
        options.append(f"-XX:{'+' if asked.local_sync_compiles else '-'}JITServerLocalSyncCompiles")
    return options


def server_options(asked: JitServer) -> list[str]:
    """Options of a JITServer that listens on `${port}` and tells of itself on `${status}`."""
    options = ["-XX:JITServerPort=${port}", "-XX:+JITServerLogConnections", _HEALTH_OFF]
    options += ["-XX:+JITServerMetrics", "-XX:JITServerMetricsPort=${status}"]
    if asked.aot_cache != "none":
        options.append("-XX:+JITServerUseAOTCache")
    return options + asked.options
