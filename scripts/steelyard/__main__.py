# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard`."""

from steelyard.cli.app import main

main()
