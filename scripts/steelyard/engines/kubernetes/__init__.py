# SPDX-License-Identifier: Apache-2.0
"""Components as pods of a cluster: a hand-written bundle of `k8s/`, and a kustomize overlay for each trial."""
