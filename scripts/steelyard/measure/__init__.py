# SPDX-License-Identifier: Apache-2.0
"""What is measured: a file for each measured thing, with its figures, its metrics and its rules (`registry`)."""
