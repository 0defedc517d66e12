# SPDX-License-Identifier: Apache-2.0
"""The page of quick forms is made of the files of experiments and of records of sessions; what cannot see 10 % in 15
minutes says why."""

import json
from pathlib import Path

import pytest
from planned import HOST
from test_power import earlier, planned

from pages import quick_forms
from steelyard.errors import BadInput
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.matrix import expand
from steelyard.paths import EXPERIMENTS
from steelyard.results.store import SessionDirectory

LONGEST = 15
"""Minutes."""


def test_the_page_is_what_files_and_records_say() -> None:
    assert quick_forms.PAGE.read_text(encoding="utf-8") == quick_forms.make_page(), (
        "it is old: python -m pages.quick_forms"
    )


def shortest(minutes: str) -> float:
    """Of `5 to 8 min` or `2 h`."""
    first = float(minutes.partition(" ")[0])
    return first * 60 if minutes.endswith("h") else first


@pytest.mark.parametrize("name", sorted(experiment_files(EXPERIMENTS)))
def test_a_form_that_cannot_see_it_in_time_says_why(name: str) -> None:
    page = (quick_forms.PAGE.parent / "experiments.md").read_text(encoding="utf-8")
    experiment = load_experiment(EXPERIMENTS / f"{name}.yaml", HOST).experiment
    loaded = quick_forms.quick_form(name)
    form, arms = loaded.experiment, expand(loaded.experiment, loaded.settings)
    records = [one for one in quick_forms.read_measured() if one["experiment"] == name]
    predicted = quick_forms.predict(name, form, arms, quick_forms.read_measured(quick_forms.SPREADS))
    cannot = (
        shortest(quick_forms.minutes_of(page)[name]) > LONGEST
        or (form.search is not None and form.design.blocks == 1)
        or any(one["detects"] > quick_forms.WANTED for one in records[-1:])
        or (predicted is not None and predicted[0] > quick_forms.WANTED)
    )
    assert experiment.quick.note is not None or not cannot


def test_a_record_of_a_session_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned("jvms=1,2")
    earlier(tmp_path, plan, 5, 0.05, quick=True)
    records, page = tmp_path / "records.json", tmp_path / "page.md"
    records.write_text("[]", encoding="utf-8")
    monkeypatch.setattr(quick_forms, "MEASURED", records)
    monkeypatch.setattr(quick_forms, "make_page", lambda: "made")
    monkeypatch.setattr(quick_forms, "PAGE", page)
    quick_forms.main([str(tmp_path / "one")])
    (record,) = json.loads(records.read_text(encoding="utf-8"))
    assert page.read_text(encoding="utf-8") == "made"
    assert (record["experiment"], record["arms"], record["usable_blocks"]) == ("jvm-count", 2, 5)
    row = quick_forms.row("jvm-count", "5 to 8 min", [record])
    assert "| throughput | " in row
    assert "| 5 to 8 min | 2 | " in row
    assert "not measured" not in row
    assert "5 of 6 blocks, 2 arms" in row


def test_what_was_no_quick_session_is_no_row(tmp_path: Path) -> None:
    earlier(tmp_path, planned("jvms=1,2"), 5, 0.05)
    with pytest.raises(BadInput, match="no quick session"):
        quick_forms.record_of(SessionDirectory(tmp_path / "one"))


def test_a_session_without_pairs_tells_no_spread(tmp_path: Path) -> None:
    earlier(tmp_path, planned("jvms=1,2"), 2, 0.05, quick=True)
    with pytest.raises(BadInput, match="fewer than three pairs"):
        quick_forms.record_of(SessionDirectory(tmp_path / "one"))
