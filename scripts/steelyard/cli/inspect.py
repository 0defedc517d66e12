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

from steelyard.analysis.sentences import answer
from steelyard.cli import options
from steelyard.cli.listing import print_listing
from steelyard.cli.options import (
    JsonOption,
    SessionArgument,
    conclude,
    open_console,
    print_heading,
    print_json,
    print_line,
    print_sentence,
)
from steelyard.engines.kubernetes.cluster import NAMESPACE
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.schema import Experiment
from steelyard.gate.certificate import sentences
from steelyard.gate.needs import describe_needs
from steelyard.gate.plan import find_certificate_here, pair_seconds
from steelyard.gate.power import describe, earlier_sessions, predict_detectable
from steelyard.gate.quick import sharpen_quick
from steelyard.host.doctor import DoctorFinding, examine
from steelyard.host.facts import read_facts
from steelyard.host.java import named_jdks
from steelyard.measure.reference import trial_schema
from steelyard.measure.registry import METRIC_INFOS
from steelyard.paths import EXPERIMENTS, RESULTS
from steelyard.regular import read_bytes
from steelyard.report import write_report
from steelyard.results.analysis import Analysis
from steelyard.results.figures import count
from steelyard.results.schema import JournalEntry, Session, Trial
from steelyard.results.spec import MEASURED_ROLES, Component, Spec
from steelyard.results.store import SessionDirectory
from steelyard.session.plan import SessionPlan, host_checks, make_plan, metric_checks
from steelyard.session.runner import analyse_again
from steelyard.session.runtimes import ClusterTarget, command_line, examine_target
from steelyard.spec.resources import compare_resources, resource_table
from steelyard.units import format_size
from steelyard.workload.loader import workload_names
from steelyard.workload.schema import Workload


@options.with_session_options
def plan(
    experiment: options.ExperimentArgument,
    *,
    blocks: options.BlocksOption = None,
    make_request: options.MakeRequest,
    out: options.OutOption = RESULTS,
    profile: options.ProfileOption = [],  # noqa: B006 - typer reads the default, nothing changes it
    profile_starts: options.ProfileStartsOption = 1,
    counters: options.CountersOption = [],  # noqa: B006 - as above
    pool: options.PoolOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what `run` would do, without doing it: arms, CPU and heap split, time, what it detects, order, commands."""
    made = make_plan(
        make_request(
            experiment, blocks=blocks, profilers=profile, profile_starts=profile_starts, counters=counters
        )
    )
    earlier = earlier_sessions(made, out)
    made = sharpen_quick(made, earlier)
    changes = predict_detectable(made, earlier)
    if as_json:
        print_json({**_plan_document(made), "detects": [change._asdict() for change in changes]})
        return
    console = open_console()
    print_heading(console, made.experiment.title)
    for line in dict.fromkeys(_runs_on(spec) for spec in made.specs.values()):
        print_line(console, line)
    console.print(
        f"{len(made.schedule)} {'searches' if made.experiment.search else 'trials'} ({made.experiment.procedure}),"
        f" {options.expected_time(made)}\n",
        highlight=False,
    )
    print_listing(console, None, *_arms_table(made))
    columns, rows = resource_table(made.specs)
    print_heading(console, "\nResources", " (what each role may use, and all but the injectors)")
    print_listing(console, None, columns, [dict(zip(columns, row, strict=True)) for row in rows])
    print_sentence(console, compare_resources(made.specs))
    for note in made.notes:
        print_sentence(console, f"note: {note}")
    if lines := describe(made, changes):
        over = count(made.experiment.design.blocks, "block")
        print_heading(console, "\nWill detect", f" (80 % power, all comparisons counted, {over})")
        for line in (*lines, *describe_needs(made, earlier)):
            print_sentence(console, line, indent="  ")
    for line in _by_certificate(made, out, pool):
        print_line(console, line)
    print_heading(console, "\nSchedule", f" (seed {made.seed})")
    for block in range(1, made.experiment.design.blocks + 1):
        order = [place.arm for place in made.schedule if place.block == block]
        print_line(console, f"  block {block}: {', '.join(order)}")
    if made.profilers:
        starts = made.request.profile_starts
        trials = "a trial" if starts == 1 else count(starts, "trial")
        print_line(
            console, f"  then {trials} of each arm watched by {', '.join(made.profilers)}, in no average"
        )
    print_heading(console, "\nCommands", " (first server of each arm)")
    for arm in made.arms:
        print_line(console, f"  {arm.name}: {command_line(made.specs[arm.name])}")


def _by_certificate(made: SessionPlan, out: Path, pool: str | None) -> list[str]:
    """What a noise certificate of this host says it takes to see an effect; nothing without one."""
    if made.experiment.search is not None or all(spec.remote for spec in made.specs.values()):
        return []
    certificate = find_certificate_here(made, out / "certificates", pool)
    if isinstance(certificate, str):
        return []
    block = pair_seconds(made, certificate) / 2 * len(made.specs)
    lines = sentences(certificate, made.experiment.metrics.primary, block)
    return [f"\nBy the noise certificate {certificate.name}, 80 % power:", *(f"  {line}" for line in lines)]


def _runs_on(spec: Spec) -> str:
    """What the servers of an arm run on."""
    artifact = spec.servers[0].artifact
    jvm = artifact.jvm
    where = artifact.image or (jvm.home if jvm is not None else " ".join(artifact.words))
    runtime = (
        f"{jvm.vm_name} {jvm.runtime_version}" if jvm is not None else "something that does not tell its JVM"
    )
    return f"{spec.engine}: servers on {runtime} ({where})"


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


def _arms_table(made: SessionPlan) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and rows: the arms, and how they differ."""
    rows: list[dict[str, Any]] = []
    for arm in made.arms:
        spec = made.specs[arm.name]
        servers = spec.servers
        heaps = [server.heap_bytes for server in servers if server.heap_bytes is not None]
        each = " | ".join(format_size(heap) for heap in dict.fromkeys(heaps))
        name = f"{arm.name} (baseline)" if arm.baseline else arm.name
        row: dict[str, Any] = {"arm": name, "JVMs": len(servers)}
        shared = " shared" if servers[0].cpus_shared_with > 1 else ""
        row["cores each"] = f"{servers[0].cores:.3g}{shared}"
        cpus = (",".join(map(str, server.cpus)) for server in servers)
        row["CPUs of each JVM"] = " | ".join(dict.fromkeys(cpus))
        row |= {"heap each": each or "JVM's choice", "heap in all": format_size(sum(heaps)) if heaps else "-"}
        memory = (format_size(size) for server in servers if (size := server.memory_bytes) is not None)
        row |= {"memory limit each": " | ".join(dict.fromkeys(memory))}
        row["options"] = " ".join(_common_options(spec, made))
        row["compilers"] = ", ".join(map(_place, spec.of("compiler")))
        others = (component for component in spec.without_injectors if component.role not in MEASURED_ROLES)
        row["beside them"] = ", ".join(component.name for component in others)
        row["host"] = ", ".join(f"{key}={value}" for key, value in spec.host_states.items())
        rows.append(row)
    # What no arm has needs no column.
    return [title for title in rows[0] if any(row[title] for row in rows)], rows


def _place(component: Component) -> str:
    limit = f", {format_size(component.memory_bytes)}" if component.memory_bytes is not None else ""
    return f"{component.name}: CPUs {','.join(map(str, component.cpus))}{limit}"


def _common_options(spec: Spec, made: SessionPlan) -> list[str]:
    """What all servers of an arm are told; where to log, and what every arm has by default, left out."""
    defaults = made.workload.workload.resolve_settings(spec.topology, {})
    first, *others = (server.jvm_options for server in spec.servers)
    common = [text for text in first if all(text in other for other in others)]
    common = [text for text in common if not text.startswith(("-Xlog", "-Xverbose"))]
    own = {name: x for name, x in spec.settings.items() if defaults[name.partition(".")[2]] != x}
    threads = {name: x for name, x in spec.servers[0].environment.items() if name.endswith("_THREADS")}
    return [*common, *(f"{name}={x}" for name, x in (own | threads).items())]


def _plan_document(made: SessionPlan) -> dict[str, Any]:
    return {
        "experiment": made.experiment.model_dump(mode="json", by_alias=True),
        "quick": made.request.quick,
        "seed": made.seed,
        "arms": [
            {"name": arm.name, "baseline": arm.baseline, "spec": made.specs[arm.name].model_dump(mode="json")}
            for arm in made.arms
        ],
        "schedule": [place.model_dump() for place in made.schedule],
        "expected_seconds": made.expected_seconds(),
        "notes": made.notes,
    }


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
        answered = answer(session, directory.analysis())[0]
    state = "complete" if ended else "unfinished"
    void = sum(trial.state == "void" for trial in trials)
    return {"session": session.id, "state": state, "trials": len(trials), "void": void, "answer": answered}
