# SPDX-License-Identifier: Apache-2.0
"""Components that a setting chooses: one file for each value, whichever workloads share it."""

import re
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm
from planned import asked, containers, processes, specs, specs_of

from steelyard.engines.process.engine import require_commands
from steelyard.errors import BadInput, MissingRequirement
from steelyard.results.spec import Spec
from steelyard.workload.loader import load_workload

APPLICATIONS = ("daytrader7", "olio")
WORKLOAD = """\
steelyard: 1
name: shop
version: "1"
title: A shop
settings:
  store: {type: choice, choices: [small, large], default: small, about: what it sells from}
topologies:
  apart:
    about: a server and its store
    components:
      store: {role: database, one_of: {setting: store, folder: stores}}
      server: {role: server, process: {command: [python3, -m, http.server, "${port}"]}}
    journey: {visits: {home: {steps: [{operation: home, path: /}]}}}
  alone:
    about: a server
    components:
      server: {role: server, process: {command: [python3, -m, http.server, "${port}"]}}
    journey: {visits: {home: {steps: [{operation: home, path: /}]}}}
"""
STORE = """\
steelyard: 1
title: A store
process:
  command: [sh, start.sh]
  files: {start.sh: start.sh}
  check: start.sh
"""


def on(workload: str, database: str, engine: str = "process", topology: str = "shared") -> Spec:
    """The spec of an arm on a database."""
    kinds = ("server", "database", "geocoder")
    runtime = processes() if engine == "process" else containers(*kinds, jvm=make_jvm("hotspot"))
    question = asked(
        workload,
        deployment={"engine": engine, "topology": topology},
        settings={f"{workload}.database": database},
        factors={"jvms": {"levels": [1, 2]}} if topology == "shared" else {"cores": {"levels": [1, 2]}},
    )
    return next(iter(specs_of(question, runtime=runtime).values()))


@pytest.mark.parametrize("workload", APPLICATIONS)
def test_a_database_is_a_factor(workload: str) -> None:
    named = f"{workload}.database"
    found = specs("jvm-count", "jvms=2", f"{named}=derby,postgresql", "topology=shared", workload=workload)
    derby, postgresql = (found[f"jvms-2_{named}-{name}"] for name in ("derby", "postgresql"))
    assert derby.component("database").artifact.package == "derby-server"
    assert postgresql.component("database").artifact.words[:2] == ["sh", "postgresql.sh"]
    for spec, source in ((derby, "derby-network"), (postgresql, "postgresql")):
        database = spec.component("database")
        assert database.data is not None, "each trial starts from a copy of what was loaded"
        for server in spec.servers:
            prefix = "TRADE" if workload == "daytrader7" else "OLIO"
            assert server.environment[f"{prefix}_DATABASE"] == source
            assert server.environment[f"{prefix}_DB_PORT"] == str(database.port)
            assert server.expected_info["dataSource"] == source, "the server is asked which it has"
    assert any("Derby" in note for note in derby.embedded)
    assert not any("Derby" in note for note in postgresql.embedded)


@pytest.mark.parametrize("workload", APPLICATIONS)
@pytest.mark.parametrize(("database", "bundle"), [("db2", ""), ("postgresql", "-postgresql")])
def test_each_database_has_bundles_of_its_own(workload: str, database: str, bundle: str) -> None:
    assert on(workload, database, "compose").bundle == f"{workload}{bundle}"


@pytest.mark.parametrize(
    ("database", "engine", "says"),
    [
        ("derby", "compose", "take another daytrader7.database (db2, postgresql), or another engine"),
        ("db2", "process", "take another daytrader7.database (derby, postgresql), or another engine"),
    ],
)
def test_one_that_the_engine_cannot_run_is_refused(database: str, engine: str, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        on("daytrader7", database, engine)


def test_a_choice_that_changes_nothing_is_refused() -> None:
    says = "nothing in the topology single (one JVM with its database in it) is chosen by it: take the topology shared"
    with pytest.raises(BadInput, match=re.escape(says)):
        on("daytrader7", "postgresql", topology="single")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workload with two stores, whose scripts find what they need."""
    (tmp_path / "stores").mkdir()
    for name in ("small", "large"):
        (tmp_path / "stores" / f"{name}.yaml").write_text(STORE, encoding="utf-8")
    (tmp_path / "stores" / "start.sh").write_text("exit 0\n", encoding="utf-8")
    path = tmp_path / "workload.yaml"
    path.write_text(WORKLOAD, encoding="utf-8")
    return path


def test_a_store_is_one_file_and_says_what_the_host_lacks(shop: Path) -> None:
    spec, *_ = specs_of(asked(str(shop), factors={"cores": {"levels": [1, 2]}})).values()
    assert Path(spec.component("store").copies["start.sh"]).parts[-2:] == ("stores", "start.sh")
    require_commands([spec])
    (shop.parent / "stores" / "start.sh").write_text(
        'echo "There is no store: build one" >&2; exit 6\n', encoding="utf-8"
    )
    with pytest.raises(MissingRequirement, match=r"^store: There is no store: build one$"):
        require_commands([spec])


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("stores/large.yaml", STORE, None, "workload.yaml: store may be large: there is no .*large.yaml"),
        ("stores/large.yaml", "start.sh}", "start.sh, other: x}\n  package: shelf", "no package 'shelf'"),
        ("stores/small.yaml", STORE[STORE.index("process") :], "", "small.yaml: say how it runs"),
        ("stores/small.yaml", "check: start.sh", "check: stop.sh", "check is the name of one of its files"),
        ("workload.yaml", "setting: store,", "setting: other,", "no setting 'other' of type choice"),
        (
            "workload.yaml",
            "role: database, one_of",
            "role: database, process: {command: [x]}, one_of",
            "one_of",
        ),
    ],
)
def test_what_is_wrong_is_named(shop: Path, file: str, old: str, new: str | None, says: str) -> None:
    path = shop.parent / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    if new is None:
        path.unlink()
    else:
        path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        load_workload(str(shop))


def test_images_are_those_of_the_database_that_was_chosen() -> None:
    loaded = load_workload("daytrader7")
    chosen: dict[str, Any] = {
        name: loaded.choose("shared", {"database": name}, in_containers=False)
        .workload.topologies["shared"]
        .components["database"]
        for name in ("db2", "postgresql")
    }
    assert chosen["postgresql"].container.image == "docker.io/library/postgres:17"
    assert chosen["db2"].container.variable == "STEELYARD_DB2_IMAGE"


@pytest.mark.parametrize("name", APPLICATIONS)
def test_in_containers_what_nobody_chose_is_db2(name: str) -> None:
    chosen = load_workload(name).choose("shared", {}, in_containers=True).workload
    assert chosen.settings["database"].default == "db2"
    container = chosen.topologies["shared"].components["database"].container
    assert container is not None
    assert container.variable == "STEELYARD_DB2_IMAGE"
