# SPDX-License-Identifier: Apache-2.0
"""`plan`: what a session would be and could show, before it runs; by a pilot where nothing earlier tells."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from steelyard.cli import options
from steelyard.cli.console import open_console, print_heading, print_json, print_line, print_sentence
from steelyard.cli.listing import print_listing
from steelyard.cli.options import JsonOption
from steelyard.cli.run import carry_out, make_ready
from steelyard.gate.certificate import sentences
from steelyard.gate.needs import describe_needs
from steelyard.gate.plan import find_certificate_here, pair_seconds, plan_certification
from steelyard.gate.power import (
    FEWEST,
    describe,
    earlier_sessions,
    knows_spread,
    no_spread_reason,
    pilot_obstacle,
    predict_detectable,
    switches_host,
    with_overrun,
)
from steelyard.gate.quick import sharpen_quick
from steelyard.gate.result import main_void_reason
from steelyard.paths import RESULTS
from steelyard.results.figures import count
from steelyard.results.spec import MEASURED_ROLES, Component, Spec
from steelyard.session.earlier import Earlier
from steelyard.session.opening import new_session
from steelyard.session.plan import RunRequest, SessionPlan, make_plan
from steelyard.session.runtimes import command_line
from steelyard.spec.resources import compare_resources, resource_table
from steelyard.units import format_size


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
    pilot: Annotated[
        bool,
        Option(
            "--pilot",
            help=f"Where no earlier session here tells how much trials vary: run {FEWEST} pairs of equal arms first.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what `run` would do, without doing it: arms, CPU and heap split, time, what it detects, order, commands."""
    request = make_request(
        experiment, blocks=blocks, profilers=profile, profile_starts=profile_starts, counters=counters
    )
    made = make_plan(request)
    earlier = earlier_sessions(made, out)
    if pilot and not knows_spread(made, earlier):
        earlier = _run_pilot(request, made, out) or earlier
    made = sharpen_quick(with_overrun(made, earlier), earlier)
    if as_json:
        changes = predict_detectable(made, earlier)
        print_json({**_plan_document(made), "detects": [change._asdict() for change in changes]})
        return
    _print_plan(made, earlier)
    for line in _by_certificate(made, out, pool):
        print_line(open_console(), line)
    _print_schedule(made)


def _print_plan(made: SessionPlan, earlier: Sequence[Earlier]) -> None:
    """What runs where, for how long, and what it will detect."""
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
    if lines := describe(made, predict_detectable(made, earlier)):
        over = count(made.experiment.design.blocks, "block")
        print_heading(console, "\nWill detect", f" (80 % power, all comparisons counted, {over})")
        for line in (*lines, *describe_needs(made, earlier)):
            print_sentence(console, line, indent="  ")


def _print_schedule(made: SessionPlan) -> None:
    """Orders of the arms, and the command of each."""
    console = open_console()
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


def _run_pilot(request: RunRequest, made: SessionPlan, out: Path) -> list[Earlier]:
    """The fewest pairs of the experiment's baseline with itself that tell its spread, kept as a session like others;
    none where they would not, and then it says why.

    Returns:
        Earlier sessions, the pilot among them; none without a pilot.

    Raises:
        SteelyardError: what `certify` and `run` raise.
    """
    console = open_console(stderr=True)
    if (reason := pilot_obstacle(made)) is not None:
        print_line(console, f"no pilot: {reason}")
        return []
    pilot = plan_certification(replace(request, blocks=FEWEST, profilers=(), counters=()))
    make_ready(pilot, console, [out])
    directory = new_session(pilot, out)
    pairs = f"{count(FEWEST, 'pair')} of equal arms, about {options.expected_time(pilot)}"
    print_line(console, f"pilot: {pairs}; {directory.path}")
    trials = carry_out(directory, pilot.runtimes, console)
    earlier = earlier_sessions(made, out)
    if not knows_spread(made, earlier):
        estimates = directory.analysis().estimates.get(made.experiment.metrics.primary, {})
        usable = max((estimate.n for estimate in estimates.values()), default=0)
        of = f"{usable} of {count(FEWEST, 'pair')} could be used{main_void_reason(trials)}"
        report = directory.path / "report.html"
        print_line(console, f"pilot: how much trials vary is still not known: {of}; report: {report}")
    return earlier


def _by_certificate(made: SessionPlan, out: Path, pool: str | None) -> list[str]:
    """What a noise certificate of this host says it takes to see an effect; nothing without one."""
    if no_spread_reason(made) is not None or all(spec.remote for spec in made.specs.values()):
        return []
    certificate = find_certificate_here(made, out / "certificates", pool)
    if isinstance(certificate, str):
        return []
    block = pair_seconds(made, certificate) / 2 * len(made.specs)
    # One arm alone has no comparison to correct for.
    comparisons = max(1, len(made.specs) - 1)
    lines = sentences(certificate, made.experiment.metrics.primary, block, comparisons)
    left = ", switches of the host left out" if switches_host(made) else ""
    return [
        f"\nBy the noise certificate {certificate.name}, 80 % power{left}:",
        *(f"  {line}" for line in lines),
    ]


def _runs_on(spec: Spec) -> str:
    """What the servers of an arm run on."""
    artifact = spec.servers[0].artifact
    jvm = artifact.jvm
    where = artifact.image or (jvm.home if jvm is not None else " ".join(artifact.words))
    runtime = jvm.full_name if jvm is not None else "something that does not tell its JVM"
    return f"{spec.engine}: servers on {runtime} ({where})"


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
