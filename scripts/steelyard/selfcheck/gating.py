# SPDX-License-Identifier: Apache-2.0
"""The gate as a whole command, simulated: certificate, looks, futility, confirmation, abstention.

One gate: a session of equal pairs on the host and its certificate; then, with the floor that it states, a session in
stages, each trial as the real schedule asks for it; and where that calls a regression, the session that confirms it.
What is counted is what the real `conclude` answers. `certified` are those whose certificate allows the margin.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from steelyard.analysis.paired import paired_test
from steelyard.gate.certificate import noise_of
from steelyard.gate.interim import INTERIM_PAIRS, LASTS, analyse_interim, interims_until, levels_of
from steelyard.gate.plan import CERTIFICATE_PAIRS
from steelyard.gate.result import conclude, explain_floor, needs_confirmation
from steelyard.results.schema import GateTerms, Session, Trial
from steelyard.selfcheck.hosts import HostModel
from steelyard.selfcheck.simulate import REPEATS, A, ArmModel, Setup, Tally, draws_of, run_session, template
from steelyard.session.schedule import make_schedule, make_stages


@dataclass(frozen=True, slots=True)
class Gate:
    """Gates of one kind."""

    host: HostModel
    candidate: ArmModel = field(default_factory=lambda: ArmModel("b"))
    margin: float = 0.03
    certified: int = CERTIFICATE_PAIRS
    duet: bool = False
    """Both sides run at once, those of the certificate too."""

    @property
    def setup(self) -> Setup:
        """Its sessions."""
        return Setup(self.host, INTERIM_PAIRS[-1], (A, self.candidate), margin=self.margin, duet=self.duet)


def run_gates(gate: Gate, gates: int, rng: np.random.Generator) -> Tally:
    """Gates of a kind, counted."""
    tally: Tally = Counter()
    for _ in range(gates):
        tally.update(run_gate(gate, rng))
    return tally


def run_gate(gate: Gate, rng: np.random.Generator) -> Tally:
    """One gate."""
    setup = gate.setup
    floor = _floor(gate, rng)
    abstains = [explain_floor(floor, gate.margin)] if floor > gate.margin else []
    terms = GateTerms(
        margin=gate.margin,
        looks=[*INTERIM_PAIRS],
        levels=levels_of(INTERIM_PAIRS),
        floor=floor,
        sides={"baseline": "a", "candidate": "b"},
    )
    session = _staged_session(setup, terms.model_copy(update={"abstains": abstains}), rng)
    first = (session, _run(setup, session, rng) if not abstains else list[Trial]())
    second = None
    if needs_confirmation(first):
        again = _staged_session(setup, terms.model_copy(update={"confirms": session.id}), rng)
        second = (again, _run(setup, again, rng))
    result = conclude(first, second)
    return Counter(
        {
            "sessions": 1,
            "certified": not abstains,
            result.outcome: 1,
            f"certified {result.outcome}": not abstains,
            "called once": second is not None,
            "pairs": len({(trial.block) for trial in first[1]}),
        }
    )


def run_interims(gate: Gate, sessions: int, rng: np.random.Generator) -> Tally:
    """Sessions of all pairs, none ended early: how many hold the truth in the interval of each interim analysis, by the
    pairs that there is time for."""
    tally: Tally = Counter(sessions=sessions)
    truth = math.log(gate.setup.truth(gate.candidate))
    sides = {"baseline": "a", "candidate": "b"}
    terms = GateTerms(margin=gate.margin, looks=[*INTERIM_PAIRS], floor=None, sides=sides)
    plans = {
        pairs: list(zip(places := interims_until(pairs), levels_of(places), strict=True)) for pairs in LASTS
    }
    for _ in range(sessions):
        staged = _staged_session(gate.setup, terms, rng)
        trials = _run(gate.setup, staged.model_copy(update={"gate": None}), rng)
        held = {}
        for place, level in {analysis for plan in plans.values() for analysis in plan}:
            own = terms.model_copy(update={"looks": [place], "levels": [level]})
            session = staged.model_copy(update={"gate": own})
            held[place, level] = _is_covered(session, trials, place, truth)
        for pairs, plan in plans.items():
            tally[f"held until {pairs}"] += all(held[analysis] for analysis in plan)
    return tally


def _is_covered(session: Session, trials: Sequence[Trial], place: int, truth: float) -> bool:
    analysis = analyse_interim(session, trials, place)
    core = paired_test([math.log(ratio) for ratio in analysis.estimate.ratios], analysis.level)
    return core is not None and core.low <= truth <= core.high


def _floor(gate: Gate, rng: np.random.Generator) -> float:
    """What the host's certificate allows."""
    equal = replace(gate.setup, blocks=gate.certified, arms=(A, ArmModel("b")))
    seed = int(rng.integers(2**62))
    schedule = make_schedule([arm.name for arm in equal.arms], equal.blocks, seed)
    session = template(equal).model_copy(update={"seed": seed, "schedule": schedule})
    (noise,) = noise_of(session, _run(equal, session, rng), [equal.primary])
    return noise.floor


def _staged_session(setup: Setup, terms: GateTerms, rng: np.random.Generator) -> Session:
    seed = int(rng.integers(2**62))
    schedule = make_stages([arm.name for arm in setup.arms], terms.looks, seed)
    update = {"seed": seed, "schedule": schedule, "gate": terms}
    return template(setup).model_copy(update=update)


def _run(setup: Setup, session: Session, rng: np.random.Generator) -> Sequence[Trial]:
    places = setup.blocks * len(setup.arms)
    (draws,) = draws_of(setup.host, 1, places, REPEATS * places, rng)
    return run_session(setup, session, draws)
