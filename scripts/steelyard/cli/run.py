# SPDX-License-Identifier: Apache-2.0
"""`run` and `resume`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steelyard.analysis.sentences import answer
from steelyard.cli.building import ensure_builds
from steelyard.cli.live import screen
from steelyard.cli.options import (
    BlocksOption,
    EngineOption,
    ExperimentArgument,
    JdkOption,
    JsonOption,
    PortOption,
    QuickOption,
    SeedOption,
    SessionArgument,
    SetOption,
    WorkloadOption,
    with_engine,
)
from steelyard.errors import Busy, Exit
from steelyard.experiment.schema import Deployment
from steelyard.host.lock import holder
from steelyard.host.ports import require_ports
from steelyard.paths import RESULTS
from steelyard.processes import Children
from steelyard.report.terminal import render_summary
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.session import workload_up
from steelyard.session.opening import new_session, require_same
from steelyard.session.plan import Request, make_plan
from steelyard.session.runner import missing, run_session
from steelyard.session.runtimes import Runtimes, make_engines
from steelyard.units import format_duration
from steelyard.workload.loader import load_workload


def run(
    experiment: ExperimentArgument,
    quick: QuickOption = False,
    blocks: BlocksOption = None,
    set_: SetOption = [],  # noqa: B006 - typer reads the default, nothing changes it
    engine: EngineOption = None,
    seed: SeedOption = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where sessions are kept.", show_default="results/")
    ] = RESULTS,
    workload: WorkloadOption = None,
    jdk: JdkOption = None,
    port: PortOption = 9080,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment and write its report.

    Each trial is a fresh start of one arm; blocks hold every arm once in random order. Ctrl-C stops everything and
    keeps what was measured; `resume` goes on. What it would do: `plan`.
    """
    console = Console(stderr=True)
    request = Request(experiment, quick, blocks, with_engine(set_, engine), seed, jdk, port, workload)
    plan = make_plan(request)
    _check_host()
    require_ports(sorted({port for spec in plan.specs.values() for port in spec.ports}))
    ensure_builds(console, plan.runtimes)
    directory = new_session(plan, out)
    low, high = plan.expected_seconds()
    expected = (
        format_duration(low) if high < 1.1 * low else f"{format_duration(low)} to {format_duration(high)}"
    )
    _say(console, f"{plan.experiment.title}: {len(plan.schedule)} trials, about {expected}; {directory.path}")
    for note in plan.notes:
        _say(console, f"note: {note}")
    _run(directory, plan.runtimes, console, as_json)


def resume(directory: SessionArgument, as_json: JsonOption = False) -> None:
    """Go on with a session that was interrupted, with its own schedule and specs."""
    console = Console(stderr=True)
    found = SessionDirectory(directory)
    session = found.session()
    runtimes = Runtimes(load_workload(session.workload_path), None)
    contained = any(arm.spec.engine != "process" for arm in session.arms)
    _check_host()
    if any(one.artifact.package == "loadgen" for arm in session.arms for one in arm.spec.components):
        runtimes.runtime(
            Deployment()
        )  # the build of the checkout, should it be gone and the sources the same
        ensure_builds(console, runtimes)
    require_same(session, runtimes.docker if contained else None)
    _say(
        console,
        f"{session.experiment['title']}: {len(found.trials())} trials are there already; {found.path}",
    )
    _run(found, runtimes, console, as_json)


def _run(directory: SessionDirectory, runtimes: Runtimes, console: Console, as_json: bool) -> None:
    session = directory.session()
    try:
        before = {(trial.block, trial.arm) for trial in directory.trials()}
        with Children() as children, screen(session, console, before) as watcher:
            names = [arm.spec.engine for arm in session.arms]
            engines = make_engines(names, runtimes, children, directory.path.name)
            trials = run_session(directory, engines, children, watcher)
    except KeyboardInterrupt:
        _say(console, f"stopped; what was measured is kept. Go on with: ./steelyard resume {directory.path}")
        raise
    lacking = missing(session, trials)
    _conclude(directory, trials, lacking, as_json)
    if lacking:
        _say(
            console, f"incomplete: no valid trial of {', '.join(lacking)}; the report says why each was void"
        )
        raise typer.Exit(Exit.INCOMPLETE)


def _conclude(directory: SessionDirectory, trials: list[Trial], lacking: list[str], as_json: bool) -> None:
    session, analysis = directory.session(), directory.analysis()
    if as_json:
        document = {
            "session": str(directory.path),
            "complete": not lacking,
            "answer": answer(session, analysis),
            "analysis": analysis.model_dump(mode="json"),
        }
        typer.echo(json.dumps(document, indent=1))
        return
    out = Console()
    out.print(render_summary(session, analysis, trials))
    void = sum(trial.state == "void" for trial in trials)
    if void:
        _say(out, f"{void} of {len(trials)} trials were void; they are in the report and in no average")
    _say(out, f"report: {directory.path / 'report.html'}")


def _check_host() -> None:
    """Refuse what would fail anyway, before a directory is made for it; `run_session` checks again, for good."""
    up = workload_up.current()
    if up is not None:
        raise Busy(
            f"{up.workload} is up (process {up.keeper}) and would disturb the measurement: stop it with"
            " `./steelyard down`"
        )
    session = holder()
    if session is not None:
        raise Busy(
            f"another session runs on this host (process {session.pid}, {session.session}) and the two would disturb"
            " each other: wait for its end"
        )


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
