# SPDX-License-Identifier: Apache-2.0
"""A gate of the sample's figures that has ended; nothing here is a measurement."""

from pathlib import Path

import sample
from kept_sessions import write_session

from steelyard.analysis.estimates import analyse
from steelyard.gate.result import conclude
from steelyard.report.view import View
from steelyard.results.gate import GateResult
from steelyard.results.schema import GateTerms, Session, Trial
from steelyard.results.store import SessionDirectory

MARGIN = 0.05


def gate_plan(throughput: float) -> sample.Plan:
    """Six pairs of a gate on CPU per request, whose candidate has that share of the baseline's throughput."""
    return sample.Plan(
        name="gate",
        title="Is the candidate worse than the baseline?",
        question="Does the candidate use more CPU per request than the baseline?",
        factors={"side": {"label": "side", "levels": ["baseline", "candidate"]}},
        effects={"side": {"candidate": throughput}},
        primary="cpu_per_1k",
        report=("throughput", "memory_rss"),
    )


def make_gate(throughput: float) -> tuple[Session, list[Trial], GateResult]:
    """Its session, its trials, and its verdict; a regression has been confirmed by the same figures."""
    plan = gate_plan(throughput)
    session = sample.session_of(plan)
    terms = GateTerms(
        margin=MARGIN,
        looks=[plan.blocks],
        floor=0.03,
        certificate="ping.json",
        sides={"baseline": "v1.4.0", "candidate": "3f2c1ab"},
    )
    session = session.model_copy(update={"gate": terms})
    trials = sample.trials_of(plan, session)
    again = session.model_copy(update={"gate": terms.model_copy(update={"confirms": session.id})})
    return session, trials, conclude((session, trials), (again, trials))


def gate_view(throughput: float) -> View:
    """The same, ready to be shown."""
    session, trials, verdict = make_gate(throughput)
    return View(session, analyse(session, trials), trials, verdict=verdict)


def write_gate(folder: Path, throughput: float) -> tuple[SessionDirectory, GateResult]:
    """The same as a session directory without its verdict, and the verdict."""
    session, trials, verdict = make_gate(throughput)
    directory = write_session(folder, session, trials)
    directory.log(session.created + 6000, "session-end")
    directory.keep(analyse(session, trials))
    return directory, verdict
