# SPDX-License-Identifier: Apache-2.0
"""Which processes a process has started."""

import os
import subprocess
import time

from steelyard.processes import process_tree


def test_a_proxy_is_all_its_processes() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & wait"], process_group=0) as shell:
        try:
            deadline = time.monotonic() + 120
            while len(process_tree(shell.pid)) < 3 and time.monotonic() < deadline:
                time.sleep(0.02)
            assert len(process_tree(shell.pid)) == 3
        finally:
            os.killpg(shell.pid, 9)
