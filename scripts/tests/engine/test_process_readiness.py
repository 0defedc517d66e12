# SPDX-License-Identifier: Apache-2.0
"""What the process engine makes of servers that start but do not answer."""

from pathlib import Path

import pytest

from steelyard.engines.process.engine import ProcessDeployment
from steelyard.engines.process.injector import Loadgen
from steelyard.errors import PortInUse, ServerFailed
from steelyard.processes import Children
from steelyard.results.schema import InstanceRecord, JvmIdentity

INSTANCE = InstanceRecord(
    name="server-2", cpus=[0], cpus_shared_with=1, cores=1.0, heap_bytes=None, port=17999, jvm_options=[]
)
# As Open Liberty 26.0.0.3 printed it.
BIND_FAILED = (
    "0000001f com.ibm.ws.tcpchannel.internal.TCPPort                       E CWWKO0221E: TCP Channel"
    " defaultHttpEndpoint initialization did not succeed.  The socket bind did not succeed for host * and port"
    " 17999.  The port might already be in use.  Exception Message: Address already in use"
)


def wait_for(script: str, folder: Path, hotspot: JvmIdentity) -> None:
    with Children() as children:
        deployment = ProcessDeployment(children, folder, Loadgen(folder, hotspot))
        child = children.spawn("server-2", ["sh", "-c", script], console=folder / "console.log", cwd=folder)
        deployment.add(child)
        deployment.wait_until_ready([INSTANCE])


def test_a_server_that_cannot_open_its_port_is_not_waited_for(tmp_path: Path, hotspot: JvmIdentity) -> None:
    with pytest.raises(PortInUse, match=r"server-2 could not open port 17999.*--port"):
        wait_for(f"echo '{BIND_FAILED}'; exec sleep 250", tmp_path, hotspot)


def test_a_server_that_ends_is_named_with_its_last_words(tmp_path: Path, hotspot: JvmIdentity) -> None:
    with pytest.raises(ServerFailed, match="server-2 ended with exit code 3 after printing: no such option"):
        wait_for("echo no such option; exit 3", tmp_path, hotspot)
