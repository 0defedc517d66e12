# SPDX-License-Identifier: Apache-2.0
"""What the launcher begins beside pip at first use: the build of the Java parts that the command line surely needs.

    python -m suite.first_build run jvm-count --quick

It needs pydantic and PyYAML alone, which are installed first. It never decides anything: the command itself waits for
this build (they share a lock), makes what is missing, and says what went wrong. So whatever fails here is left to it.
"""

import contextlib
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from steelyard.build import INJECTOR_PACKAGE, find_build, make_build
from steelyard.errors import SteelyardError
from steelyard.experiment.loader import experiment_files
from steelyard.experiment.schema import Experiment
from steelyard.host.java import find_jdk, find_maven, require_javac
from steelyard.paths import EXPERIMENTS, ROOT
from steelyard.workload.loader import load_workload
from steelyard.yamlfile import read_yaml


def find_packages(words: Sequence[str]) -> dict[str, Path]:
    """What a command line surely builds: name -> path below the checkout that Maven makes; empty where nobody knows.

    Of a workload with several packages the experiment's arms decide, so that is left to the command.

    Raises:
        BadInput: a name or file is wrong, which the command will say.
    """
    if words[:1] not in (["run"], ["up"]) or any(word.startswith("--engine") for word in words):
        return {}
    given = [after for word, after in pairwise(words) if word == "--workload"]
    if words[0] == "up":
        names = list(words[1:2])
    else:
        files = experiment_files(EXPERIMENTS)
        asked = [read_yaml(files[word], Experiment, "an experiment")[0] for word in words if word in files]
        if len(asked) != 1 or asked[0].deployment.engine != "process":
            return {}
        own = asked[0].workload
        names = given or [str(EXPERIMENTS / own) if own.endswith((".yaml", ".yml")) else own]
    if not names:
        return {}
    loaded = load_workload(names[-1])
    made = [name for name, package in loaded.workload.packages.items() if package.maven]
    packages = {name: loaded.package_path(name).relative_to(ROOT) for name in made if len(made) == 1}
    return packages if words[0] == "up" else {**INJECTOR_PACKAGE, **packages}


def main() -> None:
    """Build what the command line needs; say nothing."""
    with contextlib.suppress(SteelyardError):
        packages = find_packages(sys.argv[1:])
        if packages and find_build(packages) is None:
            jdk = find_jdk()
            require_javac(jdk)
            make_build(jdk, find_maven(Path(jdk.identity.home)), packages, lambda _line: None)


if __name__ == "__main__":
    main()
