# SPDX-License-Identifier: Apache-2.0
"""The report as an HTML page (one file, no network) and, in short, as Markdown: one template each.

The page is whole without its script, which adds values where the pointer rests, arms that can be switched off, and
tables that can be sorted. The page's own policy lets that script run and no other.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

from steelyard.escape import for_code, for_markdown, printable
from steelyard.report import charts, procedures, records, tables
from steelyard.report.caveats import caveats, shown_caveats
from steelyard.report.first_screen import first_screen
from steelyard.report.hardware import hardware_table
from steelyard.report.jvm import jvm_table
from steelyard.report.moved import moved_table
from steelyard.report.profiles import omission_notes, profile_tables
from steelyard.report.search_chart import search_levels, search_paths
from steelyard.report.study import study_table
from steelyard.report.table import TableCell
from steelyard.report.view import View, trial_directory
from steelyard.results import figures

_TEMPLATES = Path(__file__).parent / "templates"
_UNIT = r"(?:%|MiB|GiB|req/s|requests/s|ms|s|CPU s|blocks|trials|cores)(?![\w])"


def to_html(view: View) -> str:
    """The page, whole."""
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    digest = f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
    page = _environment().get_template("report.html.j2")
    return page.render(view=view, style=Markup(page_style()), script=Markup(script), script_hash=digest)


def to_markdown(view: View) -> str:
    """The report, compact enough for a comment on a change."""
    return _environment().get_template("report.md.j2").render(view=view)


def page_style() -> str:
    """The style sheet that all pages share."""
    return (_TEMPLATES / "style.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = make_environment()
    environment.globals |= {"tables": tables, "charts": charts, "procedures": procedures, "records": records}
    functions = (
        *(caveats, shown_caveats, first_screen, omission_notes, profile_tables),
        *(search_levels, search_paths),
        *(hardware_table, jvm_table, moved_table, study_table, trial_directory),
    )
    environment.globals |= {function.__name__: function for function in functions}
    return environment


def make_environment(*folders: Path) -> Environment:
    """Templates of these folders beside those of the report: escaped, and without control characters."""
    environment = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters |= {
        "typeset": typeset,
        "plain": _plain,
        "code": for_code,
        "stressed": _markdown_cell,
        "count": figures.count,
    }
    return environment


def typeset(text: str) -> str:
    """Signs for reading: a real minus before figures, and no line break between a figure and its unit."""
    text = re.sub(r"(?<![\w.])-(?=\d)", "\N{MINUS SIGN}", printable(text))
    text = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    return re.sub(rf"(\d) (?={_UNIT})", "\\1\N{NO-BREAK SPACE}", text)


@pass_eval_context
def _finalize(context: EvalContext, value: object) -> object:
    """Text of the page without control characters; what is markup already stays, as does Markdown (`_plain`)."""
    return printable(value) if context.autoescape and type(value) is str else value


def _plain(raw: object) -> str:
    """Text that Markdown shows as it is, on one line."""
    return for_markdown(str(raw))


def _markdown_cell(cell: TableCell) -> str:
    """A cell of a Markdown table."""
    lines = [_plain(line) for line in (cell.text, *cell.notes)]
    if cell.bold is not None:
        lines[cell.bold] = f"**{lines[cell.bold]}**"
    return "<br>".join(filter(None, lines))
