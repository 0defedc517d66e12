# SPDX-License-Identifier: Apache-2.0
"""Workload files: the project's own, anybody's, and what is wrong with them."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from planned import HOST, asked, processes, specs_of

import steelyard
from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment
from steelyard.experiment.settings import Settings
from steelyard.units import MIB
from steelyard.workload.loader import APPS, load_workload, workload_names
from steelyard.workload.schema import Workload, WorkloadSetting
from steelyard.yamlfile import Lines, parse

FILE = """\
steelyard: 1
name: shop
version: "2"
title: A shop
min_heap: 48m
packages:
  app: {folder: app}
settings:
  items: {type: integer, minimum: 1, maximum: 99, default: 10, about: items}
  day: {type: text, default: "2026-06-15", about: a day, reads_back: today}
  mode: {type: choice, choices: [fast, slow], default: fast, about: how}
topologies:
  alone:
    about: one server
    components:
      server:
        role: server
        replicas: jvms
        process: {package: app, java: [-jar, "${package}/app.jar", --port, "${port}"]}
        environment: {DAY: "${day}"}
        ready: {path: /ready}
    journey:
      variables: {id: {random: [1, 9]}}
      visits:
        browse:
          weight: 3
          steps:
            - {operation: list, path: /items}
            - {operation: show, path: "/items/${id}"}
        buy: {steps: [{operation: buy, method: POST, path: /buy, form: {id: "${id}"}}]}
    data: [{component: server, path: "/load?n=${items}"}]
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """The file with one piece of its text replaced."""
    (tmp_path / "app").mkdir()

    def written(old: str = "", new: str = "") -> Path:
        assert old in FILE
        path = tmp_path / f"shop-{len(list(tmp_path.iterdir()))}.yaml"
        path.write_text(FILE.replace(old, new, 1), encoding="utf-8")
        return path

    return written


def planned(path: Path, **keys: object) -> LoadedExperiment:
    found = load_workload(str(path))
    question = asked("ping", **keys)
    experiment = question.experiment.model_copy(update={"workload": str(path)})
    return LoadedExperiment(experiment, found, Settings(found.workload, HOST))


def test_every_workload_of_the_project_is_accepted() -> None:
    assert {"ping", "acmeair"} <= set(workload_names())
    for name in workload_names():
        found = load_workload(name)
        assert found.workload.name == name
        for package in found.workload.packages:
            assert found.package_path(package).is_relative_to(APPS)


def test_acmeair_is_a_monolith_or_five_services() -> None:
    workload = load_workload("acmeair").workload
    assert list(workload.topologies) == ["monolith", "microservices"]
    assert list(workload.topologies["microservices"].kinds("server")) == [
        "auth",
        "customer",
        "flight",
        "booking",
        "main",
    ]
    assert workload.resolve_settings("monolith", {})["visits_per_login"] == 1
    assert workload.resolve_settings("microservices", {})["visits_per_login"] == 5
    assert workload.resolve_settings("microservices", {"visits_per_login": 7})["visits_per_login"] == 7


def names_of_applications() -> set[str]:
    """Names of workloads, their packages, Liberty servers, scenarios and components, without plain words."""
    plain = {"server", "proxy", "database", "single", "shared", "scenario", "main", "flight", ""}
    known: set[str] = set()
    for name in workload_names():
        workload = load_workload(name).workload
        known |= {name, *workload.packages, *workload.topologies}
        for topology in workload.topologies.values():
            known |= {topology.scenario or "", *topology.components}
            processes = [one.process for one in topology.components.values() if one.process]
            known |= {process.liberty or "" for process in processes}
    return known - plain


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and value of each text of a module that is no prose: neither a docstring nor a help text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    prose |= {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "help"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value


def test_the_python_package_knows_no_application() -> None:
    known = names_of_applications()
    assert {"ping", "acmeair", "booking", "embedded-mongo", "acmeair-auth", "monolith"} <= known
    word = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(known)))})(?![\w-])", re.IGNORECASE)
    package = Path(steelyard.__file__).parent
    found = [
        f"{path.relative_to(package)}:{line}: {hit[0]}"
        for path in sorted(package.rglob("*.py"))
        for line, text in texts(path)
        for hit in word.finditer(text)
    ]
    assert not found


def test_a_users_own_server_is_a_workload(write: Callable[..., Path]) -> None:
    path = write()
    question = planned(path, factors={"jvms": {"levels": [1, 2]}}, settings={"shop.items": 12})
    runtime = processes(packages={"app": str(path.parent / "app")}, build=None)
    spec = specs_of(question, runtime=runtime)["jvms-2"]
    first = spec.component("server-1")
    assert first.artifact.words == ["-jar", "${package}/app.jar", "--port", "9080"]
    assert (first.artifact.path, first.artifact.build) == (str(path.parent / "app"), None)
    assert first.environment == {"DAY": "2026-06-15"}
    assert first.expected_info == {}  # nothing tells it, and the plan says so
    assert "variable DAY" in first.read_back
    assert any("not what it made of them" in text for text in spec.not_read_back)
    assert [(step.component, step.path) for step in spec.data] == [("server-1", "/load?n=12")]
    assert spec.bundle == "server"
    assert spec.mix == pytest.approx({"list": 3 / 7, "show": 3 / 7, "buy": 1 / 7})
    assert spec.injectors[0].settings["journey"]["visits"]["buy"]["steps"][0]["form"] == {"id": "${id}"}


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ("min_heap: 48m", "minheap: 48m", "minheap", "unknown key 'minheap' (did you mean 'min_heap'?)"),
        ("role: server", "role: sever", "        role: sever", "role: must be 'server', 'compiler'"),
        ("replicas: jvms", "replicas: 3", "        replicas", "replicas: must be 'one' or 'jvms'"),
        ("weight: 3", "weight: 0", "          weight", "weight: must be more than 0"),
        (
            "{random: [1, 9]}",
            "{random: [9, 1]}",
            "      variables",
            "random: the first number is above the second",
        ),
        ("path: /items}", "pth: /items}", "            - {operation: list", "unknown key"),
        (
            "operation: list",
            "operation: List!",
            "            - {operation: List!",
            "must be small letters, digits and hyphens",
        ),
        (
            "{folder: app}",
            "{folder: app, archive: x.zip}",
            "  app:",
            "give exactly one of archive and folder",
        ),
        (
            "package: app, java",
            "package: other, java",
            "steelyard",
            "topology alone, component server: there is no package 'other'",
        ),
        (
            'package: app, java: [-jar, "${package}/app.jar", --port, "${port}"]',
            "package: app",
            "        process",
            "give exactly one of liberty, java and command",
        ),
        ("        process: {package", "        processs: {package", "        processs", "unknown key"),
        ("default: 10", "default: 100", "  items", "it is at most 99, not 100"),
        ("type: choice, choices: [fast, slow]", "type: choice", "  mode", "type choice has choices"),
        (
            "  mode: {",
            "  cache: {type: integer, default: 1, about: x}\n  mode: {",
            "steelyard",
            "settings: ${cache} stands for something else: give cache another name",
        ),
        (
            'component: server, path: "/load',
            'component: sever, path: "/load',
            "  alone",
            "there is no component 'sever': there are server",
        ),
        (
            "    journey:\n",
            "    scenario: shop\n    journey:\n",
            "  alone",
            "give exactly one of scenario and journey",
        ),
        (
            "    journey:\n",
            "    growing: [shwo]\n    journey:\n",
            "  alone",
            "there is no operation 'shwo' (did you mean 'show'?)",
        ),
        (
            "    journey:\n",
            "    ratios: [{name: x, count: buy, per: brwse, low: 0, high: 1}]\n    journey:\n",
            "  alone",
            "there is no operation 'brwse'",
        ),
        (
            "    journey:\n",
            "    consistency: [{component: server, path: /, about: x, matches: '('}]\n    journey:\n",
            "    consistency",
            "it is no regular expression",
        ),
        (
            "{operation: list, path: /items}",
            "{operation: list, websocket: {path: /, expect: x, within: 0}}",
            "            - {operation: list",
            "within: must be at least 0.001",
        ),
        ("min_heap: 48m", "min_heap: 48", "min_heap", "min_heap: 48 is less than 1 MiB"),
        ("name: shop", "name: My Shop", "name", "must be small letters, digits and hyphens"),
        ("steelyard: 1", "steelyard: 2", "steelyard", "steelyard: must be 1 (it is 2)"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    write: Callable[..., Path], old: str, new: str, key: str, says: str
) -> None:
    path = write(old, new)
    with pytest.raises(BadInput) as caught:
        load_workload(str(path))
    assert says in str(caught.value)
    lines = path.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if text.startswith(key))
    assert str(caught.value).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'DAY: "${day}"',
            'DAY: "${dya}"',
            r"shop, server: \$\{dya\} stands for nothing: there are day, host, items",
        ),
        ('"${port}"', '"${database.port}"', r"\$\{database.port\} stands for nothing"),
        ("/load?n=${items}", "/load?n=${port}", r"data: \$\{port\} stands for nothing"),
    ],
)
def test_a_place_that_stands_for_nothing_is_refused(
    write: Callable[..., Path], old: str, new: str, says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        specs_of(planned(write(old, new)))


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("{times: many, operations: {a: 1}}", "mix: times is a number of visits, not 'many'"),
        ("{times: nan, operations: {a: 1}}", "the operations have no shares of all requests"),
        ("{times: -1, operations: {a: 1}}", "the operations have no shares of all requests"),
        ("{operations: {a: 0}}", "the operations have no shares of all requests"),
        ("{operations: {}}", "the operations have no shares of all requests"),
        ("{operations: {a: -1}}", "operations.a: must be at least 0"),
    ],
)
def test_a_mix_without_shares_is_refused(write: Callable[..., Path], part: str, says: str) -> None:
    journey = FILE[FILE.index("    journey:") : FILE.index("    data:")]
    with pytest.raises(BadInput, match=says):
        specs_of(planned(write(journey, f"    scenario: shop\n    mix: [{part}]\n")))


def test_a_mix_of_visits_that_there_are_not_is_refused(write: Callable[..., Path]) -> None:
    load = {"users": 8, "mix": {"browse": 50, "by": 50}}
    with pytest.raises(BadInput, match="mix: there is no visit 'by': there are browse, buy"):
        specs_of(planned(write(), load=load))


@pytest.mark.parametrize("name", ["pong", "../apps/ping", "", "/etc/passwd", "none.yaml"])
def test_a_workload_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=r"unknown workload .*ping|there is no workload file"):
        load_workload(name)


@pytest.mark.parametrize(
    ("setting", "good", "bad", "says"),
    [
        (
            {"type": "integer", "minimum": 1, "default": 1},
            [1, 10**6],
            [0, 1.5, "x", True, None],
            "a whole number|at least 1",
        ),
        ({"type": "number", "maximum": 2, "default": 1}, [0, 1.5], [2.5, "x", False], "a number|at most 2"),
        ({"type": "text", "default": "a"}, ["", "b"], [1, True, ["a"]], "a text"),
        (
            {"type": "choice", "choices": ["a", "b"], "default": "a"},
            ["b"],
            ["c", 1, True],
            "one of a, b|a text",
        ),
    ],
)
def test_a_setting_takes_values_of_its_type(
    setting: dict[str, object], good: list[object], bad: list[object], says: str
) -> None:
    made = WorkloadSetting.model_validate({"about": "", **setting})
    assert [made.check(value) for value in good] == good
    for value in bad:
        with pytest.raises(ValueError, match=says):
            made.check(value)


def test_a_day_may_be_written_without_quotes() -> None:
    made = WorkloadSetting.model_validate({"type": "text", "default": "x", "about": ""})
    assert made.check(parse("2026-06-15", Lines(Path("x")))) == "2026-06-15"


def test_a_session_keeps_the_file_so_that_it_can_be_read_again() -> None:
    for name in workload_names():
        workload = load_workload(name).workload
        assert Workload.model_validate(workload.model_dump(mode="json", by_alias=True)) == workload


def test_sizes_are_bytes(write: Callable[..., Path]) -> None:
    assert load_workload(str(write())).workload.min_heap == 48 * MIB
