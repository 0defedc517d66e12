# SPDX-License-Identifier: Apache-2.0
"""`run` and `resume`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steelyard.analysis.sentences import answer
from steelyard.build import Build
from steelyard.cli.building import ensure_build
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
    with_engine,
)
from steelyard.errors import BadInput, Busy, Exit
from steelyard.host.lock import holder
from steelyard.host.ports import require_ports
from steelyard.paths import RESULTS
from steelyard.processes import Children
from steelyard.report.terminal import render_summary
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory
from steelyard.session import workload_up
from steelyard.session.plan import Request, SessionPlan, make_plan
from steelyard.session.runner import fingerprint_of, missing, new_session, plan_of, run_session
from steelyard.session.toolchains import make_engines
from steelyard.units import format_duration


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
    jdk: JdkOption = None,
    port: PortOption = 9080,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment and write its report.

    Each trial is a fresh start of one arm; blocks hold every arm once in random order. Ctrl-C stops everything and
    keeps what was measured; `resume` goes on. What it would do: `plan`.
    """
    console = Console(stderr=True)
    request = Request(experiment, quick, blocks, with_engine(set_, engine), seed, jdk, port)
    plan = make_plan(request)
    _check_host()
    require_ports(sorted({port for topology in plan.topologies.values() for port in topology.ports}))
    build = _build_for(plan, console)
    directory = new_session(plan, request, build, out)
    low, high = plan.expected_seconds()
    expected = (
        format_duration(low) if high < 1.1 * low else f"{format_duration(low)} to {format_duration(high)}"
    )
    _say(console, f"{plan.experiment.title}: {len(plan.schedule)} trials, about {expected}; {directory.path}")
    for note in plan.notes:
        _say(console, f"note: {note}")
    _run(directory, plan, build, console, as_json)


def resume(directory: SessionArgument, as_json: JsonOption = False) -> None:
    """Go on with a session that was interrupted, with its own schedule."""
    console = Console(stderr=True)
    found = SessionDirectory(directory)
    session = found.session()
    plan = plan_of(session)
    _check_host()
    build = _build_for(plan, console)
    mark = fingerprint_of(plan, build)
    if mark != session.fingerprint:
        raise BadInput(
            f"the Java sources changed since this session began ({session.fingerprint}, now {mark}):"
            " check out its revision, or start a new session with `run`"
        )
    done = len(found.trials())
    _say(console, f"{plan.experiment.title}: {done} trials are there already; {found.path}")
    _run(found, plan, build, console, as_json)


def _run(
    directory: SessionDirectory, plan: SessionPlan, build: Build | None, console: Console, as_json: bool
) -> None:
    workload, name = plan.experiment.workload, directory.path.name
    try:
        before = {(trial.block, trial.arm) for trial in directory.trials()}
        with Children() as children, screen(plan, console, before) as watcher:
            engines = make_engines(plan.toolchains, build, children, workload, name)
            trials = run_session(directory, plan, engines, children, watcher)
    except KeyboardInterrupt:
        _say(console, f"stopped; what was measured is kept. Go on with: ./steelyard resume {directory.path}")
        raise
    lacking = missing(plan, trials)
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


def _build_for(plan: SessionPlan, console: Console) -> Build | None:
    """The Java parts, when an engine of the plan needs them; images bring theirs."""
    return ensure_build(console, plan.builder) if plan.builder is not None else None


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
