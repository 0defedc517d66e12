# SPDX-License-Identifier: Apache-2.0
"""Schedule, trial runner, journal and resume, progress, clean-up."""
