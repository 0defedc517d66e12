# SPDX-License-Identifier: Apache-2.0
"""`host show`, `set`, `prepare` and `restore`: host states outside of sessions, by one command and back by another."""

import grp
import os
import sys
from typing import Annotated

import typer
from typer import Argument, Option

from steelyard.cli.console import is_terminal, open_console, print_json, print_line, print_sentence
from steelyard.cli.options import JsonOption
from steelyard.errors import BadInput
from steelyard.host import preparing
from steelyard.host.lock import host_lock
from steelyard.host.states import STATES, find_state
from steelyard.host.switching import put_back
from steelyard.host.system import System
from steelyard.units import format_size, parse_size

app = typer.Typer(
    help="Set states of this host, or prepare it for large pages, and put it back as it was.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_WHAT = {
    "huge_pages": "pages that are kept for those who ask; everybody else has so much less memory",
    "shm_group": "the group that may take them as shared memory (OpenJ9)",
    "shmmax": "the largest piece of shared memory, in bytes (OpenJ9's heap)",
}


@app.command()
def prepare(
    target: Annotated[
        str, Argument(metavar="large-pages", help="What to prepare the host for: large-pages.")
    ],
    heap: Annotated[str, Option("--heap", metavar="SIZE", help="Heap of each JVM, for example 3g.")],
    jvms: Annotated[int, Option("--jvms", metavar="N", min=1, max=256, help="JVMs that run at once.")] = 1,
    node: Annotated[
        int | None,
        Option("--node", metavar="N", min=0, help="Take memory of this NUMA node.", show_default="all nodes"),
    ] = None,
    group: Annotated[
        str | None,
        Option("--group", metavar="GROUP", help="Who runs the JVMs.", show_default="of the user of sudo"),
    ] = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Reserve large pages for JVMs, and let them be taken; says what it will do, and asks.

    What was there is recorded; `host restore` puts it back. Needs root (sudo).
    """
    if target != "large-pages":
        raise BadInput(f"a host can be prepared for large-pages, not for {target!r}: `host set` sets a state")
    try:
        size = parse_size(heap)
    except ValueError as error:
        raise BadInput(f"--heap {heap}: {error}") from error
    if size <= 0:
        raise BadInput(f"--heap {heap}: a heap has a size above zero, for example 3g")
    system, console = System(), open_console()
    need = preparing.need_of([size] * jvms, system)
    wanted = preparing.wanted_states(need, system, node, _group(group))
    print_line(
        console,
        f"{need.pages} pages of {format_size(need.size)} for {jvms} x {format_size(size)} of heap, its code and its"
        " collector's tables:",
    )
    changes = {name: value for name, value in wanted.items() if STATES[name].read(system) != value}
    for name, value in changes.items():
        print_line(console, f"  {name}: {STATES[name].read(system)} -> {value}   ({_WHAT[name]})")
    print_line(console, "  memlock: as it is (neither root, nor members of the group, nor HotSpot need it)")
    if not changes:
        print_line(console, "nothing to do: this host is as it should be")
        return
    for name in changes:
        STATES[name].require(system)
    if not yes:
        if not is_terminal(sys.stdin):
            raise BadInput("no terminal to confirm on: pass --yes")
        typer.confirm("Do it?", abort=True)
    with host_lock():
        preparing.prepare(system, wanted, need)
    print_line(console, "done; ./steelyard host restore puts it back")


@app.command()
def show(as_json: JsonOption = False) -> None:
    """Show every host state: what it is now, and what it takes; of those that this host does not have, why."""
    system = System()
    rows = [
        {
            "state": name,
            "now": state.read(system),
            "takes": state.allowed,
            "says": state.observation(system).state,
        }
        for name, state in STATES.items()
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        value = (
            f"{row['now']}   (takes {row['takes']})" if row["now"] is not None else f"not here: {row['says']}"
        )
        print_sentence(open_console(), f"{row['state']}: {value}")


@app.command(name="set")
def set_(
    states: Annotated[list[str], Argument(metavar="STATE=VALUE...", help="As `host show` lists them.")],
) -> None:
    """Set host states, one after the other; `host restore` puts back what was there.

    Needs root, or the program that docs/host-states.md tells of.
    """
    system, wanted = System(), dict[str, str]()
    for text in states:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"{text!r} is not of the form STATE=VALUE, for example governor=performance")
        wanted[name] = find_state(name).value(system, value)
    for name in wanted:
        STATES[name].require(system)
    with host_lock():
        preparing.prepare(system, wanted)
    for name in wanted:
        typer.echo(
            f"{name} is {STATES[name].read(system)}; ./steelyard host restore puts back what was there"
        )


@app.command()
def restore() -> None:
    """Put back what `host set` and `host prepare` changed, and what a killed session left."""
    system = System()
    with host_lock():
        sentences = put_back(system)
        sentences += [f"{name} is {value} again" for name, value in preparing.restore(system).items()]
    for sentence in sentences or ["nothing to put back: this host is as it was"]:
        typer.echo(sentence)


def _group(group: str | None) -> int | None:
    """The group that may take large pages; None for root, who may anyway."""
    if group is None:
        return int(os.environ.get("SUDO_GID", "0")) or os.getgid() or None
    try:
        return int(group) if group.isdecimal() else grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise BadInput(f"--group {group}: this host has no such group") from error
