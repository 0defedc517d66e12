# SPDX-License-Identifier: Apache-2.0
"""A folder of sessions as `serve` finds one: ended, running, damaged; and a history. No figure is a measurement."""

import math
import shutil
from dataclasses import replace
from pathlib import Path

import sample
import sample_procedures

from steelyard.analysis.estimates import analyse
from steelyard.gate.history import Entry, MetricSummary, keep
from steelyard.report import write_report
from steelyard.results.schema import Session, Trial
from steelyard.results.store import SessionDirectory, write_record

DAY = 24 * 3600.0
HOSTILE = "<script>alert(1)</script> \x1b[31m& more"
HOSTS = (
    ("lab-p10-01", "IBM POWER10", "ppc64le"),
    ("ci-runner-7", "AMD EPYC 7763", "x86_64"),
    ("bench-a", "Intel Xeon 6430", "x86_64"),
)
PLANS = (
    sample.study_plan,
    sample_procedures.ramp_up_plan,
    sample.two_arm_plan,
    sample_procedures.jitserver_plan,
    sample.two_factor_plan,
    sample.poor_plan,
)


def make_session_of(plan: sample.Plan, day: int, host: int, commit: str) -> tuple[Session, list[Trial]]:
    """A sample session of another day, host and commit."""
    session = sample.session_of(plan)
    name, processor, architecture = HOSTS[host]
    facts = session.host.model_copy(
        update={"hostname": name, "cpu_model": processor, "architecture": architecture}
    )
    created = sample.CREATED + day * DAY
    session = session.model_copy(
        update={
            "id": f"{plan.name}-{day:03d}",
            "created": created,
            "host": facts,
            "revision": commit,
        }
    )
    return session, sample.trials_of(plan, session)


def write_session(folder: Path, session: Session, trials: list[Trial]) -> SessionDirectory:
    """A session that has begun, with trials that have ended; raises what writing it raises."""
    target = SessionDirectory(folder / session.id)
    write_record(target.path / "session.json", session)
    target.log(session.created, "session-start")
    for trial in trials:
        place = {"block": trial.block, "arm": trial.arm, "attempt": trial.attempt}
        target.log(trial.started, "trial-start", **place)
        bound = write_record(target.trial_path(**place) / "trial.json", trial)  # type: ignore[arg-type]
        target.log(trial.started + 160, "trial-end", state=trial.state, digest=bound, **place)
    return target


def write_ended(
    folder: Path, number: int, *, plan: sample.Plan | None = None, report: bool = True
) -> SessionDirectory:
    """A session that has ended, with its report."""
    plan = plan or replace(PLANS[number % len(PLANS)](), seed=20261116 + number)
    session, trials = make_session_of(
        plan, number, number % len(HOSTS), f"{(number // 6 + 11) * 1234567:07x}"
    )
    target = write_session(folder, session, trials)
    target.log(session.created + 6000, "session-end")
    target.keep(analyse(session, trials))
    if report:
        write_report(target)
    return target


def write_copies(folder: Path, number: int) -> Path:
    """One small session that has ended, so many times."""
    first = write_ended(folder, 0, plan=replace(sample.two_arm_plan(), blocks=2), report=False).path
    for copy in range(1, number):
        shutil.copytree(first, folder / f"{first.name}-{copy:03d}")
    return folder


def write_running(folder: Path, ended: int, now: float) -> SessionDirectory:
    """A session that runs: `ended` trials are over, and the next one has been measured for 40 s."""
    session, trials = make_session_of(sample.study_plan(), 400, 2, "9a8b7c6")
    moved = now - 48 - trials[ended - 1].started - 170
    trials = [
        trial.model_copy(
            update={
                "started": trial.started + moved,
                "phases": {name: (a + moved, b + moved) for name, (a, b) in trial.phases.items()},
            }
        )
        for trial in trials[:ended]
    ]
    session = session.model_copy(update={"created": session.created + moved})
    target = write_session(folder, session, trials)
    place = session.schedule[ended]
    at = {"block": place.block, "arm": place.arm, "attempt": 0}
    target.log(now - 48, "trial-start", **at)
    target.log(now - 40, "phase", phase="measure", **at)
    samples = target.trial_path(place.block, place.arm, 0) / "samples"
    samples.mkdir(parents=True)
    rows = ["epoch,process,operation,requests,errors"]
    requests = 0.0
    for second in range(41):
        requests += 58_200 + 900 * math.sin(second / 3) - (9000 if second == 25 else 0)
        rows.append(f"{now - 40 + second:.3f},server-1,ping,{round(requests)},0")
    (samples / "counters.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return target


def write_history(folder: Path) -> Path:
    """A history of thirty sessions, with a step for the worse."""
    for at in range(30):
        value = 0.4 * math.exp((0.07 if at >= 18 else 0.0) + 0.008 * math.sin(at * 2.3))
        entry = Entry(
            session=f"gate-{at:03d}",
            time=sample.CREATED + at * DAY,
            commit=f"{at * 7919 + 1:07x}abc",
            workload="ping 2",
            experiment="gate",
            arm="side-candidate",
            conditions="process steady",
            host="lab 6.1",
            host_told="lab-p10-01: IBM POWER10, Linux 6.1",
            jvm="hotspot 17",
            metrics={"cpu_per_1k": MetricSummary(mean=value, n=6, sd=0.01)},
        )
        keep(folder, entry)
    return folder
