# SPDX-License-Identifier: Apache-2.0
"""CSV, Markdown and benchstat outputs against golden files, and what they must hold for any session.

`UPDATE_GOLDEN=1 pytest tests/report` writes the golden files anew: read the difference before committing it.
"""

import csv
import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sample
import sample_procedures
from rich.console import Console

from steelyard.report import records, write_report
from steelyard.report.pages import to_markdown
from steelyard.report.plain import to_benchstat, to_csv
from steelyard.report.terminal import render_summary
from steelyard.report.view import View, why_void
from steelyard.results import figures
from steelyard.results.failure import Failure
from steelyard.results.store import SessionDirectory

GOLDEN = Path(__file__).parent / "golden"
PLANS = {
    "study": sample.study_plan,
    "two-arms": sample.two_arm_plan,
    "two-factors": sample.two_factor_plan,
    "poor": sample.poor_plan,
}


@pytest.fixture(scope="module", params=sorted(PLANS))
def reported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A session with its outputs; the page, which takes seconds to draw, has tests of its own."""
    name = request.param
    directory = sample.write(tmp_path_factory.mktemp(name), PLANS[name]())
    view = View(directory.session(), directory.analysis(), directory.trials(), list(directory.journal()))
    for suffix, output in (("md", to_markdown), ("csv", to_csv), ("benchstat", to_benchstat)):
        (directory.path / f"report.{suffix}").write_text(output(view), encoding="utf-8")
    return name, directory.path


@pytest.mark.parametrize("suffix", ["md", "csv", "benchstat"])
def test_output_is_as_before(reported: tuple[str, Path], suffix: str) -> None:
    name, directory = reported
    text = (directory / f"report.{suffix}").read_text(encoding="utf-8")
    golden = GOLDEN / f"{name}.{suffix}"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_csv_has_one_row_per_arm_and_metric_with_the_figures_of_the_analysis(
    reported: tuple[str, Path],
) -> None:
    _, directory = reported
    analysis = SessionDirectory(directory).analysis()
    rows = list(csv.DictReader(io.StringIO((directory / "report.csv").read_text(encoding="utf-8"))))
    assert [(row["metric"], row["arm"]) for row in rows] == [
        (metric.name, arm) for metric in analysis.metrics for arm in analysis.arms
    ]
    for row in rows:
        summary = analysis.summaries[row["metric"]].get(row["arm"])
        assert int(row["n"]) == (summary.n if summary else 0)
        assert row["mean"] == "" if summary is None else float(row["mean"]) == pytest.approx(summary.mean)
        estimate = analysis.estimates[row["metric"]].get(row["arm"])
        ratio = estimate.ratio if estimate else None
        assert row["ratio"] == "" if ratio is None else float(row["ratio"]) == pytest.approx(ratio, rel=1e-5)


def test_benchstat_lines_are_the_valid_trials_only(reported: tuple[str, Path]) -> None:
    _, directory = reported
    lines = (directory / "report.benchstat").read_text(encoding="utf-8").splitlines()
    trials = SessionDirectory(directory).trials()
    benchmarks = [line for line in lines if line.startswith("Benchmark")]
    assert len(benchmarks) == sum(trial.state == "valid" for trial in trials)
    for line in benchmarks:
        name, iterations, *values = line.split()
        assert re.fullmatch(r"Benchmark[A-Z]\w*(/[^/=\s]+=[^/=\s]+)+", name)
        assert iterations == "1"
        assert values[1] == "req/s"
        assert all(float(value) >= 0 for value in values[::2])


@pytest.mark.skipif(shutil.which("benchstat") is None, reason="benchstat is not installed")
def test_benchstat_reads_the_lines(tmp_path: Path) -> None:
    write_report(sample.write(tmp_path, sample.study_plan()))
    done = subprocess.run(
        ["benchstat", "-col", "/jvms", str(tmp_path / "report.benchstat")],
        capture_output=True,
        text=True,
        check=True,
    )
    heading = next(line for line in done.stdout.splitlines() if "│" in line)
    assert re.findall(r"\d+", heading) == ["1", "2", "4", "6", "12"]
    assert "JvmCount" in done.stdout
    assert done.stderr == ""


def test_a_void_trial_is_named_with_its_reason_and_its_repeat() -> None:
    session, trials, analysis = sample.make(sample.study_plan())
    text = to_markdown(View(session, analysis, trials))
    assert "block 3, jvms-4: Other processes used 6.10 %" in text
    assert "Its comparison was repeated (repeat 1): valid." in text


def test_small_huge_pages_have_a_size() -> None:
    session, trials, analysis = sample.make(sample.study_plan())
    host = session.host.model_copy(update={"huge_pages": {"64": 5, "2048": 7}})
    view = View(session.model_copy(update={"host": host}), analysis, trials)
    rows = {name.text: fact.text for name, fact in records.host(view).rows}
    assert rows["reserved huge pages"] == "5 of 64 KiB, 7 of 2 MiB"


def test_why_a_trial_did_not_start_is_said_once() -> None:
    _, trials, _ = sample.make(sample.study_plan())
    void = next(trial for trial in trials if trial.state == "void")
    sentence = next(check.detail for check in void.checks if check.voids and check.has_failed)
    failure = Failure(component=None, cause="start", detail=sentence)
    assert why_void(void.model_copy(update={"failure": failure})) == why_void(void) == sentence


def test_terminal_shows_answer_table_and_caveats(tmp_path: Path) -> None:
    session, trials, analysis = sample.make(sample.study_plan())
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(render_summary(session, analysis, trials))
    text = " ".join(console.export_text().split())
    assert "Throughput was highest with JVMs = 6" in text
    for arm in analysis.arms:
        assert f"{analysis.summaries['throughput'][arm].mean:,.0f}" in text
    assert "384 MiB" in text
    assert sample.SHARED_CORES in text
    assert "1 of 32 trials is void (1 of 7 of jvms-4)" in text


def test_terminal_tells_of_an_arm_without_a_valid_trial() -> None:
    session, trials, analysis = sample.make(sample.poor_plan())
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(render_summary(session, analysis, trials))
    assert "no valid trial" in console.export_text()


def test_outputs_of_a_search_tell_what_was_found_and_no_means_over_loads() -> None:
    session, trials, analysis = sample_procedures.capacity()
    view = View(session, analysis, trials)
    rows = list(csv.DictReader(io.StringIO(to_csv(view))))
    assert {row["n"] for row in rows if row["metric"] != "search"} == {"0"}
    first, second = (row for row in rows if row["metric"] == "search")
    against = analysis.searches[1].against
    assert against is not None
    assert float(first["mean"]) == pytest.approx(analysis.searches[0].value)
    assert (second["unit"], second["better"], second["blocks"], second["ratio"]) == (
        "users",
        "higher",
        "3",
        figures.plain(against.ratio, 6),
    )
    markdown = to_markdown(view)
    assert "## What the searches found" in markdown
    assert "## Arms against the baseline" not in markdown
    assert "## Smallest detectable effect" not in markdown
    assert not [note for note in analysis.notes if "primary metric" in note]
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(render_summary(session, analysis, trials))
    low, high = analysis.searches[0].low, analysis.searches[0].high
    assert f"{low:.0f} users to {high:.0f} users" in console.export_text()
