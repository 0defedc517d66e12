# SPDX-License-Identifier: Apache-2.0
"""Pure: neutral JVM settings to OpenJ9 and HotSpot options; what a JVM says of itself."""
