# SPDX-License-Identifier: Apache-2.0
"""OpenJ9's JITServer: its settings, its options and those of its clients (pure).

Sources: OpenJ9 user documentation (JITServer technology, -XX:[+|-]UseJITServer and what stands beside it); the JIT's
list of options for `enableJITServerHeuristics`.
"""

from typing import Annotated, Literal

from pydantic import Field

from steelyard.jvm.rows import FOLDER, JIT_LOG_NAME
from steelyard.yamlfile import Duration, Model, Size

_HEALTH_OFF = "-XX:-JITServerHealthProbes"
"""It would open a port that no two JITServers of a host can share; its metrics answer once it accepts requests."""


class JitServer(Model):
    """The JITServer of an arm with `jit: remote`; its settings are `jitserver.cores`, `jitserver.memory`, ..."""

    cores: Annotated[int, Field(ge=1)] | Literal["shared"] = "shared"
    """Physical cores of its own, which are taken from the servers' `cores`; `shared`: it runs on all of them."""
    memory: Size | None = None
    """Memory limit of its container; with `total_memory` it is a part of that."""
    aot_cache: Literal["none", "cold", "warm"] = "none"
    """Code that it keeps for further servers: `cold` begins empty; `warm` has the code of an earlier start of them."""
    heuristics: bool = False
    """Whether servers keep cheap compilations to themselves (`-Xjit:enableJITServerHeuristics`)."""
    local_sync_compiles: bool | Literal["default"] = "default"
    """Whether servers do themselves what a caller waits for at a low level; `default`: as the JVM decides."""
    options: list[str] = Field(default_factory=list)
    """Further options of the JITServer, passed as they are."""
    delay: Duration | None = None
    """By how much a relay delays what servers and JITServer send each other; 0: it stands there and delays nothing."""
    killed_after: Annotated[Duration, Field(ge=1)] | None = None
    """Seconds into the measurement at which the trial kills it on purpose, to see that servers go on."""


def client_options(asked: JitServer, address: tuple[str, object]) -> list[str]:
    """Options of a server that compiles in the JITServer at an address (host, port).

    It logs its compilations and its connections, because a client that does not reach its JITServer compiles by itself
    and says nothing. `-Xjit:` options add up, where else the last would replace the others.
    """
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
