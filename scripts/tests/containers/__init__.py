# SPDX-License-Identifier: Apache-2.0
"""Tests that need a container engine and the images, as `./steelyard test` builds them into the local registry."""
