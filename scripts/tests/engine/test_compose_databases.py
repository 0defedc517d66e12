# SPDX-License-Identifier: Apache-2.0
"""What databases of bundles are given beside their images reaches the containers of a trial."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_specs import spec_of

from steelyard.engines.compose.bundle import User, override
from steelyard.engines.compose.engine import ComposeEngine
from steelyard.engines.compose.images import BUNDLES, database_settings
from steelyard.engines.compose.project import Project
from steelyard.errors import MissingRequirement
from steelyard.host.docker import Docker
from steelyard.processes import Children
from steelyard.results.spec import Spec

VARIABLE = re.compile(r"\$\{(STEELYARD_\w+)")
OF_DATABASE = re.compile(r"STEELYARD_(DB2|MONGO|POSTGRESQL|DATABASE)_")
DB2 = {f"STEELYARD_DB2_{name}" for name in ("LICENSE", "PASSWORD", "DRIVER")}
DEPLOYED: list[tuple[str, str, dict[str, str]]] = [
    ("acmeair", "monolith", {}),
    ("acmeair", "microservices", {}),
    *(
        (workload, "shared", {"database": database})
        for workload in ("daytrader7", "olio")
        for database in ("db2", "postgresql")
    ),
]
"""Workloads, topologies and settings of all bundles with a database."""


class _Loader(yaml.SafeLoader):
    """Of overrides: a value that replaces the bundle's is told by its key alone."""


_Loader.add_constructor("!override", lambda *_: None)


def left_to_bundle(spec: Spec) -> set[str]:
    """Variables of databases in what the override of a trial leaves as the bundle has it."""
    text = (BUNDLES / spec.bundle / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    replaced = yaml.load(override(spec, services, User(1000, 1000), "s"), _Loader)["services"]
    left: list[Mapping[str, Any]] = []
    for name, entry in replaced.items():
        base = services.get(entry["extends"]["service"] if "extends" in entry else name, {})
        if entry.get("scale") != 0:
            # The one that AcmeAir's workload file gives its database, which these specs leave out.
            variables = {"JDK_JAVA_OPTIONS", *(entry.get("environment") or {})}
            replacing = {"environment", *entry} - {"volumes"}
            left += [
                {key: value for key, value in base.items() if key not in replacing},
                {key: value for key, value in base.get("environment", {}).items() if key not in variables},
            ]
    return {name for name in VARIABLE.findall(json.dumps(left)) if OF_DATABASE.match(name)}


def arrived(spec: Spec, folder: Path) -> dict[str, str]:
    """Variables of the bundle that `docker compose up` of a trial is given."""
    client = folder / "docker"
    client.write_text(
        f"#!/bin/sh\ncase $1 in compose) env > {folder}/environment;; container) echo '[{{}}]';; esac\n",
        encoding="utf-8",
    )
    client.chmod(0o755)
    project = Project(Docker(client, "26", "2.26"), folder / "01-jvms-1", Children(), spec.bundle)
    project.up(["database"], "trial.yaml", [])
    lines = (folder / "environment").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=/of/STEELYARD_" in line)


@pytest.mark.parametrize(("workload", "topology", "settings"), DEPLOYED)
def test_a_trial_takes_what_its_database_needs_and_no_other_variable(
    workload: str,
    topology: str,
    settings: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = spec_of(workload, topology, settings=settings)
    text = (BUNDLES / spec.bundle / "compose.yaml").read_text(encoding="utf-8")
    for variable in VARIABLE.findall(text):
        monkeypatch.setenv(variable, f"/of/{variable}")
    wanted = left_to_bundle(spec)
    assert wanted == DB2 or (wanted and settings.get("database") != "db2")
    harness = yaml.safe_load((BUNDLES / "jvm-count" / "compose.yaml").read_text(encoding="utf-8"))
    assert wanted <= set(harness["services"]["harness"]["environment"])
    assert arrived(spec, tmp_path) == {variable: f"/of/{variable}" for variable in wanted}


def test_db2_without_its_settings_is_refused_before_the_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in DB2:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("STEELYARD_DB2_LICENSE", "accept")
    engine = ComposeEngine(Children(), Docker(tmp_path / "docker", "26", "2.26"), "s")
    with pytest.raises(
        MissingRequirement, match=r"^Db2 needs STEELYARD_DB2_PASSWORD, STEELYARD_DB2_DRIVER: set"
    ):
        engine.check([spec_of("olio", "shared", settings={"database": "db2"})])


def test_settings_come_from_the_bundle_s_env_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a folder begins at the bundle, and not at the trial's copy of it."""
    monkeypatch.setattr("steelyard.engines.compose.images.BUNDLES", tmp_path)
    (tmp_path / "olio").mkdir()
    for name, text in (
        ("compose.yaml", (BUNDLES / "olio" / "compose.yaml").read_text(encoding="utf-8")),
        (".env", "STEELYARD_DB2_LICENSE=accept\nSTEELYARD_DB2_PASSWORD='a b'\n"),
    ):
        (tmp_path / "olio" / name).write_text(text, encoding="utf-8")
    assert database_settings("olio", {"STEELYARD_DB2_DRIVER": "./jdbc"}) == {
        "STEELYARD_DB2_LICENSE": "accept",
        "STEELYARD_DB2_PASSWORD": "a b",
        "STEELYARD_DB2_DRIVER": str(tmp_path / "olio" / "jdbc"),
    }
