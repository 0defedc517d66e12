# SPDX-License-Identifier: Apache-2.0
"""What pages tell of sessions is taken from the sessions, by a program."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample
from kept_sessions import write_ended, write_session

from pages import method_diagrams, reference, seen
from pages.reference import write_results
from steelyard.analysis.estimates import analyse
from steelyard.errors import BadInput
from steelyard.experiment.loader import experiment_files
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.report.view import View
from steelyard.results import figures
from steelyard.results.analysis import Analysis, SearchComparison
from steelyard.results.store import SessionDirectory

SEARCH = Path(__file__).parent.parent / "fixtures" / "sessions" / "search.zip"
NOTE = "lab-notes/2026-11-26-self-check.md"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like docs/results, beside the real lab notes."""
    (tmp_path / "results").mkdir()
    (tmp_path / NOTE).parent.mkdir()
    (tmp_path / NOTE).touch()
    monkeypatch.setattr(seen, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(seen, "SEEN", tmp_path / "results" / "seen.json")
    seen.SEEN.write_text("[]", encoding="utf-8")
    return tmp_path / "results"


def test_a_session_is_a_row_and_a_picture(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = write_ended(results, 0, plan=sample.two_arm_plan(), report=False)
    for _ in "it is given twice":
        seen.main(["--picture", NOTE, str(kept.path)])
    (row,) = json.loads(seen.SEEN.read_text(encoding="utf-8"))
    name = kept.session().experiment.name
    assert (row["experiment"], row["page"], row["day"][:2]) == (name, NOTE, "20")
    assert (row["host"], row["shared"]) == ("machine, 32 CPUs, ppc64le", True)
    assert row["steelyard"].endswith(f", {kept.session().revision}")
    primary = kept.analysis().estimates[kept.analysis().primary]
    assert all(f"{figures.effect(one)} ({figures.bounds(one)})" in row["seen"] for one in primary.values())
    picture = json.loads((results / f"{name}.json").read_text(encoding="utf-8"))
    first = next(iter(primary.values()))
    assert first.ratio is not None
    assert picture["changes"][0]["change"] == round(first.ratio - 1, 3)
    assert picture["trials"] == len(kept.trials())
    assert all(
        one["metric"] == picture["changes"][0]["metric"] or not one["low"] <= 0 <= one["high"]
        for one in picture["changes"]
    )
    monkeypatch.setattr(method_diagrams, "RESULTS", results)
    (results / f"{name}.json").rename(results / "jvm-count.json")
    assert "95 % interval" in method_diagrams.draw_answer().render()


def test_an_entry_that_no_program_made_says_so() -> None:
    """What the program takes of a session has its commit."""
    for entry in json.loads((ROOT / "docs" / "results" / "seen.json").read_text(encoding="utf-8")):
        assert ("steelyard" in entry) != (entry.get("typed") is True), entry


def test_the_page_has_each_experiment_and_how_its_entries_were_made() -> None:
    page = write_results()
    entries = json.loads((ROOT / "docs" / "results" / "seen.json").read_text(encoding="utf-8"))
    assert page.count(" | typed | ") == sum("typed" in entry for entry in entries)
    assert [name for name in experiment_files(EXPERIMENTS) if not re.search(rf"`{name}[ `]", page)] == []


def test_the_page_has_a_row_for_each_experiment_with_its_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"options": "", "on": "processes", "typed": True, "page": NOTE}
    one, two = "virtual machine, 2 CPUs, x86-64", "machine, 64 CPUs, ppc64le"
    entries = [
        {**entry, "experiment": "gate", "day": "2026-11-02", "seen": "old", "host": one, "shared": True},
        {**entry, "experiment": "gate", "day": "2026-11-03", "seen": "new", "host": two, "shared": False},
        {**entry, "experiment": "smt", "day": "2026-11-01", "seen": "other", "host": two, "shared": False},
    ]
    monkeypatch.setattr(reference, "SEEN", tmp_path / "seen.json")
    reference.SEEN.write_text(json.dumps(entries), encoding="utf-8")
    page, _, rest = write_results().partition("## Earlier sessions")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| 2026")]
    assert [(row[1], row[2]) for row in rows] == [("`gate`", two), ("`smt`", two)]
    assert f"| `gate` | {one}, shared | processes | typed | old" in rest
    assert "virtual machine" not in page, "nothing is said of all rows"
    assert "`smt`" not in rest.partition("## Not in this list")[2]


_FIGURE = re.compile(r"\d (?:%|ms|s|users|points)\b|\d %|nothing beyond noise")


def told_by_studies() -> Iterator[str]:
    """Experiments of which a study's table has a figure seen here."""
    for page in sorted((ROOT / "docs" / "studies").glob("*.md")):
        lines = page.read_text(encoding="utf-8").splitlines()
        rows = [line.strip("| ").split(" | ") for line in lines if " | " in line]
        if "here" not in rows[0]:
            continue
        at = rows[0].index("here")
        for row in rows[2:]:
            if _FIGURE.search(row[at]):
                yield from re.findall(r"`([a-z0-9-]+)`", " ".join(row[1 : at + 1]))


def test_an_experiment_that_a_page_has_figures_of_is_in_the_list() -> None:
    spreads = json.loads((ROOT / "docs" / "results" / "pair-spreads.json").read_text(encoding="utf-8"))
    told = {*told_by_studies(), *(one["experiment"] for one in spreads)}
    assert told >= {"daytrader-heap", "olio-fixed-load", "page-faults", "daytrader-scale"}
    missing = re.findall(r"`([a-z0-9-]+)`", write_results().partition("## Not in this list")[2])
    assert "smt" in missing
    assert told & set(missing) == set()


def test_each_entry_names_its_host() -> None:
    entries = json.loads((ROOT / "docs" / "results" / "seen.json").read_text(encoding="utf-8"))
    assert [entry for entry in entries if not entry.get("host")] == []


def test_a_search_tells_what_it_found_and_between_what(results: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(SEARCH, tmp_path / "search")
    kept = SessionDirectory(tmp_path / "search")
    made = json.loads((kept.path / "analysis.json").read_text(encoding="utf-8"))
    kept.keep(Analysis.model_validate(made))  # sealed as today
    seen.main([NOTE, str(tmp_path / "search")])
    (row,) = json.loads(seen.SEEN.read_text(encoding="utf-8"))
    assert row["seen"] == "jvms = 1: 4 users (4 users passed, 5 users failed, one search)"
    with pytest.raises(BadInput, match="has no interval, which a picture shows"):
        seen.main(["--picture", NOTE, str(tmp_path / "search")])
    view = View(kept.session(), kept.analysis(), kept.trials())
    (result,) = view.analysis.searches
    against = SearchComparison(n=3, ratio=1.5, low=1.4, high=1.6)
    several = result.model_copy(update={"n": 3, "low": 4.1, "high": 6.2, "against": against})
    assert seen._search_text(view, several) == (
        "jvms = 1: 4 users (95 % CI 4 users to 6 users), +50 % (+40 to +60 %)"
    )
    open_end = result.model_copy(update={"value": None})
    kept.keep(view.analysis.model_copy(update={"searches": [open_end]}))
    with pytest.raises(BadInput, match="has no value of its searches"):
        seen.view_of(kept)


def test_only_sessions_that_answer_are_taken(results: Path) -> None:
    plan = sample.two_arm_plan()
    session = sample.session_of(plan)
    running = write_session(results, session, sample.trials_of(plan, session)[:1])
    with pytest.raises(BadInput, match="has not ended"):
        seen.main([NOTE, str(running.path)])
    running.log(session.created + 6000, "session-end")
    running.keep(analyse(session, running.trials()))
    with pytest.raises(BadInput, match="no interval of"):
        seen.view_of(SessionDirectory(running.path))
    with pytest.raises(BadInput, match="write the lab note first"):
        seen.main(["lab-notes/none.md", str(running.path)])
    assert json.loads(seen.SEEN.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("./steelyard run start-up --quick --jdk /opt/jdks/openj9-21", "--quick --jdk PATH"),
        ("./steelyard run start-up --set jdk=hotspot-17,/opt/jdk-25", "--set jdk=hotspot-17,PATH"),
        ("./steelyard run jvm-count --quick --seed 7", "--quick"),
        (
            "./steelyard run jvm-count --seed=7 --set 'a=1 2' --out /tmp/x --blocks 3",
            "--set 'a=1 2' --blocks 3",
        ),
        ("./steelyard run jvm-count --out=/tmp/x", ""),
        ("./steelyard run --quick jvm-count --seed 7", "--quick"),
        ("./steelyard run --blocks 3 --set a=1 jvm-count --quick", "--blocks 3 --set a=1 --quick"),
        ("./steelyard run --engine=compose jvm-count", "--engine=compose"),
        ("./steelyard gate --quick --seed 7", "--quick"),
    ],
)
def test_the_seed_and_the_folder_are_nobodys_business(command: str, options: str) -> None:
    assert seen._options(command) == options
