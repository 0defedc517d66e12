# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, and how commands print."""

import os
import sys
from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from steelyard.cli import completion
from steelyard.cli.console import is_terminal, open_console, print_json
from steelyard.engines.kubernetes.cluster import NAMESPACE
from steelyard.errors import BadInput
from steelyard.escape import printable
from steelyard.experiment.schema import Duet
from steelyard.host.checkout import are_of_checkout
from steelyard.paths import IS_RELEASE
from steelyard.report.terminal import render_summary
from steelyard.report.verdict import answer_of
from steelyard.results.gate import read_result
from steelyard.results.store import SessionDirectory
from steelyard.session.plan import RunRequest, SessionPlan
from steelyard.session.runtimes import ClusterTarget
from steelyard.spec.layout import FIRST_PORT
from steelyard.units import format_duration
from steelyard.workload.loader import workload_file
from steelyard.workload.trust import is_kept, is_trusted, keep, keep_trust

ExperimentArgument = Annotated[
    str,
    Argument(
        metavar="EXPERIMENT",
        help="Name of a file in experiments/ (see `list`), or a path to one.",
        autocompletion=completion.experiments,
    ),
]
SessionArgument = Annotated[
    Path, Argument(metavar="DIR", help="Session directory, results/<experiment>-<time>.")
]
QuickOption = Annotated[
    bool, Option("--quick", help="Fewer levels and blocks, short windows: an indication.")
]
BlocksOption = Annotated[
    int | None,
    Option("--blocks", metavar="N", help="Blocks: how often every arm is run.", show_default=False),
]
SetOption = Annotated[
    list[str],
    Option(
        "--set",
        metavar="FACTOR=LEVELS",
        help="Other levels of a factor (jvms=1,2,8), a new factor (gc_threads=1,2), or a fixed setting (users=24)."
        " May be given several times.",
        show_default=False,
    ),
]
EngineOption = Annotated[
    str | None,
    Option(
        "--engine",
        metavar="ENGINE",
        help="process (no containers), compose or kubernetes; several, with a comma between, are compared.",
        show_default="what the experiment says, else process",
    ),
]
WorkloadOption = Annotated[
    str | None,
    Option(
        "--workload",
        metavar="WORKLOAD",
        help="Another workload than the experiment's: a name, or the path of a workload file.",
        autocompletion=completion.workloads,
        show_default=False,
    ),
]
SeedOption = Annotated[
    int | None, Option("--seed", metavar="N", help="Seed of the order of trials.", show_default="drawn")
]
OutOption = Annotated[
    Path, Option("--out", metavar="DIR", help="Where sessions are kept.", show_default="results/")
]
ResumeOption = Annotated[
    bool,
    Option("--resume", help="Go on with the last session of the same command in --out, if it has not ended."),
]
OpenReportOption = Annotated[bool, Option("--open", help="Open the report in the browser at the end.")]
JdkOption = Annotated[
    Path | None,
    Option(
        "--jdk",
        metavar="JDK",
        help="JDK of the servers: a name that `doctor` lists, or a path.",
        show_default="JAVA_HOME, else java on PATH",
    ),
]
PortOption = Annotated[
    int, Option("--port", metavar="P", min=1024, max=65000, help="Port of the first server.")
]
MetricsPortOption = Annotated[
    int | None,
    Option(
        "--metrics-port",
        metavar="P",
        min=1024,
        max=65535,
        help="Serve live figures for Prometheus on http://127.0.0.1:P/metrics.",
        show_default="none",
    ),
]
OtlpOption = Annotated[
    str | None,
    Option(
        "--otlp-endpoint",
        metavar="URL",
        help="Send session, trials and figures to a receiver of OpenTelemetry (OTLP over HTTP, JSON).",
        show_default="OTEL_EXPORTER_OTLP_ENDPOINT",
    ),
]
ProfileOption = Annotated[
    list[str],
    Option(
        "--profile",
        metavar="PROFILER",
        help="cpu, alloc, lock or wall (flame graphs, and what changed most), jfr, perf or javacore: more trials of"
        " each arm after the last block, watched by it, in no average. May be given several times.",
        show_default=False,
    ),
]
ProfileStartsOption = Annotated[
    int,
    Option(
        "--profile-starts",
        metavar="N",
        min=1,
        max=50,
        help="Starts of each arm that cpu, alloc, lock and wall watch; from four on methods are named by a test.",
    ),
]
CountersOption = Annotated[
    list[str],
    Option(
        "--counters",
        metavar="COUNTER",
        help="What perf has to count of each component, as instructions or dtlb_misses (docs/metrics.md); all: what"
        " this host has. May be given several times.",
        show_default=False,
    ),
]
ContextOption = Annotated[
    str | None,
    Option(
        "--context",
        metavar="NAME",
        help="Context of kubectl: the cluster of --engine kubernetes.",
        show_default="the current one",
    ),
]
NamespaceOption = Annotated[
    str, Option("--namespace", metavar="NAME", help="Namespace in it, which must be there.")
]
DuetOption = Annotated[
    bool,
    Option(
        "--duet",
        help="Run both sides of a pair at once, each on half of the cores, for hosts that others disturb.",
    ),
]
InTurnsOption = Annotated[
    bool,
    Option(
        "--in-turns",
        help="Run both sides of a pair on all cores, each frozen while the other runs, in turns of 0.25 s: for hosts"
        " whose speed changes from second to second.",
    ),
]
PoolOption = Annotated[
    str | None,
    Option(
        "--pool",
        metavar="NAME",
        help="Name of many hosts that are alike (CI runners), which count as one.",
        show_default="this host alone",
    ),
]
CertificatesOption = Annotated[
    Path | None,
    Option(
        "--certificates",
        metavar="DIR",
        help="Where noise certificates are kept.",
        show_default="certificates/ in --out",
    ),
]
GateExperimentArgument = Annotated[
    str,
    Argument(
        metavar="[EXPERIMENT]",
        help="How to compare: workload, load, procedure, metrics.",
        autocompletion=completion.experiments,
    ),
]
TrustOption = Annotated[
    bool,
    Option(
        "--trust",
        envvar="STEELYARD_TRUST",
        help="Run what a workload or an experiment file that is not of this checkout names, or a session that was not"
        " begun here, now and as long as it stays as it is.",
    ),
]
JsonOption = Annotated[bool, Option("--json", help="Print JSON on standard output.")]


MakeRequest = Callable[..., RunRequest]
"""Makes a command's request of the options of `_session_options`; the command adds the experiment and its own."""


def _session_options(
    quick: QuickOption = False,
    workload: WorkloadOption = None,
    set_: SetOption = [],  # noqa: B006 - typer reads the default, nothing changes it
    engine: EngineOption = None,
    jdk: JdkOption = None,
    seed: SeedOption = None,
    port: PortOption = FIRST_PORT,
    context: ContextOption = None,
    namespace: NamespaceOption = NAMESPACE,
    trust: TrustOption = False,
) -> MakeRequest:
    """The options of every command that makes a session."""
    # `--engine` is a short way to say one of the settings.
    settings = [*set_, f"engine={engine}"] if engine is not None else set_
    return partial(
        RunRequest,
        quick=quick,
        workload=workload,
        settings=settings,
        jdk=jdk,
        seed=seed,
        first_port=port,
        target=ClusterTarget(context, namespace),
        trust=trust,
        approve=partial(_require_trusted_experiment, trust=trust),
        argv=sys.argv[1:],
    )


def with_session_options(command: Callable[..., None]) -> Callable[..., None]:
    """Put the options of `_session_options` in the place of a command's parameter `make_request`, which they make."""
    shared, own = signature(_session_options).parameters, signature(command).parameters
    after = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in shared.values()]

    @wraps(command)
    def run_command(**options: Any) -> None:
        make_request = _session_options(**{name: options.pop(name) for name in shared})
        command(make_request=partial(make_request, results=options.get("out")), **options)

    # What typer reads of a command.
    run_command.__signature__ = Signature(  # type: ignore[attr-defined]
        [*(parameter for name, parameter in own.items() if name != "make_request"), *after]
    )
    return run_command


def require_clone(command: str) -> None:
    """Raise BadInput where this is an installed release, which has no sources."""
    if IS_RELEASE:
        raise BadInput(f"`{command}` works on the sources: clone the repository, and run it there")


def require_trust(workload: str, trust: bool) -> None:
    """Run no command of a workload file of somebody else before a person agreed.

    Raises:
        BadInput: nobody did, and there is no terminal to ask on.
        typer.Abort: the person did not.
    """
    path = workload_file(workload)
    if not is_trusted(path, are_of_checkout) and _agrees(
        f"{path} is not of this checkout, and its commands run as you", trust
    ):
        keep_trust(path)


def _require_trusted_experiment(path: Path, trust: bool) -> None:
    """Run no JDK and no JVM option of an experiment file of somebody else before a person agreed (raises as
    `require_trust`)."""
    if not are_of_checkout([path.resolve()]):
        said = f"{path} is not of this checkout, and its JDKs and JVM options can run any program as you"
        _require_kept(path.resolve(), said, trust)


def require_trusted_session(directory: SessionDirectory, trust: bool) -> None:
    """Resume no session that was not begun here before a person agreed: what runs is what its record says (raises as
    `require_trust`)."""
    record = directory.path / "session.json"
    _require_kept(record, f"{record} was not written here, and its commands run as you", trust)


def _require_kept(path: Path, said: str, trust: bool) -> None:
    """Ask of a file unless a person agreed to its content before, and keep the answer (raises as `require_trust`)."""
    if not is_kept([path]) and _agrees(said, trust):
        keep([path])


def _agrees(said: str, trust: bool) -> bool:
    """Ask whether commands may be run: True is an answer to keep, False one of this environment alone."""
    if trust:
        return "STEELYARD_TRUST" not in os.environ
    if not is_terminal(sys.stdin):
        raise BadInput(f"{said}: read it, then pass --trust")
    typer.confirm(f"{printable(said)}. Run them?", abort=True, err=True)
    return True


def duet_of(duet: bool, in_turns: bool) -> Duet:
    """How the sides of a pair run."""
    return "in-turns" if in_turns else duet


def certificates_in(given: Path | None, out: Path) -> Path:
    """The folder of noise certificates."""
    return given if given is not None else out / "certificates"


def expected_time(plan: SessionPlan) -> str:
    """How long a session will take, for people."""
    low, high = (format_duration(seconds) for seconds in plan.expected_seconds())
    here = "" if plan.overrun is None else ", as trials took here before"
    return (low if low == high else f"{low} to {high}") + here


def conclude(directory: SessionDirectory, as_json: bool, **more: object) -> None:
    """Print what a session found: the headline for people, or the answer and the whole analysis as JSON."""
    session, analysis, trials = directory.session(), directory.analysis(), directory.trials()
    verdict = read_result(directory.path)
    if as_json:
        answer = answer_of(session, analysis, verdict)
        print_json({**more, "answer": answer, "analysis": analysis.model_dump(mode="json")})
    else:
        open_console().print(render_summary(session, analysis, trials, directory.journal(), verdict))
