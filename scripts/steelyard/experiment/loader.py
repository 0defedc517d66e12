# SPDX-License-Identifier: Apache-2.0
"""Reads an experiment file together with its workload; whatever is wrong is refused with file, line and what is
allowed."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import BadInput
from steelyard.experiment.schema import Experiment
from steelyard.experiment.settings import HostChecks, Settings
from steelyard.workload.loader import LoadedWorkload, load_workload
from steelyard.yamlfile import KeyPath, Lines, nearest, read_yaml

Metrics = Mapping[str, Collection[str]]


class LoadedExperiment(NamedTuple):
    """An experiment, the workload that it is asked of, and the settings that both have."""

    experiment: Experiment
    workload: LoadedWorkload
    settings: Settings
    notes: tuple[str, ...] = ()
    """What was chosen in the place of what the file has, and why: sentences."""


def experiment_files(folder: Path) -> dict[str, Path]:
    """Experiment files of a folder by name."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}


def load_experiment(
    path: Path, host: HostChecks, workload: str | None = None, metrics: Metrics | None = None
) -> LoadedExperiment:
    """Read and check an experiment file; `workload` is the name or path of another workload than the file's, `metrics`
    says what procedures measure each (None: a file that was checked before).

    Raises:
        BadInput: with `file:line`, the key, and the allowed keys or values.
    """
    experiment, lines = read_yaml(path, Experiment, "an experiment")
    if metrics is not None:
        _refuse_metrics(experiment, lines, metrics)
    name = workload if workload is not None else experiment.workload
    if name.endswith((".yaml", ".yml")):
        # Whole, because a session that is resumed reads it again, wherever that is done.
        name = str((Path() if workload is not None else path.parent).absolute() / name)
    experiment = experiment.model_copy(update={"workload": name})
    try:
        loaded = load_workload(name)
    except BadInput as error:
        raise error if workload is not None else BadInput(f"{lines.file}: workload: {error}") from error
    settings = Settings(loaded.workload, host)
    given = list(_given_values(experiment))
    foreign = dict.fromkeys(
        setting for _, setting, _ in given if "." in setting and setting not in settings.sections
    )
    if workload is not None and foreign:
        raise BadInput(
            f"{experiment.name} asks about another workload: {loaded.workload.name} does not have {', '.join(foreign)}:"
            " choose another experiment, or copy the file and leave these out"
        )
    for at, setting, value in given:
        try:
            settings.check(setting, value)
        except BadInput as error:
            raise lines.refuse(at, str(error)) from error
    return LoadedExperiment(experiment, loaded, settings)


def _refuse_metrics(experiment: Experiment, lines: Lines, metrics: Metrics) -> None:
    asked = experiment.metrics
    named: dict[KeyPath, str] = {("metrics", "primary"): asked.primary}
    if "report" in asked.model_fields_set:
        named |= {("metrics", "report", at): name for at, name in enumerate(asked.report)}
    known = [name for name, procedures in metrics.items() if experiment.procedure in procedures]
    for at, name in named.items():
        if name not in known:
            why = f"not measured by procedure {experiment.procedure}" if name in metrics else "no metric"
            raise lines.refuse(
                at, f"{name!r} is {why}{nearest(name, known)}: see `./steelyard list --metrics`"
            )


def _given_values(experiment: Experiment) -> Iterator[tuple[KeyPath, str, object]]:
    """Every value that a file gives to a setting: where, which, what."""
    for name, factor in experiment.factors.items():
        yield from ((("factors", name), setting, value) for setting, value in factor.values(name))
    for name, value in experiment.settings.items():
        yield ("settings", name), name, value
    for name, value in experiment.quick.settings.items():
        yield ("quick", "settings", name), name, value
