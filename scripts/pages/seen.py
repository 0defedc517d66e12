# SPDX-License-Identifier: Apache-2.0
"""Takes sessions into the list of what was seen (docs/results/seen.json):

    python -m pages.seen PAGE DIR...            PAGE: the lab note, below docs/, that tells of them
    python -m pages.seen --picture PAGE DIR...  each also into docs/results/EXPERIMENT.json, for pictures

Then `python -m pages.reference` and `python -m pages.diagrams` draw what rests on it. An entry that this program made
has the version and commit by which its session ran (`steelyard`); those from before were typed of their lab notes and
say so (`typed`).
"""

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from typer.core import TyperOption

from pages.parser import commands_of, root
from pages.quick_forms import day_of, read_measured, write_measured
from steelyard.analysis.rounds import seconds_of
from steelyard.analysis.search import value_text
from steelyard.analysis.wording import beyond_noise, brief
from steelyard.errors import BadInput
from steelyard.report.view import View
from steelyard.results.analysis import Estimate, MetricInfo, SearchResult
from steelyard.results.figures import change, interval
from steelyard.results.schema import Session
from steelyard.results.store import SessionDirectory
from steelyard.session.opening import leave_out

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
SEEN = RESULTS / "seen.json"
Kept = dict[str, Any]
"""A record of a session: what JSON holds."""


class Compared(NamedTuple):
    """A metric of an arm against the baseline."""

    metric: MetricInfo
    arm: str
    """For people."""
    estimate: Estimate


def view_of(directory: SessionDirectory) -> View:
    """A session that has ended.

    Raises:
        BadInput: it has not, or it has neither an interval of its primary metric nor a value of a search.
    """
    if not directory.has_ended():
        raise BadInput(f"{directory.path} has not ended; `./steelyard resume` goes on with it")
    view = View(directory.session(), directory.analysis(), directory.trials())
    if not _search_results(view) and not compare(view):
        searched = bool(view.analysis.searches)
        missing = "value of its searches" if searched else f"interval of {view.analysis.primary}"
        raise BadInput(f"{directory.path} has no {missing}")
    return view


def _search_results(view: View) -> list[SearchResult]:
    """Of the arms whose searches stated a value."""
    return [result for result in view.analysis.searches if result.value is not None]


def compare(view: View) -> list[Compared]:
    """The primary metric, and what else the experiment reports that was beyond noise."""
    return [
        Compared(metric, view.arm_label(arm.name), estimate)
        for metric in view.headline
        for arm in view.arms
        if (estimate := view.estimate(metric.name, arm.name)) is not None
        and estimate.low is not None
        and (metric.name == view.analysis.primary or beyond_noise(estimate))
    ]


def entry_of(view: View, page: str) -> Kept:
    """A row of the list."""
    told = [f"{one.arm}: {one.metric.label} {brief(one.estimate)}" for one in compare(view)]
    told = [*(_search_text(view, result) for result in _search_results(view)), *told]
    return {
        "experiment": view.experiment.name,
        "day": day_of(view.session),
        "options": _options(view.session.command),
        "host": _host(view),
        "shared": any(arm.spec.injectors_share_cores for arm in view.arms),
        "on": f"{_jvms(view)}, {view.arms[0].spec.engine}",
        "steelyard": _steelyard(view.session),
        "seen": "; ".join(told),
        "page": page,
    }


def picture_of(view: View) -> Kept:
    """What a picture of the answer shows; changes are fractions."""
    return {
        "experiment": view.experiment.name,
        "options": _options(view.session.command),
        "day": day_of(view.session),
        "host": _host(view),
        "jvm": _jvms(view),
        "trials": view.analysis.trials,
        "repeats": sum(trial.attempt > 0 for trial in view.trials),
        "not_steady": view.analysis.not_steady_trials,
        "blocks": view.analysis.blocks_complete,
        "minutes": round(seconds_of(view.trials) / 60),
        "changes": [_change(view, one) for one in compare(view)],
    }


def _host(view: View) -> str:
    host = view.session.host
    machine = "virtual machine" if host.virtualization else "machine"
    return f"{machine}, {host.cpus} CPUs, {host.architecture.replace('_', '-')}"


def _search_text(view: View, result: SearchResult) -> str:
    """`JVMs = 1: 4 users (4 users passed, 5 users failed, one search)`; over several blocks with the interval."""

    def text(value: float) -> str:
        return value_text(result.varies, value)

    run, against = next(run for run in result.runs if run.value is not None), result.against
    if result.low is not None and result.high is not None:
        bracket = f"95 % CI {text(result.low)} to {text(result.high)}"
    elif run.passed is not None and run.failed is not None and not view.holds_share:
        bracket = f"{text(run.passed)} passed, {text(run.failed)} failed, one search"
    else:
        bracket = "one search"
    found = f"{view.arm_label(result.arm)}: {text(result.value or 0)} ({bracket})"
    if against is None or against.low is None or against.high is None:
        return found
    return f"{found}, {change(against.ratio)} ({interval(against.low, against.high)})"


def _change(view: View, compared: Compared) -> Kept:
    metric, arm, estimate = compared
    ends = {"change": estimate.ratio, "low": estimate.low, "high": estimate.high}
    return {
        "metric": metric.label,
        "arm": arm,
        "baseline": view.arm_label(view.baseline),
        "better": metric.better,
        **{name: round(ratio - 1, 3) for name, ratio in ends.items() if ratio is not None},
    }


def _steelyard(session: Session) -> str:
    """Version and commit by which a session ran."""
    return f"{session.versions.get('steelyard', 'version unknown')}, {session.revision or 'commit unknown'}"


def _jvms(view: View) -> str:
    """`HotSpot 17`; each once."""
    kinds = {"hotspot": "HotSpot", "openj9": "OpenJ9"}
    names = dict.fromkeys(f"{kinds[jvm.kind]} {jvm.feature}" for jvm in view.jvms)
    return " and ".join(names) or "no JVM"


def _options(command: str) -> str:
    """What was typed beside the experiment's name, without the seed, where results go, and where things lie."""
    _, name, *words = shlex.split(command)
    params = dict(commands_of(root()))[name].params
    valued = {
        option
        for param in params
        if isinstance(param, TyperOption) and not param.is_flag
        for option in param.opts
    }
    options, is_value, is_named = list[str](), False, False
    for word in leave_out(words, {"--seed": 1, "--out": 1}):
        if is_value or word.startswith("-") or is_named:
            options.append(re.sub(r"(^|[=,])/[^,]*", r"\1PATH", word))
        else:
            is_named = True
            continue
        is_value = not is_value and word in valued
    return shlex.join(options)


def keep(path: Path, more: Sequence[Kept]) -> None:
    """Add rows to the list; one that is there already is not added twice."""
    rows = read_measured(path)
    write_measured(path, [*rows, *(row for row in more if row not in rows)])


def main(arguments: Sequence[str]) -> None:
    """Take sessions in."""
    picture = "--picture" in arguments
    page, *folders = [word for word in arguments if word != "--picture"]
    if not (RESULTS.parent / page).is_file():
        raise BadInput(f"docs/{page} is not there; write the lab note first")
    views = [view_of(SessionDirectory(Path(folder))) for folder in folders]
    if picture and (without := [view for view in views if not compare(view)]):
        raise BadInput(
            f"{without[0].session.id} has no interval, which a picture shows: take it without --picture"
        )
    keep(SEEN, [entry_of(view, page) for view in views])
    for view in views if picture else []:
        target = RESULTS / f"{view.experiment.name}.json"
        target.write_text(json.dumps(picture_of(view), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
