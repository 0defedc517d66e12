# SPDX-License-Identifier: Apache-2.0
"""What a plan accepts, a run can do: paths of files, journeys, JVM options, values of settings."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from planned import asked, specs, specs_of
from pydantic import ValidationError

from steelyard.engines.process.command import Places, command, environment, files
from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment
from steelyard.experiment.settings import Settings
from steelyard.paths import ROOT
from steelyard.workload.answers import REFERENCE
from steelyard.workload.journey import Journey
from steelyard.workload.loader import load_workload, workload_names

WORKLOAD: dict[str, Any] = {
    "steelyard": 1,
    "name": "shop",
    "version": "1",
    "title": "A shop",
    "topologies": {
        "one": {
            "about": "one server",
            "components": {"server": {"role": "server", "replicas": "jvms", "process": {}}},
            "journey": {"visits": {"look": {"steps": [{"operation": "look", "path": "/"}]}}},
        }
    },
}


def shop(here: Path, deployment: dict[str, Any] | None = None, **process: Any) -> LoadedExperiment:
    """A question on a workload in a folder of somebody's own."""
    document = json.loads(json.dumps(WORKLOAD))
    document["topologies"]["one"]["components"]["server"]["process"] = process
    path = here / "shop.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    load_workload.cache_clear()
    found = load_workload(str(path))
    made = asked("ping", deployment=deployment or {"jvm": {"gc_log": False}})
    return made._replace(workload=found, settings=Settings(found.workload, {}))


def journey(**step: Any) -> Journey:
    return Journey.model_validate({"visits": {"v": {"steps": [{"operation": "o", **step}]}}})


def test_files_are_taken_from_beside_the_workload_file(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "a.txt").write_text("beside", encoding="utf-8")
    question = shop(tmp_path, command=["true"], files={"b.txt": "conf/a.txt"})
    server = specs_of(question)["jvms-1"].servers[0]
    assert files(server) == {"b.txt": "beside"}
    proxy = specs("acmeair-topology")["topology-microservices"].component("proxy")
    assert proxy.copies == {"nginx.conf": "compose/acmeair-microservices/proxy/nginx.conf"}
    assert "nginx.conf" in files(proxy)


def test_a_file_that_is_not_there_is_refused_by_the_plan(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=rf"files: gone\.txt: {tmp_path}/gone\.txt cannot be read \(No such file"
    ):
        specs_of(shop(tmp_path, command=["true"], files={"b": "gone.txt"}))
    (tmp_path / "picture").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"picture is no text \(UTF-8\)"):
        specs_of(shop(tmp_path, command=["true"], files={"b": "picture"}))
    with pytest.raises(BadInput, match=rf"the folder that it is started in is not there: {tmp_path}/gone"):
        specs_of(shop(tmp_path, command=["true"], folder="gone"))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("http://localhost/x", "it is a path of the server, without its address"),
        ("x", "must begin with `/`"),
        ("", "must begin with `/`"),
    ],
)
def test_a_path_that_the_injector_would_refuse_is_refused_by_the_plan(path: str, says: str) -> None:
    save = {"to": {"header": "Location"}}
    with pytest.raises(ValidationError, match=says):
        journey(path=path, save=save)
    with pytest.raises(ValidationError, match="must begin with `/`"):
        journey(path="/", parts=[{"path": path}])
    with pytest.raises(ValidationError, match="must begin with `/`"):
        journey(websocket={"path": path, "expect": "x"})
    assert journey(path="/${to}", save=save)


def test_an_address_that_an_answer_gave_is_followed() -> None:
    save = {"to": {"header": "Location"}}
    assert journey(path="${to}", save=save, parts=[{"path": "${to}"}])
    with pytest.raises(ValidationError, match="must begin with `/`"):
        journey(websocket={"path": "${to}", "expect": "x"})


@pytest.mark.parametrize(
    "step",
    [
        {"path": "/", "check": {"status": []}},
        {"path": "/", "check": {"matches": "("}},
        {"path": "/", "save": {"a": {"regex": "a)"}}},
        {"websocket": {"path": "/", "expect": "["}},
        {"websocket": {"path": "/", "expect": "x"}, "headers": {"a": "b"}},
        {"websocket": {"path": "/", "expect": "x"}, "check": {"contains": "b"}},
        {"path": "/", "headers": {"a": "b\nc: d"}},
        {"path": "/", "parts": [{"path": "/", "headers": {"a": "b\r"}}]},
        {"events": {"path": "/", "expect": "x", "headers": {"a": "b\n"}}},
        {"path": "/", "multipart": {}},
    ],
)
def test_other_steps_that_the_injector_would_refuse(step: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        journey(**step)


@pytest.mark.parametrize(
    ("check", "save", "what"),
    [
        ({"contains": "x"}, {}, "contains"),
        ({"matches": "x"}, {"id": {"json": "$.id"}}, "matches, save.id"),
        ({"json": {"$.id": 1}}, {"all": {"regex": "x"}}, "json, save.all"),
        ({}, {"link": {"css": "a"}}, "save.link"),
    ],
)
@pytest.mark.parametrize("status", [304, [200, 304]])
def test_an_answer_without_a_body_is_not_read(
    status: int | list[int], check: dict[str, Any], save: dict[str, Any], what: str
) -> None:
    """Gatling passes over all that reads the body of a 304."""
    with pytest.raises(ValidationError, match=rf"status 304 has no body for {what}: leave out 304, or"):
        journey(path="/", check={"status": status, **check}, save=save)
    assert journey(path="/", check=check, save=save)


def test_what_an_answer_without_a_body_has_is_read() -> None:
    save = {"tag": {"header": "ETag"}, "who": {"cookie": "who"}, "id": {"json": "$.id", "optional": True}}
    assert journey(path="/", check={"status": [200, 304], "absent": "error"}, save=save)


def test_expressions_that_java_alone_knows_are_accepted() -> None:
    for written in (r"\p{L}+", r"(?<id>\d+)", r"\Q(\E", r"\h*"):
        assert journey(path="/", save={"a": {"regex": written}})


@pytest.mark.parametrize(
    "step",
    [
        {"path": "/${nothing}"},
        {"path": "/", "headers": {"a": "${nothing}"}},
        {"path": "/", "form": {"a": "${nothing}"}},
        {"path": "/", "body": "${nothing}"},
        {"path": "/", "multipart": {"a": {"content": "c", "filename": "${nothing}"}}},
        {"path": "/", "check": {"absent": ["${nothing}"]}},
        {"path": "/", "check": {"json": {"$.a": "${nothing}"}}},
        {"path": "/", "parts": [{"path": "/", "headers": {"a": "${nothing}"}}]},
        {"websocket": {"path": "/", "expect": "x", "send": "${nothing}"}},
        {"websocket": {"path": "/", "expect": "x", "protocol": "${nothing}"}},
        {"websocket": {"path": "/", "expect": "x", "headers": {"a": "${nothing}"}}},
        {"events": {"path": "/", "expect": "x", "headers": {"a": "${nothing}"}}},
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(tmp_path: Path, step: dict[str, Any]) -> None:
    document = json.loads(json.dumps(WORKLOAD))
    topology = document["topologies"]["one"]
    topology["components"]["server"]["process"] = {"command": ["true"]}
    topology["journey"]["visits"]["look"]["steps"] = [{"operation": "o", **step}]
    path = tmp_path / "shop.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(BadInput, match=r"visit look, o: \$\{nothing\} stands for nothing"):
        load_workload(str(path))
    topology["parameters"] = {"nothing": "x"}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    assert load_workload(str(tmp_path / "other.yaml"))


@pytest.mark.parametrize("where", ["process", "component"])
def test_jvm_options_through_a_variable(tmp_path: Path, where: str) -> None:
    told = {"CATALINA_OPTS": "-Dx=y ${jvm_options}"}
    question = shop(tmp_path, {"total_heap": "64m"}, command=["catalina.sh", "run"], environment=told)
    if where == "component":
        changed = question.workload.workload.model_dump(by_alias=True)
        server = changed["topologies"]["one"]["components"]["server"]
        server["process"]["environment"], server["environment"] = {}, told
        workload = question.workload._replace(
            workload=type(question.workload.workload).model_validate(changed)
        )
        question = question._replace(workload=workload)
    server = specs_of(question)["jvms-2"].servers[0]
    places = Places("/t/server-1", None, "/t/cache")
    options = environment(server, places)["CATALINA_OPTS"]
    assert options.startswith("-Dx=y -Xmx32m ")
    assert "/t/server-1/logs" in options  # the GC log
    assert "${" not in options
    assert environment(server, places)["JAVA_HOME"]


def test_jvm_options_within_a_word(tmp_path: Path) -> None:
    words = ["sh", "-c", "exec ${java} ${jvm_options} -jar x.jar"]
    server = specs_of(shop(tmp_path, {"total_heap": "64m"}, command=words))["jvms-2"].servers[0]
    last = command(server, Places("/t/server-1", None, "/t/cache"))[-1]
    assert re.match(r"exec \S+/bin/java -Xmx32m .* -jar x\.jar$", last)


@pytest.mark.parametrize(
    ("setting", "fits", "does_not"),
    [
        ("acmeair.today", ["2026-06-15", "system"], ["15.6.2026", "today", "2026-06-15 "]),
        ("acmeair.database_heap", ["1g", "512m", "1000000"], ["1 GiB", "-1g", ""]),
        ("acmeair.proxy_workers", ["auto", "4"], ["0", "many"]),
    ],
)
def test_values_that_the_application_would_refuse_are_refused_by_the_plan(
    setting: str, fits: list[str], does_not: list[str]
) -> None:
    settings = Settings(load_workload("acmeair").workload, {})
    for value in fits:
        settings.check(setting, value)
    for value in does_not:
        with pytest.raises(BadInput, match="does not match"):
            settings.check(setting, value)


def test_every_text_of_a_setting_has_its_form() -> None:
    for name in workload_names():
        for key, setting in load_workload(name).workload.settings.items():
            assert setting.type != "text" or setting.pattern, f"{name}.{key}"


def test_the_cases_of_the_injector_s_template() -> None:
    """The same expression on both sides."""
    source = (ROOT / "loadgen/src/main/java/dev/steelyard/loadgen/journey/declared/Template.java").read_text(
        "utf-8"
    )
    assert re.search(r'Pattern\.compile\("(.*)"\)', source)[1].replace("\\\\", "\\") == r"\$\{([^}]*)}"  # type: ignore[index]
    assert REFERENCE.findall("a${b}c${d.e}") == ["b", "d.e"]
