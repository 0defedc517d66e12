# SPDX-License-Identifier: Apache-2.0
"""The HTML page: one file, no network, no scripts."""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from steelyard.report import charts, procedures, records, tables
from steelyard.report.search_chart import search_paths
from steelyard.report.view import View

_TEMPLATES = Path(__file__).parent / "templates"
_UNIT = r"(?:%|MiB|GiB|req/s|requests/s|ms|s|CPU s|blocks|trials|cores)(?![\w])"


def to_html(view: View) -> str:
    """The page, whole."""
    template = _environment().get_template("report.html.j2")
    return template.render(
        view=view,
        style=Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8")),
        headline=tables.main(view),
        searches=tables.searches(view)[1:],
        search_paths=search_paths(view),
        survival=tables.survival(view),
        survival_chart=charts.survival(view),
        overview=charts.overview(view),
        ramp=procedures.ramp_up(view),
        ramp_cpu=procedures.ramp_cpu(view),
        ramp_tables=tables.ramp_up(view),
        start_up=procedures.start_up(view),
        traces=procedures.traces(view),
        start_table=tables.startup(view),
        latencies=[
            (tables.latency(view, name), charts.latency(view, name, f"latency-{index}"))
            for index, name in enumerate(view.operations)
        ],
        cpu_table=tables.cpu_by_group(view),
        cpu_chart=charts.cpu_by_group(view),
        gc_table=tables.gc(view),
        detectable=tables.detectable(view),
        estimates=tables.estimates(view),
        ledger=records.ledger(view),
        failures=records.failures(view),
        void_trials=records.void_trials(view),
        not_judged=records.not_judged(view),
        schedule=records.schedule(view),
        deployment=records.deployment(view),
        facts=[records.design(view), records.host(view), records.software(view)],
        replay=records.replay_example(view),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["typeset"] = typeset
    return environment


def typeset(text: str) -> str:
    """Signs for reading: a real minus before figures, and no line break between a figure and its unit."""
    text = re.sub(r"(?<![\w.])-(?=\d)", "\N{MINUS SIGN}", text)
    text = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    return re.sub(rf"(\d) (?={_UNIT})", "\\1\N{NO-BREAK SPACE}", text)
