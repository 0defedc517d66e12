# SPDX-License-Identifier: Apache-2.0
"""Child processes that never outlive the harness."""

from steelyard.processes.children import Child, Children

__all__ = ["Child", "Children"]
