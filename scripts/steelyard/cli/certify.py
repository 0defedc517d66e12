# SPDX-License-Identifier: Apache-2.0
"""`certify`: what this host can see, shown by a session of equal arms."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.table import Table
from typer import Option

from steelyard.cli import options
from steelyard.cli.console import open_console, print_json, print_line
from steelyard.cli.options import JsonOption
from steelyard.cli.run import carry_out, make_ready, prepare_resume
from steelyard.gate.certificate import DAYS, Certificate, Noise, make_certificate, sentences
from steelyard.gate.certificates import find_certificate, pool_sentence
from steelyard.gate.interim import INTERIM_PAIRS
from steelyard.gate.plan import CERTIFICATE_PAIRS, plan_certification
from steelyard.gate.power import earlier_sessions, with_overrun
from steelyard.gate.windows import describe_windows
from steelyard.measure.registry import metric_info
from steelyard.paths import RESULTS
from steelyard.results.figures import count, percent
from steelyard.results.schema import CertificateTerms
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.opening import new_session
from steelyard.session.runtimes import ClusterTarget
from steelyard.units import format_duration


@options.with_session_options
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
    in_turns: options.InTurnsOption = False,
    make_request: options.MakeRequest,
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
    folder = options.certificates_in(certificates, out)
    terms = CertificateTerms(folder=str(folder.absolute()), days=days, pool=pool)
    if session is not None:
        directory = SessionDirectory(session)
        directory.doubts(directory.trials())
    else:
        plan = plan_certification(
            make_request(experiment, blocks=blocks), baseline, options.duet_of(duet, in_turns)
        )
        plan = with_overrun(plan, earlier_sessions(plan, out))
        make_ready(plan, console, [out, folder])
        directory = new_session(replace(plan, certificate=terms), out)
        print_line(
            console,
            f"{count(blocks, 'pair')} of equal arms, about {options.expected_time(plan)}; {directory.path}",
        )
        carry_out(directory, plan.runtimes, console)
    _conclude(directory, terms, as_json)


def resume_certification(
    directory: SessionDirectory, target: ClusterTarget, console: Console, as_json: bool, trust: bool
) -> None:
    """Run what is left of a session of equal arms, and write its certificate."""
    terms = directory.session().certificate
    if terms is None:
        raise ValueError(f"{directory.path} is no session of certify")
    if not directory.has_ended():
        runtimes, differs = prepare_resume(directory, target, console, trust)
        carry_out(directory, runtimes, console, differs=differs)
    _conclude(directory, terms, as_json)


def _conclude(directory: SessionDirectory, terms: CertificateTerms, as_json: bool) -> None:
    """Write the certificate of a session that has ended, and print it."""
    session = directory.session()
    certificate = make_certificate(session, directory.trials(), terms.pool, terms.days)
    path = Path(terms.folder) / certificate.name
    write_record(path, certificate)
    # A pool has a file of each member: what they say together is what a gate goes by.
    together = find_certificate(path.parent, certificate.conditions, certificate.made)
    if certificate.pool is None or isinstance(together, str):
        together = certificate
    if as_json:
        print_json({"certificate": str(path), **together.model_dump(mode="json")})
        return
    metrics = session.experiment.metrics
    _print(together, [metrics.primary, *metrics.report], path, describe_windows(certificate, directory))


def _print(certificate: Certificate, names: list[str], path: Path, windows: str | None) -> None:
    console = open_console()
    table = Table(
        box=None, padding=(0, 2, 0, 0), title_justify="left", title=f"Noise certificate: {certificate.told}"
    )
    table.add_column("metric")
    for header in ("pairs", "from start to start", "of a pair", "floor at 6", "10", "20 pairs"):
        table.add_column(header, justify="right", no_wrap=True)
    for name in names:
        if (noise := certificate.of(name)) is not None:
            table.add_row(metric_info(name).label, *_row(noise))
    console.print(table)
    pooled = filter(None, [pool_sentence(certificate, names[0])])
    advice = [windows] if windows is not None else _windows(certificate)
    for line in (*sentences(certificate, names[0]), *pooled, *advice, *certificate.notes):
        print_line(console, line)
    until = time.strftime("%Y-%m-%d", time.gmtime(certificate.expires))
    print_line(console, f"valid until {until}: {path}")


def _row(noise: Noise) -> list[str]:
    floors = [percent(noise.floor_after(pairs)) for pairs in INTERIM_PAIRS]
    return [str(noise.pairs), percent(noise.start_sd), percent(noise.pair_sd), *floors]


def _windows(certificate: Certificate) -> list[str]:
    """Where throughput varies, and so how long to measure."""
    windows = certificate.windows
    if windows is None:
        return []
    varies = (
        f"throughput varies by {percent(windows.window_sd)} from window to window ({windows.seconds:g} s) and by"
        f" {percent(windows.start_sd)} from start to start beyond that"
    )
    if windows.best is None:
        return [f"{varies}: starts do not differ, so a longer measurement tells as much as more starts"]
    best = format_duration(windows.best * windows.seconds)
    cost = format_duration(windows.start_seconds)
    advice = f"a start costs {cost}: a given time tells most with measurements of {best} and more starts"
    return [f"{varies}; {advice}"]
