# SPDX-License-Identifier: Apache-2.0
"""`gate`: pass, regression or inconclusive, between two builds, images, JDKs or experiment files."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from typer import Option

from steelyard.cli import options
from steelyard.cli.console import open_console, print_json, print_line
from steelyard.cli.options import JsonOption
from steelyard.cli.run import carry_out, make_ready, prepare_resume
from steelyard.errors import BadInput, Exit
from steelyard.escape import printable
from steelyard.experiment.schema import Duet
from steelyard.gate.elsewhere import require_same_question
from steelyard.gate.outputs import write_outputs
from steelyard.gate.plan import (
    CONFIRMATION,
    create_confirmation,
    find_certificate_here,
    find_disturbances,
    make_terms,
    pair_seconds,
    plan_gate,
    schedule_pairs,
)
from steelyard.gate.result import Ended, conclude, needs_confirmation
from steelyard.paths import RESULTS
from steelyard.report import write_report
from steelyard.results.figures import count, margin_text, percent
from steelyard.results.gate import GateResult
from steelyard.results.schema import GateTerms
from steelyard.results.store import SessionDirectory
from steelyard.session.opening import new_session
from steelyard.session.plan import RunRequest, SessionPlan
from steelyard.session.runtimes import ClusterTarget
from steelyard.units import format_duration, parse_duration, parse_share

EXIT = {"pass": Exit.OK, "regression": Exit.REGRESSION, "inconclusive": Exit.INCONCLUSIVE}


@options.with_session_options
def gate(
    experiment: options.GateExperimentArgument = "gate",
    *,
    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            metavar="A",
            help="A commit (built first), an image, a JDK, an experiment file, or settings: key=value,...;"
            " `checkout` is this checkout as it is.",
            show_default=False,
        ),
    ] = None,
    candidate: Annotated[
        str | None, Option("--candidate", metavar="B", help="The same.", show_default=False)
    ] = None,
    margin: Annotated[
        str, Option("--margin", metavar="SHARE", help="Harm in the metric that is tolerated.")
    ] = "3%",
    metric: Annotated[
        str | None,
        Option("--metric", metavar="NAME", help="What decides.", show_default="the experiment's primary"),
    ] = None,
    time: Annotated[
        str | None,
        Option(
            "--time",
            metavar="TIME",
            help="Time for its pairs, for example 15m; a confirmation takes as long again.",
            show_default="as long as 20 pairs take",
        ),
    ] = None,
    duet: options.DuetOption = False,
    in_turns: options.InTurnsOption = False,
    make_request: options.MakeRequest,
    out: options.OutOption = RESULTS,
    certificates: options.CertificatesOption = None,
    pool: options.PoolOption = None,
    profile: options.ProfileOption = [],  # noqa: B006 - typer reads the default, nothing changes it
    profile_starts: options.ProfileStartsOption = 1,
    counters: options.CountersOption = [],  # noqa: B006 - as above
    leave_confirmation: Annotated[
        bool,
        Option(
            "--leave-confirmation",
            help="Leave a regression unconfirmed (inconclusive): `--confirms` on another host, or `resume` after a"
            " restart, confirms it.",
        ),
    ] = False,
    confirms: Annotated[
        Path | None,
        Option(
            "--confirms",
            metavar="DIR",
            help="Confirm the regression of this gate's session, which ran on another host: with the same options and"
            " builds, on a host of its kind. Its margin and metric hold.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer whether a candidate is worse than a baseline: pass (exit code 0), regression (1) or inconclusive (2).

    Random pairs on one host in one session, looked at after 6, 10 and 20 pairs (with `--time` last after as many as
    that holds); a regression is confirmed by a second session before it is called one. Without a noise certificate
    (`certify`) that can see the margin, on a busy host and if one side has clearly more void trials than the other, it
    abstains. Any other exit code: there is no verdict.
    """
    console = open_console(stderr=True)
    request = make_request(experiment, profilers=profile, profile_starts=profile_starts, counters=counters)
    weighing = _GateOptions(
        request,
        metric,
        _seconds(time),
        options.duet_of(duet, in_turns),
        options.certificates_in(certificates, out),
        pool,
    )
    if confirms is not None:
        _confirm_elsewhere(SessionDirectory(confirms), weighing, (baseline, candidate), console, as_json)
        return
    sides = {
        "baseline": _require_side(baseline, "--baseline"),
        "candidate": _require_side(candidate, "--candidate"),
    }
    tolerated = _share(margin)
    plan, terms, pair = _plan_gate_terms(
        weighing, plan_gate(request, sides, metric, weighing.duet), sides, tolerated
    )
    terms = terms.model_copy(update={"leaves_confirmation": leave_confirmation})
    directory = _begin(plan, terms, out, console)
    if _is_answered(directory):
        _conclude(directory, as_json)
        return
    print_line(
        console,
        f"{plan.experiment.metrics.primary} of {sides['candidate']} against {sides['baseline']}, margin"
        f" {margin_text(tolerated)}: {_describe_pairs(terms, pair)}; {directory.path}",
    )
    for note in (*plan.notes, *terms.notes):
        print_line(console, f"note: {note}")
    carry_out(directory, plan.runtimes, console)
    _finish(directory, request.target, console, as_json, request.trust, confirms_here=not leave_confirmation)


def _describe_pairs(terms: GateTerms, pair: float) -> str:
    """After how many pairs it is analysed, why so many, and what it finds then."""
    pairs = f"{' or '.join(map(str, terms.looks))} pairs of about {format_duration(pair)}"
    why = f", as many as {format_duration(terms.seconds)} hold" if terms.seconds is not None else ""
    harm = f"; it finds harm of {percent(terms.floor)} or more" if terms.floor is not None else ""
    return f"{pairs}{why}{harm}"


class _GateOptions(NamedTuple):
    """How it is weighed, and by which certificates."""

    request: RunRequest
    metric: str | None
    seconds: float | None
    duet: Duet
    certificates: Path
    pool: str | None


def _plan_gate_terms(
    weighing: _GateOptions, plan: SessionPlan, sides: Mapping[str, str], margin: float
) -> tuple[SessionPlan, GateTerms, float]:
    """A gate's plan with its schedule, its terms, and the seconds of a pair."""
    certificate = find_certificate_here(plan, weighing.certificates, weighing.pool)
    pair = pair_seconds(plan, certificate)
    plan, interims = schedule_pairs(plan, pair, weighing.seconds)
    return plan, make_terms(plan, interims, sides, margin, weighing.seconds, certificate), pair


def _confirm_elsewhere(
    directory: SessionDirectory,
    weighing: _GateOptions,
    words: tuple[str | None, str | None],
    console: Console,
    as_json: bool,
) -> None:
    """Confirm the regression that another host's session ended with, and answer; answer at once where there is none.

    Raises:
        BadInput: it is no gate's session that has ended, or this would weigh something else.
    """
    first, trials = directory.session(), directory.trials()
    for sentence in directory.doubts(trials):
        print_line(console, f"note: {sentence}")
    if first.gate is None or first.gate.confirms is not None:
        raise BadInput(f"{directory.path} is no gate's session: give the folder that holds its gate.json")
    if not _is_answered(directory) and not directory.has_ended():
        raise BadInput(f"{directory.path} has not ended: go on with `./steelyard resume` on its own host")
    second = SessionDirectory(directory.path / CONFIRMATION)
    is_begun = (second.path / "session.json").exists()
    if is_begun and _is_answered(second):
        # It abstained, and ran nothing: what it lacked may be there now.
        shutil.rmtree(second.path)
        is_begun = False
    if not is_begun and needs_confirmation((first, trials)):
        sides = {
            name: word or first.gate.sides[name]
            for name, word in zip(("baseline", "candidate"), words, strict=True)
        }
        name = weighing.metric or first.experiment.metrics.primary
        request = replace(weighing.request, profilers=())  # the first session has the profiles
        plan = plan_gate(request, sides, name, weighing.duet)
        require_same_question(first, plan)
        # Another order than the first session's.
        plan = replace(plan, seed=(first.seed + 1) % 2**63)
        plan, terms, _ = _plan_gate_terms(weighing, plan, sides, first.gate.margin)
        terms = terms.model_copy(update={"confirms": first.id})
        _begin(plan, terms, directory.path, console, CONFIRMATION)
    _finish(directory, weighing.request.target, console, as_json, weighing.request.trust)


def _begin(
    plan: SessionPlan, terms: GateTerms, out: Path, console: Console, name: str | None = None
) -> SessionDirectory:
    """The session, built and ready to run; or one that says why it will not."""
    if terms.same is None and not terms.abstains:
        make_ready(plan, console, [out])
        terms = terms.model_copy(update={"abstains": find_disturbances(duet=bool(plan.second))})
    return new_session(replace(plan, gate=terms), out, name)


def _is_answered(directory: SessionDirectory) -> bool:
    """Whether there is nothing to run."""
    terms = directory.session().gate
    return terms is not None and (terms.same is not None or bool(terms.abstains))


def resume_gate(
    directory: SessionDirectory, target: ClusterTarget, console: Console, as_json: bool, trust: bool
) -> None:
    """Run what is left of a gate, and answer."""
    terms = directory.session().gate
    assert terms is not None, f"{directory.path} is the session of no gate"
    if terms.confirms is not None:
        directory = SessionDirectory(directory.path.parent)
    # One that has ended and left it is resumed for its confirmation.
    confirms_here = directory.has_ended() or not terms.leaves_confirmation
    if not _is_answered(directory) and not directory.has_ended():
        runtimes, differs = prepare_resume(directory, target, console, trust)
        carry_out(directory, runtimes, console, differs=differs)
    _finish(directory, target, console, as_json, trust, confirms_here=confirms_here)


def _finish(
    directory: SessionDirectory,
    target: ClusterTarget,
    console: Console,
    as_json: bool,
    trust: bool,
    *,
    confirms_here: bool = True,
) -> None:
    """Confirm a regression, here or where its second session was begun, and answer."""
    second = SessionDirectory(directory.path / CONFIRMATION)
    is_begun = (second.path / "session.json").exists()
    if needs_confirmation((directory.session(), directory.trials())) and (is_begun or confirms_here):
        if not is_begun:
            options.require_trusted_session(directory, trust)
            second = create_confirmation(directory)
        if not _is_answered(second) and not second.has_ended():
            print_line(
                console, "a regression so far: a second session, in another order, confirms it or does not"
            )
            runtimes, differs = prepare_resume(second, target, console, trust)
            carry_out(second, runtimes, console, differs=differs)
    _conclude(directory, as_json)


def _conclude(directory: SessionDirectory, as_json: bool) -> None:
    """Write what the gate found, print it, and end with its exit code."""
    ended: Sequence[Ended] = [
        (part.session(), part.trials())
        for part in (directory, SessionDirectory(directory.path / CONFIRMATION))
        if (part.path / "session.json").exists()
    ]
    result = conclude(ended[0], ended[1] if len(ended) > 1 else None)
    written = write_outputs(directory.path, result)
    if ended[0][1]:
        written += write_report(directory)[:1]  # once more: it begins with the verdict
    if as_json:
        print_json({"directory": str(directory.path), **result.model_dump(mode="json")})
    else:
        _print(result)
        typer.echo(f"written: {', '.join(path.name for path in written)} in {directory.path}")
    raise typer.Exit(EXIT[result.outcome])


def _print(result: GateResult) -> None:
    typer.echo(printable(result.sentence))
    for note in result.notes:
        typer.echo(f"  {printable(note)}")
    for other in result.beside:
        typer.echo(f"  beside it: {other.label} {other.change}, {other.finding or 'not beyond noise'}")
    if result.trials:
        void = f", {result.void} of them void" if result.void else ""
        typer.echo(f"  {count(result.trials, 'trial')}{void}, {format_duration(result.seconds)}")


def _require_side(side: str | None, option: str) -> str:
    if side is None or not side.strip():
        raise BadInput(f"a gate compares two sides: give {option}, for example {option} HEAD~1")
    return side


def _share(margin: str) -> float:
    try:
        share = parse_share(margin)
    except ValueError as error:
        raise BadInput(f"--margin {margin}: {error}") from error
    if not 0 < share < 1:
        raise BadInput(f"--margin {margin} makes no sense: give a share between 0 and 100 %, such as 3%")
    return share


def _seconds(time: str | None) -> float | None:
    try:
        return parse_duration(time) if time is not None else None
    except ValueError as error:
        raise BadInput(f"--time {time}: {error}") from error
