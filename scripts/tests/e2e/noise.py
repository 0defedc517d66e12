# SPDX-License-Identifier: Apache-2.0
"""What a machine that others use, or that stops for a while, may do to a trial: the one list of checks that may fail
so, each with its reason. A check that is not here fails for a fault of the harness alone."""

import threading
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from waiting import Patience

from steelyard.results.schema import Trial

NOISE: Mapping[str, str] = {
    "steal": "the hypervisor has other guests, and a trial that stood still may lack the samples that tell",
    "other-cpu": "other programs run beside the trial, and a trial that stood still may lack the samples that tell",
    "throttling": "the group that the tests run in may be held to its share of the processors",
    "clock-step": "who is stopped between reading one clock and the other sees a step",
    "injector-cpu": "injectors share few processors with everyone else",
    "injector-waits": "the same: they wait for one",
    "jit-wait": "and so do compilers",
    "late-arrivals": "an injector without a processor cannot send in time",
    "arrival-rate": "the same: what comes late falls into another window",
    "users-in-flight": "an injector without a processor leaves its users neither waiting nor pausing (Little's law)",
    "counts-window": "counters are read late, or not at all, at an end of the window",
    "sample-gaps": "the sampler and the injectors write nothing while they have no processor",
    "stalled": "a server without a processor uses no CPU",
}
"""Checks that may fail at any time on a shared machine."""

STALLED: Mapping[str, str] = {
    "start": "a limit of the harness passes while what it waits for stands still",
    "restarts": "a server that stands still does not end within its grace, and is killed",
    "injectors": "the same of an injector after its stop file",
    "injector-memory": "an injector that writes nothing in a short window tells nothing of its memory in it",
    "sampler": "the same of the sampler",
    "counts": "the sampler gives the servers a second for their last counts",
    "errors": "connections that were idle for longer than either end keeps them are closed under a request",
    "build": "who says nothing of its build for 10 s is taken not to know it",
    "settings": "the same of its settings",
    "consistency": "a check of the data has 30 s",
    "remote-compilation": "a server that hears nothing of its JITServer compiles by itself",
    "outcomes": "requests that failed have no outcome",
}
"""Checks that may fail, too, in a trial during which everything stood still for a while."""

SHORTEST = 2.0
"""Seconds from which a time without a processor counts as standing still: less than any limit above bears."""


class Stall(NamedTuple):
    """A time in which this process, and so most likely all that it had started, did not run; epoch seconds."""

    begin: float
    end: float


class Witness:
    """A thread that notes when this process stands still."""

    def __init__(self) -> None:
        self.stalls: list[Stall] = []
        threading.Thread(target=self._watch, name="witness", daemon=True).start()

    def _watch(self) -> None:
        waited, before = Patience(), time.time()
        while True:
            waited.tick()
            now = time.time()
            if now - before > SHORTEST:
                self.stalls.append(Stall(before, now))
            before = now


_witness = Witness()


def stood_still(trial: Trial) -> bool:
    """Whether everything stood still for a while during a trial."""
    end = max((end for _, end in trial.phases.values()), default=time.time())
    return any(stall.begin < end and trial.started < stall.end for stall in _witness.stalls)


def is_undisturbed(trial: Trial) -> bool:
    """Whether a trial was measured to its end and nothing stood still meanwhile: its figures can be judged."""
    return trial.measurement is not None and not stood_still(trial)


def void_for_other_reasons_than_noise(trials: Iterable[Trial]) -> list[str]:
    """Details of failed checks that noise on the machine does not explain."""
    return [
        f"{trial.block} {trial.arm}: {check.name}: {check.detail}"
        for trial in trials
        for check in trial.checks
        if check.voids and check.has_failed and check.name not in _excused(trial)
    ]


def require_judgeable(trials: Iterable[Trial]) -> list[Trial]:
    """Those of a session's trials whose figures can be judged, one at least; none is void for a reason that is not
    noise."""
    measured = list(trials)
    reasons = void_for_other_reasons_than_noise(measured)
    assert not reasons, reasons
    judged = list(filter(is_undisturbed, measured))
    assert judged, f"every one of {len(measured)} trials was disturbed"
    return judged


def _excused(trial: Trial) -> set[str]:
    return {*NOISE, *(STALLED if stood_still(trial) else ())}
