# SPDX-License-Identifier: Apache-2.0
"""Sentences that belong beside every figure of a session."""

from collections.abc import Iterator, Sequence
from statistics import median

from steelyard.analysis.rounds import counts_text
from steelyard.analysis.warmup import WINDOW, series_noise, window_note
from steelyard.report.view import View, moment
from steelyard.results import figures
from steelyard.results.schema import JournalEntry

SHOWN = 3
"""How many sentences a page shows at once; the others are folded."""
FEW_BLOCKS = 6
"""With fewer blocks than this the intervals are wide and a single odd trial weighs much."""


def caveats(view: View) -> list[str]:
    """Each once: what could change the answer, then what is said of figures of single components."""
    return list(dict.fromkeys([*_of_answer(view), *_of_shared_memory(view), *_of_unknown_figures(view)]))


def shown_caveats(view: View) -> list[str]:
    """Those that a page shows at once, the first of `caveats`: what could change the answer, `SHOWN` at most."""
    return list(dict.fromkeys(_of_answer(view)))[:SHOWN]


def _of_answer(view: View) -> Iterator[str]:
    """Trials, what the analysis found in them, interruptions, windows; then what the plan said."""
    yield from _of_trials(view)
    yield from view.analysis.notes
    yield from _of_interruptions(view.journal)
    yield from _of_short_windows(view)
    yield from view.session.notes
    for spec in view.specs.values():
        yield from (*spec.notes, *spec.embedded)


def _of_trials(view: View) -> Iterator[str]:
    """How many blocks and trials the figures rest on, and what became of the others."""
    analysis = view.analysis
    if view.session.quick:
        yield "A quick session: an indication, not an answer."
    if analysis.blocks_complete < 2:
        yield "Fewer than two complete blocks: chance alone may explain any difference."
    elif analysis.blocks_complete < FEW_BLOCKS:
        yield f"{analysis.blocks_complete} complete blocks only: intervals are wide, and one odd trial weighs much."
    if analysis.void_trials:
        yield (
            f"{_share(analysis.void_trials, analysis.trials)} void ({counts_text(analysis.by_arm, 'void')}): not"
            " averaged in, shown in the charts as crosses and explained in the validity ledger."
        )
    if any(trial.survived is False for trial in view.trials):
        yield (
            "Trials in which a component died or thrashed have figures of what was left: compare only arms that"
            " survived."
        )
    if analysis.not_steady_trials:
        yield (
            f"{_share(analysis.not_steady_trials, analysis.trials)} marked not steady"
            f" ({counts_text(analysis.by_arm, 'not_steady')}): the warm-up reached its cap, or throughput still moved"
            " while it was measured."
        )


def _share(trials: int, of: int) -> str:
    return f"{trials} of {figures.count(of, 'trial')} {'is' if trials == 1 else 'are'}"


def _of_short_windows(view: View) -> Iterator[str]:
    """What windows shorter than a minute can show, by the noise that they had."""
    seconds = round(view.experiment.load.measure)
    if view.procedure != "steady":
        return
    judged = -seconds - WINDOW
    rates = ([rate for _, rate in trial.trace[judged:]] for trial in view.trials if trial.state == "valid")
    noises = [noise for own in rates if (noise := series_noise(own, seconds)) is not None]
    if noises:
        noise, correlation = (median(values) for values in zip(*noises, strict=True))
        yield from filter(None, [window_note(seconds, [noise], correlation)])


def _of_shared_memory(view: View) -> Iterator[str]:
    for name, part in view.shared_memory.items():
        rss, pss = (f"{(part.value(figure) or 0) / 2**20:.0f} MiB" for figure in ("rss_mean", "pss_mean"))
        yield (
            f"The {part.value('processes'):.0f} processes of {name} share memory: their RSS adds up to {rss} and counts"
            f" a shared page once for each of them, PSS ({pss}) counts it once. Take PSS for what the component needs."
        )


def _of_unknown_figures(view: View) -> Iterator[str]:
    """The figures of a component that there should be and are not, by their reason, and in how many trials."""
    missing: dict[tuple[str, str], dict[str, None]] = {}
    arms: dict[tuple[str, str], list[str]] = {}
    for trial in view.trials:
        for part in trial.components:
            for reason in dict.fromkeys(part.unknown.values()):
                arms.setdefault((part.name, reason), []).append(trial.arm)
            for name, reason in part.unknown.items():
                missing.setdefault((part.name, reason), {})[name] = None
    for (component, reason), names in missing.items():
        where = arms[component, reason]
        yield (
            f"{', '.join(names)} of {component}: unknown in {len(where)} of {figures.count(len(view.trials), 'trial')}"
            f" ({', '.join(dict.fromkeys(where))}), because {reason}."
        )


def _of_interruptions(journal: Sequence[JournalEntry]) -> Iterator[str]:
    """What the journal says of interruptions: a session that goes on after one meets another state of its host."""
    stops, cause, place, before = [], "", "", None
    for entry in journal:
        if entry.event == "session-resume" and before is not None and before.event != "session-end":
            ended = cause or "its process was killed, or the host stopped"
            stops.append(f"{moment(before.time)}{place} ({ended}), resumed {moment(entry.time)}")
        cause = (entry.detail or "Ctrl-C, or a signal to end") if entry.event == "interrupted" else ""
        if entry.event not in ("phase", "interrupted"):
            place = f" in block {entry.block}, {entry.arm}" if entry.event == "trial-start" else ""
        before = entry
    if stops:
        yield (
            f"The session was interrupted {figures.count(len(stops), 'time')}: {'; '.join(stops)}. A trial in flight"
            " ran again from its start; what changed on the host meanwhile is not known."
        )
    yield from (entry.detail for entry in journal if entry.event == "session-resume" and entry.detail)
    if before is not None and before.event != "session-end":
        yield f"The session has not ended{f' ({cause})' if cause else ''}: it can be resumed."
