# SPDX-License-Identifier: Apache-2.0
"""Commands that run no load: plan, list, analyze, report, doctor, schema."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from steelyard.cli import options
from steelyard.cli.console import open_console, print_json, print_line
from steelyard.cli.listing import print_listing
from steelyard.cli.options import JsonOption, SessionArgument, conclude
from steelyard.engines.kubernetes.cluster import NAMESPACE
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.schema import Experiment
from steelyard.host.doctor import DoctorFinding, examine
from steelyard.host.facts import read_facts
from steelyard.host.java import named_jdks
from steelyard.measure.reference import trial_schema
from steelyard.measure.registry import METRIC_INFOS
from steelyard.paths import EXPERIMENTS, RESULTS
from steelyard.regular import read_bytes
from steelyard.report import write_report
from steelyard.report.verdict import answer_of
from steelyard.results.analysis import Analysis
from steelyard.results.gate import read_result
from steelyard.results.schema import JournalEntry, Session, Trial
from steelyard.results.store import SessionDirectory
from steelyard.session.plan import host_checks, metric_checks
from steelyard.session.runner import analyse_again
from steelyard.session.runtimes import ClusterTarget, examine_target
from steelyard.units import format_size
from steelyard.workload.loader import workload_names
from steelyard.workload.schema import Workload


def analyze(directory: SessionArgument, as_json: JsonOption = False) -> None:
    """Compute every estimate of a session again, from its trials alone."""
    conclude(_analyse_again(directory), as_json)


def report(directory: SessionArgument) -> None:
    """Write the report of a session again: report.html, .md, .csv and .benchstat."""
    for path in write_report(_analyse_again(directory)):
        typer.echo(path)


def _analyse_again(directory: Path) -> SessionDirectory:
    """A session with its analysis made anew; says so where the one that was there is not what the trials give."""
    session = SessionDirectory(directory)
    session.session()
    if not session.trials():
        raise BadInput(
            f"{directory} holds no finished trial yet: go on with `./steelyard resume {directory}`"
        )
    path = session.path / "analysis.json"
    before = read_bytes(path) if path.is_file() else None
    analyse_again(session)
    if before not in (None, read_bytes(path)):
        typer.echo(f"{path} was stale, foreign or edited: it was made again from the trials", err=True)
    return session


def list_(
    out: options.OutOption = RESULTS,
    metrics: Annotated[bool, typer.Option("--metrics", help="List the metrics instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the experiments and the past sessions."""
    if metrics:
        rows = [info.model_dump(mode="json") for info in METRIC_INFOS]
        if as_json:
            print_json(rows)
        else:
            print_listing(open_console(), "Metrics", ["name", "unit", "better", "source"], rows)
        return
    experiments = [_experiment_row(name, path) for name, path in experiment_files(EXPERIMENTS).items()]
    sessions = [_session_row(path.parent) for path in sorted(out.glob("*/session.json"))]
    if as_json:
        print_json({"workloads": workload_names(), "experiments": experiments, "sessions": sessions})
        return
    console = open_console()
    console.print(f"Workloads: {', '.join(workload_names())}\n", highlight=False)
    columns = ["name", "workload", "factors", "blocks", "title"]
    print_listing(console, "Experiments", columns, experiments, headline="title")
    if sessions:
        columns = ["session", "state", "trials", "void", "answer"]
        print_listing(console, "Sessions", columns, sessions, headline="answer")
    else:
        console.print(f"No session in {out} yet: ./steelyard run jvm-count --quick", highlight=False)


def doctor(
    out: options.OutOption = RESULTS,
    engine: Annotated[
        str,
        typer.Option("--engine", metavar="ENGINE", help="kubernetes: look at a cluster, not at this host."),
    ] = "process",
    context: options.ContextOption = None,
    namespace: options.NamespaceOption = NAMESPACE,
    as_json: JsonOption = False,
) -> None:
    """Show what on this host, or in a cluster, would disturb a measurement, why it matters and how to change it."""
    of_cluster = examine_target(engine, ClusterTarget(context, namespace))
    if of_cluster is not None:
        if as_json:
            print_json({"findings": [finding._asdict() for finding in of_cluster]})
        else:
            open_console().print(_findings_table(of_cluster))
        return
    facts, findings = read_facts(), examine(out)
    jdks = {name: str(jdk.home) for name, jdk in sorted(named_jdks().items())}
    if as_json:
        rows = [finding._asdict() for finding in findings]
        print_json({"host": facts.model_dump(mode="json"), "findings": rows, "jdks": jdks})
        return
    console = open_console()
    console.print(
        f"{facts.cpu_model}, {facts.cores} cores, {facts.cpus} CPUs, {format_size(facts.memory_bytes)},"
        f" {facts.os}, Linux {facts.kernel}",
        highlight=False,
    )
    console.print(_findings_table(findings))
    named = ", ".join(f"{name} ({home})" for name, home in jdks.items())
    print_line(console, f"\nJDKs by name, for the factor jdk: {named or 'none'}")


def _findings_table(findings: Sequence[DoctorFinding]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    styles = {"ok": "green", "info": "blue", "warn": "yellow"}
    for finding in findings:
        level = Text(finding.level, style=styles[finding.level])
        table.add_row(level, Text(finding.topic, style="bold"), finding.state)
        if finding.level != "ok":
            table.add_row("", "", Text(finding.why, style="dim"))
            if finding.change:
                table.add_row("", "", Text(f"change: {finding.change}", style="dim"))
    return table


def schema(
    name: Annotated[
        str,
        typer.Argument(metavar="[NAME]", help="experiment, workload, session, trial, journal or analysis."),
    ] = "experiment",
) -> None:
    """Print the JSON Schema of a file format (for editors: experiment, workload)."""
    models: dict[str, type[BaseModel]] = {"experiment": Experiment, "workload": Workload, "session": Session}
    models |= {"trial": Trial, "journal": JournalEntry, "analysis": Analysis}
    if name not in models:
        raise BadInput(f"there is no format {name!r}: choose {', '.join(models)}")
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    made = trial_schema() if name == "trial" else models[name].model_json_schema()
    print_json({**dialect, **made})


def _experiment_row(name: str, path: Path) -> dict[str, Any]:
    try:
        loaded = load_experiment(path, host_checks(), metrics=metric_checks())
    except SteelyardError as error:
        return {"name": name, "title": f"refused: {error}"}
    experiment = loaded.experiment
    factors = "; ".join(
        f"{factor}: {', '.join(map(str, spec.levels)) if spec.levels != 'host' else 'as the host has'}"
        for factor, spec in experiment.factors.items()
    )
    return {
        "name": name,
        "workload": loaded.workload.workload.name,
        "factors": factors,
        "blocks": experiment.design.blocks,
        "title": experiment.title,
    }


def _session_row(path: Path) -> dict[str, Any]:
    directory = SessionDirectory(path)
    try:
        session, trials = directory.session(), directory.trials()
        ended = directory.has_ended()
    except SteelyardError as error:
        return {"session": path.name, "state": "unreadable", "answer": str(error)}
    answered = ""
    with suppress(SteelyardError):  # there is none yet, or trials have ended since
        answered = answer_of(session, directory.analysis(), read_result(path))[0]
    state = "complete" if ended else "unfinished"
    void = sum(trial.state == "void" for trial in trials)
    return {"session": session.id, "state": state, "trials": len(trials), "void": void, "answer": answered}
