# SPDX-License-Identifier: Apache-2.0
"""A published study's figures with the session's own beside them."""

from pathlib import Path

import pytest
import sample
import sample_procedures
import yaml
from pydantic import ValidationError

from steelyard.analysis.estimates import estimate
from steelyard.experiment.schema import Study
from steelyard.measure.registry import METRIC_INFOS
from steelyard.paths import EXPERIMENTS
from steelyard.report.pages import to_html, to_markdown
from steelyard.report.study import SEARCH, study_table
from steelyard.report.view import View
from steelyard.results import figures


def test_each_figure_stands_beside_the_session_s_own() -> None:
    view = sample.make_view(sample.study_plan())
    four, steps, absent, words = (row[2] for row in study_table(view).rows)
    own = view.estimate("throughput", "jvms-4")
    assert four.text == figures.effect(own) == "+183 %"
    assert four.bold == 0
    assert four.notes[0] == f"95 % CI {figures.bounds(own)}"
    assert four.notes[1] == "throughput: 31,087 req/s with 1, 87,597 req/s with 4"
    summaries = view.analysis.summaries["memory_rss"]
    six, lower = (
        dict(zip(zip(s.blocks, s.rounds, strict=True), s.values, strict=True))
        for s in (summaries["jvms-6"], summaries["jvms-4"])
    )
    assert steps.text == figures.effect(estimate("memory_rss", "jvms-6", six, lower))
    assert absent.notes == ("JVMs = 24 is not in this session",)
    assert words.notes == ("told in words",)


def test_what_is_inconclusive_against_the_baseline_is_so_beside_the_study() -> None:
    view = sample.make_view(sample.study_plan())
    assert study_table(view).rows[1][2].bold == 0
    for name in ("throughput", "memory_rss"):
        arms = view.analysis.estimates[name]
        arms["jvms-4"] = arms["jvms-4"].model_copy(update={"unequal": "6 of 6 trials are void"})
    four, steps, *_ = (row[2] for row in study_table(view).rows)
    for cell in (four, steps):
        assert cell.bold is None
        assert "inconclusive" in cell.notes[0]


def test_a_metric_that_was_not_measured_and_what_a_search_found() -> None:
    plan = sample.study_plan()
    assert plan.study is not None
    own = {"metric": "gc_pause_max", "arm": {"jvms": 4}}
    plan.study = plan.study | {"figures": [{"where": "w", "value": "v", "own": own}]}
    plan.drop = ("gc_pause_max",)
    assert study_table(sample.make_view(plan)).rows[0][2].notes == ("not measured in this session",)
    session, trials, analysis = sample_procedures.capacity()
    study = Study.model_validate(
        {
            **sample.STUDY,
            "figures": [{"where": "w", "value": "v", "own": {"metric": SEARCH, "arm": {"jvms": 2}}}],
        }
    )
    asked = session.experiment.model_copy(update={"study": study})
    cell = study_table(View(session.model_copy(update={"experiment": asked}), analysis, trials)).rows[0][2]
    assert cell.text == "+78 %"
    assert cell.notes == ("95 % CI +45 to +119 %", "316 users with 1, 563 users with 2")


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_experiment_s_own_figures_are_metrics_and_arms_that_it_has(path: Path) -> None:
    experiment = yaml.safe_load(path.read_text(encoding="utf-8"))
    known = {info.name for info in METRIC_INFOS} | ({SEARCH} if "search" in experiment else set())
    for figure in Study.model_validate(experiment["study"]).figures if "study" in experiment else ():
        if figure.own is None:
            continue
        assert figure.own.metric in known
        for name, level in [*figure.own.arm.items(), *figure.own.against.items()]:
            levels = experiment["factors"][name]["levels"]
            assert levels == "host" or str(level) in {str(one) for one in levels}


@pytest.mark.parametrize("address", [None, "https://example.org/study.html"])
def test_the_report_says_where_the_study_can_be_read(address: str | None) -> None:
    plan = sample.study_plan()
    plan.study = {**sample.STUDY, "address": address}
    view = sample.make_view(plan)
    assert (f'<a href="{address}">' if address else "address not kept") in to_html(view)
    assert (f"<{address}>" if address else "address not kept") in to_markdown(view)


@pytest.mark.parametrize(
    "address", ["http://example.org/", "example.org", "https://a b", 'https://a"onload="b']
)
def test_an_address_is_an_https_url(address: str) -> None:
    with pytest.raises(ValidationError, match="address"):
        Study.model_validate({**sample.STUDY, "address": address})
