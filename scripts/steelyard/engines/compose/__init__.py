# SPDX-License-Identifier: Apache-2.0
"""The compose engine: each server JVM a container, started by `docker compose` from the bundles in `compose/`."""
