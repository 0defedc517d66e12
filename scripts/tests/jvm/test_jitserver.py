# SPDX-License-Identifier: Apache-2.0
"""Options of a JITServer and of its clients."""

import pytest
from builders import make_jvm

from steelyard.errors import BadInput
from steelyard.jvm.jitserver import JitServer, client_options, server_options
from steelyard.jvm.options import jvm_options
from steelyard.jvm.settings import JvmSettings

ADDRESS = ("jit", 38400)
BARE = [
    "-XX:+UseJITServer",
    "-XX:JITServerAddress=jit",
    "-XX:JITServerPort=38400",
    "-XX:+JITServerLogConnections",
    "-XX:+MergeCompilerOptions",
    "-Xjit:verbose={compilePerformance},vlog=${folder}/logs/jit.log",
]


def test_a_client_logs_where_it_compiles_and_whether_it_is_connected() -> None:
    assert client_options(JitServer(), ADDRESS) == BARE


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        (JitServer(aot_cache="cold"), "-XX:+JITServerUseAOTCache"),
        (JitServer(local_sync_compiles=True), "-XX:+JITServerLocalSyncCompiles"),
        (JitServer(local_sync_compiles=False), "-XX:-JITServerLocalSyncCompiles"),
    ],
)
def test_what_is_asked_of_a_jitserver_goes_to_its_clients(asked: JitServer, more: str) -> None:
    assert client_options(asked, ADDRESS) == [*BARE, more]


def test_heuristics_stand_beside_the_log_in_one_option() -> None:
    told = client_options(JitServer(heuristics=True), ADDRESS)
    assert [option for option in told if option.startswith("-Xjit:")] == [
        f"{BARE[-1]},enableJITServerHeuristics"
    ]


def test_another_jvm_has_none() -> None:
    with pytest.raises(
        BadInput, match="OpenJDK 64-Bit Server VM: only OpenJ9 has a JITServer: choose an OpenJ9"
    ):
        jvm_options(JvmSettings(jit="remote"), None, make_jvm("hotspot"))
    assert "remote" not in " ".join(jvm_options(JvmSettings(jit="remote"), None, make_jvm("openj9")))


def test_a_jitserver_tells_of_itself_and_keeps_its_code_only_when_that_is_asked_for() -> None:
    bare = server_options(JitServer())
    assert {"-XX:JITServerPort=${port}", "-XX:JITServerMetricsPort=${status}"} <= {*bare}
    cold, warm = (server_options(JitServer(aot_cache=state)) for state in ("cold", "warm"))
    assert [option for option in cold if option not in bare] == ["-XX:+JITServerUseAOTCache"]
    assert warm == cold
    assert server_options(JitServer(options=["-Xmx1g"])) == [*bare, "-Xmx1g"]
