# SPDX-License-Identifier: Apache-2.0
"""What happened, as tables: validity ledger, void trials, the schedule as it ran, the host and the versions."""

from dataclasses import dataclass

from steelyard.report import figures
from steelyard.report.tables import Cell, Column, Table
from steelyard.report.view import View, moment, trial_directory, trial_name, why_void
from steelyard.results.schema import Check, HostFacts, JvmIdentity, Session, Trial
from steelyard.units import format_duration, format_size

MAX_LEDGER_ROWS = 200
"""Beyond this many trials the grid shows only those that failed a check: the page has to stay small."""


@dataclass(frozen=True)
class Mark:
    """One check of one trial: its sign, what the sign means, and the figure behind it."""

    sign: str
    kind: str
    """`passed`, `marks`, `voids` or `absent`."""
    meaning: str


@dataclass(frozen=True)
class LedgerRow:
    """One trial of the ledger."""

    name: str
    void: bool
    marks: list[Mark]


@dataclass(frozen=True)
class Ledger:
    """Every trial x check; `left_out` trials passed everything and are not listed."""

    checks: list[str]
    rows: list[LedgerRow]
    left_out: int


def ledger(view: View) -> Ledger:
    """The validity ledger as a grid."""
    names = list(dict.fromkeys(check.name for trial in view.trials for check in trial.checks))
    shown = view.trials
    if len(shown) > MAX_LEDGER_ROWS:
        shown = [t for t in shown if t.state == "void" or any(not check.passed for check in t.checks)]
    rows = []
    for trial in shown:
        found = {check.name: check for check in trial.checks}
        marks = [_mark(found.get(name)) for name in names]
        rows.append(LedgerRow(trial_name(trial), trial.state == "void", marks))
    return Ledger(names, rows, len(view.trials) - len(shown))


def _mark(check: Check | None) -> Mark:
    if check is None:
        return Mark(figures.DASH, "absent", "not judged")
    if check.passed and check.value is None:
        return Mark(figures.DASH, "absent", f"nothing to judge: {check.detail}")
    if check.passed:
        return Mark("\N{CHECK MARK}", "passed", f"passed: {check.detail}")
    if check.voids:
        return Mark("\N{BALLOT X}", "voids", f"failed, voids the trial: {check.detail}")
    return Mark("!", "marks", f"failed, marks the trial: {check.detail}")


def failures(view: View) -> Table | None:
    """Checks that failed, by trial, each with its sentence; None when all passed."""
    rows = []
    for trial in view.trials:
        if trial.failure:
            rows.append([Cell(trial_name(trial)), Cell("did not finish"), Cell("void"), Cell(trial.failure)])
        rows += [
            [
                Cell(trial_name(trial)),
                Cell(check.name),
                Cell("void" if check.voids else "marked"),
                Cell(check.detail),
            ]
            for check in trial.checks
            if not check.passed
        ]
    if not rows:
        return None
    columns = [Column(name, figure=False) for name in ("trial", "check", "verdict", "why")]
    return Table("Checks that failed", columns, rows)


def void_trials(view: View) -> list[str]:
    """A sentence or two on each void trial: why, and what became of its place in the block."""
    return [f"{trial_name(trial)}: {why_void(trial)} {_outcome(view, trial)}" for trial in view.void]


def _outcome(view: View, trial: Trial) -> str:
    later = [t for t in view.of_arm(trial.arm) if t.block == trial.block and t.attempt > trial.attempt]
    if not later:
        return "It was not repeated."
    return f"It was repeated (repeat {later[0].attempt}): {later[0].state}."


@dataclass(frozen=True)
class Place:
    """A trial in the schedule: its arm, its state and when it ran."""

    arm: str
    state: str
    """`valid`, `void` or `not run`."""
    when: str


@dataclass(frozen=True)
class ScheduleRow:
    """One block: its trials in the order planned, then its repeats."""

    block: int
    places: list[Place]
    repeats: list[Place]


def schedule(view: View) -> list[ScheduleRow]:
    """Block by order: the schedule as it ran."""
    done = {(trial.block, trial.arm, trial.attempt): trial for trial in view.trials}
    rows = []
    for block in dict.fromkeys(place.block for place in view.session.schedule):
        planned = sorted((p for p in view.session.schedule if p.block == block), key=lambda p: p.order)
        places = [_place(done.get((block, place.arm, 0)), place.arm) for place in planned]
        repeats = [_place(t, t.arm) for t in view.trials if t.block == block and t.attempt]
        rows.append(ScheduleRow(block, places, repeats))
    return rows


def _place(trial: Trial | None, arm: str) -> Place:
    if trial is None:
        return Place(arm, "not run", "")
    return Place(arm, trial.state, moment(trial.started))


def host(view: View) -> Table:
    """The host, as far as it could be asked."""
    facts = view.session.host
    return _pairs("Host", [*_host_facts(facts), *facts.extra.items()])


def _host_facts(facts: HostFacts) -> list[tuple[str, str | None]]:
    pages = ", ".join(f"{count} of {int(size) // 1024} MiB" for size, count in facts.huge_pages.items())
    return [
        ("name", facts.hostname),
        ("CPU", f"{facts.cpu_model} ({facts.architecture})"),
        ("sockets, cores, hardware threads", f"{facts.sockets}, {facts.cores}, {facts.cpus}"),
        ("SMT", f"{facts.smt or 'unknown'}, {facts.threads_per_core} per core"),
        ("NUMA nodes", str(facts.numa_nodes)),
        ("memory", f"{format_size(facts.memory_bytes)}, swap {format_size(facts.swap_bytes)}"),
        ("page size", f"{facts.page_size // 1024} KiB"),
        ("transparent huge pages", facts.thp),
        ("reserved huge pages", pages or None),
        ("CPU governor", facts.governor),
        ("turbo", facts.turbo),
        ("operating system", facts.os),
        ("kernel", facts.kernel),
        ("cgroups", None if facts.cgroup_version is None else f"version {facts.cgroup_version}"),
        ("virtualization", facts.virtualization),
    ]


def software(view: View) -> Table:
    """JVMs and versions of the parts."""
    s = view.session
    revision = f", revision {s.revision}" if s.revision else ""
    pairs: list[tuple[str, str | None]] = [
        ("Steelyard", f"{s.steelyard_version}{revision}"),
        ("build of the servers", s.fingerprint),
        *_server_jvms(s),
        ("injector JVM", jvm_text(s.injector_jvm)),
        *((f"{role} image", image) for role, image in s.images.items()),
        *sorted(s.versions.items()),
    ]
    return _pairs("Software", pairs)


def _server_jvms(session: Session) -> list[tuple[str, str]]:
    """One line, or one for each engine when they differ."""
    told = {engine: jvm_text(jvm) for engine, jvm in session.engine_jvms.items()}
    if len(set(told.values())) > 1:
        return [(f"server JVM, {engine} engine", text) for engine, text in told.items()]
    return [("server JVM", jvm_text(session.server_jvm))]


def jvm_text(jvm: JvmIdentity) -> str:
    """A JVM in one line."""
    return f"{jvm.vm_name} {jvm.runtime_version} ({jvm.vendor}, {jvm.architecture})"


def design(view: View) -> Table:
    """How the session was arranged."""
    load = view.experiment.get("load", {})
    size = f"{load['users']} users" if load.get("users") else f"{load.get('rate') or 0:,g} requests/s"
    warmup = load.get("warmup") or {}
    pairs: list[tuple[str, str | None]] = [
        ("session", view.session.id),
        ("planned", view.created),
        ("took", _took(view)),
        ("workload", str(view.experiment.get("workload") or "") or None),
        ("load", f"{load.get('model', 'unknown')} model, {size}" if load else None),
        ("warm-up", _warmup(warmup) if warmup else None),
        ("measured for", format_duration(load["measure"]) if load.get("measure") else None),
        ("blocks", f"{view.analysis.blocks_complete} complete of {view.analysis.blocks_planned}"),
        ("trials", f"{view.analysis.trials}, {view.analysis.void_trials} void"),
        ("seed of the order", str(view.session.seed)),
    ]
    return _pairs("Session", pairs)


def _warmup(warmup: dict[str, object]) -> str:
    least, most = float(str(warmup.get("at_least", 0))), float(str(warmup.get("at_most", 0)))
    if warmup.get("until") == "fixed":
        return f"fixed, {format_duration(least)}"
    return f"until steady, {format_duration(least)} to {format_duration(most)}"


def _took(view: View) -> str | None:
    ends = [end for trial in view.trials for _, end in trial.phases.values()]
    if not ends:
        return None
    return format_duration(max(ends) - min(trial.started for trial in view.trials))


def _pairs(caption: str, pairs: list[tuple[str, str | None]]) -> Table:
    columns = [Column("fact", figure=False), Column("value", figure=False)]
    return Table(caption, columns, [[Cell(name), Cell(text or "unknown")] for name, text in pairs])


def replay_example(view: View) -> str | None:
    """The directory of the first trial that has one; None before any trial ended."""
    return trial_directory(view.trials[0]) if view.trials else None
