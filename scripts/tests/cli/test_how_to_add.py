# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/development.md, How to add: those of a figure, a rule and a setting are held beside theirs."""

from pathlib import Path

from added import copy_checkout, example, run_in_copy
from builders import make_spec
from planned import HOST, specs_of

from steelyard.experiment.loader import load_experiment
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


def test_an_engine_is_a_class(tmp_path: Path) -> None:
    names: dict[str, type] = {}
    modules = ("collections.abc", "pathlib", "typing", "steelyard.engines.base", "steelyard.results.spec")
    imports = "".join(f"from {module} import *\n" for module in modules)
    exec(imports + example("An engine"), names)
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
