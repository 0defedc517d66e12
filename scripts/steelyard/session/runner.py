# SPDX-License-Identifier: Apache-2.0
"""Runs a session from its first trial to its report, or what is left of one: all of it follows session.json."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from steelyard.analysis.estimates import analyse
from steelyard.analysis.search_result import search_results
from steelyard.engines.base import Engine
from steelyard.errors import ServerFailed
from steelyard.host.lock import LOCK, host_lock
from steelyard.host.switching import HostStates, put_back
from steelyard.host.system import System
from steelyard.processes import Children
from steelyard.report import write_report
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session, Trial
from steelyard.results.store import SessionDirectory
from steelyard.session.live import Watcher
from steelyard.session.schedule import Course
from steelyard.session.trial import TrialRunner

START_FAILURES_IN_A_ROW = 2
"""Trials in a row that fail to start before the session gives up: the reason is then not chance."""

_HOST = System()


def run_session(
    directory: SessionDirectory,
    engines: Mapping[str, Engine],
    children: Children,
    watcher: Watcher,
    differs: str = "",
    system: System = _HOST,
    lock: Path = LOCK,
) -> list[Trial]:
    """Run what is left of a session, then analyse it and write its report.

    Args:
        directory: the session.
        engines: by name, those that its arms name.
        children: registry of child processes.
        watcher: is told of everything.
        differs: what is not as it was when the session was begun, and is no reason to refuse it.
        system: the host whose states are set; another for recorded trees.
        lock: file that keeps other sessions out.

    Returns:
        Every trial of the session, valid and void.

    Raises:
        Busy: another session or workload runs on this host.
        ServerFailed: the servers do not start; PortInUse, NoSpace: as they say. What was measured is kept.
        KeyboardInterrupt: passed on after everything was stopped and what was measured was analysed.
    """
    course = Course(directory.session())
    trials = directory.trials()
    with host_lock(directory.path, lock), ExitStack() as cleanup:
        for sentence in put_back(system):
            watcher.note(sentence)
        plots = [spec.host_states for spec in course.specs.values()]
        states = HostStates(plots, children, directory.path, system)
        cleanup.enter_context(states)
        for name, engine in engines.items():
            engine.check([spec for spec in course.specs.values() if spec.engine == name])
        event = "session-resume" if directory.has_journal() else "session-start"
        directory.log(time.time(), event, detail=differs or None)
        runner = TrialRunner(course, directory, engines, children, watcher, states)
        failures = 0
        try:
            while (planned := course.next(trials)) is not None:
                watcher.trial_started(planned, len(trials), course.total(trials))
                trial = runner.run(planned)
                trials.append(trial)
                watcher.trial_ended(trial, len(trials), course.total(trials))
                started = trial.failure is None or "measure" in trial.phases
                failures = 0 if started else failures + 1
                if failures >= START_FAILURES_IN_A_ROW:
                    raise ServerFailed(f"{failures} trials in a row did not start: {trial.failure}")
            # Before the report, which says of a session that has not ended that it can be resumed.
            directory.log(time.time(), "session-end")
        except KeyboardInterrupt:
            directory.log(time.time(), "interrupted")
            raise
        finally:
            if trials:
                analyse_again(directory)
                write_report(directory)
    return trials


def analyse_again(directory: SessionDirectory) -> Analysis:
    """Make `analysis.json` from the trials that there are, and return it (raises Altered)."""
    session, trials = directory.session(), directory.trials()
    doubts = directory.doubts(trials)
    made = analyse(session, trials)
    more = {"searches": search_results(session, trials), "notes": [*made.notes, *doubts]}
    return directory.keep(made.model_copy(update=more))


def missing(session: Session, trials: Sequence[Trial]) -> list[str]:
    """Arms and blocks without a valid trial, for the closing message."""
    valid = {
        (trial.block, trial.arm) for trial in trials if trial.state == "valid" or trial.value is not None
    }
    return [
        f"block {place.block} of {place.arm}"
        for place in session.schedule
        if (place.block, place.arm) not in valid
    ]
