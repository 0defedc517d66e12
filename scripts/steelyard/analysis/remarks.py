# SPDX-License-Identifier: Apache-2.0
"""What has to be said beside the interval of two arms (pure)."""

import math
from collections.abc import Mapping
from statistics import fmean
from typing import NamedTuple

from steelyard.analysis.paired import spreads_differ, two_groups
from steelyard.analysis.rounds import Place, common
from steelyard.results.analysis import MetricInfo
from steelyard.results.figures import with_unit


class Remark(NamedTuple):
    """A remark and the arms that it is about: one about an arm alone may be made beside several intervals."""

    sentence: str
    arms: tuple[str, ...]


def remarks_of(info: MetricInfo, arms: Mapping[str, Mapping[Place, float]]) -> list[Remark]:
    """What has to be said beside the interval of two arms: spreads that clearly differ, trials in two groups."""
    places = common(*arms.values()) if len(arms) == 2 else []
    if any(values[place] <= 0 for values in arms.values() for place in places):
        return []
    logs = {arm: [math.log(values[place]) for place in places] for arm, values in arms.items()}
    remarks = []
    if places and (wider := spreads_differ(*logs.values())) is not None:
        more, less = list(arms)[:: 1 if wider > 1 else -1]
        sentence = f"trials of {more} spread {max(wider, 1 / wider):.1f} times as widely as those of {less}"
        remarks.append(Remark(sentence, (more, less)))
    for arm, values in logs.items():
        if (middle := two_groups(values)) is not None:
            pairs = [*zip(places, values, strict=True)]
            low, high = ([pair for pair in pairs if (pair[1] > middle) is above] for above in (False, True))
            ends = " and ".join(
                f"about {with_unit(info, math.exp(fmean(log for _, log in group)))} in blocks"
                f" {', '.join(str(block) for (block, _), _ in group)}"
                for group in (low, high)
            )
            sentence = f"trials of {arm} fall into two groups ({ends}), and few are like their mean"
            remarks.append(Remark(sentence, (arm,)))
    return remarks
