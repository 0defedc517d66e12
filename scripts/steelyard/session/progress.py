# SPDX-License-Identifier: Apache-2.0
"""How far a session is, in words and seconds: what the terminal and the page of a running session both show (pure)."""

from collections import Counter
from collections.abc import Collection, Sequence

from steelyard.analysis.search import value_text
from steelyard.results.schema import Planned, Session, Trial
from steelyard.session.async_profiler import profiled_trials
from steelyard.session.schedule import expected_seconds, overrun
from steelyard.spec.search import Varied, varied_setting
from steelyard.units import format_size

PHASES: dict[str, str] = {
    "wash-out": "waiting until the host is idle",
    "set-host": "setting the host",
    "prepare": "preparing",
    "start": "starting servers",
    "ramp": "ramping up",
    "warmup": "warming up",
    "measure": "measuring",
    "stop": "stopping",
    "collect": "collecting",
}
"""Each phase of a trial as people read it."""


def trial_line(trial: Trial, varies: Varied | None = None) -> str:
    """One line for a trial that has ended; `varies`: what its search changes."""
    name = f"block {trial.block} {arm_text(trial, varies)}"
    if trial.measurement is None:
        return f"{name}: {'did not survive' if trial.state == 'valid' else 'void'}, {trial.failure}"
    figures = trial_figures(trial)
    if trial.state == "valid":
        return f"{name}: {figures}" + (", not steady" if trial.steady is False else "")
    failed = next(check for check in trial.checks if check.voids and not check.passed)
    return f"{name}: void ({failed.detail.rstrip('.')}), {figures}"


def arm_text(trial: Trial | Planned, varies: Varied | None) -> str:
    """The arm of a trial, with what its search tries, or which repeat it is."""
    if varies is not None and trial.value is not None:
        return f"{trial.arm} with {value_text(varies, trial.value)}"
    return trial.arm + (f" (repeat {trial.attempt})" if trial.attempt else "")


def search_setting(session: Session) -> Varied | None:
    """What the session's search changes; None: it searches for nothing."""
    search = session.experiment.search
    return varied_setting(search, session.arms[0].spec) if search is not None else None


def trial_figures(trial: Trial) -> str:
    """What a person wants to see of a trial that has just ended, by its procedure."""
    parts = []
    if trial.first_answers:
        parts.append(f"all answered after {max(trial.first_answers.values()):.2f} s")
    elif "throughput" in trial.metrics:
        parts.append(f"{trial.metrics['throughput']:,.0f} req/s")
    if trial.survived is not None:
        parts.append("survived" if trial.survived else "did not survive")
    if "memory_rss" in trial.metrics:
        parts.append(f"{format_size(trial.metrics['memory_rss'])} resident")
    return ", ".join(parts) or "done"


def remaining_seconds(
    session: Session,
    ended: Sequence[Trial],
    before: Collection[tuple[int, str]],
    running: str | None,
    elapsed: float,
    profiling: Sequence[str] = (),
) -> float:
    """What the plan expects of the trials to come, those for profiles included, each as much longer as the ended ones.

    Args:
        session: with its schedule.
        ended: trials whose times are known.
        before: block and arm of further trials that are done.
        running: the arm of the trial that runs, which may be a repeat; None: none does.
        elapsed: seconds that it, or the last of `profiling`, has run.
        profiling: the arm of each trial for profiles that has begun; they follow all others.
    """
    done = {(trial.block, trial.arm) for trial in ended} | {*before}
    to_come = [place.arm for place in session.schedule if (place.block, place.arm) not in done]
    if not to_come and running is not None:
        to_come = [running]  # a repeat
    if profiling:
        to_come = [profiling[-1]]  # a gate may have left places of its schedule
    begun = Counter(profiling)
    profiled = profiled_trials(session.profilers, session.profile_starts)
    to_come += [arm.name for arm in session.arms for _ in range(profiled - begun[arm.name])]
    beyond = overrun(session, ended) or 0.0
    each = {arm.name: max(0.0, expected_seconds(arm.spec) + beyond) for arm in session.arms}
    return max(sum(each[arm] for arm in to_come) - elapsed, 0.0)
