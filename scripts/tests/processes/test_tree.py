# SPDX-License-Identifier: Apache-2.0
"""Which processes a process has started."""

import os
import subprocess

from waiting import wait_until

from steelyard.processes import process_tree


def test_a_proxy_is_all_its_processes() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 600 & sleep 600 & wait"], process_group=0) as shell:
        try:
            wait_until(lambda: len(process_tree(shell.pid)) == 3, "three processes")
        finally:
            os.killpg(shell.pid, 9)
