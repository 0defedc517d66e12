# SPDX-License-Identifier: Apache-2.0
"""`serve`: pages for all sessions in the browser."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated

from typer import Option

from steelyard.cli import options
from steelyard.cli.console import open_console, print_line
from steelyard.errors import BadInput
from steelyard.paths import CACHE, RESULTS, is_folder

PORT = 8470


def serve(
    out: options.OutOption = RESULTS,
    port: Annotated[
        int, Option("--port", metavar="PORT", min=0, max=65535, help="Port on loopback; 0: any.")
    ] = PORT,
    history: Annotated[
        Path | None,
        Option(
            "--history",
            metavar="FOLDER",
            help="A history of `history add`.",
            show_default="the gates in --out alone",
        ),
    ] = None,
    open_: Annotated[bool, Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show all sessions in the browser: answers, comparisons, the history of gates, the session that runs.

    On loopback, for this machine alone; it reads and changes nothing. Ctrl-C ends it.
    """
    # Templates take time to load, which the other commands do not pay.
    from steelyard.serve.server import Server  # noqa: PLC0415
    from steelyard.serve.site import Site  # noqa: PLC0415

    for folder, option in ((out, "--out"), (history, "--history")):
        if folder is not None and not is_folder(folder):
            raise BadInput(
                f"{folder} is no folder: give one with {option}"
                + (", or run a session first: ./steelyard run jvm-count --quick" if option == "--out" else "")
            )
    os.nice(19)  # a session that measures beside it comes first
    site = Site(out, history, CACHE / "sessions.json")
    with Server(site, port) as server:
        console = open_console()
        sessions = len(site.index.rows())
        print_line(console, f"{sessions} sessions of {out}: {server.address}  (Ctrl-C ends it)")
        if open_:
            show(server.address)
        server.serve_forever()


def show(address: str) -> None:
    """Open an address in the browser; where there is none, say so."""
    if not webbrowser.open(address):
        print_line(open_console(stderr=True), f"no browser could be started here: open {address}")
