# SPDX-License-Identifier: Apache-2.0
"""From an experiment to its arms: every combination of the factors' levels, resolved and checked."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from steelyard.errors import BadInput
from steelyard.experiment.schema import Deployment, Experiment, Factor, JvmSettings, Load, Scalar, Warmup
from steelyard.experiment.workloads import WORKLOADS

_DEPLOYMENT = [key for key in Deployment.model_fields if key != "jvm"]
_JVM = list(JvmSettings.model_fields)
_LOAD = list(Load.model_fields)
SETTINGS: dict[str, str] = {
    **dict.fromkeys(_LOAD, "load"),
    **dict.fromkeys(_JVM, "jvm"),
    **dict.fromkeys(_DEPLOYMENT, "deployment"),
}
"""Every setting that can be a factor or be given with --set, and the section that holds it."""


@dataclass(frozen=True)
class Arm:
    """One combination of levels, resolved."""

    name: str
    levels: Mapping[str, Scalar]
    baseline: bool
    deployment: Deployment
    load: Load


def expand(experiment: Experiment) -> list[Arm]:
    """The arms, in the order of the levels; the first factor varies slowest.

    Raises:
        BadInput: a factor that is no setting, a level that its setting refuses, fewer than two arms.
    """
    names = list(experiment.factors)
    for name in names:
        check_factor(experiment, name)
    baseline = _baseline(experiment)
    choices = [_level_names(factor) for factor in experiment.factors.values()]
    arms = []
    for combination in itertools.product(*choices):
        levels = dict(zip(names, combination, strict=True))
        deployment, load = _resolve(experiment, levels)
        refuse_meaningless(experiment.workload, deployment, load)
        name = "_".join(f"{_slug(factor)}-{_slug(level)}" for factor, level in levels.items())
        arms.append(Arm(name, levels, levels == baseline, deployment, load))
    if len({arm.name for arm in arms}) != len(arms):
        raise BadInput("two arms have the same name: give each level once")
    if len(arms) < 2:
        raise BadInput(
            "the experiment has one arm only, so there is nothing to compare: give a factor two levels"
        )
    return arms


def refuse_meaningless(workload: str, deployment: Deployment, load: Load) -> None:
    """Refuse a setting that the workload does not have, or a topology of another one (raises BadInput)."""
    for section in (deployment, load):
        for name in sorted(WORKLOADS[workload].refuses & section.model_fields_set):
            if getattr(section, name) != type(section).model_fields[name].default:
                raise BadInput(f"{name} means nothing to the workload {workload}: leave it out")
    if deployment.topology is not None and deployment.topology not in WORKLOADS[workload].kinds:
        raise BadInput(
            f"{workload} has no topology {deployment.topology}: there is {', '.join(WORKLOADS[workload].kinds)}"
        )


def with_quick(experiment: Experiment) -> Experiment:
    """The experiment as `--quick` runs it: fewer levels and blocks, shorter windows with fixed warm-up."""
    quick = experiment.quick
    factors = dict(experiment.factors)
    for name, levels in quick.levels.items():
        factors = _with_levels(factors, name, levels)
    baseline = _kept_baseline(experiment.baseline, factors)
    for name, value in quick.settings.items():
        experiment = _with_fixed(experiment, name, value)
    load = experiment.load.model_copy(
        update={
            "ramp": quick.ramp,
            "warmup": Warmup(until="fixed", at_least=quick.warmup, at_most=quick.warmup),
            "measure": quick.measure,
        }
    )
    design = experiment.design.model_copy(update={"blocks": quick.blocks})
    return experiment.model_copy(
        update={"factors": factors, "baseline": baseline, "load": load, "design": design}
    )


def with_settings(experiment: Experiment, settings: Sequence[str]) -> Experiment:
    """Apply `--set key=value[,value...]`: new levels of a factor, a new factor, or a fixed setting.

    One value for a setting that is no factor fixes it in every arm; several values make it a factor.

    Raises:
        BadInput: not of the form key=value, or no such factor or setting.
    """
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not value.strip():
            raise BadInput(
                f"--set {text!r} is not of the form factor=level[,level...], for example --set jvms=1,2,4"
            )
        levels: list[Scalar] = [yaml.safe_load(part) for part in value.split(",")]
        if key in experiment.factors or len(levels) > 1:
            factors = _with_levels(dict(experiment.factors), key, levels)
            baseline = _kept_baseline(experiment.baseline, factors)
            experiment = experiment.model_copy(update={"factors": factors, "baseline": baseline})
        else:
            experiment = _with_fixed(experiment, key, levels[0])
    return experiment


def _with_levels(factors: dict[str, Factor], name: str, levels: list[Scalar]) -> dict[str, Factor]:
    if name not in factors and name not in SETTINGS:
        raise BadInput(_unknown(name, factors))
    factor = factors.get(name)
    if factor is not None and isinstance(factor.levels, dict):
        unknown = [str(level) for level in levels if str(level) not in factor.levels]
        if unknown:
            raise BadInput(f"factor {name} has no level {unknown[0]!r}: there are {', '.join(factor.levels)}")
        groups = {str(level): factor.levels[str(level)] for level in levels}
        return {**factors, name: factor.model_copy(update={"levels": groups})}
    label = factor.label if factor is not None else None
    return {**factors, name: Factor(label=label, levels=levels)}


def _with_fixed(experiment: Experiment, key: str, value: Scalar) -> Experiment:
    if key not in SETTINGS:
        raise BadInput(_unknown(key, experiment.factors))
    deployment, load = _apply(experiment, {key: value}, f"--set {key}={value}")
    return experiment.model_copy(update={"deployment": deployment, "load": load})


def _unknown(name: str, factors: Mapping[str, Factor]) -> str:
    return (
        f"unknown factor {name!r}: this experiment varies {', '.join(factors)};"
        f" settings that can be varied are {', '.join(sorted(SETTINGS))}"
    )


def check_setting(key: str, value: object) -> None:
    """Check one setting against its own field only: other settings may have to change with it.

    Raises:
        BadInput: there is no such setting, or it refuses the value.
    """
    if key not in SETTINGS:
        raise BadInput(f"{key!r} is not a setting; settings are {', '.join(sorted(SETTINGS))}")
    sections: dict[str, type[BaseModel]] = {"deployment": Deployment, "jvm": JvmSettings, "load": Load}
    field = sections[SETTINGS[key]].model_fields[key]
    kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise BadInput(f"{key}={value}: {key}: {message}") from error


def check_factor(experiment: Experiment, name: str) -> None:
    """Check one factor by itself.

    Raises:
        BadInput: it is no setting, or its setting refuses one of the levels.
    """
    levels = experiment.factors[name].levels
    groups = list(levels.values()) if isinstance(levels, dict) else [{name: level} for level in levels]
    for group in groups:
        for key, value in group.items():
            check_setting(key, value)


def _level_names(factor: Factor) -> list[Scalar]:
    return list(factor.levels)


def _kept_baseline(baseline: Mapping[str, Scalar], factors: Mapping[str, Factor]) -> dict[str, Scalar]:
    """The baseline levels that --set or --quick left in; for the others the first level that is left serves."""
    return {name: level for name, level in baseline.items() if level in _level_names(factors[name])}


def _baseline(experiment: Experiment) -> dict[str, Scalar]:
    return {
        name: experiment.baseline.get(name, _level_names(factor)[0])
        for name, factor in experiment.factors.items()
    }


def _resolve(experiment: Experiment, levels: Mapping[str, Scalar]) -> tuple[Deployment, Load]:
    settings: dict[str, Any] = {}
    for name, level in levels.items():
        chosen = experiment.factors[name].levels
        settings.update(chosen[str(level)] if isinstance(chosen, dict) else {name: level})
    return _apply(experiment, settings, ", ".join(f"{name}={level}" for name, level in levels.items()))


def _apply(experiment: Experiment, settings: Mapping[str, Any], what: str) -> tuple[Deployment, Load]:
    deployment = experiment.deployment.model_dump()
    load = experiment.load.model_dump()
    sections: dict[str, dict[str, Any]] = {"deployment": deployment, "jvm": deployment["jvm"], "load": load}
    for key, value in settings.items():
        sections[SETTINGS[key]][key] = value
    try:
        return Deployment.model_validate(deployment), Load.model_validate(load)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        raise BadInput(f"{what}: {'.'.join(str(p) for p in first['loc'])}: {message}") from error


def _slug(value: object) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", str(value).lower()).strip("-")
