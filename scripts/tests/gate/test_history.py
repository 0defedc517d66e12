# SPDX-License-Identifier: Apache-2.0
"""Figures over commits: entries, series, changes, and the three commands."""

import json
import math
from typing import Any

import numpy as np
import pytest
from builders import make_session, make_trials
from pairs import gate, pairs

from steelyard.errors import BadInput
from steelyard.gate.history import (
    Acknowledged,
    Entry,
    MetricSummary,
    change_sentence,
    entry_of,
    keep,
    read_entries,
    series_of,
    spread,
)
from steelyard.gate.history_page import to_page
from steelyard.gate.result import conclude
from steelyard.results.spec import Artifact

DAY = 24 * 3600.0


def entry(at, value, host="lab 6.1", **changes):
    fields = {
        "session": f"s-{at:03d}",
        "time": 1_790_000_000 + at * DAY,
        "commit": f"{at:07x}abc",
        "workload": "ping 1",
        "experiment": "gate",
        "arm": "side-candidate",
        "conditions": "process steady",
        "host": host,
        "host_told": f"{host}: cpu",
        "jvm": "hotspot 17",
        "metrics": {"cpu_per_1k": MetricSummary(mean=value, n=6, sd=0.01)},
    }
    return Entry(**(fields | changes))


def line(changes, sd=0.01, seed=1, size=30):
    """Entries of a line with steps: place -> log change."""
    rng = np.random.default_rng(seed)
    level, made = 0.0, []
    for at in range(size):
        level += changes.get(at, 0.0)
        made.append(entry(at, 0.4 * math.exp(level + rng.normal(0, sd))))
    return made


def test_a_step_is_found_where_it_is() -> None:
    (found,) = series_of(line({12: 0.06}), [], ["cpu_per_1k"])
    (place,) = found.changes
    assert place.entry.session == "s-012"
    assert place.harmful is True
    assert place.after / place.before == pytest.approx(1.06, abs=0.015)
    assert (
        "CPU of the servers per 1,000 requests is worse from s-012 on, commit 000000cabc"
        in change_sentence(place)
    )
    assert spread(found) == pytest.approx(0.01, rel=0.4)


def test_unchanged_lines_have_hardly_ever_a_change() -> None:
    """1 % of series: 0 to 8 of 300."""
    alarms = 0
    for seed in range(300):
        size = (10, 30, 100)[seed % 3]
        alarms += bool(series_of(line({}, seed=seed, size=size), [], ["cpu_per_1k"])[0].changes)
    assert alarms <= 8


def test_hosts_are_never_compared() -> None:
    entries = [entry(at, 0.4 if at < 10 else 0.6, "lab 6.1" if at < 10 else "lab 6.2") for at in range(20)]
    found = series_of(entries, [], ["cpu_per_1k"])
    assert [len(one.entries) for one in found] == [10, 10]
    assert not any(one.changes for one in found)
    page = to_page(found, "t")
    assert page.count("another host") == 1


def test_a_change_for_the_better_and_one_without_direction_harm_nobody() -> None:
    steps = line({12: -0.1})
    (found,) = series_of(steps, [], ["cpu_per_1k"])
    assert [place.harmful for place in found.changes] == [False]
    calls = [
        one.model_copy(update={"metrics": {"service_calls_per_1k": one.metrics["cpu_per_1k"]}})
        for one in steps
    ]
    (found,) = series_of(calls, [], ["service_calls_per_1k"])
    assert [place.harmful for place in found.changes] == [None]


def test_too_short_a_line_has_no_change() -> None:
    assert series_of(line({4: 0.5}, size=7), [], ["cpu_per_1k"])[0].changes == []


def test_what_is_kept_of_a_gate_is_its_candidate_and_verdict() -> None:
    made = gate()
    trials = pairs(0.1)
    result = conclude((made, trials), None)
    kept = entry_of(made, trials, None, "abc", result)
    assert (kept.arm, kept.commit, kept.outcome) == ("jvms-2", "abc", "inconclusive")
    assert kept.metrics["cpu_per_1k"].mean == pytest.approx(0.44, rel=0.01)
    plain = make_session([1, 2], 3)
    plain = plain.model_copy(update={"experiment": plain.experiment.model_copy(update={"name": "jvm-count"})})
    of_base = make_trials({"jvms-1": [100.0, 101.0, 99.0], "jvms-2": [200.0] * 3})
    assert entry_of(plain, of_base, None, None, None).metrics["throughput"].mean == pytest.approx(100)
    assert entry_of(plain, of_base, "jvms-2", None, None).metrics["throughput"].mean == pytest.approx(200)
    with pytest.raises(BadInput, match="has no arm 'x'"):
        entry_of(plain, of_base, "x", None, None)
    with pytest.raises(BadInput, match="nothing to keep"):
        entry_of(plain, [], None, None, None)


def test_hosts_of_a_pool_are_one_and_another_kernel_is_not() -> None:
    made, trials = gate(), pairs(0.1)

    def host(pool, **changes):
        changed = made.model_copy(update={"host": made.host.model_copy(update=changes)})
        return entry_of(changed, trials, None, "abc", None, pool).host

    assert host(None, hostname="runner-1") != host(None, hostname="runner-2")
    assert host("hosted", hostname="runner-1") == host("hosted", hostname="runner-2")
    assert host("hosted", kernel="6.2") != host("hosted")
    assert host("hosted", cpu_model="another") != host("hosted")


def test_other_settings_of_the_host_are_another_series() -> None:
    """A governor that somebody changed is no change of the code."""
    session, trials = gate(), pairs(0.0)
    slow = session.model_copy(update={"host": session.host.model_copy(update={"governor": "powersave"})})
    one, other = (entry_of(found, trials, None, "1a2b", None) for found in (session, slow))
    assert one.conditions != other.conditions
    assert len(series_of([one, other], [], ["cpu_per_1k"])) == 2


def test_the_suites_revision_is_not_the_commit_of_somebody_elses_server() -> None:
    def commit(artifact: Artifact, **settings: Any) -> str | None:
        session = gate().model_copy(update={"revision": "suite"})
        arms = [
            arm.model_copy(
                update={
                    "spec": arm.spec.with_changes("server", lambda _: {"artifact": artifact}),
                    "settings": {**arm.settings, **settings},
                }
            )
            for arm in session.arms
        ]
        return entry_of(session.model_copy(update={"arms": arms}), pairs(0.0), None, None, None).commit

    assert commit(Artifact(form="liberty", package="ping", build="b0")) == "suite"
    assert commit(Artifact(form="liberty", package="ping", build="b0"), build="1a2b") == "1a2b"
    assert commit(Artifact(form="java", package="shop", build="b1", path="/shop")) is None
    assert commit(Artifact(form="command", words=["serve"])) is None


def test_a_change_is_acknowledged_for_a_workload() -> None:
    steps = line({12: 0.06})
    for workload, why in (("ping", "known"), ("olio", None)):
        known = [Acknowledged(session="s-012", workload=workload, why="known")]
        (place,) = series_of(steps, known, ["cpu_per_1k"])[0].changes
        assert place.acknowledged == why


def test_the_page_draws_two_sessions_of_one_second_and_no_single_one() -> None:
    one = line({}, size=3)
    other = [entry.model_copy(update={"workload": "olio 2"}) for entry in one]
    lone = entry(9, 0.4, workload="acmeair 1")
    page = to_page(series_of([*one, *other, lone], [], ["cpu_per_1k"]), "Figures")
    assert page.count("<svg") == 2
    assert page.count("<td>olio 2</td>") == page.count("<td>ping 1</td>") == 3
    assert page.count("<td>acmeair 1</td>") == 1
    assert "1 line of a single session" in page


def test_hosts_share_a_chart_and_are_marked_where_they_begin() -> None:
    """Runners of two kinds in turn, as hosted ones are, with another workload's nights between them."""
    nights = [entry(at, 0.4, "even" if at % 2 == 0 else "odd") for at in range(20)]
    others = [entry(at, 0.4, "elsewhere", workload="olio 2") for at in range(20)]
    page = to_page(series_of([*nights, *others], [], ["cpu_per_1k"]), "Figures")
    assert page.count("<svg") == 2
    assert page.count("another host") == 1
    assert "even: cpu, hotspot 17: 10 sessions" in page
    assert "odd: cpu, hotspot 17: 10 sessions" in page


def test_sessions_of_one_second_are_kept_apart(tmp_path):
    one = entry(1, 0.4)
    other = one.model_copy(update={"workload": "olio 2"})
    assert keep(tmp_path, one) != keep(tmp_path, other)
    assert keep(tmp_path, one) == keep(tmp_path, one)
    assert sorted(kept.workload for kept in read_entries(tmp_path)) == [other.workload, one.workload]


def test_check_and_plot_and_an_acknowledged_change(steelyard, tmp_path):
    for one in line({12: 0.06}):
        keep(tmp_path, one)
    assert len(read_entries(tmp_path)) == 30
    code, out, _ = steelyard("history", "check", "--in", tmp_path)
    assert code == 12
    assert "is worse from s-012 on" in out
    assert "1 change in 1 series of 30 sessions, 1 of them for the worse and not acknowledged" in out
    code, out, _ = steelyard("history", "check", "--in", tmp_path, "--json")
    assert json.loads(out)[0]["session"] == "s-012"
    (tmp_path / "acknowledged.yaml").write_text(
        "acknowledged:\n  - {session: s-012, metric: cpu_per_1k, why: a new TLS provider}\n", encoding="utf-8"
    )
    code, out, _ = steelyard("history", "check", "--in", tmp_path)
    assert code == 0
    assert "acknowledged: a new TLS provider" in out
    code, out, _ = steelyard("history", "plot", "--in", tmp_path)
    assert code == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert out.strip() == str(tmp_path / "index.html")
    assert "(known)" in page
    assert "<svg" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("files", "arguments", "says"),
    [
        ({}, [], "holds no entry"),
        ({"a.json": "{"}, [], "is damaged"),
        ({"acknowledged.yaml": "acknowledged:\n  - {sesion: x, why: because}\n"}, [], "acknowledged.yaml:2"),
        ({}, ["--metric", "speed"], "'speed' is no metric"),
    ],
)
def test_bad_input_is_one_sentence(steelyard, tmp_path, files, arguments, says):
    if files and "a.json" not in files:
        keep(tmp_path, entry(1, 0.4))
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    code, _, err = steelyard("history", "check", "--in", tmp_path, *arguments)
    assert (code, len(err.splitlines())) == (4, 1)
    assert says in err
