# SPDX-License-Identifier: Apache-2.0
"""Child processes that never outlive the harness, and what they start themselves."""

from steelyard.processes.children import Child, Children, dying_with_us, signals_held, sweep
from steelyard.sampling.tree import process_tree

__all__ = ["Child", "Children", "dying_with_us", "process_tree", "signals_held", "sweep"]
