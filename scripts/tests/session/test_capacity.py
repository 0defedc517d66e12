# SPDX-License-Identifier: Apache-2.0
"""Loads that are shares of what this host takes: stated, or as an earlier search of the rate found it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from one_host import facts_at_first
from planned import session_of_plan

from steelyard.analysis.estimates import analyse
from steelyard.gate.sides import baseline_arm
from steelyard.results.analysis import SearchResult
from steelyard.results.store import SessionDirectory, write_record
from steelyard.session.plan import RunRequest, make_plan, question_of

Search = Callable[..., str]


@pytest.fixture
def search(tmp_path: Path) -> Search:
    """Writes a session of `capacity-rate` that found so many arrivals/s, and gives its id."""

    def write(
        value: float | None, *settings: str, workload: str | None = None, created: float = 1.0, **host: object
    ) -> str:
        plan = make_plan(RunRequest("capacity-rate", settings=settings, workload=workload, seed=5))
        name = f"{len(list(tmp_path.iterdir()))}-{value}"
        session = session_of_plan(
            plan, id=name, created=created, host=facts_at_first().model_copy(update=host)
        )
        result = SearchResult(
            arm=next(arm.name for arm in plan.arms if arm.baseline),
            varies="rate",
            runs=[],
            n=1,
            value=value,
            low=None,
            high=None,
            half_width=None,
            against=None,
            sentences=[],
        )
        write_record(tmp_path / name / "session.json", session)
        SessionDirectory(tmp_path / name).keep(analyse(session, []).model_copy(update={"searches": [result]}))
        return name

    return write


def rates(
    results: Path | None, *settings: str, workload: str | None = None
) -> tuple[list[float | None], str]:
    """The arms' rates, and the sentence on where they are from."""
    request = RunRequest("load-levels", settings=settings, seed=5, results=results, workload=workload)
    plan = make_plan(request)
    (note,) = (note for note in plan.notes if note.startswith("Loads are shares of "))
    return [arm.load.rate for arm in plan.arms], note


STATED = "a capacity that was stated and not measured here"


def test_the_newest_search_of_this_host_tells(search: Search, tmp_path: Path) -> None:
    for results in (None, tmp_path, tmp_path / "none"):
        stated, note = rates(results)
        assert (stated, note.partition(" arrivals/s, ")[0]) == ([200, 1000], "Loads are shares of 2,000")
        assert STATED in note
    newest = search(6265.3, created=3.0)
    search(3000.0, created=2.0)
    found, note = rates(tmp_path)
    assert found == [627, 3135]
    assert note.startswith(
        f"Loads are shares of 6,270 arrivals/s, which session {newest} found here on OpenJDK "
    )
    assert rates(tmp_path, "capacity=500")[0] == [50, 250]
    assert STATED in rates(tmp_path, "capacity=500")[1]


@pytest.mark.parametrize(
    ("settings", "host"),
    [
        (("total_heap=1g",), {}),
        (("cores=1",), {}),
        (("jvms=2",), {}),
        ((), {"hostname": "another"}),
        ((), {"memory_bytes": 2**30}),
    ],
    ids=str,
)
def test_other_servers_and_hosts_tell_nothing(
    search: Search, tmp_path: Path, settings: tuple[str, ...], host: dict[str, object]
) -> None:
    search(6000.0, *settings, **host)
    assert rates(tmp_path)[0] == [200, 1000]


def test_other_workloads_and_searches_that_found_nothing_tell_nothing(search: Search, tmp_path: Path) -> None:
    search(6000.0, workload="acmeair", created=2.0)
    search(None, created=3.0)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "analysis.json").write_text("{}", encoding="utf-8")
    assert rates(tmp_path)[0] == [200, 1000]
    assert rates(tmp_path, workload="acmeair")[0] == [600, 3000]
    search(500.0)
    assert rates(tmp_path)[0] == [50, 250]


def test_a_gate_takes_it_too(search: Search, tmp_path: Path) -> None:
    search(6000.0)
    assert baseline_arm(question_of(RunRequest("load-levels", results=tmp_path))).load.rate == 3000
