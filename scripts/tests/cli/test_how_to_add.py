# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/development.md, How to add: those of a figure, a rule and a setting are held beside theirs."""

import shutil
from pathlib import Path
from typing import Any

from added import copy_checkout, example, insert, run_in_copy
from builders import make_spec
from planned import HOST, asked, specs_of

from steelyard.experiment.loader import load_experiment
from steelyard.gate.conditions import _settings
from steelyard.paths import EXPERIMENTS
from steelyard.session.plan import metric_checks

STATE = """
import contextlib, io, json
from planned import asked, specs_of
from steelyard.cli.host import show

specs = specs_of(asked("ping", factors={"dirty_ratio": {"levels": [5, 20]}}))
with contextlib.redirect_stdout(io.StringIO()) as shown:
    show(as_json=True)
rows = {row["state"]: row for row in json.loads(shown.getvalue())}
print(json.dumps({"plan": {arm: spec.host_states for arm, spec in specs.items()}, "show": rows["dirty_ratio"]}))
"""


PLAN = """
import contextlib, io, json, sys
from steelyard.cli.app import main

sys.argv = ["steelyard", "plan", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
    main()
print(json.dumps({"shown": shown.getvalue()}))
"""
PAGE = """
import json
from experiment import test_experiment_pages as pages

pages.row = lambda name: f"{name}, "
print(json.dumps({"more": pages.tables().partition(f"## {pages._MORE}")[2].partition(pages._HEAD)[2]}))
"""
SETTING = """
import json
from planned import asked, specs_of
from steelyard.gate.conditions import _settings

specs = specs_of(asked("ping", factors={"nice": {"levels": [0, 5]}}))
print(json.dumps({arm: [spec.nice, _settings(spec)] for arm, spec in specs.items()}))
"""


def plan_in_copy(package: Path, *words: object) -> str:
    """What `plan` prints there."""
    shown: str = run_in_copy(package, "-c", PLAN, *words)["shown"]
    return shown


def test_a_workload_and_an_experiment_are_a_file_each(tmp_path: Path) -> None:
    (tmp_path / "hello.yaml").write_text(example("A workload"), encoding="utf-8")
    (tmp_path / "collectors.yaml").write_text(example("An experiment"), encoding="utf-8")
    ours = load_experiment(tmp_path / "collectors.yaml", HOST, metrics=metric_checks())
    assert {spec.servers[0].jvm_options[1] for spec in specs_of(ours).values()} == {
        "-XX:+UseParallelGC",
        "-XX:+UseG1GC",
    }
    jvms = tmp_path / "jvms.yaml"
    jvms.write_text(
        example("An experiment")
        .replace("workload: ping", "workload: hello.yaml")
        .replace("{gc: {levels: [generational, regional]}}", "{jvms: {levels: [1]}, cores: {levels: [1, 2]}}")
        .replace("deployment: {jvm: {heap: 256m}}", ""),
        encoding="utf-8",
    )
    foreign = specs_of(load_experiment(jvms, HOST))
    (first, *_) = foreign.values()
    assert first.servers[0].artifact.words == ["python3", "-m", "http.server", "9080"]


def test_a_host_state_is_a_file(tmp_path: Path) -> None:
    package = copy_checkout(tmp_path)
    (package / "host" / "state_dirty_ratio.py").write_text(example("A host state"), encoding="utf-8")
    printed = run_in_copy(package, "-c", STATE)
    assert list(printed["plan"].values()) == [{"dirty_ratio": 5}, {"dirty_ratio": 20}]
    assert printed["show"]["takes"] == "0 to 100"


def test_an_experiment_of_the_project_is_planned_by_name_and_has_a_place_on_the_page(tmp_path: Path) -> None:
    package = copy_checkout(tmp_path)
    (tmp_path / "experiments").unlink()
    shutil.copytree(EXPERIMENTS, tmp_path / "experiments")
    (tmp_path / "experiments" / "ping-collectors.yaml").write_text(example("An experiment"), encoding="utf-8")
    assert plan_in_copy(package, "ping-collectors").startswith("Two collectors\n")
    assert run_in_copy(package, "-c", PAGE)["more"].strip() == "ping-collectors,"


def test_a_setting_is_planned_and_a_certificate_counts_it(tmp_path: Path) -> None:
    package = copy_checkout(tmp_path)
    befores = {
        "experiment/schema.py": "    threads: Annotated[int, Field(ge=4",
        "results/spec.py": "    data: list[DataRequest] =",
        "spec/plan.py": "        numa=deployment.numa,",
    }
    parts = example("A setting", 2).split("# ")[1:]
    for part, (file, before) in zip(parts, befores.items(), strict=True):
        place, _, lines = part.partition("\n")
        assert place.startswith(f"{file}, ")
        insert(package / file, before, lines)
    plain, nice = run_in_copy(package, "-c", SETTING).values()
    assert (plain[0], nice[0]) == (0, 5)
    assert plain[1] != nice[1]
    shown = plan_in_copy(package, "jvm-count", "--quick", "--set", "jvms=1", "--set", "nice=0,5")
    assert "jvms-1_nice-5" in shown
    unchanged, _ = specs_of(asked("ping", factors={"jvms": {"levels": [1, 2]}})).values()
    assert plain[1] == _settings(unchanged)


def test_an_engine_is_planned_once_its_record_is_there(tmp_path: Path) -> None:
    package = copy_checkout(tmp_path)
    (package / "engines" / "idle.py").write_text(example("An engine"), encoding="utf-8")
    insert(package / "experiment" / "schema.py", ', "kubernetes"]\nENGINES', ', "idle"')
    insert(package / "session" / "runtimes.py", '    "compose": _EngineRecord(', example("An engine", 2))
    importing = "from steelyard.engines.idle import IdleEngine, idle_runtime\n"
    insert(package / "session" / "runtimes.py", "from steelyard.engines.images import", importing)
    shown = plan_in_copy(package, "jvm-count", "--quick", "--engine", "idle")
    assert shown.startswith("Number of")
    assert "  jvms-1: true\n" in shown


def test_an_engine_is_a_class(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(example("An engine"), names)
    engine = names["IdleEngine"]()
    engine.check([make_spec()])
    deployment = engine.open(make_spec(), tmp_path)
    assert deployment.started_components() == []
    assert deployment.stop() == []


def test_every_example_is_held_by_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")]
    for title in (
        "A workload",
        "An experiment",
        "A setting",
        "A figure",
        "A rule",
        "A host state",
        "An engine",
    ):
        assert any(f'"{title}"' in text for text in texts)
        assert example(title), title


def test_a_heading_without_code_has_no_example() -> None:
    assert example("A planet") == ""
