# SPDX-License-Identifier: Apache-2.0
"""What was measured: schema and files of a session directory."""
