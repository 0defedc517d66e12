# SPDX-License-Identifier: Apache-2.0
"""The pages as HTML, with the report's style, tables and escaping."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from steelyard.analysis.across import Side, differences
from steelyard.gate.history import Entry, read_acknowledged, series_of
from steelyard.gate.plan import OTHER_METRICS
from steelyard.report.comparing import host_name, no_cause, side_by_side
from steelyard.report.pages import make_environment, page_style
from steelyard.report.verdict import answer_of
from steelyard.report.view import moment
from steelyard.results import figures
from steelyard.results.gate import GateResult
from steelyard.results.schema import Session
from steelyard.serve.filters import Filters, choices
from steelyard.serve.index import SessionRow
from steelyard.serve.live import LiveState
from steelyard.serve.plot import plot_rates

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> Environment:
    environment = make_environment(_TEMPLATES)
    environment.globals["moment"] = moment
    return environment


def _render(template: str, **context: object) -> str:
    return _environment().get_template(f"{template}.html.j2").render({"place": "", **context})


def style_sheet() -> str:
    """The style sheet of all pages."""
    return page_style() + (_TEMPLATES / "site.css").read_text(encoding="utf-8")


def script() -> str:
    """What pages do at once that they could do on a click."""
    return (_TEMPLATES / "serve.js").read_text(encoding="utf-8")


def sessions_page(
    rows: Sequence[SessionRow],
    filters: Filters,
    live: SessionRow | None,
    folder: Path,
    state: LiveState | None = None,
) -> str:
    """The list.

    Args:
        rows: all of them.
        filters: which are shown.
        live: the session that runs now.
        folder: where they lie.
        state: how far the session that runs is; None: not known.
    """
    return _render(
        "sessions",
        place="Sessions",
        rows=[row for row in rows if filters.admit(row)],
        all=len(rows),
        choices=choices(rows),
        filters=filters,
        live=live,
        state=state,
        folder=str(folder),
    )


def comparison_page(
    names: Sequence[str], sides: tuple[Side, Side], verdicts: tuple[GateResult | None, GateResult | None]
) -> str:
    """Two sessions side by side: the tables of `compare`, or why there are none.

    Args:
        names: of their folders.
        sides: the sessions.
        verdicts: of those that are gates.
    """
    reasons = differences(*(side.session for side in sides))
    return _render(
        "compare",
        names=names,
        sides=sides,
        hosts=[host_name(side.session) for side in sides],
        answers=[
            answer_of(side.session, side.analysis, verdict)
            for side, verdict in zip(sides, verdicts, strict=True)
        ],
        reasons=reasons,
        compared=[] if reasons else side_by_side(*sides),
        no_cause=no_cause(*sides),
    )


def history_page(entries: Sequence[Entry], folder: Path | None) -> str:
    """Figures over commits.

    Args:
        entries: of sessions, in the order of time.
        folder: of a history, whose acknowledged changes count; None: there is none.
    """
    # Charts take half a second to load, which nobody pays who does not look at them.
    from steelyard.gate.history_page import to_body  # noqa: PLC0415

    known = read_acknowledged(folder) if folder is not None else []
    series = series_of(entries, known, OTHER_METRICS)
    body = Markup(to_body(series, "Performance over commits")) if series else ""
    return _render("history", place="History", body=body)


def live_page(name: str, path: Path, session: Session, state: LiveState, *, has_report: bool) -> str:
    """A session while it runs; or, without a report, what there is of it."""
    return _render("live", **_live(name, path, session, state), has_report=has_report)


def live_part(name: str, path: Path, session: Session, state: LiveState) -> str:
    """The part of that page that changes."""
    return _render("live_part", **_live(name, path, session, state))


def _live(name: str, path: Path, session: Session, state: LiveState) -> dict[str, object]:
    rate = figures.number(state.rates[-1][1]) if state.rates else ""
    plot = plot_rates(state.rates)
    return {
        "name": name,
        "path": str(path),
        "session": session,
        "state": state,
        "plot": plot,
        "now_rate": rate,
    }


def problem_page(heading: str, sentence: str) -> str:
    """What went wrong, in a sentence."""
    return _render("problem", heading=heading, sentence=sentence)


def report_bar(live: bool) -> bytes:
    """What stands above a report: the way back."""
    return _render("report_bar", live=live).encode()
