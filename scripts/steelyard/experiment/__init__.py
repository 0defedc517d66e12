# SPDX-License-Identifier: Apache-2.0
"""The question: schema of the experiment file, its reader, and the matrix of arms."""
