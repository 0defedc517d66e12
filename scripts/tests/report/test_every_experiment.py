# SPDX-License-Identifier: Apache-2.0
"""Each experiment of the project has a report, whatever its load, search or deployment."""

import pytest
from builders import make_jvm
from markupsafe import escape
from planned import containers, cores, processes, question, session_of

from steelyard.analysis.estimates import analyse
from steelyard.experiment.loader import LoadedExperiment, experiment_files
from steelyard.experiment.matrix import Arm, expand, with_host_levels
from steelyard.paths import EXPERIMENTS
from steelyard.report.pages import to_html
from steelyard.report.view import View
from steelyard.results.spec import Spec
from steelyard.spec.layout import FIRST_PORT
from steelyard.spec.plan import make_spec
from steelyard.yamlfile import Scalar

HOST = cores(32, threads=8)
LEVELS: dict[str, list[Scalar]] = {
    "smt": ["off", "on"],
    "governor": ["performance", "powersave"],
    "prefetch": [0, 1],
}
"""Of the factors that a host has to tell."""


def spec_of(arm: Arm, asked: LoadedExperiment) -> Spec:
    """On the JVM that the arm needs; only OpenJ9 has a JITServer, checkpoints and these collectors."""
    asks = arm.deployment.jvm
    alone = asks.jit == "remote" or asks.gc in ("optavgpause", "optthruput")
    alone |= arm.deployment.checkpoint != "none"
    jvm = make_jvm("openj9" if alone else "hotspot", 21)
    _, topology = asked.workload.workload.topology(arm.deployment.topology)
    boxed = containers(*topology.components, "jitserver", jvm=jvm)
    runtime = processes(jvm) if arm.deployment.engine == "process" else boxed
    return make_spec(arm, asked.experiment.procedure, asked.workload, HOST, runtime, FIRST_PORT)


@pytest.mark.parametrize("name", experiment_files(EXPERIMENTS))
def test_every_experiment_has_a_report_before_its_first_trial(name: str) -> None:
    asked = question(name)
    asked = asked._replace(experiment=with_host_levels(asked.experiment, LEVELS.__getitem__))
    session = session_of(
        asked,
        {a.name: spec_of(a, asked) for a in expand(asked.experiment, asked.settings)},
    )
    page = to_html(View(session, analyse(session, []), []))
    assert escape(asked.experiment.title) in page
