# SPDX-License-Identifier: Apache-2.0
"""The page of all experiments is made of their files: `UPDATE_CATALOGUE=1` with pytest writes its tables anew."""

import os
import re
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders import make_jvm
from planned import HOST, containers, cores, processes

from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment, experiment_files, load_experiment
from steelyard.experiment.matrix import Arm, expand, with_host_levels, with_quick
from steelyard.experiment.schema import Experiment
from steelyard.jvm.identity import JvmIdentity
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.results.spec import Spec
from steelyard.session.schedule import populating_seconds, trial_seconds
from steelyard.spec.layout import Runtime
from steelyard.spec.plan import make_spec
from steelyard.yamlfile import Scalar

PAGE = ROOT / "docs" / "reference" / "experiments.md"
FOREIGN = ROOT / "docs" / "examples" / "fuseki" / "workload.yaml"
"""A workload of somebody else: what runs on it runs on any."""
_CONTAINER = "        container: {image: example/shop:1, port: 8080, jvm_options: JAVA_TOOL_OPTIONS}\n"
CORES = 2
_TITLES = {
    "One JVM or several": "jvm-count acmeair-scale daytrader-scale olio-fixed-load olio-fixed-load-per-jvm",
    "JVMs and their settings": "jvm-compare jdk-releases daytrader-jvms acmeair-jvm-tuning gc-threads-20-jvms"
    " heap-sweep daytrader-heap thread-pool virtual-threads",
    "Collectors": "collectors collectors-latency collectors-openj9 collectors-openj9-latency",
    "Starts and ramp-up": "start-up checkpoint-start daytrader-jvms-start ramp-up",
    "How much load": "capacity capacity-rate load-levels olio-fixed-cpu",
    "JITServer": "jitserver-ramp-up jitserver-start-up jitserver-latency jitserver-killed jitserver-shared"
    " jitserver-mix jitserver-cpu-limits jitserver-density",
    "Applications": "acmeair-topology acmeair-json daytrader-modes ingress",
    "The host": "smt scale-smt governor prefetch irq-affinity numa large-pages page-faults",
    "Containers and clusters": "cpu-limits olio-native-vs-container k8s-scale k8s-large-pages",
    "Changes": "gate",
}
_MORE = "More questions"
"""Headings of the page, with the experiments below each; what none has stands below the last one."""
_HEAD = "| experiment | question | workload | needs | `--quick` | whole |\n| --- | --- | --- | --- | --- | --- |\n"


def levels(_: str) -> list[Scalar]:
    """A host that has two levels of each state."""
    return ["on", "off"]


def load(name: str, *, quick: bool = False, workload: str | None = None) -> LoadedExperiment:
    """An experiment of the project as its file has it, or as `--quick` changes it."""
    experiment, known, settings, _ = load_experiment(EXPERIMENTS / f"{name}.yaml", HOST, workload)
    if quick:
        experiment = with_quick(experiment, settings)
    return LoadedExperiment(with_host_levels(experiment, levels), known, settings)


def runtime_of(arm: Arm, jvm: JvmIdentity) -> Runtime:
    """What an arm runs on: its engine, with an image for whatever it asks for."""
    if arm.deployment.engine == "process":
        return processes(jvm)
    return containers(jvm=jvm, images=defaultdict(lambda: "reg/image@sha256:1"))


def make_specs(question: LoadedExperiment) -> list[Spec]:
    """The specs of its arms on a host of two cores: on HotSpot, or on OpenJ9 where it wants that."""
    experiment, workload, settings, _ = question
    arms = expand(experiment, settings)

    def make(jvm: JvmIdentity) -> list[Spec]:
        host = cores(CORES)
        return [make_spec(arm, experiment.procedure, workload, host, runtime_of(arm, jvm)) for arm in arms]

    try:
        return make(make_jvm("hotspot"))
    except BadInput:
        return make(make_jvm("openj9", 21))


def minutes(question: LoadedExperiment) -> str:
    """Shortest and longest expected time, for people, as a session's plan has it, void trials left out."""
    experiment = question.experiment
    specs = make_specs(question)
    fewest, most = (3, experiment.search.trials) if experiment.search is not None else (1, 1)
    once = sum(map(populating_seconds, specs))
    blocks = experiment.design.blocks
    low = once + blocks * fewest * sum(trial_seconds(spec)[0] for spec in specs)
    high = once + blocks * most * sum(trial_seconds(spec)[1] for spec in specs)
    return span(low, high)


def span(low: float, high: float) -> str:
    """`5 to 8 min`, `2 to 5 h`."""
    first, last = round(low / 60), round(high / 60)
    if last >= 120:
        first, last = round(low / 3600), round(high / 3600)
        return f"{last} h" if first == last else f"{first or 1} to {last} h"
    return f"{last} min" if first == last else f"{first} to {last} min"


def runs_on(name: str) -> str:
    """The workload of an experiment, or that it asks its question of one of somebody else, too."""
    text = FOREIGN.read_text(encoding="utf-8")
    with_container = text.replace("        process:\n", f"{_CONTAINER}        process:\n", 1)
    for workloads, content in {"any": text, "any with a `container`": with_container}.items():
        with TemporaryDirectory() as folder:
            file = Path(folder) / "workload.yaml"
            file.write_text(content, encoding="utf-8")
            try:
                make_specs(load(name, workload=str(file)))
            except BadInput:
                continue
            return workloads
    return load(name).workload.workload.name


def needs(name: str) -> str:
    """What the head of its file says that it needs."""
    head = (EXPERIMENTS / f"{name}.yaml").read_text(encoding="utf-8").partition("\nsteelyard:")[0]
    text = " ".join(line.removeprefix("#").strip() for line in head.splitlines())
    said = re.findall(r"Needs ((?:[^.:;(]|\.\d)+)", text)
    engines = load(name).experiment.model_dump_json()
    if '"kubernetes"' in engines:
        said.append("a cluster")
    elif '"compose"' in engines and not any("image" in words for words in said):
        said.append("a container engine")
    return ", ".join(dict.fromkeys(words.strip(" ,") for words in said)) or "-"


def row(name: str) -> str:
    """One line of a table."""
    question = load(name)
    experiment: Experiment = question.experiment
    asked = " ".join(experiment.question.split()).replace("|", "\\|")
    stop = "" if experiment.title.endswith("?") else "."
    link = f"[`{name}`](../../experiments/{name}.yaml)"
    quick, whole = minutes(load(name, quick=True)), minutes(question)
    return f"| {link} | **{experiment.title}{stop}** {asked} | {runs_on(name)} | {needs(name)} | {quick} | {whole} |\n"


def tables() -> str:
    """All of them, each below its heading."""
    placed = {title: names.split() for title, names in _TITLES.items()}
    more = sorted(experiment_files(EXPERIMENTS).keys() - set().union(*placed.values()))
    titles = placed | ({_MORE: more} if more else {})
    return "\n".join(f"## {title}\n\n{_HEAD}{''.join(map(row, names))}" for title, names in titles.items())


def test_every_experiment_has_one_place() -> None:
    linked = re.findall(r"^\| \[`([a-z0-9-]+)`\]", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(linked) == sorted(experiment_files(EXPERIMENTS))


def test_the_page_is_what_the_files_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, mark, _ = page.partition("<!-- made of experiments/*.yaml: UPDATE_CATALOGUE=1 -->\n")
    assert mark
    made = f"{before}{mark}\n{tables()}"
    if os.environ.get("UPDATE_CATALOGUE"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(250, 470, "4 to 8 min"), (610, 610, "10 min"), (4000, 9000, "1 to 2 h"), (7300, 7300, "2 h")],
)
def test_times_are_for_people(low: float, high: float, text: str) -> None:
    assert span(low, high) == text


def test_what_only_its_own_workload_has_runs_nowhere_else() -> None:
    assert runs_on("jvm-count") == "any"
    assert runs_on("jitserver-density") == "any with a `container`"
    assert runs_on("acmeair-topology") == "acmeair"


def test_the_page_of_jitservers_has_each_experiment_with_one() -> None:
    page = (ROOT / "docs" / "jitserver.md").read_text(encoding="utf-8")
    table = page.partition("## Which experiment")[2].partition("\n## ")[0]
    names = {name for name in experiment_files(EXPERIMENTS) if name.startswith("jitserver-")}
    assert set(re.findall(r"`(jitserver-[a-z-]+)`", table.partition("\n\nEach ")[0])) == names
