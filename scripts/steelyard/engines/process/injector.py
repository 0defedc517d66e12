# SPDX-License-Identifier: Apache-2.0
"""Command lines of injectors that run as processes of this host (pure), and the script that repeats a trial's load."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.load.injector import InjectorPlan
from steelyard.results.schema import JvmIdentity

MAIN_CLASS = "dev.steelyard.loadgen.Main"


@dataclass(frozen=True)
class Loadgen:
    """Where the built injector lies, and the JVM it runs on (HotSpot, whatever the servers use)."""

    folder: Path
    jvm: JvmIdentity


def injector_options(feature: int) -> list[str]:
    """JVM options of an injector on this Java release (loadgen/README.md says why)."""
    options = ["-Xms256m", "-Xmx256m", "-XX:+UseParallelGC", "--add-opens=java.base/java.lang=ALL-UNNAMED"]
    if feature >= 24:
        options += ["--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]
    return options


def injector_command(plan: InjectorPlan, loadgen: Loadgen, settings: str) -> list[str]:
    """The command of an injector whose settings lie in the file `settings`."""
    return [
        "taskset",
        "-c",
        ",".join(str(cpu) for cpu in plan.cpus),
        str(Path(loadgen.jvm.home) / "bin" / "java"),
        *injector_options(loadgen.jvm.feature),
        "-cp",
        f"{loadgen.folder / 'conf'}:{loadgen.folder / 'lib'}/*",
        MAIN_CLASS,
        settings,
    ]


def replay_files(plans: Sequence[InjectorPlan], loadgen: Loadgen) -> dict[str, str]:
    """Files (name -> content) that repeat the load of a trial by hand, against servers that are up."""
    files: dict[str, str] = {}
    script = [
        "#!/bin/sh",
        "# Repeats the load of this trial against servers started by servers.sh; `touch injector-1/stop` ends it.",
        'cd "$(dirname "$0")" || exit 1',
    ]
    for plan in plans:
        # Settings name an absolute output folder; the replay writes beside the script.
        files[f"{plan.name}.json"] = json.dumps({**plan.settings, "output": "@OUTPUT@"}, indent=1) + "\n"
        command = injector_command(plan, loadgen, f"{plan.name}/settings.json")
        script += [
            f"mkdir -p {plan.name}",
            f'sed "s|@OUTPUT@|$PWD/{plan.name}|" {plan.name}.json > {plan.name}/settings.json',
            f"{shlex.join(command)} &",
        ]
    return {**files, "load.sh": "\n".join([*script, "wait", ""])}
