# SPDX-License-Identifier: Apache-2.0
"""Which trials may be compared, and whether what was left out was left out evenly (pure).

A round of a block is its trials as scheduled (0) or one of its repeats (1, 2): a trial's `attempt` is its round
(`session/schedule.py`). Through here go all trials of a session:

    trials -> valid ones by arm, block and round -> per block and comparison the last round in which both are valid
           -> trials, voids and unsteady ones of each arm, and whether an arm and the baseline differ in them
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import comb

from steelyard.analysis.paired import LEVEL
from steelyard.measure.ledger import void_by_partner, voiding_checks
from steelyard.results.analysis import ArmTrials
from steelyard.results.schema import ScheduledTrial, Session, Trial

Place = tuple[int, int]
"""Block and round."""


def valid_trials(trials: Iterable[Trial]) -> dict[str, dict[Place, Trial]]:
    """The valid trials of each arm by block and round, in that order. Void trials never count."""
    by_arm: dict[str, dict[Place, Trial]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.block, trial.attempt)):
        if trial.state == "valid":
            by_arm.setdefault(trial.arm, {})[trial.block, trial.attempt] = trial
    return by_arm


def common(arm: Collection[Place], against: Collection[Place]) -> list[Place]:
    """Where two arms may be compared: in each block the last round that has both.

    Trials of different rounds lie far apart in time, and which arm ran later would follow from which one was void.
    """
    last = {block: (block, number) for block, number in sorted(arm) if (block, number) in against}
    return list(last.values())


_NOT_THE_ARM = {"build", "settings", "clock-step", "clock-offset", "sample-gaps"}
"""Checks that say that the figures are not the arm's, or not figures: such a trial is left in nowhere."""
_OUTSIDE = {"steal", "other-cpu"}
"""Checks of what others took of the host: what they alone void is repeated, and left in nowhere either, unless one arm
has it more often. Steal may be an arm's own (its burst credits are used up), other CPU too (a forwarder's of its
network)."""
LOPSIDED = 0.25
"""Largest chance of so uneven a split, if others disturb either arm alike, at which what others took may be an arm's
own doing: three on one side and none on the other. To doubt costs an interval its width; not to doubt lets a gate pass
an arm whose slow starts are void."""


def trials_left_in(trials: Collection[Trial], baseline: str) -> dict[str, dict[Place, Trial]]:
    """The trials of each arm by block and round, void ones among them that have figures which are the arm's, and are
    not void for what others did to either arm alike."""
    own = _own_disturbances(trials, baseline)
    by_arm: dict[str, dict[Place, Trial]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.block, trial.attempt)):
        untold = any(check.name in _NOT_THE_ARM for check in voiding_checks(trial.checks))
        if trial.metrics and not untold and (trial.arm in own or not _void_from_outside(trial)):
            by_arm.setdefault(trial.arm, {})[trial.block, trial.attempt] = trial
    return by_arm


def _own_disturbances(trials: Iterable[Trial], baseline: str) -> set[str]:
    """Arms that others seem to disturb more often than the baseline beside them, or the baseline than one of them."""
    disturbed: dict[str, dict[Place, bool]] = {}
    for trial in trials:
        disturbed.setdefault(trial.arm, {})[trial.block, trial.attempt] = _void_from_outside(trial)
    base = disturbed.pop(baseline, {})
    own = set[str]()
    for arm, places in disturbed.items():
        mine = sum(void and not base[place] for place, void in places.items() if place in base)
        others = sum(base[place] and not void for place, void in places.items() if place in base)
        if _even(min(mine, others), mine + others) <= LOPSIDED:
            own.add(arm if mine > others else baseline)
    return own


def _void_from_outside(trial: Trial) -> bool:
    """Whether what others took of the host is all that voids it; a share that was not measured says nothing of them."""
    failed = voiding_checks(trial.checks)
    return bool(failed) and all(check.name in _OUTSIDE and check.value is not None for check in failed)


def common_first(arm: Collection[Place], against: Collection[Place]) -> list[Place]:
    """In each block the first round that has both arms: as it was scheduled, whatever was void."""
    first: dict[int, Place] = {}
    for place in sorted(arm):
        if place in against:
            first.setdefault(place[0], place)
    return list(first.values())


def ratios_left_in(
    arm: Mapping[Place, float],
    against: Mapping[Place, float],
    valid: Mapping[Place, float],
    valid_against: Mapping[Place, float],
) -> list[float] | None:
    """arm / against of each block with void trials left in; empty where none of them is void, None where some are and
    a figure is not above zero, so that there is no ratio.

    Args:
        arm: figures by block and round, of `trials_left_in`.
        against: those of the arm that it is compared with.
        valid: the first ones, of valid trials alone.
        valid_against: the second ones, of valid trials alone.
    """
    places = common_first(arm, against)
    if all(place in valid and place in valid_against for place in places):
        return []
    if any(min(arm[place], against[place]) <= 0 for place in places):
        return None
    return [arm[place] / against[place] for place in places]


def comparable_places(trials: Iterable[Trial], arms: Sequence[str], baseline: str) -> set[tuple[int, str]]:
    """Block and arm where the arm is valid beside a valid baseline; of the baseline, where it has a valid trial."""
    valid = valid_trials(trials)
    base = valid.get(baseline, {})
    return {(block, arm) for arm in arms for block, _ in common(valid.get(arm, {}), base)}


def reached_places(session: Session, trials: Sequence[Trial]) -> list[ScheduledTrial]:
    """The places of the schedule that a session has come to: all of them, but of a gate those up to the look that it
    ended at, or is on its way to."""
    if session.gate is None:
        return session.schedule
    last = max((trial.block for trial in trials), default=1)
    until = next((block for block in session.gate.looks if block >= last), last)
    return [place for place in session.schedule if place.block <= until]


def seconds_of(trials: Iterable[Trial]) -> float:
    """What trials took, from start to end; the two of a duet ran in the same seconds, which count once."""
    spans = {
        (trial.block, trial.attempt, trial.started): max(end for _, end in trial.phases.values())
        - trial.started
        for trial in trials
        if trial.phases
    }
    return sum(spans.values())


def did_not_start(trial: Trial) -> bool:
    """Whether something of the trial failed before there was anything to measure; too little memory to start with is
    an answer of the procedure that asks for it."""
    return trial.failure is not None and "measure" not in trial.phases and trial.survived is not False


def count_by_arm(trials: Sequence[Trial], arms: Sequence[str]) -> dict[str, ArmTrials]:
    """How the trials of each arm ended."""
    own = {arm: [trial for trial in trials if trial.arm == arm] for arm in arms}
    return {
        arm: ArmTrials(
            trials=len(ended),
            void=sum(trial.state == "void" for trial in ended),
            not_started=sum(map(did_not_start, ended)),
            not_steady=sum(_unsteady(trial) is True for trial in ended),
        )
        for arm, ended in own.items()
    }


def unequal(trials: Sequence[Trial], arm: str, baseline: str) -> str | None:
    """Why an arm's comparison shows nothing: it and the baseline are void, or not steady, clearly unequally often.

    What voids one arm more often may depend on how it performs; then what is left of it is a selection, and no repeat
    cures that. McNemar's test in its exact form (Psychometrika, 1947; a binomial test) at the levels of `_DOUBTS`,
    uncorrected: to doubt is the careful side. Of the rounds in which one of the two alone is void, each has half by
    chance; that holds where a disturbance hits both, and where repeats depend on what was void (such a round is
    repeated whichever it is). Six of them, all on one side, are the fewest that show anything. Unsteady trials are not
    repeated, and are no selection but measure another state: five of them do, all rounds of a quick session. A side of
    a duet that is void for the other alone does not count.
    """
    mine, base = ({(t.block, t.attempt): t for t in trials if t.arm == name} for name in (arm, baseline))
    for fault, has_fault, level, doubt in _DOUBTS:
        pairs = [
            (a, b)
            for place, trial in mine.items()
            if place in base
            and (a := has_fault(trial)) is not None
            and (b := has_fault(base[place])) is not None
        ]
        only = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
        p = _even(min(only), sum(only))
        if p < level:
            here, there = (sum(column) for column in zip(*pairs, strict=True))
            return (
                f"{here} of {len(pairs)} trials of {arm} are {fault}, and {there} of {len(pairs)} of {baseline} beside"
                f" them: clearly unequal (p = {p:.2g}, exact McNemar test), so that {doubt}"
            )
    return None


@lru_cache(maxsize=4096)
def _even(fewer: int, both: int) -> float:
    """Two-sided p of so few of both on one side, where each side is as likely."""
    return min(1.0, 2 * sum(comb(both, number) for number in range(fewer + 1)) / (1 << both))


def _void(trial: Trial) -> bool:
    return trial.state == "void" and not void_by_partner(trial.checks)


def _unsteady(trial: Trial) -> bool | None:
    """None: there was nothing to judge."""
    return not trial.steady if trial.measurement is not None and trial.steady is not None else None


_DOUBTS = (
    ("void", _void, LEVEL, "what is left may be a selection"),
    ("not steady", _unsteady, 2 * LEVEL, "they may differ in how warm they are alone"),
)
"""What trials may be unequally often, the level at which they clearly are, and what that makes doubtful."""


def counts_text(counts: Mapping[str, ArmTrials], field: str) -> str:
    """How many of each arm, for those that have any: `3 of 14 of jvms-2`."""
    counts_of = {arm: (getattr(count, field), count.trials) for arm, count in counts.items()}
    return ", ".join(f"{n} of {of} of {arm}" for arm, (n, of) in counts_of.items() if n)
