# SPDX-License-Identifier: Apache-2.0
"""Every setting that can be a factor, be fixed by an experiment, or be given with --set: its name, its section, its
type.

Sections: `load`, `jvm`, `deployment` are parts of the experiment file; `workload` holds the workload's own settings
(`acmeair.customers`); `host` those of the whole host (`thp`, `huge_pages`).
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from steelyard.errors import BadInput
from steelyard.experiment.schema import Deployment, Factor, JvmSettings, Load
from steelyard.workload.schema import Workload
from steelyard.yamlfile import nearest

Section = Literal["load", "jvm", "deployment", "workload", "host"]
_MODELS: dict[str, type[BaseModel]] = {"load": Load, "jvm": JvmSettings, "deployment": Deployment}
HostChecks = Mapping[str, Callable[[object], None]]
"""Settings of the host by name; each refuses a value that it does not take by a ValueError."""


class Settings:
    """The settings of an experiment on one workload."""

    def __init__(self, workload: Workload, host: HostChecks) -> None:
        self._workload = workload
        self._host = host
        sections: dict[str, Section] = {}
        for section in ("load", "jvm", "deployment"):
            keys = [key for key in _MODELS[section].model_fields if key != "jvm"]
            sections.update(dict.fromkeys(keys, section))
        sections.update(dict.fromkeys(self._own, "workload"))
        sections.update(dict.fromkeys(host, "host"))
        self.sections = sections

    @property
    def workload(self) -> str:
        """Name of the workload."""
        return self._workload.name

    @property
    def _own(self) -> list[str]:
        return [f"{self._workload.name}.{name}" for name in self._workload.settings]

    def section(self, name: str) -> Section:
        """The section of a setting.

        Raises:
            BadInput: there is no such setting; the sentence lists those that there are.
        """
        if name not in self.sections:
            known = sorted(self.sections)
            raise BadInput(
                f"{name!r} is not a setting{nearest(name, known)}; settings are {', '.join(known)}"
            )
        return self.sections[name]

    def check(self, name: str, value: object) -> None:
        """Check one setting by itself: other settings may have to change with it.

        Raises:
            BadInput: there is no such setting, or it refuses the value.
        """
        section = self.section(name)
        try:
            if section == "workload":
                self._workload.settings[name.partition(".")[2]].check(value)
            elif section == "host":
                self._host[name](value)
            else:
                field = _MODELS[section].model_fields[name]
                kind: Any = (
                    Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
                )
                TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            message = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise BadInput(f"{name}={value}: {name}: {message}") from error
        except ValueError as error:
            raise BadInput(f"{name}={value}: {error}") from error

    def check_levels(self, name: str, factor: Factor) -> None:
        """Check one factor by itself (raises BadInput)."""
        levels = factor.levels
        groups = list(levels.values()) if isinstance(levels, dict) else [{name: level} for level in levels]
        for group in groups:
            for key, value in group.items():
                self.check(key, value)
