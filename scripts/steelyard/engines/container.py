# SPDX-License-Identifier: Apache-2.0
"""What a component is told in its container, whatever runs the container (pure)."""

import json
import shlex
import signal

from steelyard.jvm.checkpoint import VARIABLES
from steelyard.jvm.rows import CACHE, FOLDER
from steelyard.results.spec import Component

CONTAINER_FOLDER = "/steelyard"
"""Where a component may write when its workload names no folder."""
CACHE_FOLDER = "/steelyard/cache"
LOAD_FOLDER = "/load"
_SIGNALLED = 128
_FATAL = {signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV}
"""Signals after which no program chooses its exit code; a JVM that is asked to end exits with 143 by itself."""


def container_folder(component: Component) -> str:
    """Where a component may write; its logs lie in `logs/` below."""
    place = component.container
    return (place and place.folder) or CONTAINER_FOLDER


def uses_cache(component: Component) -> bool:
    """Whether something that it is told names the class cache."""
    return any(CACHE in text for text in (*component.jvm_options, *component.environment.values()))


def environment(component: Component) -> dict[str, str]:
    """What a component is told: its environment, JVM options among them; an injector its settings."""
    place, folder = component.container, container_folder(component)

    def place_folders(text: str) -> str:
        return text.replace(FOLDER, folder).replace(CACHE, CACHE_FOLDER)

    variables = dict(VARIABLES) if component.checkpoint != "none" else {}
    if place is not None and place.jvm_options is not None:
        variables[place.jvm_options] = shlex.join(place_folders(option) for option in component.jvm_options)
    variables |= {name: place_folders(text) for name, text in component.environment.items()}
    if component.role == "injector":
        output = f"{LOAD_FOLDER}/{component.name}"
        variables["LOADGEN_SETTINGS"] = json.dumps({**component.settings, "output": output})
    return variables


NOT_TOLD = 256
"""Stands for an exit code that the engine does not tell; no process can end with it (`wait` gives eight bits)."""


def exit_code_of(code: int | None) -> int:
    """The exit code that a container engine tells, negative for a signal; None: it does not tell one (`NOT_TOLD`)."""
    if code is None:
        return NOT_TOLD
    return _SIGNALLED - code if code - _SIGNALLED in _FATAL else code
