# SPDX-License-Identifier: Apache-2.0
"""From an experiment to its arms: every combination of the factors' levels, resolved and checked."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from steelyard.errors import BadInput
from steelyard.experiment.schema import Deployment, Experiment, Factor, Load, Warmup
from steelyard.experiment.settings import Settings
from steelyard.yamlfile import Scalar

MAX_ARMS = 100
"""More arms than anybody has time for; also keeps thirty levels of four factors from filling the memory."""


@dataclass(frozen=True)
class Arm:
    """One combination of levels, resolved."""

    name: str
    levels: Mapping[str, Scalar]
    baseline: bool
    deployment: Deployment
    load: Load
    settings: Mapping[str, Scalar]
    """The workload's own settings that the experiment says something of, without the workload's name."""
    host: Mapping[str, Scalar]
    """Settings of the host."""


def expand(experiment: Experiment, settings: Settings) -> list[Arm]:
    """The arms, in the order of the levels; the first factor varies slowest.

    Raises:
        BadInput: a factor that is no setting, a level that its setting refuses, fewer than two arms, equal arms.
    """
    for name, factor in experiment.factors.items():
        settings.check_levels(name, factor)
    baseline = _baseline(experiment)
    choices = [list(factor.levels) for factor in experiment.factors.values()]
    count = 1
    for levels in choices:
        count *= len(levels)
    if count > MAX_ARMS:
        raise BadInput(f"the factors give {count} arms, more than {MAX_ARMS}: take fewer factors or levels")
    arms = []
    for combination in itertools.product(*choices):
        chosen = dict(zip(experiment.factors, combination, strict=True))
        name = "_".join(f"{_slug(factor)}-{_slug(level)}" for factor, level in chosen.items())
        arms.append(_resolve(experiment, settings, name, chosen, chosen == baseline))
    _refuse_equal(arms)
    if len(arms) < 2 and experiment.search is None:
        raise BadInput(
            "the experiment has one arm only, so there is nothing to compare: give a factor two levels"
        )
    return arms


def fixed_arm(workload: str, settings: Settings, given: Sequence[str]) -> Arm:
    """One arm with nothing but fixed settings, each as `key=value` (for `up`).

    Raises:
        BadInput: no such setting or value.
    """
    experiment = Experiment(
        steelyard=1,
        name="up",
        title="up",
        question="",
        workload=workload,
        factors={"jvms": Factor(levels=[1])},
    )
    for text in given:
        key, _, value = text.partition("=")
        experiment = _with_fixed(experiment, settings, key, _level(text, value))
    return _resolve(experiment, settings, settings.workload, {}, baseline=True)


def _refuse_equal(arms: Sequence[Arm]) -> None:
    seen: dict[str, str] = {}
    for arm in arms:
        key = repr((arm.deployment, arm.load, sorted(arm.settings.items()), sorted(arm.host.items())))
        if key in seen or arm.name in [other.name for other in arms if other is not arm]:
            other = seen.get(key, arm.name)
            raise BadInput(f"the arms {other} and {arm.name} have the same settings: give each level once")
        seen[key] = arm.name
    if sum(arm.baseline for arm in arms) != 1:
        raise BadInput(
            "there is not exactly one baseline arm: give each level once, and baseline one of them each"
        )


def with_quick(experiment: Experiment, settings: Settings) -> Experiment:
    """The experiment as `--quick` runs it: fewer levels and blocks, shorter windows with fixed warm-up."""
    quick = experiment.quick
    factors = dict(experiment.factors)
    for name, levels in quick.levels.items():
        factors = _with_levels(factors, name, levels)
    baseline = _kept_baseline(experiment.baseline, factors)
    for name, value in quick.settings.items():
        experiment = _with_fixed(experiment, settings, name, value)
    load = experiment.load.model_copy(
        update={
            "ramp": quick.ramp,
            "warmup": Warmup(until="fixed", at_least=quick.warmup, at_most=quick.warmup),
            "measure": quick.measure,
        }
    )
    design = experiment.design.model_copy(update={"blocks": quick.blocks})
    return experiment.model_copy(
        update={
            "factors": factors,
            "baseline": baseline,
            "load": load,
            "design": design,
            "search": quick.of(experiment.search),
        }
    )


def with_settings(experiment: Experiment, settings: Settings, given: Sequence[str]) -> Experiment:
    """Apply `--set key=value[,value...]`: new levels of a factor, a new factor, or a fixed setting.

    One value for a setting that is no factor fixes it in every arm; several values make it a factor.

    Raises:
        BadInput: not of the form key=value, or no such factor or setting.
    """
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not value.strip():
            raise BadInput(
                f"--set {text!r} is not of the form factor=level[,level...], for example --set jvms=1,2,4"
            )
        levels = [_level(text, part) for part in value.split(",")]
        if key in experiment.factors or len(levels) > 1:
            if key not in experiment.factors:
                settings.section(key)
            if any(isinstance(level, list) for level in levels):
                raise BadInput(f"--set {text!r}: a list cannot be a level: make it a named level in the file")
            factors = _with_levels(dict(experiment.factors), key, levels)
            baseline = _kept_baseline(experiment.baseline, factors)
            experiment = experiment.model_copy(update={"factors": factors, "baseline": baseline})
        else:
            experiment = _with_fixed(experiment, settings, key, levels[0])
    return experiment


def _level(text: str, part: str) -> Any:
    """A value of --set: a scalar, or a list for a setting that is one."""
    try:
        value = yaml.safe_load(part)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise BadInput(
            f"--set {text!r}: {part!r} is not a value that YAML can read: put it in quotes"
        ) from error
    if hasattr(value, "isoformat"):
        return part.strip()
    plain = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float | bool) for one in plain):
        raise BadInput(f"--set {text!r}: {part!r} is not one value: write for example --set jvms=1,2,4")
    return value


def _with_levels(factors: dict[str, Factor], name: str, levels: list[Scalar]) -> dict[str, Factor]:
    if name not in factors:
        return {**factors, name: Factor(levels=levels)}
    factor = factors[name]
    if isinstance(factor.levels, dict):
        unknown = [str(level) for level in levels if str(level) not in factor.levels]
        if unknown:
            raise BadInput(f"factor {name} has no level {unknown[0]!r}: there are {', '.join(factor.levels)}")
        groups = {str(level): factor.levels[str(level)] for level in levels}
        return {**factors, name: factor.model_copy(update={"levels": groups})}
    return {**factors, name: Factor(label=factor.label, levels=levels)}


def _with_fixed(experiment: Experiment, settings: Settings, key: str, value: Scalar) -> Experiment:
    settings.check(key, value)
    if settings.section(key) in ("workload", "host"):
        return experiment.model_copy(update={"settings": {**experiment.settings, key: value}})
    deployment, load = _apply(experiment, settings, {key: value}, f"{key}={value}")
    return experiment.model_copy(update={"deployment": deployment, "load": load})


def _kept_baseline(baseline: Mapping[str, Scalar], factors: Mapping[str, Factor]) -> dict[str, Scalar]:
    """The baseline levels that --set or --quick left in; for the others the first level that is left serves."""
    return {name: level for name, level in baseline.items() if level in list(factors[name].levels)}


def _baseline(experiment: Experiment) -> dict[str, Scalar]:
    return {
        name: experiment.baseline.get(name, next(iter(factor.levels)))
        for name, factor in experiment.factors.items()
    }


def _resolve(
    experiment: Experiment, settings: Settings, name: str, levels: Mapping[str, Scalar], baseline: bool
) -> Arm:
    given: dict[str, Any] = {}
    for factor, level in levels.items():
        chosen = experiment.factors[factor].levels
        given.update(chosen[str(level)] if isinstance(chosen, dict) else {factor: level})
    told = ", ".join(f"{factor}={level}" for factor, level in levels.items())
    deployment, load = _apply(experiment, settings, given, told)
    whole = {
        **experiment.settings,
        **{k: v for k, v in given.items() if settings.section(k) in ("workload", "host")},
    }
    own = {
        key.partition(".")[2]: value for key, value in whole.items() if settings.section(key) == "workload"
    }
    host = {key: value for key, value in whole.items() if settings.section(key) == "host"}
    return Arm(name, levels, baseline, deployment, load, own, host)


def _apply(
    experiment: Experiment, settings: Settings, given: Mapping[str, Any], what: str
) -> tuple[Deployment, Load]:
    deployment = experiment.deployment.model_dump()
    load = experiment.load.model_dump()
    sections: dict[str, dict[str, Any]] = {"deployment": deployment, "jvm": deployment["jvm"], "load": load}
    for key, value in given.items():
        section = settings.section(key)
        if section in sections:
            sections[section][key] = value
    try:
        return Deployment.model_validate(deployment), Load.model_validate(load)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        raise BadInput(f"{what}: {'.'.join(str(p) for p in first['loc'])}: {message}") from error


def _slug(value: object) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", str(value).lower()).strip("-") or "x"
