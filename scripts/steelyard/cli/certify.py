# SPDX-License-Identifier: Apache-2.0
"""`certify`: what this host can see, shown by a session of equal arms."""

import time
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from steelyard.cli import options
from steelyard.cli.options import JsonOption, open_console, print_json, say
from steelyard.cli.run import carry_out, make_ready
from steelyard.gate.certificate import DAYS, Certificate, Noise, sentences
from steelyard.gate.certificate import certify as certified
from steelyard.gate.plan import CERTIFICATE_PAIRS, plan_certification
from steelyard.measure.registry import metric_info
from steelyard.paths import RESULTS
from steelyard.results.figures import count, percent
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.opening import new_session
from steelyard.units import format_duration


@options.asking
def certify(
    experiment: options.GateExperimentArgument = "gate",
    *,
    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            metavar="A",
            help="What a gate will have as its --baseline, so that the certificate holds for that gate.",
            show_default="the experiment's own baseline",
        ),
    ] = None,
    blocks: Annotated[
        int,
        Option(
            "--blocks",
            metavar="N",
            min=6,
            help="Pairs of equal arms. More know the spread better: 20 have a floor a sixth below that of 10, 40 a"
            " quarter.",
        ),
    ] = CERTIFICATE_PAIRS,
    days: Annotated[float, Option("--days", metavar="N", min=0.01, help="How long it is valid.")] = DAYS,
    duet: options.DuetOption = False,
    ask: options.Ask,
    out: options.OutOption = RESULTS,
    certificates: options.CertificatesOption = None,
    pool: options.PoolOption = None,
    session: Annotated[
        Path | None,
        Option("--session", metavar="DIR", help="Run nothing: certify by this session of equal arms."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the noise of this host with equal arms, and write its noise certificate.

    It says, for each metric, how much starts vary, whether they drift or fall into groups, and the smallest harm that a
    gate finds almost surely; it holds for this host, kernel, JVM family, workload, procedure and load.
    """
    console = open_console(stderr=True)
    if session is not None:
        directory = SessionDirectory(session)
        directory.doubts(directory.trials())
    else:
        own = options.words(
            baseline=baseline,
            days=days if days != DAYS else None,
            duet=duet,
            pool=pool,
            certificates=options.told_certificates(certificates, out),
        )
        plan = plan_certification(ask(experiment, blocks=blocks, verb="certify", own=own), baseline, duet)
        make_ready(plan, console, [out, options.certificates_in(certificates, out)])
        directory = new_session(plan, out)
        say(
            console,
            f"{count(blocks, 'pair')} of equal arms, about {options.expected(plan)}; {directory.path}",
        )
        carry_out(directory, plan.runtimes, console)
    made = certified(directory.session(), directory.trials(), pool, days)
    path = options.certificates_in(certificates, out) / made.name
    write_record(path, made)
    if as_json:
        print_json({"certificate": str(path), **made.model_dump(mode="json")})
        return
    primary = str(directory.session().experiment["metrics"]["primary"])
    report = list(directory.session().experiment["metrics"]["report"])
    _print(made, [primary, *report], path)


def _print(made: Certificate, names: list[str], path: Path) -> None:
    console = open_console()
    table = Table(
        box=None, padding=(0, 2, 0, 0), title_justify="left", title=f"Noise certificate: {made.told}"
    )
    table.add_column("metric")
    for header in ("pairs", "from start to start", "of a pair", "floor at 6", "10", "20 pairs"):
        table.add_column(header, justify="right", no_wrap=True)
    for name in names:
        if (one := made.of(name)) is not None:
            table.add_row(metric_info(name).label, *_row(one))
    console.print(table)
    for line in (*sentences(made, names[0]), *_windows(made), *made.notes):
        say(console, line)
    until = time.strftime("%Y-%m-%d", time.gmtime(made.expires))
    say(console, f"valid until {until}: {path}")


def _row(one: Noise) -> list[str]:
    floors = [percent(one.floors[look]) for look in sorted(one.floors)]
    return [str(one.pairs), percent(one.start_sd), percent(one.pair_sd), *floors]


def _windows(made: Certificate) -> list[str]:
    """Where throughput varies, and so how long to measure."""
    found = made.windows
    if found is None:
        return []
    told = (
        f"throughput varies by {percent(found.window_sd)} from window to window ({found.seconds:g} s) and by"
        f" {percent(found.start_sd)} from start to start beyond that"
    )
    if found.best is None:
        return [f"{told}: starts do not differ, so a longer measurement tells as much as more starts"]
    best = format_duration(found.best * found.seconds)
    cost = format_duration(found.start_seconds)
    told += f"; a start costs {cost}: a given time tells most with measurements of {best} and more starts"
    return [told]
