# SPDX-License-Identifier: Apache-2.0
"""Components that a setting chooses: one file for each of its values, in a folder that workloads share.

So a database is one file, whichever workloads run on it: how it runs as a process and in a container, and what its
bundles are called. Once the settings of an arm are known, `choose` puts the one that was chosen in its place.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from steelyard.errors import BadInput
from steelyard.paths import is_file
from steelyard.workload.schema import (
    ContainerDescription,
    ProcessDescription,
    Topology,
    Workload,
)
from steelyard.yamlfile import Model, Scalar, read_yaml


class ComponentChoice(Model):
    """One of the components that can stand in a place."""

    steelyard: Literal[1]
    """Version of the file format."""
    title: str
    process: ProcessDescription | None = None
    container: ContainerDescription | None = None
    bundle: str = ""
    """What the names of its bundles end in."""
    note: str | None = None
    """A sentence that belongs beside every figure (process engine)."""


Choices = Mapping[Path, Mapping[str, ComponentChoice]]
"""Folder -> value of the setting -> what it chooses."""


def read_choices(workload: Workload, file: Path) -> Choices:
    """What a workload's settings choose between; `file` is its own.

    Raises:
        BadInput: a file is not there, or is wrong.
    """
    choices: dict[Path, dict[str, ComponentChoice]] = {}
    for topology in workload.topologies.values():
        for component in topology.components.values():
            if component.one_of is not None:
                place = (file.parent / component.one_of.folder).resolve()
                values = workload.settings[component.one_of.setting].choices or ()
                for value in values:
                    if not is_file(place / f"{value}.yaml"):
                        raise BadInput(
                            f"{file}: {component.one_of.setting} may be {value}: there is no {place}/{value}.yaml"
                        )
                choices[place] = {value: _read(place, value, workload) for value in values}
    return choices


def values_that_run(choices: Mapping[str, ComponentChoice], *, in_containers: bool) -> list[str]:
    """The values of a setting whose components run in containers, or as processes."""
    return [
        value
        for value, choice in choices.items()
        if (choice.container if in_containers else choice.process) is not None
    ]


def _read(folder: Path, value: str, workload: Workload) -> ComponentChoice:
    path = folder / f"{value}.yaml"
    choice = read_yaml(path, ComponentChoice, "a component's")[0]
    if choice.process is None and choice.container is None:
        raise BadInput(f"{path}: say how it runs: process, container, or both")
    if choice.process is None:
        return choice
    package = choice.process.package
    if package is not None and package not in workload.packages:
        raise BadInput(f"{path}: {workload.name} has no package {package!r}: add it to its packages")
    files = {name: str(folder / file) for name, file in choice.process.files.items()}
    return choice.model_copy(update={"process": choice.process.model_copy(update={"files": files})})


def choose(
    workload: Workload,
    choices: Choices,
    folder: Path,
    topology: str | None,
    given: Mapping[str, Scalar],
    *,
    in_containers: bool,
) -> Workload:
    """The workload with what the settings choose in a topology in its place.

    A choice that nobody made is the setting's default, and the first one that runs in containers where that does not.

    Raises:
        BadInput: a setting chooses nothing in this topology.
    """
    name, chosen = workload.topology(topology)
    _refuse_idle(workload, name, given)
    if in_containers:
        settings = dict(workload.settings)
        for component in chosen.components.values():
            if component.one_of is not None and (setting := component.one_of.setting) not in given:
                offered = choices[(folder / component.one_of.folder).resolve()]
                able = values_that_run(offered, in_containers=True)
                if able and settings[setting].default not in able:
                    settings[setting] = settings[setting].model_copy(update={"default": able[0]})
        workload = workload.model_copy(update={"settings": settings})
    values = workload.resolve_settings(topology, given)
    components, bundle, notes = {}, chosen.bundle, dict(workload.notes)
    for place, component in chosen.components.items():
        components[place] = component
        if component.one_of is None:
            continue
        choice = choices[(folder / component.one_of.folder).resolve()][str(values[component.one_of.setting])]
        components[place] = component.model_copy(
            update={"process": choice.process, "container": choice.container}
        )
        bundle = f"{bundle}{choice.bundle}" if bundle is not None else None
        notes |= {place: choice.note} if choice.note is not None else {}
    changed = chosen.model_copy(update={"components": components, "bundle": bundle})
    return workload.model_copy(update={"topologies": {**workload.topologies, name: changed}, "notes": notes})


def choosing_settings(topology: Topology) -> set[str]:
    """The settings that choose a component of a topology."""
    return {
        component.one_of.setting for component in topology.components.values() if component.one_of is not None
    }


def _refuse_idle(workload: Workload, name: str, given: Mapping[str, Scalar]) -> None:
    """A setting that chooses a component in other topologies alone: arms that differ in it would be the same."""
    able = {other: choosing_settings(topology) for other, topology in workload.topologies.items()}
    for setting in set().union(*able.values()) - able[name]:
        if given.get(setting, workload.settings[setting].default) != workload.settings[setting].default:
            others = " or ".join(other for other, settings in able.items() if setting in settings)
            raise BadInput(
                f"{workload.name}.{setting} is {given[setting]}, but nothing in the topology {name}"
                f" ({workload.topologies[name].about}) is chosen by it: take the topology {others}"
            )
