# SPDX-License-Identifier: Apache-2.0
"""`run`, and what commands that run sessions share."""

from collections.abc import Collection, Sequence
from pathlib import Path

import typer
from rich.console import Console

from steelyard.cli import options
from steelyard.cli.building import ensure_builds
from steelyard.cli.console import open_console, print_line, print_sentence
from steelyard.cli.exporter import export_figures
from steelyard.cli.live import screen
from steelyard.cli.options import JsonOption, conclude
from steelyard.cli.serve import show
from steelyard.cli.telemetry import NO_OUTPUTS, LiveOutputs, find_receiver, send_telemetry
from steelyard.errors import BadInput, Exit, SteelyardError, report_crash
from steelyard.experiment.schema import DeploymentSettings
from steelyard.gate.interim import ends_at
from steelyard.gate.needs import describe_needs
from steelyard.gate.power import describe, earlier_sessions, predict_detectable, with_overrun
from steelyard.gate.quick import sharpen_quick
from steelyard.host.ports import held_ports, require_ports
from steelyard.host.switching import require_settable
from steelyard.paths import RESULTS
from steelyard.processes import Children
from steelyard.results.schema import Trial
from steelyard.results.store import SessionDirectory, require_writable
from steelyard.session.context import RunContext
from steelyard.session.earlier import Earlier
from steelyard.session.opening import find_unfinished, new_session, require_same, resume_command
from steelyard.session.plan import SessionPlan, make_plan
from steelyard.session.runner import missing_places, run_session
from steelyard.session.runtimes import ClusterTarget, RuntimeResolver, make_engines, require_startable
from steelyard.session.workload_up import require_idle
from steelyard.spec.injectors import PACKAGE as INJECTOR
from steelyard.workload.loader import load_workload


@options.with_session_options
def run(
    experiment: options.ExperimentArgument,
    *,
    blocks: options.BlocksOption = None,
    make_request: options.MakeRequest,
    out: options.OutOption = RESULTS,
    resume: options.ResumeOption = False,
    profile: options.ProfileOption = [],  # noqa: B006 - typer reads the default, nothing changes it
    profile_starts: options.ProfileStartsOption = 1,
    counters: options.CountersOption = [],  # noqa: B006 - as above
    metrics_port: options.MetricsPortOption = None,
    otlp_endpoint: options.OtlpOption = None,
    open_: options.OpenReportOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment and write its report.

    Each trial is a fresh start of one arm; blocks hold every arm once, in turns. Ctrl-C stops everything and keeps
    what was measured; `resume` goes on. What it would do: `plan`.
    """
    console = open_console(stderr=True)
    outputs = LiveOutputs(metrics_port, otlp_endpoint)
    find_receiver(otlp_endpoint, {})
    request = make_request(
        experiment, blocks=blocks, profilers=profile, profile_starts=profile_starts, counters=counters
    )
    if resume and (begun := find_unfinished(out, request)) is not None:
        resume_run(begun, request.target, console, as_json, outputs, open_, trust=request.trust)
        return
    plan = make_plan(request)
    earlier = earlier_sessions(plan, out)
    plan = sharpen_quick(with_overrun(plan, earlier), earlier)
    make_ready(plan, console, [out], [metrics_port] if metrics_port is not None else [])
    directory = new_session(plan, out)
    print_line(
        console,
        f"{plan.experiment.title}: {len(plan.schedule)} trials, about {options.expected_time(plan)}; {directory.path}",
    )
    for note in plan.notes:
        print_sentence(console, f"note: {note}")
    if request.quick:
        _say_what_it_sees(plan, earlier, console)
    _run(directory, plan.runtimes, console, as_json, outputs, open_)


def _say_what_it_sees(plan: SessionPlan, earlier: Sequence[Earlier], console: Console) -> None:
    """A quick session that cannot answer says so before it starts."""
    name = plan.experiment.metrics.primary
    primary = [change for change in predict_detectable(plan, earlier) if change.metric == name]
    for line in (*describe(plan, primary), *describe_needs(plan, earlier)):
        print_sentence(console, f"before it starts: {line}")


def resume_run(
    directory: SessionDirectory,
    target: ClusterTarget,
    console: Console,
    as_json: bool,
    outputs: LiveOutputs = NO_OUTPUTS,
    open_: bool = False,
    *,
    trust: bool,
) -> None:
    """Run what is left of an experiment's session, and print what it found."""
    runtimes, differs = prepare_resume(directory, target, console, trust)
    print_line(
        console,
        f"{directory.session().experiment.title}: {len(directory.trials())} trials are there already;"
        f" {directory.path}",
    )
    _run(directory, runtimes, console, as_json, outputs, open_, differs)


def make_ready(
    plan: SessionPlan, console: Console, folders: Collection[Path], more_ports: Collection[int] = ()
) -> None:
    """What a new session needs of this host before it is written down: the right to set host states, nothing else that
    runs, its ports and programs, the folders that it writes to; its builds last, since they take minutes.

    Raises:
        Busy, PortInUse, MissingRequirement, NoSpace, BuildFailed: as they say.
    """
    options.require_trust(plan.experiment.workload, plan.request.trust)
    require_settable(spec.host_states for spec in plan.specs.values())
    require_idle(plan.runtimes.container_engine({spec.engine for spec in plan.specs.values()}))
    require_ports(sorted(more_ports))
    require_startable([*plan.specs.values(), *plan.second.values()])
    for folder in folders:
        require_writable(folder)
    ensure_builds(console, plan.runtimes, [*plan.specs.values(), *plan.second.values()], plan.profilers)


def prepare_resume(
    directory: SessionDirectory, target: ClusterTarget, console: Console, trust: bool
) -> tuple[RuntimeResolver, str]:
    """What an interrupted session goes on with, and what is not as it was (refused where that is too much)."""
    session, trials = directory.session(), directory.trials()
    options.require_trusted_session(directory, trust)
    doubts = directory.doubts(trials)
    runtimes = RuntimeResolver(load_workload(session.workload_path), None, target)
    require_idle(runtimes.container_engine({arm.spec.engine for arm in session.arms}))
    if any(part.artifact.package == INJECTOR for arm in session.arms for part in arm.spec.components):
        # The build of the checkout, should it be gone and the sources the same.
        runtimes.runtime(DeploymentSettings())
        ensure_builds(console, runtimes, [arm.spec for arm in session.arms], session.profilers)
    differs = require_same(session)
    if any(arm.spec.engine == "kubernetes" for arm in session.arms):
        runtimes.require_same_cluster(session.versions)
    for sentence in (*doubts, *differs):
        print_sentence(console, f"note: {sentence}")
    return runtimes, " ".join(differs)


def _run(
    directory: SessionDirectory,
    runtimes: RuntimeResolver,
    console: Console,
    as_json: bool,
    outputs: LiveOutputs = NO_OUTPUTS,
    open_: bool = False,
    differs: str = "",
) -> None:
    trials = carry_out(directory, runtimes, console, outputs, differs)
    lacking = missing_places(directory.session(), trials)
    conclude(directory, as_json, session=str(directory.path), complete=not lacking)
    void = sum(trial.state == "void" for trial in trials)
    if void and not as_json:
        typer.echo(f"{void} of {len(trials)} trials were void; they are in the report and in no average")
    if not as_json:
        typer.echo(f"report: {directory.path / 'report.html'}")
    if open_:
        show((directory.path / "report.html").as_uri())
    if lacking:
        print_line(
            console, f"incomplete: no valid trials to compare in {', '.join(lacking)}; the report says why"
        )
        raise typer.Exit(Exit.INCOMPLETE)


def carry_out(
    directory: SessionDirectory,
    runtimes: RuntimeResolver,
    console: Console,
    outputs: LiveOutputs = NO_OUTPUTS,
    differs: str = "",
) -> list[Trial]:
    """Run what is left of a session, with its screen, and say after an interrupt how to go on."""
    session = directory.session()
    try:
        receiver = find_receiver(outputs.otlp_endpoint)
    except BadInput as error:
        receiver = None
        print_line(console, f"note: no telemetry is sent: {error}")
    try:
        before = {(trial.block, trial.arm) for trial in directory.trials()}
        with (
            held_ports(
                {
                    port
                    for arm in session.arms
                    for spec in (arm.spec, arm.second)
                    if spec
                    for port in spec.ports
                }
            ),
            Children() as children,
            screen(session, console, before) as shown,
            export_figures(shown, session, outputs.metrics_port) as exporting,
            send_telemetry(exporting, directory, session, receiver) as watcher,
        ):
            names = [arm.spec.engine for arm in session.arms]
            engines = make_engines(names, runtimes, children, session.id)
            return run_session(directory, engines, RunContext(children, watcher), differs, ends_at=ends_at)
    except KeyboardInterrupt:
        command = resume_command(directory, runtimes.target)
        print_line(console, f"stopped; what was measured is kept. Go on with: {command}")
        raise
    except SteelyardError:
        raise
    except Exception as error:
        raise report_crash(error, directory.path) from error
