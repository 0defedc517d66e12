# SPDX-License-Identifier: Apache-2.0
"""Pure: from an arm, its workload and the host's CPUs to the spec that its trials follow."""
