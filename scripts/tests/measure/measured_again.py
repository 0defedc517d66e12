# SPDX-License-Identifier: Apache-2.0
"""Runs in a copy of the package to which a figure and a rule were added: prints where they are found, as JSON."""

import json
import shutil
import sys
from pathlib import Path

from test_recorded import SESSIONS, spec_of, window_of

from steelyard.analysis.estimates import analyse
from steelyard.experiment.schema import Metrics
from steelyard.measure.reference import fill_tables, trial_schema
from steelyard.report.pages import to_markdown
from steelyard.report.view import View
from steelyard.results.schema import Planned, Session, Trial
from steelyard.results.store import SessionDirectory
from steelyard.selfcheck import trials as simulated
from steelyard.session.evidence import measure_outcome
from steelyard.session.plan import metric_checks
from steelyard.session.trial import trial_record


def measured_again(directory: SessionDirectory, session: Session) -> list[Trial]:
    """The trials of a recorded session, by their samples and logs."""
    again = []
    for trial in directory.trials():
        spec = spec_of(session, trial)
        window = window_of(directory.trial_path(trial.block, trial.arm, trial.attempt), trial, spec)
        place = next(one for one in session.schedule if (one.block, one.arm) == (trial.block, trial.arm))
        planned = Planned.at(place, trial.order, trial.attempt)
        again.append(trial_record(planned, spec, measure_outcome(window), trial.started, trial.phases))
    return again


def main(folder: Path, page: Path, metric: str) -> None:
    """A recorded session with that metric as its primary one."""
    shutil.unpack_archive(SESSIONS / "steady.zip", folder)
    directory = SessionDirectory(folder)
    session = directory.session()
    experiment = session.experiment.model_copy(update={"metrics": Metrics(primary=metric)})
    session = session.model_copy(update={"experiment": experiment})
    trials = measured_again(directory, session)
    undisturbed = simulated.make_trial(
        Planned.at(session.schedule[0], 0, 0), simulated.SPEC, simulated.Truth(1000.0, 0.001, 1e8, 3.0)
    )
    places = {
        "schema": trial_schema()["$defs"],
        "plan": metric_checks(),
        "session": [trial.model_dump(mode="json") for trial in trials],
        "report": to_markdown(View(session, analyse(session, trials), trials, list(directory.journal()))),
        "reference": fill_tables(page.read_text(encoding="utf-8")),
        "simulated": [check.model_dump(mode="json") for check in undisturbed.checks],
    }
    json.dump(places, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
