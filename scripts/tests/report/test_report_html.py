# SPDX-License-Identifier: Apache-2.0
"""The HTML page: well-formed, self-contained, small, complete, and free of holes, for very different sessions."""

import random
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sample
import sample_procedures
from builders import make_experiment

from steelyard.report import records, tables, write_report
from steelyard.report.caveats import caveats, shown_caveats
from steelyard.report.pages import to_html, typeset
from steelyard.report.view import View, trial_name
from steelyard.results.analysis import Analysis
from steelyard.results.schema import JournalEntry, Trial
from steelyard.results.spec import Artifact

PLANS = {
    "study": sample.study_plan,
    "two-arms": sample.two_arm_plan,
    "two-factors": sample.two_factor_plan,
    "poor": sample.poor_plan,
    "ramp-up": sample_procedures.ramp_up_plan,
    "start-up": sample_procedures.start_up_plan,
    "jitserver": sample_procedures.jitserver_plan,
    "survive": sample_procedures.survive_plan,
}
VOID_TAGS = {"meta", "br"}


class Page(HTMLParser):
    """Text, identifiers, references and headings of a page; complains about tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.headings: list[int] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), f"an attribute twice in <{tag}>"
        self.ids += [str(found["id"])] if "id" in found else []
        self.references += [str(found[key]) for key in ("href", "src", "xlink:href") if key in found]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg":
            self.images.append(found)
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)


@pytest.fixture(scope="module", params=[*sorted(PLANS), "capacity"])
def page(request: pytest.FixtureRequest) -> tuple[View, str]:
    return draw(request.param)


@cache
def draw(name: str) -> tuple[View, str]:
    """A sample session and its page: drawing takes seconds."""
    if name == "capacity":
        session, trials, analysis = sample_procedures.capacity()
        view = View(session, analysis, trials)
    else:
        view = sample.make_view(PLANS[name]())
    return view, to_html(view)


def test_is_well_formed_and_names_each_thing_once(page: tuple[View, str]) -> None:
    parsed = Page(page[1])
    assert len(parsed.ids) == len(set(parsed.ids))
    targets = {reference[1:] for reference in parsed.references}
    assert targets <= set(parsed.ids)
    labelled = {part for image in parsed.images for part in str(image["aria-labelledby"]).split()}
    assert labelled <= set(parsed.ids)
    assert all(image["role"] == "img" for image in parsed.images)


def test_headings_skip_no_level(page: tuple[View, str]) -> None:
    headings = Page(page[1]).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(headings))


def test_needs_no_network_and_is_small(page: tuple[View, str]) -> None:
    html = page[1]
    assert all(reference.startswith("#") for reference in Page(html).references)
    assert not re.search(r"@import|url\((?!#)|<script |<link|<iframe|<img|fetch\(|XMLHttp|import\(", html)
    assert len(html.encode()) < 500_000


def test_its_own_script_is_the_only_one_that_its_policy_lets_run(page: tuple[View, str]) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", page[1], re.DOTALL)
    allowed = f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src '{allowed}'" in page[1]


def test_has_no_holes(page: tuple[View, str]) -> None:
    text = " ".join(Page(page[1]).text)
    assert not re.search(r"\b(None|(?i:nan|inf|undefined))\b", text)  # `none` is a level of the class cache
    assert not re.search(r"\b(nan|inf)\b", " ".join(re.findall(r'd="([^"]+)"', page[1])))


def test_takes_all_chart_colours_from_the_page(page: tuple[View, str]) -> None:
    for svg in re.findall(r"<svg.*?</svg>", page[1], flags=re.DOTALL):
        assert not re.search(r"#[0-9a-f]{6}\b", svg)
        assert "font-family" not in svg
        for text in re.findall(r"<text[^>]*>", svg):
            assert "fill: var(--chart-" in text
    used = set(re.findall(r"var\((--[\w-]+)\)", page[1]))
    light, dark = (set(re.findall(r"(--[\w-]+):", part)) for part in _themes(page[1]))
    assert used <= light
    assert light == dark


def _themes(html: str) -> tuple[str, str]:
    light = re.search(r":root \{(.*?)\}", html, re.DOTALL)
    dark = re.search(r"prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", html, re.DOTALL)
    assert light
    assert dark
    return light[1], dark[1]


def test_shows_every_figure_of_the_headline_and_of_the_estimates(page: tuple[View, str]) -> None:
    view, html = page
    text = _plain(" ".join(Page(html).text))
    shown = [tables.main(view), *tables.searches(view), *tables.ramp_up(view), records.deployment(view)]
    for table in (*shown, *([] if view.analysis.searches else [tables.estimates(view)])):
        for cell in (cell for row in table.rows for cell in row):
            for line in (cell.text, *cell.notes):
                assert _plain(line) in text
    for sentence in (*view.answer, *caveats(view)):
        assert _plain(sentence) in text


def _plain(text: str) -> str:
    return " ".join(typeset(text).replace("\N{NO-BREAK SPACE}", " ").split())


def test_never_says_no_difference_without_what_cannot_be_ruled_out(page: tuple[View, str]) -> None:
    for part in re.findall(r"<p>.*?</p>", page[1], flags=re.DOTALL):
        if "no difference" in part.lower():
            assert re.search(r"rule out|ruled out", part)


def test_lists_every_trial_and_every_failed_check(page: tuple[View, str]) -> None:
    view, html = page
    ledger = records.ledger(view)
    assert len(ledger.rows) == len(view.trials)
    assert sum(row[0].style == "void" for row in ledger.rows) == view.analysis.void_trials
    text = _plain(" ".join(Page(html).text))
    for check in (check for trial in view.trials for check in trial.checks if check.has_failed):
        assert _plain(check.detail) in text
    for trial in view.trials:
        assert trial.failure is None or trial.failure.detail in text


def test_names_void_trials_in_the_charts() -> None:
    svgs = re.findall(r"<svg.*?</svg>", draw("study")[1], flags=re.DOTALL)
    assert sum("void, block 3" in svg for svg in svgs) == 3  # one for each metric over the levels


def test_names_the_folder_of_a_trial_as_it_lies_in_the_session_wherever_the_report_is_made() -> None:
    assert "<code>trials/01-" in draw("study")[1]
    assert str(Path.cwd()) not in draw("study")[1]


def test_same_session_gives_same_bytes(tmp_path: Path) -> None:
    directory = sample.write(tmp_path, sample.two_factor_plan())
    first = [path.read_bytes() for path in write_report(directory)]
    assert [path.read_bytes() for path in write_report(directory)] == first


def test_a_session_without_any_trial_yet_can_be_reported() -> None:
    plan = sample.study_plan()
    session = sample.session_of(plan)
    analysis: Analysis = sample.analyse(session, [])
    html = to_html(View(session, analysis, []))
    text = " ".join(Page(html).text)
    assert text.count("not run") == len(session.schedule)
    assert "No trial has a figure to draw." in text


def test_text_from_outside_cannot_break_out() -> None:
    plan = sample.two_arm_plan()
    plan.title = 'A <script>alert("x")</script> & more'
    html = to_html(sample.make_view(plan))
    assert html.count("<script") == 1, "its own"
    assert "A &lt;script&gt;" in html


def test_large_sessions_stay_small() -> None:
    plan = sample.study_plan()
    plan.blocks = 41
    view = sample.make_view(plan)
    assert len(view.trials) == 207
    html = to_html(view)
    assert len(html.encode()) < 2_000_000
    assert re.search(r"\d+\strials that passed every check are left out here", html)


def _titles(html: str) -> list[str]:
    return re.findall(r"<title id=[^>]*>([^<]*)</title>", html)


def test_a_ramp_up_report_draws_the_curves_and_when_shares_are_reached() -> None:
    html = draw("ramp-up")[1]
    titles = _titles(html)
    assert "throughput from the first second of load on, req/s" in titles
    assert "time to shares of the best arm&#x27;s level, s" in titles
    assert sum(title.endswith(": cores used") for title in titles) == 3
    # The mark of 80 % of the arm's own level, with the time that the table has as well.
    described = next(text for text in re.findall(r"<desc[^>]*>([^<]*)", html) if "50 % at" in text)
    assert re.search(r"class cache = warm: 50 % at \d\.\d s, 80 % at \d+\.\d s", described)
    assert "time to 80 % of the best arm&#x27;s level, s, over class cache" in titles


def test_an_arm_that_never_comes_up_to_a_share_has_no_time_and_is_named() -> None:
    plan = sample_procedures.ramp_up_plan()
    climb = plan.shape

    def cut(trial: Trial, rng: random.Random) -> dict[str, Any]:
        assert climb is not None
        changes = climb(trial, rng)
        if trial.arm.endswith("cold") and trial.block == 2:
            changes["curves"]["throughput"] = [0.7 * rate for rate in changes["curves"]["throughput"]]
        return changes

    plan.shape = cut
    view = sample.make_view(plan)
    assert any(
        "class_cache-cold came up to 80 %" in caveat and "in 5 of 6 trials" in caveat
        for caveat in caveats(view)
    )
    best = tables.ramp_up(view)[1]
    cold = next(row for row in best.rows if row[0].text == "cold")
    assert all(re.fullmatch(r"5 of 6: \d+[.]\d\d", cell.text) for cell in cold[2:5])
    assert re.fullmatch(r"\d+[.]\d\d", cold[1].text)
    page = to_html(view)
    assert "in 5 of 6 trials only" in page
    assert "no valid trial" not in page, "its trials are valid, though some have no such time"


@pytest.mark.parametrize("plan", [sample.two_arm_plan(), sample_procedures.start_up_plan()])
def test_a_quick_session_says_nothing_of_windows_that_it_may_not_have(plan: sample.Plan) -> None:
    plan.quick = True
    (text,) = (caveat for caveat in caveats(sample.make_view(plan)) if "quick" in caveat)
    assert text == "A quick session: an indication, not an answer."


def test_two_groups_of_starts_are_told_beside_the_interval() -> None:
    plan = sample_procedures.start_up_plan()
    even = plan.shape

    def slow_in_half(trial: Trial, rng: random.Random) -> dict[str, Any]:
        assert even is not None
        changes = even(trial, rng)
        if trial.arm.endswith("warm") and trial.block % 2:
            changes["first_answers"] = {key: 1.3 * value for key, value in changes["first_answers"].items()}
        return changes

    plan.shape = slow_in_half
    view = sample.make_view(plan)
    groups = r"two groups \(about 2[.]\d\d s in blocks 2, 4, 6 and about 3[.]\d\d s in blocks 1, 3, 5\)"
    said = f"trials of class cache = warm fall into {groups}"
    assert re.search(said, view.answer[0])
    assert [
        text
        for text in caveats(view)
        if re.match(f"Time to the first answer of every operation: {said}", text)
    ]


def test_a_figure_that_several_trials_lack_for_one_reason_is_told_once() -> None:
    plan = sample.two_arm_plan()

    def lose(trial: Trial, _: random.Random) -> dict[str, Any]:
        if trial.block > 2:
            return {}
        unknown = {"cpu_wait_seconds": "they ended", "threads_asleep": "they ended"}
        parts = [trial.components[0].model_copy(update={"unknown": unknown}), *trial.components[1:]]
        return {"components": parts}

    plan.shape = lose
    view = sample.make_view(plan)
    lacking = [trial for trial in view.trials if trial.components[0].unknown]
    (told,) = (text for text in caveats(view) if "they ended" in text)
    arms = ", ".join(dict.fromkeys(trial.arm for trial in lacking))
    name = view.trials[0].components[0].name
    where = f"{len(lacking)} of {len(view.trials)} trials ({arms})"
    assert told == f"cpu_wait_seconds, threads_asleep of {name}: unknown in {where}, because they ended."
    # No answer rests on them.
    assert told not in shown_caveats(view)
    before, summary, after = to_html(view).partition("<details><summary>")
    assert summary
    assert "because they ended" in after
    assert "because they ended" not in before


def test_what_is_said_of_the_baseline_alone_is_noted_once() -> None:
    about = "Time to the first answer of every operation: trials of class cache = none fall into two groups"
    view, _ = draw("start-up")
    estimates = view.analysis.estimates["first_answers_time"].values()
    assert sum("class cache = none fall into" in remark for e in estimates for remark in e.remarks) == 2
    assert sum(note.startswith(about) for note in caveats(view)) == 1


def test_a_level_without_a_mean_says_why_in_the_first_chart() -> None:
    view, html = draw("poor")
    first = html[html.index("<svg") : html.index("</svg>")]
    assert view.summary("throughput", "jvms-4") is None
    assert re.findall(r"<text[^>]*>(no valid trial)</text>", first) == ["no valid trial"]


def test_a_search_has_what_it_found_beside_its_arms() -> None:
    _, html = draw("capacity")
    arms = html[html.index('<ul class="arms"') : html.index("</ul>", html.index('<ul class="arms"'))]
    assert re.findall(r"<b>([^<]*)</b>", arms) == ["316 users", "563 users"]


def test_a_start_up_report_draws_every_operation_of_every_arm() -> None:
    html = draw("start-up")[1]
    described = next(text for text in re.findall(r"<desc[^>]*>([^<]*)", html) if "ready message" in text)
    for row in ("ready message", "first response", *sample_procedures.OPERATIONS):
        for state in sample_procedures.STATES:
            assert re.search(rf"{row}, class cache = {state}: \d\.\d\d s", described)


def test_a_survive_report_says_how_many_lived_and_what_that_speaks_for() -> None:
    view, html = draw("survive")
    assert view.answer[1] == (
        "With memory limit = 384m, 5 of 6 trials lived to the end: between 36 % and 100 % of all such trials would"
        " (exact 95 % CI)."
    )
    assert "share of trials that lived to the end" in _titles(html)


def test_a_search_draws_the_path_of_each_block_and_leaves_means_over_loads_out() -> None:
    view, html = draw("capacity")
    titles = _titles(html)
    assert [title for title in titles if title.endswith(": users")] == [
        f"JVMs = {jvms}, block {block}: users" for jvms in (1, 2) for block in (1, 2, 3)
    ]
    assert "In order: 48 passed; 96 passed; 192 passed; 384 failed" in html
    about = [title for title in titles if "over JVMs" in title or "latency" in title]
    assert about == ["users that the searches found, over JVMs"]
    drawings = [
        drawing for drawing in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if "users" in _titles(drawing)[0]
    ]
    words = [word for drawing in drawings for word in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)]
    assert "0" in words
    assert not any(re.search(r"\d\.\d", word) for word in words)  # there is no part of a user
    text = _plain(" ".join(Page(html).text))
    for result in view.analysis.searches:
        assert all(_plain(sentence) in text for sentence in result.sentences)
    assert "All estimates" not in text
    assert "No trial has a figure" not in text
    named = view.trials[0].model_copy(update={"value": 48.0, "attempt": 4})
    assert trial_name(named) == f"block 1, {named.arm}, trial 5"


def _journal(*events: str | tuple[str, str]) -> list[JournalEntry]:
    """An entry a minute; a detail stands beside its event, and a trial is of block 2."""
    details = [event if isinstance(event, tuple) else (event, None) for event in events]
    place = {"block": 2, "arm": "pages-small"}
    return [
        JournalEntry(time=1.0e9 + 60 * i, event=event, detail=detail, **(place if "trial" in event else {}))  # type: ignore[arg-type]
        for i, (event, detail) in enumerate(details)
    ]


def test_interruptions_are_named_with_what_they_met_and_why() -> None:
    full = "cannot write trials (No space left on device): free some space"
    journal = _journal(
        "session-start",
        "trial-start",
        "phase",
        ("interrupted", full),
        "session-resume",
        "trial-start",
        "trial-end",
        "session-resume",
        "interrupted",
        ("session-resume", "It went on with another kernel."),
        "session-end",
        "session-resume",
        "session-end",
    )
    assert "It went on with another kernel." in caveats(sample.make_view(sample.two_arm_plan(), journal))
    (text,) = [
        text for text in caveats(sample.make_view(sample.two_arm_plan(), journal)) if "interrupted" in text
    ]
    assert text == (
        f"The session was interrupted 3 times: 2001-09-09 01:49 UTC in block 2, pages-small ({full}), resumed"
        " 2001-09-09 01:50 UTC; 2001-09-09 01:52 UTC (its process was killed, or the host stopped),"
        " resumed 2001-09-09 01:53 UTC; 2001-09-09 01:54 UTC (Ctrl-C, or a signal to end), resumed 2001-09-09"
        " 01:55 UTC. A trial in flight ran again from its start; what changed on the host meanwhile is not known."
    )


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (("session-start", "trial-start", "phase"), "The session has not ended: it can be resumed."),
        (
            ("session-start", ("interrupted", "2 trials in a row did not start: no")),
            "The session has not ended (2 trials in a row did not start: no): it can be resumed.",
        ),
        (("session-start", "session-end"), None),
        (("session-start", "session-end", "session-resume", "session-end"), None),
    ],
)
def test_a_session_that_has_not_ended_says_why(
    events: tuple[str | tuple[str, str], ...], told: str | None
) -> None:
    sentences = caveats(sample.make_view(sample.two_arm_plan(), _journal(*events)))
    texts = [text for text in sentences if "interrupted" in text or "ended" in text]
    assert texts == ([told] if told else [])


def test_deployment_says_which_arms_differ_in_what_they_run() -> None:
    session, trials, analysis = sample.make(sample.two_arm_plan())
    other = session.arms[1]
    servers = [
        component.model_copy(
            update={"artifact": Artifact(form="image", image="example/ping@sha256:1", jvm=None)}
        )
        if component.role == "server"
        else component
        for component in other.spec.components
    ]
    spec = other.spec.model_copy(update={"components": servers})
    arms = [session.arms[0], other.model_copy(update={"spec": spec})]
    view = View(session.model_copy(update={"arms": arms}), analysis, trials)
    rows = [[cell.text for cell in row] for row in records.deployment(view).rows]
    assert [(row[0], row[2]) for row in rows] == [
        ("server", "small"),
        ("server", "transparent"),
        ("injector", "all"),
    ]
    assert "on OpenJDK" in rows[0][-1]
    assert rows[1][-1] == "example/ping@sha256:1"
    assert rows[2][5] == "0-15"


def test_checks_that_do_not_apply_are_listed_and_are_no_pass() -> None:
    view = sample.make_view(sample.two_arm_plan())
    ledger = records.ledger(view)
    marks = {column.label: mark for column, mark in zip(ledger.columns, ledger.rows[0], strict=True)}
    assert marks["arrival-rate"].style == "absent"
    assert marks["steal"].style == "passed"
    assert "arrival-rate: A closed model has no intended arrival rate." in records.not_judged(view)
    assert {count.name: count.of for count in view.analysis.ledger}["arrival-rate"] == 0


def test_a_session_with_void_trials_alone_shows_them() -> None:
    plan = sample_procedures.start_up_plan()
    plan.blocks = 2
    plan.disturbed = tuple(
        (block, f"class_cache-{state}") for block in (1, 2) for state in sample_procedures.STATES
    )
    session, trials, _ = sample.make(plan)
    void = [trial for trial in trials if trial.state == "void"]
    view = View(session, sample.analyse(session, void), void)
    assert [cell.text for cell in tables.headline(view).rows[1]] == ["cold", *["\N{EN DASH}"] * 4]
    html = to_html(view)
    assert html.count("void, block 2") >= 3
    assert 'class="group"' not in html[: html.index('id="charts"')]


def _share_memory(processes: float | None, pss: float) -> View:
    """The servers of one arm have so many processes and so much PSS of 100 MiB of RSS."""
    session, trials, analysis = sample.make(sample.two_arm_plan())

    def changed(trial: Trial) -> Trial:
        part = trial.components[0].model_copy(
            update={"processes": processes, "rss_mean": 100 * 2.0**20, "pss_mean": pss * 2.0**20}
        )
        return trial.model_copy(update={"components": [part, *trial.components[1:]]})

    return View(session, analysis, [changed(trial) for trial in trials], ())


def test_memory_that_forked_workers_share_is_said_and_counts_once_in_the_headline() -> None:
    view = _share_memory(3.0, 55.0)
    name = view.trials[0].components[0].name
    (text,) = (text for text in caveats(view) if "share memory" in text)
    assert text.startswith(f"The 3 processes of {name} share memory: their RSS adds up to 100 MiB and counts")
    assert "PSS (55 MiB) counts it once" in text
    assert "memory_pss" in [metric.name for metric in view.charted_metrics]


@pytest.mark.parametrize(("processes", "pss"), [(1.0, 55.0), (3.0, 97.0), (None, 55.0)])
def test_one_process_or_little_that_is_shared_needs_no_sentence(processes: float | None, pss: float) -> None:
    assert _share_memory(processes, pss).shared_memory == {}


def test_a_search_that_holds_a_share_has_no_trial_that_passes_or_fails() -> None:
    session, trials, analysis = sample_procedures.capacity()
    held = make_experiment(search={"hold": "cpu", "at": 0.4}).search
    session = session.model_copy(
        update={"experiment": session.experiment.model_copy(update={"search": held})}
    )
    page = to_html(View(session, analysis, trials))
    assert "smallest above it" in page
    assert "no trial passes or fails" in page
    for text in (">first that failed<", "crosses failed"):
        assert text not in page, text


def test_cells_whose_text_no_script_can_order_have_a_number_to_sort_by() -> None:
    view = sample.make_view(sample.two_arm_plan())
    metric = view.analysis.primary
    ((arm, estimate),) = view.analysis.estimates[metric].items()
    far = {"ratio": 12.0, "low": 11.5, "high": 12.5, "p": 0.00002, "p_adjusted": 0.00002}
    view.analysis.estimates[metric][arm] = estimate.model_copy(update=far)
    page = re.sub(r"\s+", " ", to_html(view))
    assert re.search(r'<td class="n" data-sort="2e-05">&lt; 0.001', page.replace("\N{NO-BREAK SPACE}", " "))
    assert re.search(r'<td class="n" data-sort="1100">(<b>)?\N{MULTIPLICATION SIGN}', page)
    searched, html = draw("capacity")
    values = [result.value for result in searched.analysis.searches]
    assert all(value is not None and f'data-sort="{value:.6g}"' in html for value in values)
