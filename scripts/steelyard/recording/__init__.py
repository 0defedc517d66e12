# SPDX-License-Identifier: Apache-2.0
"""Makes journeys of what browsers have recorded (HTTP Archive 1.2)."""
