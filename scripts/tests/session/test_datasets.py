# SPDX-License-Identifier: Apache-2.0
"""Data that a session loads once, where it lies in folders of its components."""

import os
from pathlib import Path

import pytest
from builders import make_jvm
from planned import asked, containers, specs, specs_of
from sessions import Bench, events

from steelyard.errors import ServerFailed
from steelyard.results.store import write_record
from steelyard.session.datasets import key, require_unwritten, share_data

LOADER = "/daytrader/config?action=buildDB"
SMALL = {"daytrader7.users": 10, "daytrader7.quotes": 10}
WINDOW = {"ramp": 1, "warmup": {"until": "fixed", "at_least": 1}, "measure": 6}


def test_data_is_loaded_once_and_every_trial_starts_with_a_copy(bench: Bench) -> None:
    bench.world.answers = {LOADER: (200, "DayTrader Database Built - 400users created")}
    question = asked(
        "daytrader7",
        procedure="start-up",
        settings=SMALL,
        factors={"class_cache": {"levels": ["none", "cold"]}},
        metrics={"primary": "first_answers_time"},
    )
    directory = bench.session(question)
    trials = bench.run(directory)
    assert len(trials) == 4
    assert events(directory).count("load") == 1
    loading, *measured = bench.world.deployments
    assert loading.directory.name.startswith("load-class-cache-")
    assert loading.data_seen == {"server": []}
    assert loading.stops == ["server"]
    assert [one.data_seen for one in measured] == [{"server": ["rows"]}] * 4
    # No start but the measured one, for nothing has to be loaded.
    assert [one.starts.count(["server"]) for one in measured] == [1] * 4
    assert not list(directory.trials_path.glob("load-*/trial.json"))
    assert not (loading.directory / "servers" / "server" / "data").exists()


def test_data_that_is_not_there_after_the_load_ends_the_session(bench: Bench) -> None:
    bench.world.answers = {LOADER: (200, "DayTrader Database Built - 400users created")}
    bench.world.writes_data = False
    question = asked(
        "daytrader7", settings=SMALL, load={"users": 8, **WINDOW}, factors={"threads": {"levels": [8, 16]}}
    )
    with pytest.raises(ServerFailed, match="server kept no data in "):
        bench.run(bench.session(question))


def test_a_file_of_all_trials_that_one_wrote_to_ends_the_session(tmp_path: Path) -> None:
    files = tmp_path / "4d7d" / "database" / "files"
    files.mkdir(parents=True)
    picture = files / "e1.jpg"
    picture.write_bytes(b"picture")
    loaded = (files.parent.parent).stat().st_mtime_ns
    os.utime(picture, ns=(loaded, loaded))
    require_unwritten(files.parent, ["files", "none"])
    (tmp_path / "trial").hardlink_to(picture)
    require_unwritten(files.parent, ["files"])
    os.utime(tmp_path / "trial", ns=(loaded, loaded + 1))
    with pytest.raises(
        ServerFailed, match=r"database wrote to .*e1\.jpg, .* take the folder out of `write_once`"
    ):
        require_unwritten(files.parent, ["files"])


def test_arms_that_load_the_same_share_it() -> None:
    few, many = (specs("daytrader-scale", workload="daytrader7")[f"jvms-{count}"] for count in (1, 4))
    assert key(few) == key(many)
    other = specs("daytrader-scale", "daytrader7.users=77")["jvms-1"]
    assert key(few) != key(other)
    beans, jdbc = (specs("daytrader-modes")[f"mode-{mode}_orders-sync"] for mode in ("ejb", "direct"))
    assert key(beans) != key(jdbc)


def test_where_one_arm_cannot_have_a_copy_no_arm_has(bench: Bench) -> None:
    bench.world.answers = {LOADER: (200, "DayTrader Database Built - 400users created")}
    question = asked(
        "daytrader7", settings=SMALL, load={"users": 8, **WINDOW}, factors={"threads": {"levels": [8, 16]}}
    )
    process = specs_of(question)
    boxed = specs(
        "daytrader-scale", "engine=compose", runtime=containers("server", "database", jvm=make_jvm("hotspot"))
    )
    assert {spec.data_once for spec in share_data(process).values()} == {True}
    mixed = share_data({**process, **boxed})
    assert {spec.data_once for spec in mixed.values()} == {False}
    directory = bench.session(question)
    session = directory.session()
    arms = [
        arm.model_copy(update={"spec": share_data({arm.name: arm.spec, **boxed})[arm.name]})
        for arm in session.arms
    ]
    write_record(directory.path / "session.json", session.model_copy(update={"arms": arms}))
    bench.run(directory)
    assert "load" not in events(directory)
    assert bench.world.deployments
    assert all(one.data_seen == {"server": []} for one in bench.world.deployments)


def test_the_application_is_told_its_own_words_for_a_choice() -> None:
    jdbc = specs("daytrader-modes")["mode-direct_orders-2-phase"]
    server = jdbc.servers[0]
    told = {key: server.environment[key] for key in ("TRADE_RUNTIME_MODE", "TRADE_ORDER_PROCESSING_MODE")}
    assert told == {"TRADE_RUNTIME_MODE": "1", "TRADE_ORDER_PROCESSING_MODE": "1"}
    assert jdbc.settings["daytrader7.mode"] == "direct"
    assert server.expected_info["runtimeMode"] == "1"
