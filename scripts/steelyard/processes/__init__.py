# SPDX-License-Identifier: Apache-2.0
"""Child processes that never outlive the harness, and what they start themselves."""

from steelyard.process_tree import process_tree
from steelyard.processes.children import Child, Children, defer_signals, kill_with_parent, sweep
from steelyard.processes.environment import child_environment

__all__ = [
    "Child",
    "Children",
    "child_environment",
    "defer_signals",
    "kill_with_parent",
    "process_tree",
    "sweep",
]
