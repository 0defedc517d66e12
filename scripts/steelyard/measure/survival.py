# SPDX-License-Identifier: Apache-2.0
"""Whether everything lived, what the kernel killed in containers, and what ended when it was told to."""

from steelyard.measure.formulas import EVERY, Metric, of_measurement
from steelyard.measure.rule import LIVING, SURVIVE, Finding, Rule, judge_none, require_watched
from steelyard.measure.window import SENTENCES, Window, trial_figure
from steelyard.results.failure import NOT_STOPPED
from steelyard.results.measurement import ComponentResult, TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import Spec

ANSWERED = frozenset({"errors", "late-arrivals", "stalled"})
"""Checks that a survive trial fails whose servers lived and did not answer."""


def _kills(window: Window, component: ComponentResult) -> float:
    """Processes of a component's container that the kernel killed: since it was made, or, where to die is the result,
    under load. What a start loses is then no answer to the load."""
    kills = component.cgroup.value("oom_kills") if component.cgroup is not None else None
    if not kills or window.spec.procedure != "survive":
        return kills or 0
    return kills - window.samples.oom_kills_before(component.name, window.start)


@trial_figure(SENTENCES)
def restarts(window: Window) -> list[str]:
    """Components that died while they were needed, and containers in which the kernel killed because memory ran out (in
    survive trials under load alone)."""
    return [
        *window.run.sentences_of("restarts"),
        *(
            f"the kernel killed a process in the container of {component.name} because memory ran out"
            for component in window.measured_components
            if _kills(window, component)
        ),
    ]


@trial_figure(SENTENCES)
def not_stopped(window: Window) -> list[str]:
    """Components that did not end in time once they were told to."""
    return window.run.sentences_of(NOT_STOPPED)


@trial_figure(SENTENCES)
def thrashing(window: Window) -> list[str]:
    """Survive trials: what lived at its memory limit and thrashed."""
    return window.run.thrashing


@trial_figure(SENTENCES)
def unwatched(window: Window) -> list[str]:
    """Containers of which it is not known whether the kernel killed in them or whether they thrashed.

    That no group could be read does not mean that there is none.
    """
    return [
        *(
            f"whether the kernel killed a process in the container of {component.name} was not measured"
            for component in window.measured_components
            if window.in_containers
            and (component.cgroup is None or component.cgroup.value("oom_kills") is None)
        ),
        *window.run.unwatched,
    ]


def survival_of(lived: bool | None, measurement: TrialMeasurement) -> bool | None:
    """Whether everything lived to the end of the load: what the harness saw, and what the kernel killed in containers.

    None: the procedure does not ask for it, or it is not known.
    """
    if lived is None or lived is False:
        return lived
    if measurement.sentences("restarts"):
        return False
    return None if measurement.sentences("unwatched") else True


def survival_value(trial: Trial, _spec: Spec) -> float | None:
    """1 where everything lived and answered, 0 where it did not; None where one of the two is not known."""
    if trial.survived is None or trial.survived is False:
        return trial.survived
    if trial.measurement is None:
        return None
    answers = [check for check in trial.checks if check.name in ANSWERED and check.applies]
    if any(check.value is None for check in answers):
        return None
    return all(check.passed for check in answers)


def _is_watched(_measurement: TrialMeasurement, _spec: Spec) -> Finding:
    return Finding(0.0, "What the kernel does to containers was seen.")


METRICS = (
    Metric(
        name="survived",
        label="trials survived",
        unit="share",
        digits=2,
        source="1 if everything lived and answered to the end of the load (the checks `errors`, `late-arrivals` and"
        " `stalled`) and nothing thrashed at its memory limit, else 0, also where there was too little memory to"
        " start with; the mean is the share of trials.",
        pitfalls="A few trials that all survived leave much room: read the interval that the answer gives.",
        compute=survival_value,
        better="higher",
        procedures=("survive",),
    ),
    Metric(
        name="restarts",
        label="components that died",
        unit="count",
        source="Components that died while the load ran, and containers in which the kernel killed a process meanwhile"
        " because memory ran out.",
        pitfalls="The first death ends the load, so more than one is a matter of moments.",
        compute=of_measurement(lambda measurement: len(measurement.sentences("restarts") or ())),
        procedures=("survive",),
    ),
)

RULES = (
    Rule(
        name="restarts",
        limit=0.0,
        unit="servers",
        says="no server died, restarted or was OOM-killed",
        judge=require_watched(
            judge_none("restarts", "No server died or restarted", "A server died or restarted"),
        ),
        procedures=(*LIVING, "start-up"),
    ),
    Rule(
        name="survival",
        limit=0.0,
        unit="containers",
        says="of every container with a memory limit it is known whether the kernel killed in it and whether it"
        " thrashed",
        judge=require_watched(_is_watched),
        source="searches.md; an unknown value counts as failed",
        procedures=SURVIVE,
    ),
    # It only marks: the load is over by then, and a long farewell says nothing of what was measured.
    Rule(
        name="not-stopped",
        limit=0.0,
        unit="components",
        says="every component ended within 20 s once it was told to (120 s where it writes a class cache)",
        judge=judge_none(
            "not_stopped",
            "Every component ended when it was told to",
            "After the load a component did not end when it was told to",
        ),
        procedures=EVERY,
        voids=False,
    ),
)
