# SPDX-License-Identifier: Apache-2.0
"""The answer of a ramp-up in figures: when each arm's throughput was there (pure)."""

from steelyard.analysis.best import LOST
from steelyard.analysis.estimates import arm_label
from steelyard.measure.registry import metric_info
from steelyard.results import figures
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session

ALL = 4
"""Arms that an answer names all; of more the first and the last are, and of a ramp-up the baseline."""
_TIME = "time_to_"


def ramp_up_lead(session: Session, analysis: Analysis) -> str:
    """When each arm came up to the share of the best arm's level that the session asks about; empty for sessions
    that ask about no such time.

    An arm some of whose trials never came up to it is told as that, and stands last.
    """
    asked = [analysis.primary, *session.experiment.metrics.report]
    metric = next((name for name in asked if name.startswith(_TIME)), None)
    if metric is None or not analysis.summaries.get(LOST):
        return ""
    complete = {arm: s.mean for arm, s in analysis.summaries.get(metric, {}).items() if s.n}
    partly = {arm: s for arm, s in analysis.partly.get(metric, {}).items() if arm not in complete}
    trials = {arm: s.n for arm, s in analysis.summaries[LOST].items()}
    order = sorted(complete, key=lambda arm: complete[arm])
    info = metric_info(metric)
    texts = {
        arm: f"after {figures.with_unit(info, complete[arm])} with {arm_label(session, arm)}" for arm in order
    }
    for arm, count in trials.items():
        if arm not in complete:
            reached = partly[arm].n if arm in partly else 0
            after = f", those after {figures.with_unit(info, partly[arm].mean)}" if reached else ""
            texts[arm] = f"in {reached} of {count} trials with {arm_label(session, arm)}{after}"
    named = [*texts]
    if len(named) > ALL:
        ends = (named[0], analysis.baseline, named[-1])
        named = [arm for arm in named if arm in ends]
    label = info.label.removeprefix("time to ")
    more = f" ({len(texts) - len(named)} further arms lie between)" if len(named) < len(texts) else ""
    return f"{figures.capital(label)} was reached {join_words([texts[arm] for arm in named])}{more}."


def join_words(texts: list[str]) -> str:
    """Words in a row: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
