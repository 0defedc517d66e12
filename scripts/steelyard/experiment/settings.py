# SPDX-License-Identifier: Apache-2.0
"""Every setting that can be a factor, be fixed by an experiment, or be given with --set: its name, its section, its
type.

Sections: `load`, `jvm`, `deployment` are parts of the experiment file, as is `jitserver`, whose settings bear its name
in front (`jitserver.memory`); `workload` holds the workload's own (`acmeair.customers`); `host` those of the whole host
(`thp`, `huge_pages`).
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from steelyard.errors import BadInput
from steelyard.experiment.schema import DeploymentSettings, Load
from steelyard.jvm.jitserver import JitServer
from steelyard.jvm.settings import JvmSettings
from steelyard.units import format_value
from steelyard.workload.schema import Workload
from steelyard.yamlfile import first_error, nearest, nearest_choice

Section = Literal["load", "jvm", "deployment", "jitserver", "workload", "host"]
SECTIONS: dict[Section, type[BaseModel]] = {
    "load": Load,
    "jvm": JvmSettings,
    "deployment": DeploymentSettings,
    "jitserver": JitServer,
}
_NAMED = ("jitserver", "workload")
"""Sections whose settings bear a name in front."""
HostChecks = Mapping[str, Callable[[Any], object]]
"""Settings of the host by name; each refuses a value that it does not take by a ValueError."""


def setting_name(section: Section, key: str) -> str:
    """What a setting of the experiment file is called as a factor or with --set."""
    return f"{section}.{key}" if section in _NAMED else key


class Settings:
    """The settings of an experiment on one workload."""

    def __init__(self, workload: Workload, host: HostChecks) -> None:
        self.workload = workload.name
        self._own = workload.settings
        self._host = host
        self.sections: dict[str, Section] = {
            setting_name(section, key): section
            for section, model in SECTIONS.items()
            for key in model.model_fields
            if key not in SECTIONS
        }
        self.sections |= dict.fromkeys((f"{workload.name}.{name}" for name in workload.settings), "workload")
        self.sections |= dict.fromkeys(host, "host")

    def section(self, name: str) -> Section:
        """The section of a setting (raises BadInput, which lists those that there are)."""
        if name in self.sections:
            return self.sections[name]
        known = sorted(self.sections)
        if "." not in name and (near := nearest(name, known)):
            raise BadInput(f"{name!r} is not a setting{near}: `./steelyard explain` lists them")
        if "." in name:
            whose: Section = "jitserver" if name.startswith("jitserver.") else "workload"
            owner = "the JITServer" if whose == "jitserver" else f"the workload {self.workload}"
            own = [key for key in known if self.sections[key] == whose]
            raise BadInput(
                f"{name!r} is not a setting of {owner}{nearest(name, own)}, which has {', '.join(own) or 'none'}"
            )
        more = [key for key in known if self.sections[key] in (*_NAMED, "host")]
        raise BadInput(
            f"{name!r} is not a setting; settings are the keys of load, deployment and"
            f" deployment.jvm (docs/experiments.md), {', '.join(more)}"
        )

    # Of any type until the models have checked them.
    def by_section(self, given: Mapping[str, Any]) -> dict[Section, dict[str, Any]]:
        """Values by section (raises BadInput); those of a section with a name without it."""
        sections: dict[Section, dict[str, Any]] = {section: {} for section in get_args(Section)}
        for name, value in given.items():
            section = self.section(name)
            sections[section][name.partition(".")[2] if section in _NAMED else name] = value
        return sections

    def check(self, name: str, value: object) -> None:
        """Check one setting by itself (raises BadInput): other settings may have to change with it."""
        section = self.section(name)
        try:
            if section == "workload":
                self._own[name.partition(".")[2]].check(value)
            elif section == "host":
                self._host[name](value)
            else:
                field = SECTIONS[section].model_fields[name.removeprefix("jitserver.")]
                annotated: Any = Annotated[field.annotation, *field.metadata, None]
                TypeAdapter(annotated).validate_python(value)
        except ValidationError as error:
            said = first_error(error)[1]
            raise BadInput(f"{name}={format_value(value)}: {said}{nearest_choice(value, said)}") from error
        except ValueError as error:
            raise BadInput(f"{name}={format_value(value)}: {error}") from error
