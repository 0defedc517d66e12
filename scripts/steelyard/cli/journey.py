# SPDX-License-Identifier: Apache-2.0
"""`journey try` and `journey from-har`: journeys of workload files, before they are run."""

import re
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from steelyard.cli.building import ensure_build
from steelyard.cli.console import open_console, print_json, print_line
from steelyard.cli.options import JdkOption, JsonOption
from steelyard.cli.workload import WorkloadArgument
from steelyard.errors import BadInput, Exit
from steelyard.experiment.matrix import fixed_arm
from steelyard.experiment.settings import Settings
from steelyard.host.java import find_hotspot, find_jdk
from steelyard.paths import is_there
from steelyard.recording.har import read_har
from steelyard.recording.writer import JourneyWriter
from steelyard.results.store import write_atomic
from steelyard.session import workload_up
from steelyard.session.journey_try import journey_of, run_try, summary_lines, try_settings
from steelyard.spec.injectors import PACKAGE as INJECTOR
from steelyard.workload.loader import load_workload
from steelyard.workload.trust import keep_trust

app = typer.Typer(
    help="Journeys of workload files: try one, make one of a recording.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command("try")
def try_(
    workload: WorkloadArgument,
    url: Annotated[
        str | None,
        Option("--url", metavar="URL", help="Server to ask.", show_default="what `up` has started"),
    ] = None,
    visit: Annotated[
        str | None, Option("--visit", metavar="NAME", help="This one alone.", show_default="each once")
    ] = None,
    topology: Annotated[
        str | None,
        Option("--topology", metavar="NAME", help="Whose journey.", show_default="the workload's first"),
    ] = None,
    set_: Annotated[
        list[str],
        Option("--set", metavar="SETTING=VALUE", help="A setting of the workload.", show_default=False),
    ] = [],  # noqa: B006 - typer reads the default, nothing changes it
    jdk: JdkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have one user make each visit once, and print requests, answers and what was saved.

    The operation that failed is printed in full. The exit code is 12 if one did, or if none was sent.
    """
    if url is not None and not re.match(r"https?://[^/\s]", url):
        raise BadInput(f"--url {url}: write it with http://, for example http://127.0.0.1:9080")
    loaded = load_workload(workload).workload
    chosen = [f"topology={topology}"] if topology is not None else []
    arm = fixed_arm(workload, Settings(loaded, {}), [*chosen, *set_])
    name, chosen_topology = loaded.topology(topology)
    journey_of(chosen_topology, visit)
    resolved = loaded.resolve_settings(name, dict(arm.settings))
    values = {key: loaded.settings[key].substitute(value) for key, value in resolved.items()}
    settings = try_settings(chosen_topology, values, url or _url_of_up(loaded.name), visit)
    console = open_console(stderr=True)
    java = find_jdk(jdk)
    package = ensure_build(console, java, packages=[INJECTOR]) / INJECTOR
    with console.status("one user is at work"):
        operations = run_try(settings, package, find_hotspot(java))
    if as_json:
        print_json([operation.model_dump() for operation in operations])
    else:
        output = open_console()
        for line in summary_lines(operations):
            print_line(output, line)
    if not operations or any(operation.failed for operation in operations):
        raise typer.Exit(Exit.CHECK_FAILED)


@app.command("from-har")
def from_har(
    file: Annotated[Path, Argument(metavar="FILE", help="A recording that a browser has saved (HAR).")],
    to: Annotated[
        Path | None,
        Option("--to", metavar="FILE", help="Workload file to write.", show_default="standard output"),
    ] = None,
    host: Annotated[
        str | None,
        Option(
            "--host",
            metavar="HOST[:PORT]",
            help="Whose requests are kept.",
            show_default="that of the first page",
        ),
    ] = None,
) -> None:
    """Make a workload file with a journey of a browser's recording.

    Static files become parts of their pages, values that answers gave are saved and sent back, forms are submitted
    with what the page says; a comment says where it had to guess.
    """
    text = JourneyWriter(read_har(file), host).text()
    if to is None:
        typer.echo(text, nl=False)
        return
    if is_there(to):
        raise BadInput(f"{to} is there already: give another name")
    write_atomic(to, text)
    keep_trust(to)


def _url_of_up(workload: str) -> str:
    up = workload_up.current()
    if up is None:
        raise BadInput(f"no server to ask: start it with ./steelyard up {workload}, or give --url")
    return up.proxy or up.servers[0].url
