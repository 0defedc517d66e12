# SPDX-License-Identifier: Apache-2.0
"""A workload as data: the file `workload.yaml` of an application, ours or a user's own."""
