# SPDX-License-Identifier: Apache-2.0
"""What a side of a gate is: from a word of the command line to the settings that its arm deploys."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.build import GitFailed, git, why_no_commit
from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment, load_experiment
from steelyard.experiment.matrix import Arm, expand
from steelyard.experiment.schema import Load
from steelyard.experiment.settings import Settings
from steelyard.host.java import named_jdks
from steelyard.paths import ROOT, is_there
from steelyard.session.plan import RunRequest, host_checks, metric_checks, question_of
from steelyard.workload.loader import LoadedWorkload
from steelyard.yamlfile import Lines, find_file, parse

_TEXTS = ("image", "jdk", "build")
"""What a side may name that is never a number."""
CHECKOUT = "checkout"
"""A side: this checkout as it is."""


def baseline_arm(question: LoadedExperiment) -> Arm:
    """The arm that all others are weighed against."""
    return next(arm for arm in expand(question.experiment, question.settings) if arm.baseline)


def resolve_sides(
    request: RunRequest, base: LoadedExperiment, arm: Arm, sides: Mapping[str, str]
) -> dict[str, dict[str, object]]:
    """The settings of each side, by what it is called (raises BadInput: it is nothing known; what `approve` raises)."""
    written = baseline_arm(question_of(replace(request, quick=False, settings=(), results=None))).load
    settings = {key: _side_settings(side, base, arm, written) for key, side in sides.items()}
    for side in filter(_is_experiment, sides.values()):
        request.approve(Path(side))
    return settings


def arm_settings(arm: Arm, settings: Settings) -> dict[str, object]:
    """Everything that an arm deploys, as settings by name."""
    deployment = arm.deployment.model_dump(exclude={"jvm", "jitserver"})
    jit = {f"jitserver.{key}": value for key, value in arm.deployment.jitserver.model_dump().items()}
    own = {f"{settings.workload}.{key}": value for key, value in arm.settings.items()}
    return {**deployment, **arm.deployment.jvm.model_dump(), **jit, **own, **arm.host}


def _is_experiment(side: str) -> bool:
    return side.endswith((".yaml", ".yml"))


def _side_settings(text: str, base: LoadedExperiment, arm: Arm, written: Load) -> dict[str, object]:
    """The settings of a side; `written`: the load as the gate's experiment has it in its file."""
    if _is_experiment(text):
        return _of_experiment(text, base, arm, written)
    given = _parse_side(text)
    if "image" in given:
        image = given.pop("image")
        given = {"jdk": image, "engine": given.get("engine", _container_engine(arm)), **given}
    for key, value in given.items():
        base.settings.check(key, value)
    if given.get("build") is not None:
        _require_same_workload(base.workload, str(given["build"]))
    return {**arm_settings(arm, base.settings), **given}


def _require_same_workload(workload: LoadedWorkload, commit: str) -> None:
    """Refuse a commit with another version of the workload: its servers are made for another load (raises BadInput)."""
    file = workload.folder / "workload.yaml"
    if not file.is_relative_to(ROOT) or _why_no_commit(commit) is not None:
        return
    mine = workload.workload
    try:
        text = git(ROOT, "show", f"{commit}:{file.relative_to(ROOT)}")
    except GitFailed as error:
        raise BadInput(
            f"{commit} has no workload {mine.name} (git: {error.said}): give a commit that has it, or another"
            " --workload"
        ) from error
    theirs = parse(text, Lines(Path(f"{commit}:{file.name}")))["version"]
    if theirs != mine.version:
        raise BadInput(
            f"{commit} has {mine.name} {theirs}, and this checkout {mine.name} {mine.version}: two versions of a"
            " workload are not compared with each other"
        )


def _container_engine(arm: Arm) -> str:
    return "compose" if arm.deployment.engine == "process" else arm.deployment.engine


def _of_experiment(text: str, base: LoadedExperiment, arm: Arm, written: Load) -> dict[str, object]:
    """What the baseline of another experiment file deploys; all that is not deployed has to be the same."""
    path = find_file(text, {}, "experiment")
    own = load_experiment(path, host_checks(), None, metric_checks())
    mine, theirs = base.workload.workload, own.workload.workload
    if (theirs.name, theirs.version) != (mine.name, mine.version):
        raise BadInput(
            f"{text} is about {theirs.name} {theirs.version}, the gate's experiment about {mine.name} {mine.version}:"
            " two workloads are not compared with each other"
        )
    other = load_experiment(path, host_checks(), base.experiment.workload, metric_checks())
    baseline = baseline_arm(other)
    if other.experiment.procedure != base.experiment.procedure or (
        "load" in other.experiment.model_fields_set and baseline.load not in (arm.load, written)
    ):
        raise BadInput(
            f"{text} has another procedure or load than the gate's experiment {base.experiment.name}: a gate loads both"
            " sides alike, so make them the same, or leave load out"
        )
    return arm_settings(baseline, other.settings)


def _parse_side(text: str) -> dict[str, object]:
    """Settings that a side names: `key=value,...`, or one thing that can be recognised."""
    if text == CHECKOUT:
        return {"build": None}
    parts = [part.partition("=") for part in text.split(",")]
    if all(equals and key.strip() for key, equals, _ in parts):
        return {
            key.strip(): value.strip() if key in _TEXTS else parse(value, Lines(Path("a side")))
            for key, _, value in parts
        }
    if text in named_jdks() or is_there(Path(text) / "bin" / "java"):
        return {"jdk": text}
    if (failed := _why_no_commit(text)) is None:
        return {"build": text}
    if "/" in text or ":" in text:
        return {"image": text}
    if failed.said:  # git could not look
        raise BadInput(why_no_commit(text, failed))
    raise BadInput(
        f"{text!r} is neither a commit of this checkout, nor a JDK that `doctor` lists, nor an image, nor an experiment"
        " file: say what it is, as in image=example/shop:2, build=v1.2, jdk=/opt/jdk, gc_threads=2"
    )


def _why_no_commit(text: str) -> GitFailed | None:
    """None for a commit of this checkout, else what git said."""
    try:
        git(ROOT, "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")
    except GitFailed as error:
        return error
    return None
