# SPDX-License-Identifier: Apache-2.0
"""What happened, as tables: validity ledger, void trials, the schedule as it ran, the host and the versions."""

from collections.abc import Iterable, Sequence

from steelyard.analysis.rounds import reached_places
from steelyard.host.cpus import cpu_list
from steelyard.jvm.identity import JvmIdentity
from steelyard.measure.network import network_of
from steelyard.report.table import Table, TableCell, cells, numbers, words
from steelyard.report.view import View, moment, trial_name, why_void
from steelyard.results import figures
from steelyard.results.schema import Check, Trial
from steelyard.results.spec import Artifact, Component
from steelyard.spec.resources import compare_resources, resource_table
from steelyard.units import format_duration, format_size

MAX_LEDGER_ROWS = 200
"""Beyond this many trials the grid shows only those that failed a check: the page has to stay small."""


def ledger(view: View) -> Table:
    """The validity ledger as a grid: every trial, every check."""
    names = list(dict.fromkeys(check.name for trial in view.trials for check in trial.checks))
    shown = view.trials
    if len(shown) > MAX_LEDGER_ROWS:
        shown = [t for t in shown if t.state == "void" or any(check.has_failed for check in t.checks)]
    rows = []
    for trial in shown:
        checks = {check.name: check for check in trial.checks}
        notes = ("void",) if trial.state == "void" else ()
        head = TableCell(trial_name(trial), notes, style="".join(notes))
        rows.append([head, *(_mark(checks.get(name)) for name in names)])
    left_out = len(view.trials) - len(shown)
    note = f"{left_out:,} trials that passed every check are left out here."
    return Table("Every trial, every check", words("trial", *names), rows, notes=[note] * (left_out > 0))


def _mark(check: Check | None) -> TableCell:
    """One check of one trial: its sign, and the figure behind it."""
    if check is None:
        return TableCell(figures.DASH, style="absent", hover="not judged")
    if not check.applies:
        return TableCell(figures.DASH, style="absent", hover=f"not judged: {check.detail}")
    if check.passed:
        return TableCell("\N{CHECK MARK}", style="passed", hover=f"passed: {check.detail}")
    if check.voids:
        return TableCell("\N{BALLOT X}", style="voids", hover=f"failed, voids the trial: {check.detail}")
    return TableCell("!", style="marks", hover=f"failed, marks the trial: {check.detail}")


def failures(view: View) -> Table | None:
    """Checks that failed, by trial, each with its sentence; None when all passed."""
    rows = []
    for trial in view.trials:
        name = trial_name(trial)
        if trial.failure:
            rows.append(cells(name, "did not finish", "void", trial.failure.detail))
        rows += [
            cells(name, check.name, "void" if check.voids else "marked", check.detail)
            for check in trial.checks
            if check.has_failed
        ]
    return Table("Checks that failed", words("trial", "check", "verdict", "why"), rows) if rows else None


def not_judged(view: View) -> list[str]:
    """Checks that some trial did not get, and why: that is no pass."""
    why: dict[str, dict[str, None]] = {}
    for check in (check for trial in view.trials for check in trial.checks if not check.applies):
        why.setdefault(check.detail, {})[check.name] = None
    return [f"{', '.join(names)}: {detail}" for detail, names in why.items()]


def void_trials(view: View) -> list[str]:
    """A sentence or two on each void trial: why, and what became of its place in the block."""
    return [f"{trial_name(trial)}: {why_void(trial)} {_outcome(view, trial)}".rstrip() for trial in view.void]


def by_arm(view: View) -> Table:
    """How the trials of each arm ended: what is left out has to be left out evenly."""
    columns = [*words(view.arm_heading), *numbers("trials", "valid", "void", "did not start", "not steady")]
    rows = [
        cells(view.arm_short(arm), n.trials, n.trials - n.void, n.void, n.not_started, n.not_steady)
        for arm, n in view.analysis.by_arm.items()
    ]
    note = (
        "A trial that did not start is void; one that was not steady is kept. A comparison is inconclusive where trials"
        " of the arm are void, or not steady, clearly more or less often than those of the baseline (exact McNemar test"
        " at 5 %)."
    )
    return Table("Trials of each arm", columns, rows, 1, [note])


def _outcome(view: View, trial: Trial) -> str:
    if trial.value is not None:
        return ""
    later = [t for t in view.of_arm(trial.arm) if t.block == trial.block and t.attempt > trial.attempt]
    if not later:
        return "It was not repeated."
    return f"Its comparison was repeated (repeat {later[0].attempt}): {later[0].state}."


def schedule(view: View) -> Table:
    """Block by order, the schedule as it ran; at the end of a block its repeats, or the further trials of a search."""
    done = {(trial.block, trial.arm, trial.attempt): trial for trial in view.trials}
    places, rows = reached_places(view.session, view.trials), []
    for block in dict.fromkeys(place.block for place in places):
        planned = sorted((p for p in places if p.block == block), key=lambda p: p.order)
        shown = [_place(done.get((block, place.arm, 0)), place.arm) for place in planned]
        further = [trial for trial in view.trials if trial.block == block and trial.attempt]
        outcomes = ", ".join(f"{trial.arm} {trial.state}" for trial in further)
        when = ", ".join(moment(trial.started) for trial in further)
        rows.append(cells(block, *shown, TableCell(outcomes, hover=when)))
    orders = [f"{order}." for order in range(1, len(rows[0]) - 1)] if rows else []
    return Table("Schedule as it ran", words("block", *orders, "further trials"), rows)


def _place(trial: Trial | None, arm: str) -> TableCell:
    if trial is None:
        return TableCell(arm, ("not run",), style="not-run")
    notes = (trial.state,) if trial.state != "valid" else ()
    return TableCell(arm, notes, style=trial.state, hover=moment(trial.started))


def host(view: View) -> Table:
    """The host, as far as it could be asked."""
    facts = view.session.host
    pairs = {
        "name": facts.hostname,
        "CPU": f"{facts.cpu_model} ({facts.architecture})",
        "sockets, cores, hardware threads": f"{facts.sockets}, {facts.cores}, {facts.cpus}",
        "SMT": f"{facts.smt or 'unknown'}, {facts.threads_per_core} per core",
        "NUMA nodes": str(facts.numa_nodes),
        "memory": f"{format_size(facts.memory_bytes)}, swap {format_size(facts.swap_bytes)}",
        "page size": f"{facts.page_size // 1024} KiB",
        "transparent huge pages": facts.thp,
        "reserved huge pages": figures.pools_text(facts.huge_pages),
        "CPU governor": facts.governor,
        "turbo": facts.turbo,
        "operating system": facts.os,
        "kernel": facts.kernel,
        "cgroups": None if facts.cgroup_version is None else f"version {facts.cgroup_version}",
        "virtualization": facts.virtualization,
    }
    paths = network_of(view.trials)
    path = [("network path to the servers", paths)] if paths else []
    return _pairs("Host", [*pairs.items(), *facts.extra.items(), *path])


def software(view: View) -> Table:
    """JVMs and versions of the parts."""
    s = view.session
    revision = f", revision {s.revision}" if s.revision else ""
    names = " / ".join(dict.fromkeys(jvm_text(jvm) for jvm in view.jvms))
    pairs = [("Steelyard", f"{s.steelyard_version}{revision}"), ("server JVM", names)]
    return _pairs("Software", [*pairs, *sorted(s.versions.items())])


def jvm_text(jvm: JvmIdentity) -> str:
    """A JVM in one line."""
    return f"{jvm.full_name} ({jvm.vendor}, {jvm.architecture})"


def deployment(view: View) -> Table:
    """What the arms' trials deployed, component by component; one row where all arms have the same."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, spec in view.specs.items():
        by_kind: dict[str, list[Component]] = {}
        for component in spec.components:
            by_kind.setdefault(component.kind, []).append(component)
        for component_kind, parts in by_kind.items():
            rows.setdefault((component_kind, *_deployment_cells(parts)), []).append(name)
    order = list(dict.fromkeys(key[0] for key in rows))
    columns = [*words("component", "role", "arms"), *numbers("number", "cores each"), *words("CPUs")]
    columns += [*numbers("max heap each", "memory limit each"), *words("runs")]
    cells_found = []
    for key, arms in sorted(rows.items(), key=lambda item: order.index(item[0][0])):
        component_kind, role, *rest = key
        who = "all" if len(arms) == len(view.arms) else ", ".join(view.arm_short(arm) for arm in arms)
        cells_found.append(cells(component_kind, role, who, *rest))
    note = "CPUs are the numbers of the hardware threads that all components of a row may use together."
    return Table("Deployment", columns, cells_found, 1, [note])


def resources(view: View) -> Table:
    """What each arm may use, by role and in all, and whether that is equal."""
    heads, rows = resource_table(view.specs)
    named = [[view.arm_short(name), *rest] for name, *rest in rows]
    note = f"{compare_resources(view.specs)} Injectors are no part of it."
    return Table("Resources of each arm", words(*heads), [cells(*row) for row in named], 1, [note])


def _deployment_cells(parts: list[Component]) -> tuple[str, ...]:
    return (
        parts[0].role,
        str(len(parts)),
        _each(f"{component.cores:.3g}" for component in parts if component.cores),
        cpu_list({cpu for component in parts for cpu in component.cpus}) or figures.DASH,
        _each(format_size(component.heap_bytes) for component in parts if component.heap_bytes is not None),
        _each(
            format_size(component.memory_bytes) for component in parts if component.memory_bytes is not None
        ),
        _each(artifact_text(component.artifact) for component in parts),
    )


def _each(texts: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(texts)) or figures.DASH


def artifact_text(artifact: Artifact) -> str:
    """What a component runs, and on which JVM."""
    unnamed = "a command" if artifact.form == "command" else "Java"
    name = artifact.image or artifact.package or " ".join(artifact.words[:1]) or unnamed
    build = f", build {artifact.build}" if artifact.build and artifact.image is None else ""
    return name + build + (f", on {jvm_text(artifact.jvm)}" if artifact.jvm is not None else "")


def design(view: View) -> Table:
    """How the session was arranged."""
    load = view.experiment.load
    loaded, steady = view.procedure != "start-up", view.procedure == "steady"
    pairs: list[tuple[str, str | None]] = [
        ("session", view.session.id),
        ("planned", view.created),
        ("took", _took(view)),
        ("workload", f"{view.session.workload.name} {view.session.workload.version}"),
        ("procedure", view.procedure),
    ]
    if loaded:
        pairs.append(("load", f"{load.model} model, {_sizes(view)}"))
    if steady:
        least, most = format_duration(load.warmup.at_least), format_duration(load.warmup.at_most)
        fixed = load.warmup.until == "fixed"
        pairs.append(
            ("warm-up", f"fixed, {least}" if fixed else f"until {load.warmup.until}, {least} to {most}")
        )
    if loaded:
        pairs.append(("measured for" if steady else "load for", format_duration(load.measure)))
    pairs += [
        ("blocks", f"{view.analysis.blocks_complete} complete of {view.analysis.blocks_planned}"),
        ("trials", f"{view.analysis.trials}, {view.analysis.void_trials} void"),
        ("seed of the order", str(view.session.seed)),
    ]
    return _pairs("Session", pairs)


def _sizes(view: View) -> str:
    """Users, or requests/s, of the arms; of a search those that it began with."""
    loads = [spec.load for spec in view.specs.values()]
    sizes = dict.fromkeys(
        f"{load.users:,} users" if load.users is not None else f"{load.rate:,g} requests/s" for load in loads
    )
    return ", ".join(sizes) + (" at first" if view.experiment.search else "")


def _took(view: View) -> str | None:
    ends = [end for trial in view.trials for _, end in trial.phases.values()]
    if not ends:
        return None
    return format_duration(max(ends) - min(trial.started for trial in view.trials))


def _pairs(caption: str, pairs: Sequence[tuple[str, str | None]]) -> Table:
    return Table(caption, words("fact", "value"), [cells(name, text or "unknown") for name, text in pairs])
