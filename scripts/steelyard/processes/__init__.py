# SPDX-License-Identifier: Apache-2.0
"""Child processes that never outlive the harness, and what they start themselves."""

from steelyard.processes.children import Child, Children, process_tree, signals_held

__all__ = ["Child", "Children", "process_tree", "signals_held"]
