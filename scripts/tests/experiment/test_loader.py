# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from pathlib import Path

import pytest
from planned import HOST

from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment, experiment_files, load_experiment
from steelyard.experiment.matrix import expand, with_quick
from steelyard.paths import EXPERIMENTS
from steelyard.session.plan import metric_checks
from steelyard.units import MIB
from steelyard.yamlfile import find_file

Edit = Callable[[str, str], Path]


def load(path: Path, workload: str | None = None) -> LoadedExperiment:
    return load_experiment(path, HOST, workload, metric_checks())


@pytest.mark.parametrize("name", experiment_files(EXPERIMENTS))
def test_every_experiment_of_the_suite_is_accepted(name: str) -> None:
    path = EXPERIMENTS / f"{name}.yaml"
    found = load(path)
    assert found.experiment.name == name
    assert "run so far" not in path.read_text(encoding="utf-8"), "docs/reference/results.md lists what ran"
    for experiment in (found.experiment, with_quick(found.experiment, found.settings)):
        arms = expand(experiment, found.settings)
        assert sum(arm.baseline for arm in arms) == 1


@pytest.mark.parametrize("name", experiment_files(EXPERIMENTS))
def test_users_outnumber_the_threads_of_a_pool(name: str) -> None:
    """50 users without think time never ask for more than 50 threads: pools of 64 and 128 were compared in vain."""
    found = load(EXPERIMENTS / f"{name}.yaml")
    for experiment in (found.experiment, with_quick(found.experiment, found.settings)):
        for arm in expand(experiment, found.settings):
            threads, users = arm.deployment.threads, arm.load.users
            if isinstance(threads, int) and users is not None and not arm.load.think_time:
                assert threads < users, arm.name


def test_sizes_and_durations_are_bytes_and_seconds() -> None:
    experiment = load(EXPERIMENTS / "jvm-count.yaml").experiment
    assert experiment.deployment.total_heap == 1536 * MIB
    assert experiment.load.warmup.at_most == 240.0


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        (
            "  users: 48",
            "  usres: 48",
            "  usres:",
            "unknown key 'load.usres' (did you mean 'users'?): allowed here are model",
        ),
        (
            "gc: generational",
            "gcc: serial",
            "    gcc:",
            "unknown key 'deployment.jvm.gcc' (did you mean 'gc'?)",
        ),
        (
            "model: closed",
            "model: clsed",
            "  model:",
            "load.model: must be 'closed' or 'open' (it is 'clsed')",
        ),
        (
            "measure: 60s",
            "measure: 60parsecs",
            "  measure: 60p",
            "'60parsecs' is not a duration: write for example 30s",
        ),
        (
            "total_heap: 1536m",
            "total_heap: many",
            "  total_heap:",
            "'many' is not a size: write for example 512m",
        ),
        (
            "blocks: 6",
            "blocks: 1001",
            "  blocks:",
            "design.blocks: must be at most 1000",
        ),
        ("steelyard: 1", "steelyard: 2", "steelyard:", "steelyard: must be 1 (it is 2)"),
        (
            "levels: [1, 2, 4, 6, 12]",
            "levels: [1, two]",
            "  jvms:",
            "jvms=two: must be a whole number",
        ),
        ("levels: [1, 2, 4, 6, 12]", "levels: []", "    levels:", "must have at least 1 entry"),
        ("at_least: 60s", "at_least: 600s", "  warmup:", "at_most (240s) is shorter than at_least (600s)"),
        (
            "{compile: foreground}",
            "{compile: later}",
            "  settings:",
            "quick.settings.compile: compile=later: must be",
        ),
        (
            "levels: {jvms: [1, 2]}",
            "levels: {jvms: []}",
            "  levels:",
            "quick.levels.jvms: must have at least 1 entry",
        ),
        (
            "workload: ping\n",
            "workload: ping\nprocedure: run-up\n",
            "procedure:",
            "procedure: must be 'steady', 'start-up', 'ramp-up' or 'survive'",
        ),
        (
            "workload: ping\n",
            "workload: ping\nsettings: {thp: sometimes}\n",
            "settings:",
            "settings.thp: thp=sometimes: 'sometimes' is no mode",
        ),
        (
            "workload: ping\n",
            "workload: ping\nsettings: {ping.customers: 1}\n",
            "settings:",
            "'ping.customers' is not a setting",
        ),
        (
            "  jvm:\n",
            "  engine: compose\n  memory: 1g\n  total_memory: 1g\n  jvm:\n",
            "deployment:",
            "give either total_memory (split over the JVMs) or memory (for each JVM), not both",
        ),
        (
            "  jvm:\n",
            "  memory: 1g\n  jvm:\n",
            "deployment:",
            "memory is the limit of a container: set engine: compose",
        ),
        ("blocks: 6", "blocks: 1", "  blocks:", "design.blocks: an interval needs two blocks or more"),
        (
            "primary: throughput",
            "primary: thruput",
            "  primary:",
            "metrics.primary: 'thruput' is no metric (did you mean 'throughput'?)",
        ),
        (
            "report: [memory_rss, cpu_per_1k,",
            "report: [memory_rss, cpu_per_1000,",
            "  report:",
            "metrics.report.1: 'cpu_per_1000' is no metric (did you mean 'cpu_per_1k'?)",
        ),
        (
            "primary: throughput",
            "primary: time_to_90",
            "  primary:",
            "metrics.primary: 'time_to_90' is not measured by procedure steady",
        ),
        (
            "measure: 60s",
            "measure: 1ms",
            "  measure:",
            "load.measure: must be at least 1",
        ),
        ("measure: 60s", "measure: 9999999h", "  measure:", "load.measure: '9999999h' is more than a year"),
        ("  users: 48", "  users: .inf", "  users:", "not valid YAML: a number without end"),
        ("gc: generational", "nursery: 1", "    nursery:", "is less than 1 MiB"),
        ("blocks: 6", "seed: -1", "  seed:", "design.seed: must be at least 0"),
        (
            "baseline: {jvms: 1}",
            "baseline: {jvms: 3}",
            "baseline",
            "baseline.jvms: 3 is not a level: levels are 1, 2, 4, 6, 12",
        ),
        (
            "baseline: {jvms: 1}",
            "baseline: {gc: serial}",
            "baseline",
            "baseline.gc: 'gc' is no factor: factors are jvms",
        ),
        (
            "design:\n",
            "search: {raise: users, hold: cpu}\ndesign:\n",
            "search:",
            "give exactly one of raise, lower and hold",
        ),
        (
            "design:\n",
            "search: {lower: memory, while: survives}\ndesign:\n",
            "steelyard",
            "this search needs procedure: survive",
        ),
        *(
            (
                "design:\n",
                f"search: {{raise: users, {key}: {value}}}\ndesign:\n",
                "search:",
                f"{key} is a number with an end, not '{value}'",
            )
            for key, value in (("start", "nan"), ("minimum", "-inf"), ("maximum", "inf"))
        ),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_file_and_line(
    edited: Edit, old: str, new: str, key: str, says: str
) -> None:
    path = edited(old, new)
    lines = path.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if text.startswith(key))
    with pytest.raises(BadInput) as caught:
        load(path)
    assert says in str(caught.value)
    if key != "steelyard":  # errors of the whole have no line of their own
        assert str(caught.value).startswith(f"{path}:{line}: ")


def test_a_missing_key_is_named(edited: Edit) -> None:
    with pytest.raises(BadInput, match="key 'name' is missing"):
        load(edited("name: jvm-count\n", ""))


def test_a_factor_that_is_no_setting_is_refused(edited: Edit) -> None:
    path = edited("factors:\n  jvms:", "factors:\n  jwms:")
    path.write_text(path.read_text(encoding="utf-8").replace("baseline: {jvms: 1}\n", ""), encoding="utf-8")
    with pytest.raises(
        BadInput,
        match=r"changed\.yaml:\d+: factors\.jwms: 'jwms' is not a setting .*: `\./steelyard explain`",
    ):
        load(path)


def test_an_unknown_workload_names_the_experiment(edited: Edit) -> None:
    with pytest.raises(
        BadInput, match=r"changed\.yaml: workload: unknown workload 'pong' \(did you mean 'ping'\?\)"
    ):
        load(edited("workload: ping", "workload: pong"))


def test_a_workload_file_lies_beside_its_experiment(edited: Edit, tmp_path: Path) -> None:
    text = (EXPERIMENTS.parent / "apps" / "ping" / "workload.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("name: ping\n", "name: mine\n"), encoding="utf-8")
    assert load(edited("workload: ping", "workload: mine.yaml")).workload.workload.name == "mine"


def test_an_experiment_runs_on_another_workload() -> None:
    found = load(EXPERIMENTS / "jvm-count.yaml", "acmeair")
    assert found.workload.workload.name == found.experiment.workload == "acmeair"
    with pytest.raises(BadInput, match=r"^unknown workload 'pong'"):
        load(EXPERIMENTS / "jvm-count.yaml", "pong")


def test_an_experiment_of_another_workload_names_what_does_not_fit() -> None:
    with pytest.raises(BadInput) as caught:
        load(EXPERIMENTS / "acmeair-topology.yaml", "ping")
    assert str(caught.value) == (
        "acmeair-topology asks about another workload: ping does not have acmeair.customers,"
        " acmeair.visits_per_login: choose another experiment, or copy the file and leave these out"
    )


def test_an_unknown_experiment_names_the_nearest() -> None:
    with pytest.raises(
        BadInput, match=r"unknown experiment 'jvm-cuont' \(did you mean 'jvm-count'\?\): `\./steelyard list`"
    ):
        find_file("jvm-cuont", experiment_files(EXPERIMENTS), "experiment")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for name in ("none", "n" * 300):
        with pytest.raises(BadInput, match=r"there is no experiment file"):
            find_file(str(tmp_path / f"{name}.yaml"), experiment_files(EXPERIMENTS), "experiment")
