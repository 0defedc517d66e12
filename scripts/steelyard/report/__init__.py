# SPDX-License-Identifier: Apache-2.0
"""Tables, charts, HTML, Markdown, CSV and benchstat lines; reads results only."""

from pathlib import Path

from steelyard.report.plain import to_benchstat, to_csv
from steelyard.report.view import View
from steelyard.results.gate import read_result
from steelyard.results.store import SessionDirectory, write_atomic


def write_report(directory: SessionDirectory) -> list[Path]:
    """Write report.html, report.md, report.csv and report.benchstat into a session directory.

    The same session gives the same bytes.

    Returns:
        The files written, the HTML page first.

    Raises:
        BadInput: session.json, a trial or analysis.json is missing or damaged.
        NewerFormat: written by a newer version.
        NoSpace: the files cannot be written.
    """
    # Charts take half a second to load, which commands that draw none do not pay.
    from steelyard.report.pages import to_html, to_markdown  # noqa: PLC0415
    from steelyard.report.profiles import write_flames  # noqa: PLC0415
    from steelyard.report.sampled import read_profiles  # noqa: PLC0415

    session, sampled = directory.session(), read_profiles(directory.path)
    write_flames(directory.path, session, sampled)
    view = View(
        session,
        directory.analysis(),
        directory.trials(),
        list(directory.journal()),
        directory.profiles(),
        sampled,
        read_result(directory.path),
    )
    contents = {
        "report.html": to_html(view),
        "report.md": to_markdown(view),
        "report.csv": to_csv(view),
        "report.benchstat": to_benchstat(view),
    }
    for name, content in contents.items():
        write_atomic(directory.path / name, content)
    return [directory.path / name for name in contents]
