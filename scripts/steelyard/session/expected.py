# SPDX-License-Identifier: Apache-2.0
"""How long a trial will take, for `plan` and for the time left."""

from steelyard.results.spec import Spec

START_CPU_SECONDS = 5.0
"""CPU seconds from process start to first response of one Liberty server on HotSpot (apps/README.md)."""
FOREGROUND_START = 1.5
"""How much longer a start takes when it compiles in the foreground (docs/experiments.md)."""
INJECTOR_START_SECONDS = 3.0
STOP_SECONDS = 3.0


def trial_seconds(spec: Spec) -> tuple[float, float]:
    """Shortest and longest expected time of one trial."""
    load = spec.load
    start = START_CPU_SECONDS * max(1.0, len(spec.servers) / spec.server_cores)
    if any(one.jvm_settings is not None and one.jvm_settings.compile == "foreground" for one in spec.servers):
        start *= FOREGROUND_START
    if spec.needs_preparation:
        start = 2 * start + STOP_SECONDS
    fixed = start + INJECTOR_START_SECONDS + STOP_SECONDS
    if spec.procedure == "start-up":
        return fixed, fixed + start
    if spec.procedure in ("ramp-up", "survive"):
        return fixed + load.measure, fixed + load.measure
    longest = load.warmup.at_most if load.warmup.until == "steady" else load.warmup.at_least
    return fixed + load.ramp + load.warmup.at_least + load.measure, fixed + load.ramp + longest + load.measure
