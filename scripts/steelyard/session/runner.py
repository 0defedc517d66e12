# SPDX-License-Identifier: Apache-2.0
"""Runs a session from its first trial to its report, or what is left of one: all of it follows session.json."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import takewhile

from steelyard.analysis.estimates import analyse
from steelyard.analysis.rounds import comparable_places, did_not_start, reached_places
from steelyard.analysis.search_result import search_results
from steelyard.analysis.sentences import interim_answer
from steelyard.engines.base import Engine
from steelyard.errors import NoSpace, ServerFailed, SteelyardError
from steelyard.host.lock import LOCK, host_lock, running_session
from steelyard.host.preparing import require_large_pages
from steelyard.host.switching import HostStates, put_back
from steelyard.host.system import System
from steelyard.report import write_report
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session, Trial
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory
from steelyard.session.context import RunContext
from steelyard.session.profiling import Profiles
from steelyard.session.schedule import EndsAt, Schedule
from steelyard.session.trial import TrialRunner

_HOST = System()


def run_session(
    directory: SessionDirectory,
    engines: Mapping[str, Engine],
    context: RunContext,
    differs: str = "",
    system: System = _HOST,
    lock: str = LOCK,
    ends_at: EndsAt | None = None,
) -> list[Trial]:
    """Run what is left of a session, then analyse it and write its report.

    Args:
        directory: the session.
        engines: by name, those that its arms name.
        context: child processes, who is told of everything, and the clock.
        differs: what is not as it was when the session was begun, and is no reason to refuse it.
        system: the host whose states are set; another for recorded trees.
        lock: name of what keeps other sessions out.
        ends_at: the stopping rule of a gate, which needs one.

    Returns:
        Every trial of the session, valid and void.

    Raises:
        Busy: another session or workload runs on this host.
        ServerFailed: the servers do not start; PortInUse, NoSpace: as they say. What was measured is kept.
        KeyboardInterrupt: passed on after everything was stopped and what was measured was analysed.
    """
    schedule = Schedule(directory.session(), ends_at)
    context = replace(context, counters=schedule.session.counters)
    trials = schedule.keep_pairs(directory.trials())
    with host_lock(lock), running_session(directory.path), ExitStack() as cleanup:
        for sentence in put_back(system):
            context.watcher.note(sentence)
        plots = [spec.host_states for spec in schedule.specs.values()]
        states = HostStates(plots, context.children, directory.path, system)
        cleanup.enter_context(states)
        for name, engine in engines.items():
            engine.check([spec for spec in schedule.all_specs if spec.engine == name])
        require_large_pages(schedule.specs.values(), system)
        event = "session-resume" if directory.has_journal() else "session-start"
        directory.log(context.clock.time(), event, detail=differs or None)
        runner = TrialRunner(schedule, directory, engines, context, states)
        try:
            upcoming = schedule.next(trials)
            while (planned := upcoming) is not None:
                context.watcher.trial_started(planned, len(trials), schedule.total(trials))
                together = schedule.together(planned)
                for trial in runner.run(together):
                    trials.append(trial)
                    context.watcher.trial_ended(trial, len(trials), schedule.total(trials))
                require_starts(trials, at_once=len(together))
                require_settings(trials, at_once=len(together))
                upcoming = schedule.next(trials)
                # A gate has its own interim analyses, whose errors are counted.
                is_gate = schedule.session.gate is not None
                if not is_gate and upcoming is not None and planned.block not in (1, upcoming.block):
                    _report_interim(directory, context, planned.block)
            Profiles(directory, engines, context, partial(_set_host, states)).make(schedule.session)
            # Before the report, which says of a session that has not ended that it can be resumed.
            directory.log(context.clock.time(), "session-end")
        except BaseException as error:
            with suppress(NoSpace):  # then the journal ends without a word, as after a kill
                directory.log(context.clock.time(), "interrupted", detail=_reason(error))
            raise
        finally:
            # By what is recorded: an interrupt may come between the record of a trial and its place in our list.
            if directory.trials():
                analyse_again(directory)
                write_report(directory)
    return trials


def _report_interim(directory: SessionDirectory, context: RunContext, blocks: int) -> None:
    """Between two blocks, from the second on: the report so far, and its answer for whoever waits."""
    analysis = analyse_again(directory)
    said = interim_answer(directory.session(), analysis, blocks)
    if said is not None:
        write_report(directory)
        context.watcher.note(
            f"{said}; the report so far: {directory.path / 'report.html'} (Ctrl-C stops and keeps it)"
        )


def _set_host(states: HostStates, number: int, spec: Spec) -> None:
    """For a trial outside of the blocks: a switch of its own."""
    if spec.host_states:
        states.enter((0, number), spec.host_states, spec.cpus)


def require_starts(trials: Sequence[Trial], at_once: int = 1) -> None:
    """End a session in which a failure before the measurement repeats: it is no chance, and would use up all repeats.

    It repeats where the last two trials of an arm failed so, whatever ran between them, or the last two of the session:
    an arm that cannot start must not take its blocks with it, void by void. A single one is void like any other, and
    repeated. Trials from before an interruption count: whoever resumed meant to have mended it. An arm of a search may
    come to a value that it cannot start with, and then the search ends by itself. Of trials that run `at_once` one that
    does not start takes the others with it: they failed once.

    Raises:
        ServerFailed: how many trials failed in a row, and the last one's sentence.
    """
    last = trials[-1]
    own = [trial for trial in trials if trial.arm == last.arm and trial.value is None]
    for whose, ended, most in ((f" of {last.arm}", own, 2), ("", trials, 2 * at_once)):
        failed = len(list(takewhile(did_not_start, reversed(ended))))
        if failed >= most:
            raise ServerFailed(f"{failed} trials{whose} in a row did not start: {last.failure}")


def require_settings(trials: Sequence[Trial], at_once: int = 1) -> None:
    """End a session in which an arm of the last trials has had other settings than it asks for from the start, twice: a
    host or a JVM that does not give them gives them to no repeat.

    Raises:
        ServerFailed: how many trials had them, and which.
    """
    for arm in [trial.arm for trial in trials[-at_once:]]:
        own = [trial.measurement for trial in trials if trial.arm == arm]
        measured = [measurement for measurement in own if measurement is not None]
        said = [tuple(measurement.sentences("settings_differ") or ()) for measurement in measured]
        if len(said) > 1 and said[0] and set(said) == {said[0]}:
            first, more = said[0][0], len(said[0]) - 1
            raise ServerFailed(
                f"all {len(said)} trials of {arm} ran with other settings than were asked for: {first}"
                + (f" (and {more} more)" if more else "")
            )


def _reason(error: BaseException) -> str:
    """What interrupts a session, for its report."""
    if isinstance(error, KeyboardInterrupt):
        return "Ctrl-C, or a signal to end"
    return str(error) if isinstance(error, SteelyardError) else f"a defect of the harness, {error!r}"


def analyse_again(directory: SessionDirectory) -> Analysis:
    """Make `analysis.json` from the trials that there are, and return it (raises Altered)."""
    session, trials = directory.session(), directory.trials()
    doubts = directory.doubts(trials)
    made = analyse(session, trials)
    more = {"searches": search_results(session, trials), "notes": [*made.notes, *doubts]}
    return directory.keep(made.model_copy(update=more))


def missing_places(session: Session, trials: Sequence[Trial]) -> list[str]:
    """Arms and blocks without what their comparison needs, or without any trial of their search; for the closing
    message."""
    arms = [arm.name for arm in session.arms]
    baseline = next(arm.name for arm in session.arms if arm.baseline)
    there = {(trial.block, trial.arm) for trial in trials if trial.value is not None}
    there |= comparable_places(trials, arms, baseline)
    return [
        f"block {place.block} of {place.arm}"
        for place in reached_places(session, trials)
        if (place.block, place.arm) not in there
    ]
