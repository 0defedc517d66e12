# SPDX-License-Identifier: Apache-2.0
"""Pure: from an arm and a CPU layout to server instances with their CPUs, heap and ports."""
