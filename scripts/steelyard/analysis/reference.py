# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md, written from the registries: `python -m steelyard.analysis.reference > ../docs/metrics.md`."""

import sys
import textwrap
from collections.abc import Iterable

from steelyard.analysis import curves, warmup
from steelyard.analysis.formulas import EVERY, Metric
from steelyard.analysis.ledger import RULES, Rule
from steelyard.analysis.metrics import REGISTRY
from steelyard.analysis.rules import MIX_FALSE_ALARM
from steelyard.experiment.schema import ProcedureName

_HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by `python -m steelyard.analysis.reference`; a test holds it against the code. -->
# Metrics, warm-up and validity

What each figure of a trial is, when a server counts as warm, and what voids a trial. Why it is so stands in
[method.md](method.md).

"The window" is the measurement window; "the servers" are all server JVMs of the trial together, with the compilers
(JITServers) that work for them. The servers' side comes from their own counters and from `/proc`, the injectors' side
from their histograms. A figure that was not measured in one of the components makes the metric missing, never smaller.

## Metrics

"Better" says which way is good; a ratio against the baseline arm is made for each metric whose figures are positive.
"""


def markdown() -> str:
    """The whole page."""
    return "\n".join(
        [
            _HEAD,
            *_table(
                ("metric", "unit", "better", "trials", "source and how it is made", "pitfalls"),
                map(_metric, REGISTRY),
            ),
            "",
            *_ramp_up(),
            "",
            *_warm_up(),
            "",
            *_ledger(),
            "",
        ]
    )


def _table(headers: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = (headers, tuple("---" for _ in headers), *rows)
    return [f"| {' | '.join(line)} |" for line in lines]


def _metric(one: Metric) -> tuple[str, ...]:
    info = one.info
    return f"`{info.name}`", info.unit, info.better, _trials(one.procedures), info.source, info.pitfalls


def _trials(procedures: tuple[ProcedureName, ...]) -> str:
    return "all" if set(procedures) == set(EVERY) else ", ".join(procedures)


def _paragraph(text: str, bullet: str = "") -> str:
    return textwrap.fill(
        text, 110, initial_indent=bullet, subsequent_indent=" " * len(bullet), break_on_hyphens=False
    )


def _percent(share: float) -> str:
    return f"{share * 100:g} %"


def _ramp_up() -> list[str]:
    return [
        "## Ramp-up",
        "",
        _paragraph(
            "The curve of a ramp-up trial is the servers' throughput in every second from the first second of load on;"
            " nothing is cut. Its **steady level** is the median of the last quarter: a median, because a pause or a"
            " burst of single seconds must not move the level that every other second is held against; the last"
            " quarter, because it is the furthest from the start that still has enough seconds (15 of 60) for its own"
            " error to be small. Where the last eighth lies more than"
            f" {_percent(curves.RISING)} above the eighth before, throughput still rises, the level is a lower bound,"
            " and the analysis says so."
        ),
        "",
        _paragraph(
            f"A share of a level is reached when the running median over {curves.SMOOTH} s first comes up to it (Tukey,"
            " Exploratory Data Analysis, 1977: a running median follows a rise without a lag and passes over outliers"
            " of up to two seconds); between seconds a straight line is taken. Against **its own level** an arm is"
            " compared with what it comes to itself; against **the best arm's level** (highest mean level of the"
            " session, taken in the same block) with what could be had. An arm that does not come up to a share of"
            " that level in each of its valid trials gets no time for it, and the analysis says in how many it did"
            " not: leaving out just those would keep the fast ones."
        ),
    ]


def _warm_up() -> list[str]:
    changes = (
        f"**No change point**: PELT on mean and variance, penalty {warmup.PENALTY:g} ln n (Barrett et al., OOPSLA"
        f" 2017), for changes of at least {warmup.MIN_SEGMENT} s. Variation below"
        f" {warmup.VARIANCE_FLOOR**0.5 * 100:.1f} % of the level counts as that much: a rise that the next rule allows"
        " is no change point."
    )
    slope = (
        f"**No slope**: at most {_percent(warmup.SLOPE_LIMIT)}/min by least squares, widened by the slope's own 95 %"
        f" error but by no more than {_percent(warmup.SLOPE_ALLOWANCE)} of the level over the judged stretch. On a"
        " host whose throughput varies by 1 % from second to second the standard error is 0.45 %/min; where it"
        " varies by 5 % a rise of 2 %/min cannot be told from none within 60 s. `steelyard selfcheck` shows how"
        " often which series is judged how."
    )
    jit = (
        f"**A quiet JIT**: compiler threads use under {_percent(warmup.JIT_LIMIT)} of the servers' CPU budget. Where"
        " that cannot be told it is not judged, and the record says so."
    )
    return [
        "## Warm-up",
        "",
        _paragraph(
            "The load runs until the last 60 s of per-second throughput pass all three rules, or until the cap, at"
            " which the trial is marked not steady. A fixed warm-up is checked by the same rules. A shorter series"
            f" is judged as far as it goes, from {warmup.MIN_POINTS} s on, and the record says so."
        ),
        "",
        *(_paragraph(text, "- ") for text in (changes, slope, jit)),
    ]


def _ledger() -> list[str]:
    return [
        "## The validity ledger",
        "",
        _paragraph(
            "Each rule leaves its figure in the trial, passed or not; a figure passes up to and including its"
            " limit. What is not known has failed: a figure that should be there and was not measured, or is not a"
            " number, fails its rule. Where there is nothing to judge (an arrival rate in a closed model) or nothing"
            " to judge it with (totals of servers without counters) the rule does not apply, and the record and the"
            " report say why; that is no pass. A trial that fails a rule that voids is kept, shown, never averaged"
            " in, and repeated; the other rules only mark it."
        ),
        "",
        *_table(("check", "passes when", "limit", "failing it", "trials", "source"), map(_rule, RULES)),
        "",
        _paragraph(
            "The limit of `operation-mix` grows by what chance allows: the binomial standard error of the"
            " operation's share over the requests of the window, times the normal quantile that all operations"
            f" together exceed by chance in {_percent(MIX_FALSE_ALARM)} of trials (Bonferroni). With 10,000"
            " requests and a share of 20 % in a mix of five that is 1.5 percentage points on top of the 2."
        ),
    ]


def _rule(rule: Rule) -> tuple[str, ...]:
    limit = f"{rule.limit:g} {rule.unit}".rstrip()
    return (
        f"`{rule.name}`",
        rule.says,
        limit,
        "voids" if rule.voids else "marks",
        _trials(rule.procedures),
        rule.source,
    )


if __name__ == "__main__":
    sys.stdout.write(markdown())
