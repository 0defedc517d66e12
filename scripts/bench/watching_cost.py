# SPDX-License-Identifier: Apache-2.0
"""What watching costs a server: CPU of a request and throughput with nothing, and with each thing that can watch it.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/watching_cost.py FOLDER [--blocks 10] [--minutes N]
        [--workload ping]

One session of the process engine, kept in FOLDER, on HotSpot: every trial is a fresh start, a block holds each way to
watch once, in an order that balances what one trial leaves to the next. Ways: the GC log (which trials keep unless they
are told otherwise), the JIT's log (`jit_log`), native memory tracking, `perf stat` of all that this host counts
(`--counters all`), and async-profiler (`--profile EVENT`). Safepoints have no log: they are in counters that the JVM
keeps in any case, as what the sampler reads is. A FOLDER that is such a session already goes on where it ended;
with `--minutes 30` no trial begins that would not end in time.

It prints a table: changes against nothing, paired by block, each with its own 95 % CI (Student's t over blocks). Void
trials are in it, and are counted: on a host that others use all of them are void, and a ratio of two trials of one
block is the best that there is.
"""

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from rich.console import Console
from session_series import TimeLeft, series_parser, why_ended

from steelyard.analysis.paired import paired_test
from steelyard.analysis.rounds import seconds_of
from steelyard.build import BUILDS
from steelyard.cli.building import ensure_builds
from steelyard.cli.live import screen
from steelyard.cli.run import make_ready, prepare_resume
from steelyard.errors import BadInput
from steelyard.host.lock import host_lock
from steelyard.host.switching import HostStates
from steelyard.processes import Children
from steelyard.results import figures
from steelyard.results.schema import Event, Session, Trial
from steelyard.results.spec import Spec
from steelyard.results.store import SessionDirectory
from steelyard.session.async_profiler import EVENTS, PACKAGE, agent_option, require_library
from steelyard.session.context import RunContext
from steelyard.session.counting import ALL, choose_counters
from steelyard.session.opening import new_session
from steelyard.session.plan import RunRequest, make_plan
from steelyard.session.runner import analyse_again, require_starts
from steelyard.session.runtimes import LOCAL, RuntimeResolver, make_engines
from steelyard.session.schedule import Schedule
from steelyard.session.trial import TrialRunner

FACTOR, NOTHING, PERF, PROFILER = "watching", "nothing", "perf stat", "profiler"
CPU, RATE = "cpu_per_1k", "throughput"
LEVELS = {
    NOTHING: "{}",
    "GC log": "{gc_log: true}",
    "JIT log": "{jit_log: true}",
    "native memory tracking": '{jvm_args: "-XX:NativeMemoryTracking=summary"}',
    PERF: "{}",
}
"""Settings of the JVM by what watches it; perf and the profiler are no settings."""
EXPERIMENT = """\
steelyard: 1
name: watching-cost
title: Cost of watching
question: What does each thing that watches a server cost it?
workload: {workload}
factors:
  watching:
    levels:
{levels}
deployment:
  engine: process
  total_heap: 1g
  # Callers wait for the compiler: a server with few CPUs is warm many times sooner.
  jvm: {{gc: generational, gc_log: false, compile: foreground}}
load: {{users: {users}, warmup: {{until: compiled, at_least: {warm_up}s, at_most: 5m}}, measure: {seconds}s}}
metrics: {{primary: cpu_per_1k, report: [throughput]}}
design: {{blocks: {blocks}, repeats: 0, equal: true}}
"""


@dataclass(frozen=True)
class Change:
    """A ratio to the trials that nothing watches."""

    ratio: float
    bounds: tuple[float, float] | None
    """95 % CI; None of fewer than two blocks."""

    def __str__(self) -> str:
        if self.bounds is None:
            return f"{figures.change(self.ratio)} (no interval)"
        return f"{figures.change(self.ratio, 1)} ({figures.interval(*self.bounds, 1)})"


@dataclass(frozen=True)
class Cost:
    """What one way to watch came to."""

    way: str
    trials: int
    """Those that measured both figures."""
    void: int
    cpu_ms: float
    """Mean CPU time of a request, and requests a second."""
    rate: float
    cpu_change: Change | None
    """None: it is what the others are compared with, or no block has both."""
    rate_change: Change | None


def costs(trials: Sequence[Trial], ways: Mapping[str, str]) -> list[Cost]:
    """What each way comes to, of those that have a trial.

    Args:
        trials: of the session; void ones with figures count.
        ways: arm -> what watches it, that of nothing first.
    """
    by_arm: dict[str, dict[int, Trial]] = {arm: {} for arm in ways}
    for trial in trials:
        if all(trial.metrics.get(name, 0.0) > 0.0 for name in (CPU, RATE)):
            by_arm[trial.arm][trial.block] = trial
    nothing = by_arm[next(iter(ways))]
    found = []
    for arm, of_arm in by_arm.items():
        if of_arm:
            pairs = [(trial, nothing[block]) for block, trial in of_arm.items() if block in nothing]
            compared = of_arm is not nothing and bool(pairs)
            found.append(
                Cost(
                    ways[arm],
                    len(of_arm),
                    sum(trial.state == "void" for trial in of_arm.values()),
                    fmean(trial.metrics[CPU] for trial in of_arm.values()),
                    fmean(trial.metrics[RATE] for trial in of_arm.values()),
                    _change(pairs, CPU) if compared else None,
                    _change(pairs, RATE) if compared else None,
                )
            )
    return found


def _change(pairs: Sequence[tuple[Trial, Trial]], name: str) -> Change:
    logs = [math.log(watched.metrics[name] / plain.metrics[name]) for watched, plain in pairs]
    tested = paired_test(logs)
    bounds = None if tested is None else (math.exp(tested.low), math.exp(tested.high))
    return Change(math.exp(fmean(logs)), bounds)


def table(found: Sequence[Cost]) -> str:
    """Markdown, a row for each way."""
    rows = ["| what watches | trials (void) | CPU of a request | requests/s |", "| --- | --- | --- | --- |"]
    for cost in found:
        # CPU seconds for 1,000 requests are milliseconds for one.
        cpu = f"{figures.number(cost.cpu_ms, 3)} ms" if cost.cpu_change is None else str(cost.cpu_change)
        rate = figures.number(cost.rate) if cost.rate_change is None else str(cost.rate_change)
        rows.append(f"| {cost.way} | {cost.trials} ({cost.void}) | {cpu} | {rate} |")
    return "\n".join(rows)


def experiment_text(options: argparse.Namespace) -> str:
    """The experiment file."""
    levels = LEVELS | {_profiler(event): "{}" for event in options.profile}
    return EXPERIMENT.format(
        workload=options.workload,
        levels="\n".join(f"      {name}: {settings}" for name, settings in levels.items()),
        users=options.users,
        warm_up=options.warm_up,
        seconds=options.seconds,
        blocks=options.blocks,
    )


def _profiler(event: str) -> str:
    return f"{PROFILER} {event}"


def begin(options: argparse.Namespace, console: Console) -> None:
    """Write the session down: arms of the experiment, those of the profiler with its agent.

    Raises:
        BadInput: its folder holds something else.
    """
    folder: Path = options.folder
    remove_unbegun(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.with_name(f"{folder.name}.yaml")
    file.write_text(experiment_text(options), encoding="utf-8")
    plan = make_plan(RunRequest(str(file), jdk=options.jdk, workload=options.workload))
    make_ready(plan, console, [folder.parent])
    ensure_builds(console, plan.runtimes, plan.specs.values(), options.profile)
    levels = {arm.name: str(arm.levels[FACTOR]) for arm in plan.arms}
    agents: dict[str, Event] = {_profiler(event): event for event in options.profile}
    specs = {
        arm: _with_agent(spec, agents[levels[arm]]) if levels[arm] in agents else spec
        for arm, spec in plan.specs.items()
    }
    new_session(replace(plan, specs=specs), folder.parent, folder.name)


def remove_unbegun(folder: Path) -> None:
    """Remove the folder of a session that a kill ended before it was written down.

    Raises:
        BadInput: it holds something else.
    """
    try:
        for path in (folder / "trials", folder):
            if path.exists():
                path.rmdir()
    except OSError as error:
        raise BadInput(f"{folder} holds no session, and is not empty: give another folder") from error


def _with_agent(spec: Spec, event: Event) -> Spec:
    build = next(injector.artifact.build for injector in spec.injectors)
    agent = agent_option(event, BUILDS / str(build) / PACKAGE / require_library(event))
    return spec.with_changes("server", lambda server: {"jvm_options": [*server.jvm_options, agent]})


def run(
    directory: SessionDirectory, runtimes: RuntimeResolver, console: Console, time_left: TimeLeft
) -> None:
    """Run what is left of the session.

    Raises:
        Stopped: there is no time for another trial.
        SteelyardError: what the session needs is not there (perf, its ports), or its trials do not start.
        KeyboardInterrupt: it was interrupted; what ended is kept.
    """
    session = directory.session()
    schedule, ways = Schedule(session), ways_of(session)
    events, missing = choose_counters([ALL], [], schedule.all_specs)
    trials = directory.trials()
    with host_lock(), Children() as children, screen(session, console, set()) as watcher:
        for sentence in missing:
            watcher.note(sentence)
        engines = make_engines([spec.engine for spec in schedule.all_specs], runtimes, children, session.id)
        for engine in engines.values():
            engine.check(schedule.all_specs)
        states = HostStates([], children, directory.path)
        directory.log(session.created, "session-start")
        while (planned := schedule.next(trials)) is not None:
            require_time(time_left, trials)
            watcher.trial_started(planned, len(trials), schedule.total(trials))
            counted = events if ways[planned.arm] == PERF else {}
            context = RunContext(children, watcher, counters=counted)
            trials += TrialRunner(schedule, directory, engines, context, states).run([planned])
            watcher.trial_ended(trials[-1], len(trials), schedule.total(trials))
            require_starts(trials)
    analyse_again(directory)


def require_time(time_left: TimeLeft, trials: Sequence[Trial]) -> None:
    """A trial takes as long as the longest so far; the first one begins in any case."""
    longest = max((seconds_of([trial]) for trial in trials), default=0.0)
    time_left.require(longest, f"trial of {longest:.0f} s")


def ways_of(session: Session) -> dict[str, str]:
    """Arm -> what watches it, that of nothing first."""
    return {arm.name: str(arm.levels[FACTOR]) for arm in session.arms}


def main() -> None:
    """Read the command line, run, and print the table."""
    parser = series_parser(__doc__)
    parser.description, parser.formatter_class = __doc__, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--workload", default="ping")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=15, help="seconds before each window, at least")
    parser.add_argument("--seconds", type=int, default=20, help="of each window")
    parser.add_argument("--profile", action="append", choices=EVENTS, help="what async-profiler samples: cpu")
    parser.add_argument("--jdk", type=Path)
    options = parser.parse_args()
    options.profile = options.profile or ["cpu"]
    console = Console(stderr=True)
    directory = SessionDirectory(options.folder)
    why = why_ended(lambda: measure(directory, options, console, options.time_left))
    if (options.folder / "session.json").exists():
        sys.stdout.write(table(costs(directory.trials(), ways_of(directory.session()))) + "\n")
    sys.exit(why)


def measure(
    directory: SessionDirectory, options: argparse.Namespace, console: Console, time_left: TimeLeft
) -> None:
    """Write the session down where it is not, and run what is left of it (raises as `run`)."""
    if not (directory.path / "session.json").exists():
        begin(options, console)
    if Schedule(directory.session()).next(directory.trials()) is not None:
        runtimes, _ = prepare_resume(directory, LOCAL, console, trust=False)
        run(directory, runtimes, console, time_left)


if __name__ == "__main__":
    main()
