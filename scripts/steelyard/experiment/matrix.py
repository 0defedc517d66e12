# SPDX-License-Identifier: Apache-2.0
"""From an experiment to its arms: every combination of the factors' levels, resolved and checked."""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from steelyard.errors import BadInput
from steelyard.experiment.schema import DeploymentSettings, Experiment, Factor, Load, Search
from steelyard.experiment.settings import Section, Settings
from steelyard.units import format_value, quote_value
from steelyard.yamlfile import Lines, Scalar, first_error, parse

MAX_ARMS = 100
"""More arms than anybody has time for; also keeps thirty levels of four factors from filling the memory."""
MAX_TRIALS = 20_000
MAX_JVMS = 2_000
"""Of all arms together, so that planning them takes no longer than reading the plan."""
_VALUE = re.compile(r""",(\s*(?:"[^"]*"|'[^']*'|\[[^\[\]]*\])\s*(?=,|$)|[^,]*)""")
"""A comma and the value after it: in quotes, in brackets, or up to the next comma."""
SEARCH = "search."
"""In front of the keys of a search in `--set`."""
MAX_NAME = 150
"""Characters of an arm's name, for folders are named after it."""


@dataclass(frozen=True)
class Arm:
    """One combination of levels, resolved."""

    name: str
    levels: Mapping[str, Scalar]
    baseline: bool
    deployment: DeploymentSettings
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
        for key, value in factor.values(name):
            settings.check(key, value)
    choices = [list(factor.levels) for factor in experiment.factors.values()]
    count = math.prod(map(len, choices))
    if count > MAX_ARMS:
        raise BadInput(f"the factors give {count} arms, more than {MAX_ARMS}: take fewer factors or levels")
    if (trials := count * experiment.design.blocks) > MAX_TRIALS:
        raise BadInput(
            f"{count} arms in {experiment.design.blocks} blocks are {trials} trials, more than {MAX_TRIALS}"
        )
    first = {name: levels[0] for name, levels in zip(experiment.factors, choices, strict=True)}
    baseline = first | experiment.baseline
    arms = []
    for combination in itertools.product(*choices):
        chosen = dict(zip(experiment.factors, combination, strict=True))
        name = "_".join(f"{_slug(factor)}-{_slug(level)}" for factor, level in chosen.items())
        if len(name) > MAX_NAME:
            raise BadInput(f"the arm {name} has too long a name: name its levels in the experiment file")
        arms.append(_resolve(experiment, settings, name, chosen, chosen == baseline))
    _refuse_equal(arms, experiment.design.equal)
    jvms = sum(arm.deployment.jvms for arm in arms)
    if jvms > MAX_JVMS:
        raise BadInput(f"the arms have {jvms} JVMs, more than {MAX_JVMS}: take fewer levels or fewer JVMs")
    if len(arms) < 2 and experiment.search is None:
        raise BadInput(
            "the experiment has one arm only, so there is nothing to compare: give a factor two levels"
        )
    return arms


def fixed_arm(workload: str, settings: Settings, given: Sequence[str]) -> Arm:
    """One arm with nothing but fixed settings, each as `key=value` (for `up`; raises BadInput)."""
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
        experiment = _fix_setting(experiment, settings, key, _level(text, value))
    return _resolve(experiment, settings, settings.workload, {}, baseline=True)


def _refuse_equal(arms: Sequence[Arm], allowed: bool) -> None:
    seen: dict[str, Arm] = {}
    for arm in arms:
        own, host = sorted(arm.settings.items()), sorted(arm.host.items())
        settings = [] if allowed else [repr((arm.deployment, arm.load, own, host))]
        for key in (*settings, arm.name):
            other = seen.setdefault(key, arm)
            if other is not arm:
                raise BadInput(
                    f"the arms {other.name} and {arm.name} have the same settings: give each level once"
                )
    if sum(arm.baseline for arm in arms) != 1:
        raise BadInput(
            "there is not exactly one baseline arm: give each level once, and baseline one of them each"
        )


def with_quick(experiment: Experiment, settings: Settings) -> Experiment:
    """The experiment as `--quick` runs it: fewer levels and blocks, shorter windows and warm-up."""
    quick = experiment.quick
    for name, levels in quick.levels.items():
        experiment = _with_levels(experiment, name, levels)
    for name, value in quick.settings.items():
        experiment = _fix_setting(experiment, settings, name, value)
    window = {"ramp": quick.ramp, "warmup": quick.warmup, "measure": quick.measure}
    return experiment.model_copy(
        update={
            "load": experiment.load.model_copy(update=window),
            "design": experiment.design.model_copy(update={"blocks": quick.blocks}),
            "search": quick.of(experiment.search),
        }
    )


def with_host_levels(experiment: Experiment, levels: Callable[[str], list[Scalar]]) -> Experiment:
    """The experiment with the levels that this host has, for its factors with `levels: host`."""
    for name, factor in experiment.factors.items():
        if factor.levels == "host":
            available = levels(name)
            if (wanted := experiment.baseline.get(name)) is not None and wanted not in available:
                listed = ", ".join(map(format_value, available))
                raise BadInput(
                    f"baseline {name}: {quote_value(wanted)} is not a level of this host, which has {listed}"
                )
            experiment = _with_levels(experiment, name, available)
    return experiment


def with_design(experiment: Experiment, **given: int | None) -> Experiment:
    """Other blocks or another seed, as `--blocks` and `--seed` give them (raises BadInput)."""
    wanted = {name: value for name, value in given.items() if value is not None}
    design = experiment.design.model_dump() | wanted
    try:
        return Experiment.model_validate(experiment.model_dump(by_alias=True) | {"design": design})
    except ValidationError as error:
        where, said = first_error(error)
        name = where.rpartition(".")[2]
        raise BadInput(f"--{name} {wanted.get(name)}: {said}") from error


def with_settings(experiment: Experiment, settings: Settings, given: Sequence[str]) -> Experiment:
    """Apply `--set key=value[,value...]`: new levels of a factor, a new factor, or a fixed setting.

    One value for a setting that is no factor fixes it in every arm; several values make it a factor. A value with a
    comma stands in quotes or brackets.

    Raises:
        BadInput: not of the form key=value, or no such factor or setting.
    """
    for text in given:
        key, equals, value = text.partition("=")
        if not key.strip() or not equals or not value.strip():
            raise BadInput(
                f"--set {text!r} is not of the form factor=level[,level...], for example --set jvms=1,2,4"
            )
        levels = [_level(text, part) for part in _VALUE.findall(f",{value}")]
        if key.startswith(SEARCH):
            experiment = _with_search(experiment, text, key.removeprefix(SEARCH), levels)
            continue
        if key in experiment.factors or len(levels) > 1:
            if key not in experiment.factors:
                settings.section(key)
            if any(isinstance(level, list) for level in levels):
                raise BadInput(f"--set {text!r}: a list cannot be a level: make it a named level in the file")
            experiment = _with_levels(experiment, key, levels)
        else:
            experiment = _fix_setting(experiment, settings, key, levels[0])
    return experiment


def _level(text: str, part: str) -> Any:
    """A value of --set: a scalar, or a list for a setting that is one."""
    try:
        value = parse(part, Lines(Path("--set")))
    except BadInput as error:
        raise BadInput(
            f"--set {text!r}: {part!r} is not a value that YAML can read: put it in quotes"
        ) from error
    if isinstance(value, bool) and part.strip().lower() not in ("true", "false"):
        value = (
            part.strip()
        )  # `on` and `yes` are names of levels; who means the truth value gets it further on
    plain = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float | bool) for item in plain):
        raise BadInput(f"--set {text!r}: {part!r} is not one value: write for example --set jvms=1,2,4")
    return value


def _with_levels(experiment: Experiment, name: str, levels: list[Scalar]) -> Experiment:
    """Other levels of a factor, or a new factor; baseline levels that are not left give way to the first that is."""
    factor = experiment.factors.get(name) or Factor(levels=levels)
    kept: Any = levels
    if isinstance(factor.levels, dict):
        unknown = [str(level) for level in levels if str(level) not in factor.levels]
        if unknown:
            raise BadInput(f"factor {name} has no level {unknown[0]!r}: there are {', '.join(factor.levels)}")
        kept = {str(level): factor.levels[str(level)] for level in levels}
    factors = {**experiment.factors, name: factor.model_copy(update={"levels": kept})}
    baseline = {
        key: level for key, level in experiment.baseline.items() if level in list(factors[key].levels)
    }
    return experiment.model_copy(update={"factors": factors, "baseline": baseline})


def _with_search(experiment: Experiment, text: str, key: str, values: list[Any]) -> Experiment:
    """Another value of a key of the search, the same for every arm."""
    if experiment.search is None:
        raise BadInput(f"--set {text!r}: the experiment has no search")
    if len(values) != 1:
        raise BadInput(f"--set {text!r}: it has one value for all arms")
    try:
        search = Search.model_validate({**experiment.search.model_dump(by_alias=True), key: values[0]})
    except ValidationError as error:
        raise BadInput(": ".join(filter(None, (f"--set {text}", *first_error(error))))) from error
    return experiment.model_copy(update={"search": search})


def _fix_setting(experiment: Experiment, settings: Settings, key: str, value: Scalar) -> Experiment:
    settings.check(key, value)
    if key in experiment.settings or settings.section(key) in ("workload", "host"):
        return experiment.model_copy(update={"settings": {**experiment.settings, key: value}})
    deployment, load = _apply(experiment, settings.by_section({key: value}), f"{key}={format_value(value)}")
    return experiment.model_copy(update={"deployment": deployment, "load": load})


def _resolve(
    experiment: Experiment, settings: Settings, name: str, levels: Mapping[str, Scalar], baseline: bool
) -> Arm:
    given: dict[str, Any] = dict(experiment.settings)
    for factor, level in levels.items():
        chosen = experiment.factors[factor].levels
        given |= chosen[str(level)] if isinstance(chosen, dict) else {factor: level}
    parts = settings.by_section(given)
    levels_text = ", ".join(f"{factor}={format_value(level)}" for factor, level in levels.items())
    deployment, load = _apply(experiment, parts, levels_text)
    if load.users_per_jvm is not None:
        of_all = {"users": load.users_per_jvm * deployment.jvms, "users_per_jvm": None}
        load = Load.model_validate(load.model_dump() | of_all)
    if load.share is not None and load.capacity is not None:
        rate = {"rate": load.share * load.capacity, "share": None, "capacity": None}
        load = Load.model_validate(load.model_dump() | rate)
    return Arm(name, levels, baseline, deployment, load, parts["workload"], parts["host"])


def _apply(
    experiment: Experiment, parts: Mapping[Section, dict[str, Any]], source: str
) -> tuple[DeploymentSettings, Load]:
    deployment = experiment.deployment.model_dump()
    inner = {part: deployment[part] | parts[part] for part in ("jvm", "jitserver")}
    try:
        return (
            DeploymentSettings.model_validate(deployment | parts["deployment"] | inner),
            Load.model_validate(experiment.load.model_dump() | parts["load"]),
        )
    except ValidationError as error:
        raise BadInput(": ".join(filter(None, (source, *first_error(error))))) from error


def _slug(value: object) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", str(value).lower()).strip("-") or "x"
