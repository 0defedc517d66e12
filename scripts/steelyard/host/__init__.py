# SPDX-License-Identifier: Apache-2.0
"""Facts about this host, what would disturb a measurement on it, its CPUs and its JDKs."""
